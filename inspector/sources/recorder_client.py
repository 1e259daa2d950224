"""An engine's side of a recorder process: starts it or attaches to a running one, and steers it."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any, Literal

import msgspec

from inspector.sources.blocking_files import call_with_timeout
from inspector.sources.connection import Connection
from inspector.sources.recorder_messages import Command, ConnectionState, Reply, Report, Start
from inspector.sources.recorder_places import Place, all_places, find_places, place_file, read_place, remove_place
from inspector.sources.state import SourceState

_ALONE_S = 600.0
"""Seconds that a recorder without an engine goes on."""
_COMMAND = (sys.executable, "-m", "inspector", "recorder", "--stdin")
_ATTACH_S = 10.0
"""Seconds for a running recorder to answer, on a busy machine."""
_REPLY_S = 30.0
"""Seconds for a command, which may write much."""
_DIED = "The recorder of the capture has ended unexpectedly. What it has written is kept."
_MESSAGE = Report | Reply


class RecorderClient:
    """A recorder. It stands in for the writer of its capture when that is saved (`document.saving.CaptureFile`).

    Attributes:
        connection: last reported state of the connection.
        has_left: the recorder has left the gateway and written what it could, or has ended.
    """

    def __init__(
        self, path: Path, connection: ConnectionState, *, start: Start | None = None, channel: Any = None,
        has_left: bool = False,
    ) -> None:  # fmt: skip
        self.connection, self.has_left = connection, has_left
        self._path, self._start = path, start
        self._on_report: Callable[[], object] = lambda: None
        self._channel = channel  # the system decides about its class
        self._unsent: list[Command] = []
        self._replies: dict[int, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._has_ended = False

    @classmethod
    def for_gateway(cls, connection: Connection, path: Path) -> RecorderClient:
        """Returns the client of a new recorder, which `begin` starts.

        Args:
            connection: address and identity.
            path: the capture file, which has its header.
        """
        state = SourceState.CONNECTING.value
        shown = ConnectionState(
            state, "", connection.shown_url, connection.space, connection.participant,
            has_secrets=connection.has_secrets,
        )  # fmt: skip
        start = Start(
            connection.url, connection.space, connection.participant, connection.token.get_secret_value(),
            connection.answer_tools_list, os.fsencode(path), _ALONE_S,
        )  # fmt: skip
        return cls(path, shown, start=start)

    @classmethod
    def attach(cls, path: Path, limit_s: float = _ATTACH_S) -> RecorderClient | None:
        """Attaches to the recorder of a capture that has no engine; returns None without one, or after a timeout."""
        for file, place in find_places(path).items():
            (found,) = call_with_timeout([partial(_connect, file, place)], limit_s)
            if found is not None:
                channel, report = found
                return cls(path, report.connection, channel=channel, has_left=report.has_left)
        return None

    def begin(self, on_report: Callable[[], object]) -> None:
        """Receives reports, after the start of a new recorder. Failures are reported as a state.

        Args:
            on_report: called after each report, on a thread of this client.
        """
        self._on_report = on_report
        work = self._receive if self._start is None else self._run_process
        threading.Thread(target=work, name="recorder", daemon=True).start()

    # Commands

    def retry_now(self) -> None:
        """Retries a lost connection at once."""
        self._send(Command(0, "retry"))

    def leave(self) -> None:
        """Leaves the gateway; `has_left` follows."""
        self._send(Command(0, "leave"))

    def close(self) -> None:
        """Ends the recorder; pending data is written if there is space by now, else lost."""
        self._send(Command(0, "close"))

    @property
    def path(self) -> Path:
        """The capture file."""
        return self._path

    def move_to(self, path: Path) -> None:
        """Notes that the file has another name."""
        self._path = path
        self._send(Command(0, "move", os.fsencode(path)))

    @property
    def closed(self) -> bool:
        """True if the file has all data, or the recorder has ended."""
        return self._has_ended or self.connection.complete

    @property
    def error(self) -> OSError | None:
        """Error of the last write, if it failed."""
        return OSError(self.connection.sentence) if self.connection.is_unwritable else None

    def write_all_now(self) -> None:
        """Writes all pending lines. Raises OSError."""
        self._call("write")

    def switch_to_file(self, path: Path, *, copied: int, named: Path) -> None:
        """Continues in another file, as `CaptureWriter.switch_to_file`."""
        self._call("switch", os.fsencode(path), copied, os.fsencode(named))
        self._path = named

    def _call(self, name: Literal["write", "switch"], path: bytes = b"", copied: int = 0, named: bytes = b"") -> None:
        """Runs a command and waits for its reply. Raises OSError."""
        future: Future[Reply] = Future()
        with self._lock:
            if self._has_ended:
                raise OSError(errno.EPIPE, _DIED)
            number = len(self._replies) + 1
            self._replies[number] = future
        self._send(Command(number, name, path, copied, named))
        try:
            reply = future.result(_REPLY_S)
        except TimeoutError:
            raise OSError(errno.ETIMEDOUT, "The recorder of the capture does not answer") from None
        if reply.error:
            raise OSError(reply.number, reply.error)

    def _send(self, command: Command) -> None:
        with self._lock, contextlib.suppress(OSError):  # ended; the thread notices and reports it
            if self._channel is None:
                self._unsent.append(command)
            else:
                self._channel.send_bytes(msgspec.msgpack.encode(command))

    # On a thread

    def _run_process(self) -> None:
        assert self._start is not None
        try:
            process = _start_process(self._start)
        except OSError as error:
            self._end(f"The recorder of the capture cannot be started: {error.strerror or error}.")
            return
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        place = read_place(place_file(process.pid))
        try:
            if place is None:
                raise EOFError
            channel = Client(place.address, authkey=place.key)
        except (OSError, EOFError, AuthenticationError):
            self._end("The recorder of the capture cannot be started.")
        else:
            with self._lock:
                self._channel = channel
                for command in self._unsent:
                    with contextlib.suppress(OSError):
                        channel.send_bytes(msgspec.msgpack.encode(command))
            self._receive()
        process.wait()

    def _receive(self) -> None:
        assert self._channel is not None
        with contextlib.suppress(OSError, EOFError, msgspec.MsgspecError):
            while True:
                message: Report | Reply = msgspec.msgpack.decode(self._channel.recv_bytes(), type=_MESSAGE)
                if isinstance(message, Reply):
                    self._replies[message.id].set_result(message)
                else:
                    self.connection, self.has_left = message.connection, message.has_left
                    self._on_report()
        self._end("" if self.has_left else _DIED)

    def _end(self, sentence: str) -> None:
        """Notes the end of the recorder; a sentence reports it as a failure."""
        with self._lock:
            self._has_ended = self.has_left = True
            waiting = [future for future in self._replies.values() if not future.done()]
        if sentence:
            self.connection = msgspec.structs.replace(
                self.connection, state=SourceState.FAILED.value, sentence=sentence, outage="", trouble=""
            )
        for future in waiting:
            future.set_exception(OSError(errno.EPIPE, _DIED))
        self._on_report()


def _connect(file: Path, place: Place) -> tuple[Any, Report] | None:
    """Connects to a recorder and receives its first report; returns None if it has another engine, or was killed."""
    try:
        channel = Client(place.address, authkey=place.key)
        return channel, msgspec.msgpack.decode(channel.recv_bytes(), type=Report)
    except (ConnectionRefusedError, FileNotFoundError):
        remove_place(file, place)
    except (OSError, EOFError, AuthenticationError, msgspec.MsgspecError):
        pass
    return None


def remove_killed() -> None:
    """Removes the places that killed recorders have left. A hung recorder holds up no other."""
    call_with_timeout([partial(_remove_if_killed, *one) for one in all_places().items()], _ATTACH_S)


def _remove_if_killed(file: Path, place: Place) -> None:
    try:
        Client(place.address).close()
    except (ConnectionRefusedError, FileNotFoundError):
        remove_place(file, place)
    except OSError:
        pass


def _start_process(start: Start) -> subprocess.Popen[bytes]:
    """Starts a recorder that neither a signal of the terminal nor the end of this process reaches."""
    flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0
    process = subprocess.Popen(
        _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        creationflags=flags,
    )  # fmt: skip
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin:  # it has ended; its output says so
        process.stdin.write(msgspec.msgpack.encode(start))
    return process

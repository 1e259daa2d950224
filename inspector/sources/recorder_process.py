"""Recorder process: joins a gateway and writes its capture, whether or not an engine follows it.

Its engine starts it, reads the capture file as it grows, and steers it through `recorder_messages`. If the engine ends
without a command, the recorder goes on for a while, so that another engine can continue. It imports neither numpy nor
Qt.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec

from inspector.base.async_tasks import cancel_and_wait, signals_set, start_task
from inspector.diagnostics import program_log
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.connection import Connection, Secret
from inspector.sources.gateway import GatewaySource
from inspector.sources.recorder_messages import Command, ConnectionState, Reply, Report, Start
from inspector.sources.recorder_places import Place, place_file, write_place
from inspector.sources.state import SourceState
from inspector.store.files.capture_writer import CaptureWriter

READY = b"ready\n"
"""Printed once an engine can connect."""
_REPORT_S = 0.1
"""Shortest interval of reports."""
_TICK_S = 1.0
"""Interval of checks for changes without an event, and for a deleted capture."""
_FIRST_S = 30.0
"""Seconds for the starting engine to attach, on a busy machine; without it, no gateway is joined."""
_LEAVE_S = 5.0
"""Seconds after which a gateway is left even without its close."""
_ENDING_S = 1.0
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of a full disk or quota."""
_LONGEST_FOLDER = 60
"""Bytes of the path of a folder for sockets; their addresses have a limit of about a hundred bytes."""


def main() -> None:
    """Records as standard input says, until the gateway is left."""
    program_log.start_logging(mask_text)
    start = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Start)
    asyncio.run(_Recorder(start).run())


class _Engine:
    """The attached engine. Threads move the bytes, so that a slow engine does not hold up the gateway."""

    def __init__(self, channel: Any, on_command: Callable[[Command], object], on_end: Callable[[], object]) -> None:
        self._channel, self._on_command, self._on_end = channel, on_command, on_end
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._sender = threading.Thread(target=self._send_all, name="send reports", daemon=True)
        self._sender.start()
        threading.Thread(target=self._receive_all, name="receive commands", daemon=True).start()

    @property
    def is_behind(self) -> bool:
        return not self._outbox.empty()

    def send(self, message: Report | Reply) -> None:
        self._outbox.put(msgspec.msgpack.encode(message))

    def close(self) -> None:
        """Sends the rest, unless the engine takes no more."""
        self._outbox.put(None)
        self._sender.join(_ENDING_S)

    def _send_all(self) -> None:
        with contextlib.suppress(OSError):  # the engine has ended; the other thread notices
            while (data := self._outbox.get()) is not None:
                self._channel.send_bytes(data)

    def _receive_all(self) -> None:
        with contextlib.suppress(OSError, EOFError, msgspec.MsgspecError):
            while True:
                self._on_command(msgspec.msgpack.decode(self._channel.recv_bytes(), type=Command))
        self._outbox.put(None)
        self._on_end()


class _Recorder:
    """Records one gateway to one file."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._connection = Connection(
            url=start.url, space=start.space, participant=start.participant, token=Secret(start.token),
            answer_tools_list=start.answer_tools_list,
        )  # fmt: skip
        # The engine has written the header. In the background, so that a slow disk does not hold up the gateway.
        self._writer = CaptureWriter(Path(os.fsdecode(start.capture)), origin={}, resume=True, background=True)
        self._writer.on_pending = self._report_soon
        self._source = GatewaySource(self._connection, self._writer, on_state=self._on_state)
        self._state, self._sentence = SourceState.CONNECTING, ""
        self._has_left = False
        self._attached, self._left, self._released = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._engine: _Engine | None = None
        self._alone_at = self._reported_at = 0.0
        self._report_due = False
        self._reported: Report | None = None

    async def run(self) -> None:
        """Records until a command, a signal, a permanent end of the connection, or a long time without an engine."""
        self._loop = asyncio.get_running_loop()
        self._alone_at = self._loop.time()
        tasks: set[asyncio.Task[Any]] = set()
        with self._listening(), signals_set(self._released):
            # Otherwise nobody would hear of a gateway that refuses at once.
            try:
                async with asyncio.timeout(_FIRST_S):
                    await self._attached.wait()
            except TimeoutError:
                self._writer.close()
                return
            start_task(self._watch(), name="watch the engine", owner=tasks)
            running = start_task(self._source.run(), name="record", owner=tasks)
            ends = [
                start_task(one.wait(), name="wait for the end", owner=tasks) for one in (self._left, self._released)
            ]
            await asyncio.wait({running, *ends}, return_when=asyncio.FIRST_COMPLETED)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_S):
                    await self._source.close()
            running.cancel()
            await asyncio.wait({running})
            self._finish()
            if not self._writer.closed:
                # When saved elsewhere, the capture receives the data that could not be written here.
                await self._released.wait()
                with contextlib.suppress(OSError):
                    self._writer.close()
            await cancel_and_wait(tasks)
            if self._engine is not None:
                self._engine.close()

    def _finish(self) -> None:
        try:
            self._writer.write_all_now()
        except OSError as error:
            self._on_state(SourceState.FAILED, str(error))
        else:
            self._writer.close()
        self._has_left = True
        self._send_report()

    async def _watch(self) -> None:
        alone_s = self._start.alone_s
        while True:
            await asyncio.sleep(min(_TICK_S, alone_s))
            if self._engine is not None:
                if self._report() != self._reported:
                    self._report_soon()
            elif self._writer.is_deleted or self._loop.time() - self._alone_at >= alone_s:
                self._released.set()

    # The engine

    @contextlib.contextmanager
    def _listening(self) -> Generator[None]:
        """Listens for engines, in a folder of this process; tells the starting engine so."""
        self._key, self._file = secrets.token_bytes(32), place_file(os.getpid())
        folder, address = None, None
        if os.name != "nt":
            parent = next(one for one in (tempfile.gettempdir(), "/tmp") if len(os.fsencode(one)) <= _LONGEST_FOLDER)
            folder = tempfile.mkdtemp(prefix="context-inspector-", dir=parent)
            address = f"{folder}/recorder"
        try:
            with Listener(address, authkey=self._key) as self._listener:
                self._write_place()
                threading.Thread(target=self._accept_all, name="accept engines", daemon=True).start()
                os.write(sys.stdout.fileno(), READY)
                yield
        finally:
            self._file.unlink(missing_ok=True)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _write_place(self) -> None:
        found = self._writer.path.stat()
        write_place(self._file, Place(found.st_dev, found.st_ino, str(self._listener.address), self._key))

    def _accept_all(self) -> None:
        while True:
            try:
                channel = self._listener.accept()
            except (AuthenticationError, EOFError, ConnectionError):
                continue
            except OSError:  # such as too many open files
                time.sleep(_TICK_S)
                continue
            self._loop.call_soon_threadsafe(self._attach, channel)

    def _attach(self, channel: Any) -> None:
        if self._engine is not None:
            channel.close()
            return
        self._engine = _Engine(
            channel, lambda command: self._loop.call_soon_threadsafe(self._obey, command),
            lambda: self._loop.call_soon_threadsafe(self._detach),
        )  # fmt: skip
        self._attached.set()
        self._send_report()

    def _detach(self) -> None:
        self._engine, self._alone_at = None, self._loop.time()

    def _obey(self, command: Command) -> None:
        try:
            self._run_command(command)
            reply = Reply(command.id)
        except OSError as error:
            reply = Reply(command.id, error.errno or 0, error.strerror or str(error))
        except ValueError as error:  # the file is closed
            reply = Reply(command.id, errno.EBADF, str(error))
        if command.id and self._engine is not None:
            self._send_report()
            self._engine.send(reply)

    def _run_command(self, command: Command) -> None:
        path = Path(os.fsdecode(command.path))
        match command.name:
            case "retry":
                self._source.retry_now()
            case "leave":
                self._left.set()
            case "write":
                self._writer.write_all_now()
            case "move":
                self._writer.move_to(path)
            case "switch":
                named = Path(os.fsdecode(command.named))
                self._writer.switch_to_file(path, copied=command.copied, named=named)
                # The disk that is full may be that of this file; without it, only the next engine cannot continue.
                with contextlib.suppress(OSError):
                    self._write_place()
            case "close":
                self._released.set()

    # Reports

    def _on_state(self, state: SourceState, sentence: str) -> None:
        if state is SourceState.FAILED and self._writer.error is not None:
            sentence = self._why_stopped(self._writer.error)
        self._state, self._sentence = state, sentence
        self._report_soon()

    def _report_soon(self) -> None:
        if not self._report_due and self._engine is not None:
            self._report_due = True
            self._loop.call_at(self._reported_at + _REPORT_S, self._send_report)

    def _send_report(self) -> None:
        self._report_due, self._reported_at = False, self._loop.time()
        if self._engine is None:
            return
        if self._engine.is_behind and not self._has_left:
            self._report_soon()
            return
        self._reported = self._report()
        self._engine.send(self._reported)

    def _report(self) -> Report:
        source, outage = self._source, self._source.outage
        return Report(ConnectionState(
            self._state.value, self._sentence, self._connection.shown_url, self._connection.space, source.participant,
            outage.why if outage else "", outage.trouble if outage else "", outage.attempts if outage else 0,
            outage.next_at_s if outage else None, source.recorder.recorded, self._writer.dropped_count,
            self._writer.error is not None, complete=self._writer.closed, has_secrets=self._connection.has_secrets,
        ), self._has_left)  # fmt: skip

    def _why_stopped(self, error: OSError) -> str:
        what = "there is no space left" if error.errno in _NO_SPACE else str(error).rstrip(".")
        where = f" for {self._writer.path}" if error.errno in _NO_SPACE else ""
        waiting = self._writer.count_pending_messages()
        messages = f"{waiting:,} messages" if waiting > 1 else "message"
        in_memory = f", the last {messages} only in memory" if waiting else ""
        lost = (
            f", except {self._writer.dropped_count:,} messages for which there was no room"
            if self._writer.dropped_count
            else ""
        )
        return (
            f"The capture was stopped: {what}{where}. What was received is kept{in_memory}{lost}. "
            "Save the capture on another disk, or free some space and save it then."
        )

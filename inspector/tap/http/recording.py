"""Records a proxy's traffic in a separate process, and restarts it after a failure.

It is a process, since masking secrets in a response of 50 MB would delay a hang-up for too long. It also writes all
entries that it has received if the tap is killed. Calls by the proxy never block: the queue is bounded, and the capture
has a gap where entries were dropped.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from typing_extensions import override

from inspector.base.workers.child_process import ChildProcess
from inspector.tap.backlog import ENTRY_BYTES, MOST_WAITING_BYTES
from inspector.tap.capture_file import WRITE_S, TapCapture
from inspector.tap.hold import FileHold
from inspector.tap.http.entries import Entry, Sort, packed, unpacked
from inspector.tap.http.lines import ExchangeLines, Line, Missing
from inspector.tap.http.unwritten import ModelUnwritten, Unwritten

Headers = Iterable[tuple[str, str]]

_BATCH_BYTES = 1 << 20
_UNRECORDED = 0
"""Exchange number of everything that is dropped, since the queue is full."""
_STUCK_S = 60.0
"""Seconds without progress until `close` gives up; a large body is searched for secrets in one go."""
# After a second signal: the rest is only counted, so that is quick unless the disk hangs.
_SHORT_TIMEOUT_S = 2.0
_POLL_S = 0.1
_WAIT_S = 1.0
_READY_S = 10.0
"""Seconds to wait for the process before requests are accepted without it."""
_MIN_LIFETIME_S = 2.0
"""A process that ends sooner would fail again, so the next start waits."""
_PAUSE_S = 60.0
_RESTARTED = "The recording process has ended and is restarted; its last messages are missing."
_LOSS_REASON = "the recording process ended; exchanges that were open then are missing"
_RESTART_FAILED = (
    "Recording has stopped: the recording process ends as soon as it has started. The next attempt is in a minute."
)


class Recording(Protocol):
    """Receives the events of a proxy. Implementations must never block and never raise."""

    def begin(self, method: str, target: str, headers: Headers) -> int:
        """Begins an exchange. Returns its number."""
        ...

    def asked(self, exchange: int, data: bytes) -> None:
        """Adds bytes of the request's body."""
        ...

    def asked_all(self, exchange: int) -> None:
        """Ends the request."""
        ...

    def answer_begun(self, exchange: int, status: int, headers: Headers) -> None:
        """Adds the head of the response."""
        ...

    def answered(self, exchange: int, data: bytes) -> None:
        """Adds bytes of the response's body."""
        ...

    def frame(self, exchange: int, data: bytes, *, by_server: bool, binary: bool) -> None:
        """Adds a WebSocket frame."""
        ...

    def failed(self, exchange: int, status: int, text: str) -> None:
        """Ends the exchange with a response of the tap itself."""
        ...

    def end(self, exchange: int, how: str, why: str = "") -> None:
        """Ends the exchange: `complete`, `client-closed` or `server-broke`."""
        ...


class ProcessRecording(Recording):
    """Recording in a separate process. Used on one thread; `_hand_over` has its own."""

    def __init__(
        self,
        path: str,
        hold: FileHold,
        *,
        origin: dict[str, object],
        secrets_in: list[tuple[str, str]],
        model: bool = False,
        say: Callable[[str], None],
    ) -> None:
        """Starts the process.

        Args:
            path: path of the capture.
            hold: lock on it.
            origin: facts for the header, without secrets.
            secrets_in: query and path of each server's address; secrets in them are masked.
            model: True if the traffic is calls of models.
            say: shows the user a sentence; called on another thread.

        Raises:
            OSError: if the system cannot start a process.
        """
        # Locks of Linux belong to the open file, and the process opens its own.
        hold.release()  # the process takes the lock again, before anything is written
        self._say = say
        self._waiting: deque[Entry] = deque()
        self._put_bytes = self._taken_bytes = 0
        self._lost: dict[int, int] = {}
        self._count = 0
        self._reason = ""
        self._patience_s = _STUCK_S
        self._filled = threading.Event()
        self._ending = False
        self._ready = threading.Event()
        self._serve: Callable[[int, bool], ChildProcess] = lambda began_ns, resume: ChildProcess(
            serve_recording, path, origin, secrets_in, model, began_ns, resume, name="tap recorder"
        )
        self._helper = self._serve(time.time_ns(), False)
        self._helper_since = time.monotonic()
        self._thread = threading.Thread(target=self._hand_over, name="record", daemon=True)
        self._thread.start()

    @property
    def exchanges(self) -> int:
        """Number of exchanges so far."""
        return self._count

    def wait_until_ready(self) -> None:
        """Waits until the process records; a tap that is killed before that would lose all events."""
        self._ready.wait(_READY_S)

    @override
    def begin(self, method: str, target: str, headers: Headers) -> int:
        data = _json({"method": method, "target": target, "headers": list(headers)})
        # An exchange without its beginning would be useless, so it is dropped whole.
        if self._is_full(_UNRECORDED):
            self._count_loss(_UNRECORDED, len(data))
            return _UNRECORDED
        self._count += 1
        self._append_loss(_UNRECORDED)
        self._append(Sort.BEGIN, self._count, data)
        return self._count

    @override
    def asked(self, exchange: int, data: bytes) -> None:
        self._put_data(Sort.ASKED, exchange, data)

    @override
    def asked_all(self, exchange: int) -> None:
        self._put(Sort.ASKED_ALL, exchange)

    @override
    def answer_begun(self, exchange: int, status: int, headers: Headers) -> None:
        self._put_json(Sort.HEAD, exchange, {"status": status, "headers": list(headers)})

    @override
    def answered(self, exchange: int, data: bytes) -> None:
        self._put_data(Sort.ANSWERED, exchange, data)

    @override
    def frame(self, exchange: int, data: bytes, *, by_server: bool, binary: bool) -> None:
        self._put_data(Sort.FRAME, exchange, bytes((by_server | binary << 1,)) + data)

    @override
    def failed(self, exchange: int, status: int, text: str) -> None:
        self._put_json(Sort.ERROR, exchange, {"status": status, "text": text})

    @override
    def end(self, exchange: int, how: str, why: str = "") -> None:
        self._put_json(Sort.END, exchange, {"how": how} | ({"why": why} if why else {}))

    def close(self, reason: str) -> None:
        """Drains the queue and writes the last row; gives up on a disk that does not respond."""
        self._reason = reason
        self._append_end()
        self._ending = True
        self._filled.set()
        taken, since = -1, time.monotonic()
        while self._thread.is_alive():  # a slow disk, or a long search for secrets, may take a while
            self._thread.join(_POLL_S)
            now = time.monotonic()
            if self._taken_bytes != taken:
                taken, since = self._taken_bytes, now
            elif now - since > self._patience_s:
                self._say("The capture is incomplete: the last messages are missing.")
                break
        connection = self._helper.connection
        with suppress(OSError, EOFError):
            # Its last sentences, such as the one about an incomplete capture.
            while connection.poll(self._patience_s):
                self._hear()
        self._helper.end()

    def leave(self) -> None:
        """Cuts `close` short: the rest of the queue is only counted."""
        self._patience_s = _SHORT_TIMEOUT_S
        self._waiting.clear()
        self._count_loss(_UNRECORDED, self._put_bytes - self._taken_bytes)
        self._append_end()

    # Hand-over

    def _append_end(self) -> None:
        self._append_loss(_UNRECORDED)
        self._append(Sort.CLOSE, _UNRECORDED, _json({"reason": self._reason}))

    def _put_json(self, sort: Sort, exchange: int, facts: dict[str, Any]) -> None:
        self._put(sort, exchange, _json(facts))

    def _put(self, sort: Sort, exchange: int, data: bytes = b"") -> None:
        if exchange != _UNRECORDED:
            self._append_loss(exchange)
            self._append(sort, exchange, data)

    def _put_data(self, sort: Sort, exchange: int, data: bytes) -> None:
        if exchange == _UNRECORDED or self._is_full(exchange):
            self._count_loss(exchange, len(data))
        else:
            self._put(sort, exchange, data)

    def _is_full(self, exchange: int) -> bool:
        # A full queue stays closed until it is half empty: that makes few long gaps instead of many short ones.
        most = MOST_WAITING_BYTES // 2 if exchange in self._lost else MOST_WAITING_BYTES
        return self._put_bytes - self._taken_bytes > most

    def _count_loss(self, exchange: int, size: int) -> None:
        self._lost[exchange] = self._lost.get(exchange, 0) + size

    def _append_loss(self, exchange: int) -> None:
        if self._lost and (size := self._lost.pop(exchange, 0)):
            self._append(Sort.LOST, exchange, size.to_bytes(8))

    def _append(self, sort: Sort, exchange: int, data: bytes) -> None:
        self._put_bytes += len(data) + ENTRY_BYTES
        self._waiting.append(Entry(sort, exchange, time.time_ns(), data))
        # Setting it takes a lock, which each piece of the traffic would wait for.
        if not self._filled.is_set():
            self._filled.set()

    def _hand_over(self) -> None:
        """Thread body: sends entries to the process, and shows its messages to the user."""
        with suppress(OSError, EOFError):
            if self._helper.connection.poll(_READY_S):
                self._hear()
        self._ready.set()
        while not (self._ending and not self._waiting):
            try:
                self._hand_over_batch()
            except (OSError, EOFError, TypeError):  # the end of a connection that `close` has given up
                if self._ending:
                    return
                self._start_again()

    def _hand_over_batch(self) -> None:
        connection = self._helper.connection
        self._filled.wait(_WAIT_S)
        self._filled.clear()
        if not self._ending:
            time.sleep(WRITE_S)
        while batch := self._take():
            connection.send_bytes(batch)
        while connection.poll(0):
            self._hear()

    def _take(self) -> bytes:
        entries: list[Entry] = []
        size = 0
        while size < _BATCH_BYTES and self._waiting:
            entry = self._waiting.popleft()
            entries.append(entry)
            size += len(entry.data) + ENTRY_BYTES
        self._taken_bytes += size
        return packed(entries)

    def _hear(self) -> None:
        said = self._helper.connection.recv_bytes()
        if said:  # an empty message reports that it is ready
            self._say(said.decode())

    def _start_again(self) -> None:
        """Starts another process if one has ended; the traffic is not affected.

        Open exchanges are lost: the new process gets only their numbers.
        """
        lost_ns = time.time_ns()
        self._helper.end()
        if time.monotonic() - self._helper_since > _MIN_LIFETIME_S:
            self._say(_RESTARTED)
        else:
            self._say(_RESTART_FAILED)
            self._pause()
        while not self._ending:
            try:
                self._helper = self._serve(lost_ns, True)
            except OSError:
                self._say(_RESTART_FAILED)
                self._pause()
            else:
                self._helper_since = time.monotonic()
                return

    def _pause(self) -> None:
        until = time.monotonic() + _PAUSE_S
        while not self._ending and time.monotonic() < until:
            self._waiting.clear()
            self._taken_bytes = self._put_bytes
            time.sleep(_POLL_S)


def _json(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, separators=(",", ":")).encode()


# Recording process


def serve_recording(
    connection: Connection, path: str, origin: dict[str, object], secrets_in: list[tuple[str, str]], model: bool,
    begun_ns: int, resume: bool,
) -> None:  # fmt: skip
    """Records entries from the pipe until its other end closes.

    Args:
        connection: this end of the pipe.
        path: path of the capture.
        origin: facts for the header, without secrets.
        secrets_in: query and path of each server's address; secrets in them are masked.
        model: True if the traffic is calls of models.
        begun_ns: start of the tap, or with `resume` the end of the process before, Unix nanoseconds.
        resume: append to the capture of a process that has ended.
    """
    ending = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tap handles it and tells this process when to end
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda _number, _frame: ending.set())
    unwritten = ModelUnwritten() if model else Unwritten()
    for query, in_path in secrets_in:
        unwritten.learn_address(query, in_path)
    _Recorder(connection, Path(path), origin, unwritten, begun_ns, resume).run(ending)


class _Recorder:
    def __init__(
        self, connection: Connection, path: Path, origin: dict[str, object], unwritten: Unwritten, begun_ns: int,
        resume: bool,
    ) -> None:  # fmt: skip
        self._connection = connection
        self._lines = ExchangeLines(unwritten)
        hold = FileHold()
        with suppress(OSError):  # disk errors are reported at the first write
            hold.acquire(str(path), _WAIT_S, make=True)
        self._capture = TapCapture(
            path, origin=lambda: origin, say=self._say, append=resume, hold=hold, opened_ns=begun_ns
        )
        self._lost_ns = begun_ns if resume else 0
        self._reason = ""

    def run(self, ending: threading.Event) -> None:
        self._capture.write()
        if self._lost_ns:
            self._capture.mark("gap", time_ns=self._lost_ns, until_ns=time.time_ns(), reason=_LOSS_REASON)
        self._send(b"")  # ready
        try:
            while not self._reason:
                if self._connection.poll(_WAIT_S):
                    self._take(self._connection.recv_bytes())
                elif ending.is_set():
                    break
                self._capture.write()
        except (EOFError, OSError):
            pass  # the tap was killed
        reason = self._reason or "the tap was killed; its last messages may be missing"
        for made in self._lines.close(time.time_ns(), reason):
            self._write(made)
        self._capture.write(at_once=True)
        self._capture.finish(reason, exit=0)  # for readers that follow the capture: the tap has ended
        self._capture.release()

    def _take(self, data: bytes) -> None:
        self._capture.check_file()
        for entry in unpacked(data):
            if entry.sort is Sort.CLOSE:
                self._reason = str(entry.facts().get("reason", "")) or "the tap ended"
                return
            for made in self._lines.feed(entry):
                self._write(made)

    def _write(self, made: Line | Missing) -> None:
        if isinstance(made, Line):
            self._capture.line(made.head, made.value)
        else:
            self._capture.miss(made.size, 1, time_ns=made.time_ns, why=made.why)

    def _say(self, sentence: str) -> None:
        self._send(sentence.encode())

    def _send(self, data: bytes) -> None:
        with suppress(OSError):
            self._connection.send_bytes(data)

"""Writing down what a tap hears, on a thread of its own that nobody who talks waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from inspector.tap.backlog import CLIENT, WAYS, Backlog, BacklogEntry
from inspector.tap.capture_file import AGAIN_S, TapCapture
from inspector.tap.hold import FileHold

# Lines out of bytes that come cut anywhere, and what is lost of them. No I/O.

LONGEST_LINE_BYTES = 1 << 28
"""A longer line is passed on like any other, but not kept."""


class LineMaker:
    """Makes whole lines of one side's bytes.

    Attributes:
        lost_bytes, lost_lines: what was not kept since `take_loss`; a line that lost its beginning or its end is lost.
    """

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self.lost_bytes = 0
        self.lost_lines = 0
        self._longest_bytes = longest_bytes
        self._held = bytearray()  # a million pieces of two bytes as objects would take forty megabytes
        self._skipping = False  # the beginning of this line is lost

    def feed(self, data: bytes) -> list[bytes]:
        """Lines that these bytes end, without their line feeds."""
        if self._skipping:
            end = data.find(b"\n") + 1
            self.lost_bytes += end or len(data)
            if not end:
                return []
            self.lost_lines += 1
            self._skipping = False
            data = data[end:]
        first, *others = data.split(b"\n")
        if not others:
            self._hold(first)
            return []
        whole = [bytes(self._held) + first, *others[:-1]]
        self._held = bytearray()
        self._hold(others[-1])
        return whole

    def lose(self, size: int, ends: int, *, torn: bool = True) -> None:
        """Bytes are missing here, with so many line ends among them; `torn`: they end within a line."""
        self.lost_bytes += len(self._held) + size
        self.lost_lines += ends
        self._held, self._skipping = bytearray(), torn

    def rest(self) -> bytes:
        """The line that has no end yet; it is taken."""
        rest = bytes(self._held)
        if self._skipping:
            self.lost_lines += 1
        self._held, self._skipping = bytearray(), False
        return rest

    def take_loss(self) -> tuple[int, int]:
        """Bytes and lines lost since the last call, when there is a line's end to tell it at."""
        if self._skipping:
            return 0, 0
        found = self.lost_bytes, self.lost_lines
        self.lost_bytes = self.lost_lines = 0
        return found

    def _hold(self, part: bytes) -> None:
        self._held += part
        if len(self._held) > self._longest_bytes:
            self.lose(0, 0)


WRITE_S = 0.005
"""Between two writes, as in live captures; nothing is waked for each line, which would cost those who talk."""
_TAKEN_AT_ONCE = 1 << 22
_LINE_BYTES = 100  # that a line takes beside what it says, about
_STUCK_S = 2.0


class TapRecorder:
    """Makes lines of a backlog and writes them to a capture, until `close`.

    Attributes:
        capture: what is written to.
        began: set when it writes what comes, or has tried to.
    """

    def __init__(
        self,
        path: Path,
        backlog: Backlog,
        *,
        origin: Callable[[], dict[str, object]],
        say: Callable[[str], None],
        append: bool = False,
        hold: FileHold | None = None,
    ) -> None:
        """Prepare; nothing is written before `start`.

        Args:
            path: the capture.
            backlog: where what is said waits.
            origin: makes what the header says, without secrets.
            say: tells the user a sentence.
            append: go on with what the file holds.
            hold: keeps other taps from the file, if it is held already.
        """
        self.capture = TapCapture(path, origin=origin, say=say, append=append, hold=hold)
        self.began = threading.Event()
        self._path = path
        self._backlog = backlog
        self._say = say
        self._lines = (LineMaker(), LineMaker())
        self._bytes = [0, 0]
        self._silent = [False, False]
        self._outcome, self._code = "", 0
        self._ending = self._hurried = False
        self._steps = 0
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)

    def start(self) -> None:
        """Start writing, on a thread of its own that takes what waits until `close`."""
        self._thread.start()

    def close(self, outcome: str, code: int = 0, is_hurried: Callable[[], bool] = lambda: False) -> None:
        """Write what waits and how it ended; gives up on a disk that does not answer.

        Args:
            outcome: as a sentence.
            code: the server's exit code, negative for the signal that killed it.
            is_hurried: somebody wants an end: of what still waits is written how much it is.
        """
        self._outcome, self._code = outcome, code
        self._hurried = is_hurried()
        self._ending = True
        self._backlog.filled.set()
        before = -1
        while self._thread.is_alive() and self._steps != before:
            before = self._steps
            self._thread.join(_STUCK_S)
            self._hurried = is_hurried()

    # On the thread

    def _run(self) -> None:
        try:
            self._record()
        except Exception as error:  # noqa: BLE001 - whatever it is, those who talk are not to notice
            self._say(f"The capture {self._path} is not written any more: {type(error).__name__}: {error}.")
        finally:
            self.began.set()
            self.capture.release()

    def _record(self) -> None:
        ending = False
        self._write()
        while self._take_some():  # what was read first is written before it is passed on
            self._write()
        self.began.set()
        while not ending:
            self._backlog.filled.wait(AGAIN_S)
            self._backlog.filled.clear()
            ending = self._ending  # looked at first: what was said before is taken below
            if not ending:
                time.sleep(WRITE_S)
            while self._take_some():
                self._write(at_once=ending)
            self._write(at_once=ending)
        for way, is_silent in enumerate(self._silent):
            if not is_silent:  # a pump waits for ever for a client that is still there
                self._end(BacklogEntry(time.time_ns(), way, b"", ended="the server ended first"))
        self.capture.finish(self._outcome, exit=self._code)

    def _take_some(self) -> bool:
        """Take in what waits, up to a few megabytes; whether there was any."""
        self.capture.look()
        taken = 0
        while taken < _TAKEN_AT_ONCE and (entry := self._backlog.take()) is not None:
            taken += len(entry.data) + _LINE_BYTES * entry.data.count(b"\n") + 1
            self._hear(entry.not_kept() if self._hurried else entry)
            self._steps += 1
        return taken > 0

    def _hear(self, entry: BacklogEntry) -> None:
        lines = self._lines[entry.way]
        if entry.lost_bytes:
            lines.lose(entry.lost_bytes, entry.lost_lines, torn=entry.torn)
        self._bytes[entry.way] += len(entry.data) + entry.lost_bytes
        whole = lines.feed(entry.data) if entry.data else []
        self._tell_loss(lines, entry.time_ns, "it was said faster than it could be written")
        for line in whole:
            self._keep(line, entry.way, entry.time_ns)
            self._steps += 1
        if lines.lost_bytes:  # behind them began one that is too long
            self._tell_loss(lines, entry.time_ns, "a line was too long to be kept")
        if entry.ended is not None:
            self._end(entry)

    def _end(self, entry: BacklogEntry) -> None:
        """One side has fallen silent: its last line may have no end."""
        lines = self._lines[entry.way]
        self._silent[entry.way] = True
        rest = lines.rest()
        if rest:
            self._keep(rest, entry.way, entry.time_ns)
        self._tell_loss(lines, entry.time_ns, "it was said faster than it could be written")
        self.capture.mark(
            "ended", time_ns=entry.time_ns, dir=WAYS[entry.way], bytes=self._bytes[entry.way], newline=not rest,
            reason=entry.ended,
        )  # fmt: skip

    def _keep(self, line: bytes, way: int, time_ns: int) -> None:
        try:
            data: str | bytes = line.decode()
        except UnicodeDecodeError:
            data = line
        self.capture.frame(data, direction="client->server" if way == CLIENT else "server->client", time_ns=time_ns)

    def _tell_loss(self, lines: LineMaker, time_ns: int, why: str) -> None:
        size, count = lines.take_loss()
        if size:
            self.capture.miss(size, count, time_ns=time_ns, why=why)

    def _write(self, *, at_once: bool = False) -> None:
        self.capture.write(at_once=at_once)
        self._steps += 1

"""Records a stdio tap on its own thread: splits the backlog into lines, writes them, counts losses."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from inspector.tap.backlog import CLIENT, WAYS, Backlog, BacklogEntry
from inspector.tap.capture_file import AGAIN_S, WRITE_S, TapCapture
from inspector.tap.hold import FileHold

# Splits bytes that arrive in arbitrary pieces into lines, and counts losses. No I/O.

# A line of 100 MB takes 0.6 GB of memory until it is written (docs/tap.md).
LONGEST_LINE_BYTES = 1 << 28
"""A longer line is passed on but not recorded."""


class LineMaker:
    """Splits one side's bytes into lines.

    Attributes:
        lost_bytes, lost_lines: losses since `take_loss`; a line without its beginning or end is lost.
    """

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self.lost_bytes = 0
        self.lost_lines = 0
        self._longest_bytes = longest_bytes
        self._pending = bytearray()  # a bytearray: a million two-byte pieces as objects would take 40 MB
        self._skipping = False  # the beginning of this line is lost

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines completed by these bytes, without line feeds."""
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
        whole = [bytes(self._pending) + first, *others[:-1]]
        self._pending = bytearray()
        self._hold(others[-1])
        return whole

    def lose(self, size: int, ends: int, *, torn: bool = True) -> None:
        """Notes missing bytes with `ends` line ends among them; `torn` if they end within a line."""
        self.lost_bytes += len(self._pending) + size
        self.lost_lines += ends
        self._pending, self._skipping = bytearray(), torn

    def rest(self) -> bytes:
        """Returns and clears the unfinished line."""
        rest = bytes(self._pending)
        if self._skipping:
            self.lost_lines += 1
        self._pending, self._skipping = bytearray(), False
        return rest

    def take_loss(self) -> tuple[int, int]:
        """Returns bytes and lines lost since the last call; 0 and 0 within a lost line, whose size is not known yet."""
        if self._skipping:
            return 0, 0
        found = self.lost_bytes, self.lost_lines
        self.lost_bytes = self.lost_lines = 0
        return found

    def _hold(self, part: bytes) -> None:
        self._pending += part
        if len(self._pending) > self._longest_bytes:
            self.lose(0, 0)


_BATCH_BYTES = 1 << 22
# Otherwise 4 MB of empty lines would be one batch of four million rows.
_LINE_BYTES = 100  # overhead of a line, approximately
# Seconds without a written entry, after which the disk counts as stuck.
_STUCK_S = 2.0


class TapRecorder:
    """Writes the lines of a backlog to a capture, until `close`.

    Attributes:
        capture: the capture.
        began: set when recording works, or has failed once.
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
        """Prepares the recorder; `start` starts its thread.

        Args:
            path: path of the capture.
            backlog: source of entries.
            origin: returns the facts for the header, without secrets.
            say: shows the user a sentence.
            append: append to the existing file.
            hold: lock on the file, if the caller has taken it.
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
        """Starts the recorder's thread."""
        self._thread.start()

    def close(self, outcome: str, code: int = 0, is_hurried: Callable[[], bool] = lambda: False) -> None:
        """Drains the backlog and writes the last row; gives up on a disk that does not respond.

        Args:
            outcome: a sentence on how the server ended.
            code: the server's exit code, negative for the signal that killed it.
            is_hurried: returns True if the user wants to end now; the rest of the backlog is then only counted.
        """
        self._outcome, self._code = outcome, code
        self._hurried = is_hurried()
        self._ending = True
        self._backlog.filled.set()
        before = -1
        # Progress counts rather than time: a long backlog is written to its end, a stuck disk is given up.
        while self._thread.is_alive() and self._steps != before:
            before = self._steps
            self._thread.join(_STUCK_S)
            self._hurried = is_hurried()

    # Recorder's thread

    def _run(self) -> None:
        try:
            self._record()
        except Exception as error:  # noqa: BLE001 - a failing recording never disturbs the traffic
            self._say(f"The capture {self._path} is no longer written: {type(error).__name__}: {error}.")
        finally:
            self.began.set()
            self.capture.release()

    def _record(self) -> None:
        ending = False
        self._write()
        while self._handle_batch():  # so that the first bytes are written before they are passed on
            self._write()
        self.began.set()
        while not ending:
            self._backlog.filled.wait(AGAIN_S)
            self._backlog.filled.clear()
            ending = self._ending  # read before the backlog is drained, so that no entry is missed
            if not ending:
                time.sleep(WRITE_S)
            while self._handle_batch():
                self._write(at_once=ending)
            self._write(at_once=ending)
        for way, is_silent in enumerate(self._silent):
            if not is_silent:  # a pump may block for ever on a client that is still running
                self._end(BacklogEntry(time.time_ns(), way, b"", ended="the server ended first"))
        self.capture.finish(self._outcome, exit=self._code)

    def _handle_batch(self) -> bool:
        """Handles a few megabytes of the backlog. Returns True if there were any entries."""
        self.capture.check_file()
        taken = 0
        while taken < _BATCH_BYTES and (entry := self._backlog.pop_entry()) is not None:
            taken += len(entry.data) + _LINE_BYTES * entry.data.count(b"\n") + 1
            # The user has asked twice to end: counting is fast, and the gap row stays exact.
            self._hear(entry.not_kept() if self._hurried else entry)
            self._steps += 1
        return taken > 0

    def _hear(self, entry: BacklogEntry) -> None:
        lines = self._lines[entry.way]
        if entry.lost_bytes:
            lines.lose(entry.lost_bytes, entry.lost_lines, torn=entry.torn)
        self._bytes[entry.way] += len(entry.data) + entry.lost_bytes
        whole = lines.feed(entry.data) if entry.data else []
        self._record_loss(lines, entry.time_ns, "messages came faster than they could be written")
        for line in whole:
            self._write_line(line, entry.way, entry.time_ns)
            self._steps += 1
        if lines.lost_bytes:  # an overlong line began after them
            self._record_loss(lines, entry.time_ns, "a line was too long to be kept")
        if entry.ended is not None:
            self._end(entry)

    def _end(self, entry: BacklogEntry) -> None:
        """Handles the end of one side, whose last line may be unfinished."""
        lines = self._lines[entry.way]
        self._silent[entry.way] = True
        rest = lines.rest()
        if rest:
            self._write_line(rest, entry.way, entry.time_ns)
        self._record_loss(lines, entry.time_ns, "messages came faster than they could be written")
        self.capture.mark(
            "ended", time_ns=entry.time_ns, dir=WAYS[entry.way], bytes=self._bytes[entry.way], newline=not rest,
            reason=entry.ended,
        )  # fmt: skip

    def _write_line(self, line: bytes, way: int, time_ns: int) -> None:
        try:
            data: str | bytes = line.decode()
        # Servers print other encodings by mistake; such a line is kept byte for byte and shown as unreadable.
        except UnicodeDecodeError:
            data = line
        self.capture.frame(data, direction="client->server" if way == CLIENT else "server->client", time_ns=time_ns)

    def _record_loss(self, lines: LineMaker, time_ns: int, why: str) -> None:
        size, count = lines.take_loss()
        if size:
            self.capture.miss(size, count, time_ns=time_ns, why=why)

    def _write(self, *, at_once: bool = False) -> None:
        self.capture.write(at_once=at_once)
        self._steps += 1

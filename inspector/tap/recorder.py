"""Writing down what a tap hears, on a thread of its own; whatever becomes of the disk stays here.

A capture that cannot be written is tried again every second. What is said meanwhile is kept up to
`MOST_UNWRITTEN_CHARS`, then counted; as soon as writing works again a gap row says how much is missing. One sentence on
standard error says that there is trouble, one that it is over.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.tap.backlog import CLIENT, WAYS, Backlog, BacklogEntry
from inspector.tap.capture_name import HEADER
from inspector.tap.hold import CUT, REMOVED, FileHold

if TYPE_CHECKING:
    from inspector.capture.writer import CaptureWriter

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
        self._parts: list[bytes] = []
        self._held_bytes = 0
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
        whole = [b"".join((*self._parts, first)), *others[:-1]]
        self._parts, self._held_bytes = [], 0
        self._hold(others[-1])
        return whole

    def lose(self, size: int, ends: int, *, torn: bool = True) -> None:
        """Bytes are missing here, with so many line ends among them; `torn`: they end within a line."""
        self.lost_bytes += self._held_bytes + size
        self.lost_lines += ends
        self._parts, self._held_bytes, self._skipping = [], 0, torn

    def rest(self) -> bytes:
        """The line that has no end yet; it is taken."""
        rest = b"".join(self._parts)
        if self._skipping:
            self.lost_lines += 1
        self._parts, self._held_bytes, self._skipping = [], 0, False
        return rest

    def take_loss(self) -> tuple[int, int]:
        """Bytes and lines lost since the last call, when there is a line's end to tell it at."""
        if self._skipping:
            return 0, 0
        found = self.lost_bytes, self.lost_lines
        self.lost_bytes = self.lost_lines = 0
        return found

    def _hold(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._held_bytes += len(part)
            if self._held_bytes > self._longest_bytes:
                self.lose(0, 0)


WRITE_S = 0.02
"""Between two writes, as in live captures; nothing is waked for each line, which would cost those who talk."""
AGAIN_S = 1.0
"""A disk in trouble is tried again so often; while nothing is said, the file is looked for under its name."""
MOST_UNWRITTEN_CHARS = 1 << 24
"""So much is kept for a disk in trouble."""
_TAKEN_AT_ONCE = 1 << 22
_STUCK_S = 2.0
_OWN_HEADS = (HEADER, b'{"t":')  # of a capture that was emptied between a look and a write: lines of ours
_GONE = {REMOVED: "what was said before is not in", CUT: "what was cut off is missing in"}


class TapRecorder:
    """Makes lines of a backlog and writes them to a capture, until `close`.

    Attributes:
        begun: set when the file has its first line.
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
        self.begun = threading.Event()
        self._path = path
        self._backlog = backlog
        self._origin = origin
        self._say = say
        self._append = append
        self._hold = hold or FileHold()
        self._writer: CaptureWriter | None = None
        self._opened_ns = time.time_ns()
        self._lines = (LineMaker(), LineMaker())
        self._bytes = [0, 0]
        self._silent = [False, False]
        self._trouble = ""
        self._since_ns = self._seen_ns = 0
        self._again_at = 0.0
        self._lost_bytes = self._lost_lines = 0
        self._gone = ""  # what others did to the file
        self._outcome, self._code = "", 0
        self._ending = False
        self._steps = 0
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)

    def start(self) -> None:
        """Start writing, on a thread of its own that takes what waits until `close`."""
        self._thread.start()

    def close(self, outcome: str, code: int = 0) -> None:
        """Write what waits and how it ended; gives up on a disk that does not answer.

        Args:
            outcome: as a sentence.
            code: the server's exit code, negative for the signal that killed it.
        """
        self._outcome, self._code = outcome, code
        self._ending = True
        self._backlog.filled.set()
        before = -1
        while self._thread.is_alive() and self._steps != before:
            before = self._steps
            self._thread.join(_STUCK_S)

    # On the thread

    def _run(self) -> None:
        try:
            self._record()
        except Exception as error:  # noqa: BLE001 - whatever it is, those who talk are not to notice
            self._say(f"The capture {self._path} is not written any more: {type(error).__name__}: {error}.")
        finally:
            self._hold.release()

    def _record(self) -> None:
        ending = False
        self._write()
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
        self._finish()

    def _take_some(self) -> bool:
        """Take in what waits, up to a few megabytes; whether there was any."""
        self._look()
        taken = 0
        while taken < _TAKEN_AT_ONCE and (entry := self._backlog.take()) is not None:
            taken += len(entry.data) + 1
            self._hear(entry)
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
        if self._writer is not None and not self._lost_lines:
            self._writer.mark(
                "ended", time_ns=entry.time_ns, dir=WAYS[entry.way], bytes=self._bytes[entry.way], newline=not rest,
                reason=entry.ended,
            )  # fmt: skip

    def _keep(self, line: bytes, way: int, time_ns: int) -> None:
        writer = self._writer
        if writer is None or self._lost_lines or (self._trouble and writer.waiting_chars > MOST_UNWRITTEN_CHARS):
            # Once something is lost all is, until writing works: one gap, in its place.
            self._lost_lines += 1
            self._lost_bytes += len(line) + 1
            return
        try:
            data: str | bytes = line.decode()
        except UnicodeDecodeError:
            data = line
        writer.frame(data, direction="client->server" if way == CLIENT else "server->client", time_ns=time_ns)

    def _tell_loss(self, lines: LineMaker, time_ns: int, why: str) -> None:
        size, count = lines.take_loss()
        if not size:
            return
        if self._writer is None or self._trouble:
            self._lost_bytes += size
            self._lost_lines += max(1, count)
        else:
            self._writer.mark("gap", time_ns=time_ns, reason=_missing(why, count, size), lines=count, bytes=size)

    # The disk

    def _write(self, *, at_once: bool = False) -> None:
        if self._trouble and time.monotonic() < self._again_at and not at_once:
            return
        try:
            writer = self._writer or self._open()
            writer.settle()
        except OSError as error:
            self._troubled(error)
        else:
            if self._trouble:
                self._recovered(writer)
        self._steps += 1

    def _open(self) -> CaptureWriter:
        from inspector.capture.writer import CaptureWriter  # the server runs meanwhile

        name = str(self._path)
        if self._hold.file >= 0 and self._hold.meanwhile(name, 0) == REMOVED:
            self._hold.release()
            self._gone = self._gone and REMOVED
        if self._hold.file < 0:
            self._hold.take(name, make=True)
        is_cut = self._gone == CUT
        if is_cut and (head := self._hold.begins_with(len(HEADER))) and not head.startswith(_OWN_HEADS):
            raise OSError(errno.EEXIST, "it holds something else by now")
        writer = CaptureWriter(self._path, origin=self._origin(), resume=self._append or is_cut)
        self._append = False
        self._writer = writer
        writer.mark("opened", time_ns=time.time_ns() if self._gone else self._opened_ns, source="tap")
        writer.settle()
        self._seen_ns = time.time_ns()
        self.begun.set()
        return writer

    def _look(self) -> None:
        """Notice what others did to the file, before more is written: without its name all would be gone at the end."""
        writer = self._writer
        if writer is None or self._trouble:
            return
        done = self._hold.meanwhile(str(self._path), writer.size_bytes)
        if not done:
            self._seen_ns = time.time_ns()
            return
        with suppress(OSError):
            writer.close()
        self._writer, self._gone = None, done
        if done == REMOVED:
            self._hold.release()
        self._troubled(OSError(errno.ENOENT, done))
        self._write(at_once=True)

    def _troubled(self, error: OSError) -> None:
        self._again_at = time.monotonic() + (AGAIN_S if self._trouble else 0.0)
        if self._trouble:
            return
        # What was written since the last look may have gone with the file.
        self._since_ns = self._seen_ns if self._gone else time.time_ns()
        self._trouble = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
        self._say(
            f"The capture {self._path} cannot be written: {self._trouble.rstrip('.')}. "
            "Client and server talk on undisturbed; it is tried again every second."
        )

    def _recovered(self, writer: CaptureWriter) -> None:
        lost, gone = self._lost_lines, _GONE.get(self._gone, "")
        reason = f"the capture could not be written ({self._trouble})"
        if lost:
            reason = _missing(reason, lost, self._lost_bytes) + (f"; {gone} this file" if gone else "")
        elif gone:
            reason = f"the capture {self._gone.removeprefix('it ')} while it was written; {gone} this file"
        if lost or gone:
            facts = {"until_ns": time.time_ns()} | ({"lines": lost, "bytes": self._lost_bytes} if lost else {})
            writer.mark("gap", time_ns=self._since_ns, reason=reason, **facts)
        missing = [f"{gone} it"] * bool(gone) + [f"{_count(lost)} {'is' if lost == 1 else 'are'} missing in it"] * bool(
            lost
        )
        words = ", and ".join(missing) or "nothing said meanwhile is missing"
        self._say(f"The capture {self._path} is written again; {words}.")
        self._lost_bytes = self._lost_lines = 0
        self._trouble = self._gone = ""

    def _finish(self) -> None:
        """The last words; a disk in trouble is given one more chance by `_write`."""
        if self._trouble or self._writer is None:
            with suppress(OSError):
                if self._writer is not None:
                    self._writer.close()
            self._say(f"The capture {self._path} is not complete: what was said last is missing in it.")
            return
        self._writer.mark("closed", time_ns=time.time_ns(), reason=self._outcome, exit=self._code)
        try:
            self._writer.close()
        except OSError as error:
            self._say(f"{error}")


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _missing(why: str, lines: int, size: int) -> str:
    return f"{why}: {_count(max(1, lines))}, {size:,} bytes, {'is' if lines <= 1 else 'are'} missing here"

"""The capture a tap writes; whatever becomes of the disk stays here.

A capture that cannot be written is tried again every second. What is said meanwhile is kept up to
`MOST_UNWRITTEN_CHARS`, then counted; as soon as writing works again a gap row says how much is missing. One sentence
tells that there is trouble, one that it is over.
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

from inspector.tap.capture_name import HEADER
from inspector.tap.hold import CUT, REMOVED, FileHold

if TYPE_CHECKING:
    from inspector.store.files.capture_writer import CaptureWriter, Direction
    from inspector.store.files.tool_baseline import ListedTools

AGAIN_S = 1.0
"""A disk in trouble is tried again so often; while nothing is said, the file is looked for under its name."""
MOST_UNWRITTEN_CHARS = 1 << 24
"""So much is kept for a disk in trouble."""
_OWN_HEADS = (HEADER, b'{"t":')  # of a capture that was emptied between a look and a write: lines of ours
_BY_SERVER = '"dir":"server->client"'
_GONE = {REMOVED: "what was said before is not in", CUT: "what was cut off is missing in"}


class TapCapture:
    """One capture, written by one thread.

    Attributes:
        begun: set when the file has its first line.
        lost_lines: so many are missing since the disk is in trouble; 0 while nothing is.
    """

    def __init__(
        self,
        path: Path,
        *,
        origin: Callable[[], dict[str, object]],
        say: Callable[[str], None],
        append: bool = False,
        hold: FileHold | None = None,
        opened_ns: int = 0,
    ) -> None:
        """Prepare; nothing is written before `write`.

        Args:
            path: the capture.
            origin: makes what the header says, without secrets.
            say: tells the user a sentence.
            append: go on with what the file holds.
            hold: keeps other taps from the file, if it is held already.
            opened_ns: when the tap began, nanoseconds since the Unix epoch; 0 for now.
        """
        self.begun = threading.Event()
        self.lost_lines = 0
        self._path = path
        self._origin = origin
        self._say = say
        self._append = append
        self._hold = hold or FileHold()
        self._writer: CaptureWriter | None = None
        self._opened_ns = opened_ns or time.time_ns()
        self._trouble = ""
        self._since_ns = self._seen_ns = 0
        self._again_at = 0.0
        self._lost_bytes = 0
        self._gone = ""  # what others did to the file
        self._tools: ListedTools | None = None

    # What is said

    def frame(self, data: str | bytes, *, direction: Direction, time_ns: int) -> None:
        """Take in a line that one side said."""
        writer = self._writer_for(len(data) + 1)
        if isinstance(data, str) and self._tools is not None:
            self._tools.hear(data, by_server=direction == "server->client")
        if writer is not None:
            writer.frame(data, direction=direction, time_ns=time_ns)

    def line(self, head: str, value: str) -> None:
        """Take in a line as another format writes it: JSON in two parts, but for its last brace."""
        writer = self._writer_for(len(head) + len(value))
        if self._tools is not None:
            self._tools.hear(value, by_server=_BY_SERVER in head)
        if writer is not None:
            writer.line(head, value)

    def mark(self, name: str, *, time_ns: int, **facts: object) -> None:
        """Take in a mark, unless something is missing before it."""
        if self._writer is not None and not self.lost_lines:
            self._writer.mark(name, time_ns=time_ns, src=0, **facts)

    def miss(self, size: int, lines: int, *, time_ns: int, why: str) -> None:
        """Say what was not kept: now, or together with what a disk in trouble has cost."""
        if self._writer is None or self._trouble:
            self._lost_bytes += size
            self.lost_lines += max(1, lines)
        else:
            self._writer.mark("gap", time_ns=time_ns, reason=_missing(why, lines, size), lines=lines, bytes=size)

    def _writer_for(self, size: int) -> CaptureWriter | None:
        """What takes a line; None where it is lost."""
        writer = self._writer
        if writer is None or self.lost_lines or (self._trouble and writer.waiting_chars > MOST_UNWRITTEN_CHARS):
            # Once something is lost all is, until writing works: one gap, in its place.
            self.lost_lines += 1
            self._lost_bytes += size
            return None
        return writer

    # The disk

    def write(self, *, at_once: bool = False) -> None:
        """Hand what waits to the disk; one in trouble is left alone for a while, unless `at_once`."""
        if self._trouble and time.monotonic() < self._again_at and not at_once:
            return
        try:
            writer = self._writer or self._open()
            writer.settle()
            if self._tools is not None:  # now: nobody knows how a tap will end
                self._tools.store()
        except OSError as error:
            self._troubled(error)
        else:
            if self._trouble:
                self._recovered(writer)

    def _open(self) -> CaptureWriter:
        from inspector.store.files.capture_writer import CaptureWriter
        from inspector.store.files.tool_baseline import (
            ListedTools,  # the server runs meanwhile, and nothing is relayed yet
        )

        self._tools = self._tools or ListedTools(self._opened_ns)
        name = str(self._path)
        if self._hold.file >= 0 and self._hold.meanwhile(name, 0) == REMOVED:
            self._hold.release()
            self._gone = self._gone and REMOVED
        if self._hold.file < 0:
            self._hold.take(name, make=True)
        is_cut = self._gone == CUT
        if is_cut and (head := self._hold.begins_with(len(HEADER))) and not head.startswith(_OWN_HEADS):
            raise OSError(errno.EEXIST, "it holds something else by now")
        origin = {**self._origin(), "opened_ns": self._opened_ns}
        writer = CaptureWriter(self._path, origin=origin, resume=self._append or is_cut)
        self._append = False
        self._writer = writer
        writer.mark("opened", time_ns=time.time_ns() if self._gone else self._opened_ns, source="tap")
        writer.settle()
        self._seen_ns = time.time_ns()
        self.begun.set()
        return writer

    def look(self) -> None:
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
        self.write(at_once=True)

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
        lost, gone = self.lost_lines, _GONE.get(self._gone, "")
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
        self._lost_bytes = self.lost_lines = 0
        self._trouble = self._gone = ""

    def finish(self, reason: str, **facts: object) -> None:
        """Write the last words; a disk in trouble is given one more chance by `write`."""
        if self._tools is not None:
            self._tools.store()
        if self._trouble or self._writer is None:
            with suppress(OSError):
                if self._writer is not None:
                    self._writer.close()
            self._say(f"The capture {self._path} is not complete: what was said last is missing in it.")
            return
        self._writer.mark("closed", time_ns=time.time_ns(), src=0, reason=reason, **facts)
        try:
            self._writer.close()
        except OSError as error:
            self._say(f"{error}")

    def release(self) -> None:
        """Let other taps have the file."""
        self._hold.release()


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _missing(why: str, lines: int, size: int) -> str:
    return f"{why}: {_count(max(1, lines))}, {size:,} bytes, {'is' if lines <= 1 else 'are'} missing here"

"""Writes a tap's capture; while the disk fails, keeps lines, retries, and reports lost ones as a gap.

A failed write is retried every second. Up to `MOST_UNWRITTEN_CHARS` are kept meanwhile, then lines are only counted. A
gap row states how much is missing as soon as writing works again. The user gets one sentence when the trouble starts
and one when it ends.
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

from inspector.store.files.capture_format import HEADER
from inspector.tap.hold import CUT, REMOVED, FileHold

if TYPE_CHECKING:
    from inspector.store.files.capture_writer import CaptureWriter, Direction
    from inspector.store.files.tool_baseline import ToolListWatcher

WRITE_S = 0.005
"""Seconds between two writes; waking the thread for each line or piece would slow the traffic."""
AGAIN_S = 1.0
"""Seconds between retries; an idle capture also checks at this rate that its file still exists."""
# Memory must not grow with a full disk. Lines beyond it become one gap row with their number.
MOST_UNWRITTEN_CHARS = 1 << 24
"""Characters kept in memory while the disk fails."""
# first bytes of our own lines, for a file that was truncated between the check and the write
_OWN_LINE_STARTS = (HEADER, b'{"t":')
_BY_SERVER = '"dir":"server->client"'
_MISSING_WORDS = {REMOVED: "earlier messages are not in", CUT: "the removed part is missing in"}


class TapCapture:
    """One capture, written by one thread.

    Attributes:
        begun: set when the file has its first line.
        lost_lines: lines missing since the disk failed; 0 if none are.
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
        """Prepares the capture; the first `write` creates it.

        Args:
            path: path of the capture.
            origin: returns the facts for the header, without secrets.
            say: shows the user a sentence.
            append: append to the existing file.
            hold: lock on the file, if the caller has taken it.
            opened_ns: start of the tap, nanoseconds since the Unix epoch; 0 for now.
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
        self._gone = ""  # REMOVED or CUT if another program changed the file
        self._tools: ToolListWatcher | None = None

    # Lines

    def frame(self, data: str | bytes, *, direction: Direction, time_ns: int) -> None:
        """Adds a line sent by one side."""
        writer = self._writer_for(len(data) + 1)
        if isinstance(data, str) and self._tools is not None:
            # Also for lines that a failing disk loses: definitions are stored in another folder.
            self._tools.on_message(data, by_server=direction == "server->client")
        if writer is not None:
            writer.add_frame(data, direction=direction, time_ns=time_ns)

    def line(self, head: str, value: str) -> None:
        """Adds a line of another format: JSON in two parts, without its closing brace."""
        writer = self._writer_for(len(head) + len(value))
        if self._tools is not None:
            self._tools.on_message(value, by_server=_BY_SERVER in head)
        if writer is not None:
            writer.add_line(head, value)

    def mark(self, name: str, *, time_ns: int, **facts: object) -> None:
        """Adds a mark, unless lines before it are missing."""
        if self._writer is not None and not self.lost_lines:
            self._writer.add_mark(name, time_ns=time_ns, src=0, **facts)

    def miss(self, size: int, lines: int, *, time_ns: int, why: str) -> None:
        """Records a gap: at once, or merged into the gap of a failing disk."""
        if self._writer is None or self._trouble:
            self._lost_bytes += size
            self.lost_lines += max(1, lines)
        else:
            self._writer.add_mark("gap", time_ns=time_ns, reason=_loss_words(why, lines, size), lines=lines, bytes=size)

    def _writer_for(self, size: int) -> CaptureWriter | None:
        """Returns the writer for a line; None if the line is lost."""
        writer = self._writer
        if writer is None or self.lost_lines or (self._trouble and writer.pending_chars > MOST_UNWRITTEN_CHARS):
            # After the first lost line all lines are dropped until writing works, so that there is one gap in its
            # place.
            self.lost_lines += 1
            self._lost_bytes += size
            return None
        return writer

    # Disk

    def write(self, *, at_once: bool = False) -> None:
        """Writes pending lines; a failing disk is retried only after `AGAIN_S`, unless `at_once`."""
        if self._trouble and time.monotonic() < self._again_at and not at_once:
            return
        try:
            writer = self._writer or self._open()
            writer.write_all_now()
            if self._tools is not None:  # now, since the tap may be killed at any time
                self._tools.store()
        except OSError as error:
            self._on_write_failed(error)
        else:
            if self._trouble:
                self._on_recovered(writer)

    def _open(self) -> CaptureWriter:
        from inspector.store.files.capture_writer import CaptureWriter
        from inspector.store.files.tool_baseline import (
            ToolListWatcher,  # imported while the server starts; no bytes are relayed yet
        )

        self._tools = self._tools or ToolListWatcher(self._opened_ns)
        name = str(self._path)
        # The lock is on the open file. A removed file keeps it, while its name is free for a second tap.
        if self._hold.file >= 0 and self._hold.meanwhile(name, 0) == REMOVED:
            self._hold.release()
            self._gone = self._gone and REMOVED
        if self._hold.file < 0:
            self._hold.acquire(name, make=True)
        # After a truncation other programs may have put their own content there; it must stay as it is.
        is_cut = self._gone == CUT
        if is_cut and (head := self._hold.begins_with(len(HEADER))) and not head.startswith(_OWN_LINE_STARTS):
            raise OSError(errno.EEXIST, "it holds something else by now")
        origin = {**self._origin(), "opened_ns": self._opened_ns}
        writer = CaptureWriter(self._path, origin=origin, resume=self._append or is_cut)
        self._append = False
        self._writer = writer
        writer.add_mark("opened", time_ns=time.time_ns() if self._gone else self._opened_ns, source="tap")
        writer.write_all_now()
        self._seen_ns = time.time_ns()
        self.begun.set()
        return writer

    def check_file(self) -> None:
        """Detects that the file was removed or truncated. Later lines would go to a file without a name."""
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
        # Treated as a disk error, so that the user gets the two usual sentences and the capture one gap row.
        self._on_write_failed(OSError(errno.ENOENT, done))
        self.write(at_once=True)

    def _on_write_failed(self, error: OSError) -> None:
        self._again_at = time.monotonic() + (AGAIN_S if self._trouble else 0.0)
        if self._trouble:
            return
        # Lines written since the last look may be lost with the file.
        self._since_ns = self._seen_ns if self._gone else time.time_ns()
        self._trouble = error.strerror or (os.strerror(error.errno) if error.errno else str(error))
        self._say(
            f"The capture {self._path} cannot be written: {self._trouble.rstrip('.')}. "
            "The traffic is not affected; writing is retried every second."
        )

    def _on_recovered(self, writer: CaptureWriter) -> None:
        lost, gone = self.lost_lines, _MISSING_WORDS.get(self._gone, "")
        reason = f"the capture could not be written ({self._trouble})"
        if lost:
            reason = _loss_words(reason, lost, self._lost_bytes) + (f"; {gone} this file" if gone else "")
        elif gone:
            reason = f"the capture {self._gone.removeprefix('it ')} while it was written; {gone} this file"
        if lost or gone:
            facts = {"until_ns": time.time_ns()} | ({"lines": lost, "bytes": self._lost_bytes} if lost else {})
            writer.add_mark("gap", time_ns=self._since_ns, reason=reason, **facts)
        missing = [f"{gone} it"] * bool(gone) + [f"{_count(lost)} {'is' if lost == 1 else 'are'} missing in it"] * bool(
            lost
        )
        words = ", and ".join(missing) or "no messages are missing"
        self._say(f"The capture {self._path} is written again; {words}.")
        self._lost_bytes = self.lost_lines = 0
        self._trouble = self._gone = ""

    def finish(self, reason: str, **facts: object) -> None:
        """Writes the last row; a failing disk gets one more chance from `write`."""
        if self._tools is not None:
            self._tools.store()
        # The caller has written at once before this; a second attempt would only delay the server's exit code.
        if self._trouble or self._writer is None:
            with suppress(OSError):
                if self._writer is not None:
                    self._writer.close()
            self._say(f"The capture {self._path} is incomplete: the last messages are missing.")
            return
        self._writer.add_mark("closed", time_ns=time.time_ns(), src=0, reason=reason, **facts)
        try:
            self._writer.close()
        except OSError as error:
            self._say(f"{error}")

    def release(self) -> None:
        """Unlocks the file for other taps."""
        self._hold.release()


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _loss_words(why: str, lines: int, size: int) -> str:
    return f"{why}: {_count(max(1, lines))}, {size:,} bytes, {'is' if lines <= 1 else 'are'} missing here"

"""Reading one source, block by block: from its beginning when it is opened, and on as it grows.

Which way is taken is decided here: lines or elements of an array, by this process or by others, at once or as far as
something has come. Whoever takes the blocks in need not know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing

import numpy as np

from inspector.protocol.formats import READS
from inspector.reading.decoder import overlong
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.files.sniff import SNIFFED_LINES, archive_words, can_tell, is_newest_first, scanner_for, sniff
from inspector.reading.reassembly.joined_lines import JoinedLines
from inspector.reading.reassembly.reassembler import IN_ORDER, Wires
from inspector.reading.workers.offload import BACKLOG_BYTES, LONG_LINE_BYTES, Backlog, LongLines
from inspector.reading.workers.parallel import WORTHWHILE_BYTES, Pace, read_blocks
from inspector.reading.workers.worker_process import works_alone
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.files import long_lines
from inspector.store.files.source_files import SourceFile

BLOCK_BYTES = 1 << 20
LIVE_BLOCK_BYTES = 1 << 18
"""Smaller, so that a window stays responsive between two blocks."""
_SHORT_LINE = 128
"""Bytes. Of shorter lines a block holds no more than of these: each takes its time, however little it says."""
POLL_S = 0.016
"""How often a document takes in what has arrived: what a firehose brings until then is a few milliseconds' work."""
_TAKEN_S, _TAKEN_BEHIND_S, _BEHIND_BYTES = 0.008, 0.016, 8 << 20
"""How long a window waits for a block of live traffic to be taken in; and longer, so that blocks are larger and cost
less a message, where so much waits that catching up is what one wants to see."""
_FORMATS_READ = f"{READS}; HTTP archives (HAR); a JSON array of any of these; and all of them as .gz or .zst"
_WAIT_S = 0.05

Steps = Generator[Block | None]
"""Blocks in order; None is a step that brought nothing, and may wait for somebody else."""


class UnknownFormatError(Exception):
    """Not one of the first 1,000 lines of a file is known; the text is a sentence for the user."""


class SourceReader:
    """Reads a source of a capture.

    Attributes:
        source: what is read; its `read_to` is moved by whoever takes a block in.
        waiting: the last step brought nothing because the next block is not there yet.
        left_lines: the last block was cut short of whole lines that are there.
        pace: is told by whoever takes the blocks in how long that took.
    """

    def __init__(self, source: SourceFile, place: int, *, live: bool = False) -> None:
        """Prepare.

        Args:
            source: the file.
            place: its number in the capture.
            live: it is being written while a window waits: lines too long for its loop go to another process.
        """
        self.source = source
        self.waiting = self.left_lines = False
        self.pace = Pace()  # of whoever takes in what is read
        self._own_pace = Pace()
        self._place = place
        self._live = self._hands_over = live
        self._long_lines: LongLines | None = None
        self._backlog: Backlog | None = None
        self._torn_at: int | None = None  # where a last record began that was taken without its end
        self._wires: Wires | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is being written by a live source, whole lines at a time."""
        return self._live

    @property
    def sources(self) -> list[SourceFile]:
        """What is read."""
        return [self.source]

    def _blocks(self) -> BlockReader:
        """What reads the next block."""
        return BlockReader(self._place, self.source.reading, self._in_order())

    def _in_order(self) -> Wires:
        """What looks at lines that mean something by those before them."""
        if self._wires is None:
            joined = JoinedLines(self.source.name)
            self._wires, self.source.joined = Wires(joined), joined
        return self._wires

    # From the beginning

    def find_out(self, *, wait: bool) -> Steps:
        """Find out what it holds, as soon as enough of it is there.

        Raises:
            UnknownFormatError: nothing in its first 1,000 lines is known, or it is an archive that is not unpacked.
        """
        source = self.source
        yield from self.wait_until(lambda: can_tell(source), wait=wait)
        archive = archive_words(source)
        if archive is not None:
            raise UnknownFormatError(f"{source.name} is {archive}. Unpack it, and open the log that is in it.")
        source.elements = scanner_for(source)
        while True:
            growing = source.growing
            reason, looked_at = yield from self._sniff()
            if reason is None:
                if not (looked_at or growing) and source.container is not None and source.feed is not None:
                    raise UnknownFormatError(source.feed.trouble or f"{source.name} holds nothing to be shown.")
                return
            if not growing or looked_at >= SNIFFED_LINES:
                raise UnknownFormatError(
                    f"{source.name} is no log that can be read. "
                    f"Its first {'line' if source.elements is None else 'element'} is {reason}. "
                    f"What can be read: {_FORMATS_READ}."
                )
            yield from self._wait(wait=wait)

    def _sniff(self) -> Generator[None, None, tuple[str | None, int]]:
        steps = sniff(self.source)
        while True:
            try:
                next(steps)
            except StopIteration as found:
                return found.value
            yield

    def read(
        self, size: int, *, wait: bool, to_be_followed: bool = False, processes: int | None = None
    ) -> Steps:  # fmt: skip
        """Blocks up to the end: where the file ends now, or where what fills it has ended.

        Args:
            size: bytes of a block that is read here.
            wait: for the processes that read a large file, and for what fills it.
            to_be_followed: stop at the end that the file has now.
            processes: that may read a large file; None for as many as the machine has room for.
        """
        if processes != 0 and self._is_worth_processes():
            yield from self._read_in_parts(processes, wait=wait)
        elif self.source.elements is not None and not self.source.read_to:
            yield from self._read_turned(wait=wait)
        stop = None if self.source.feed is not None else self.source.size
        self._hands_over = not wait  # a line that is too long for a window's loop
        while True:
            growing = self.source.growing  # asked before reading: what comes after the end was said is none
            block = self.next(whole_lines=growing or self._live, size=size)
            if block is not None:
                yield block
                if stop is not None and self.source.read_to >= stop and to_be_followed:
                    break
            elif not growing and not self.waiting:
                break
            else:
                yield from self._wait(wait=wait)
        self._hands_over = self._live
        if not self._live:
            rest = self.rest() if not to_be_followed else None
            if rest is not None:
                yield rest
            self.close()

    def _is_worth_processes(self) -> bool:
        source = self.source
        if source.feed is not None or source.elements is not None or works_alone():
            return False
        begins = source.read(0, BLOCK_BYTES)
        if any(mark in begins for mark in IN_ORDER):
            return False
        if source.size >= WORTHWHILE_BYTES:
            return True
        return source.size >= LONG_LINE_BYTES and b"\n" not in source.read(0, LONG_LINE_BYTES)

    def _read_in_parts(self, processes: int | None, *, wait: bool) -> Steps:
        source, pace = self.source, None if wait else self.pace
        with closing(read_blocks(source, self._place, source.size, wait=wait, readers=processes, pace=pace)) as blocks:
            for block in blocks:
                self.waiting = block is None
                yield block
        self.waiting = False

    def _read_turned(self, *, wait: bool) -> Steps:
        """All of an array that lies newest first, the oldest first; nothing of another one."""
        yield from self.wait_until(lambda: is_newest_first(self.source) is not None, wait=wait)
        if is_newest_first(self.source):
            yield from self.wait_until(lambda: not self.source.growing, wait=wait)
            yield self._next_elements(at_end=True, size=self.source.size + 1, newest_first=True)

    def wait_until(self, there: Callable[[], bool], *, wait: bool) -> Steps:
        """Steps that bring nothing, until something is there."""
        while not there():
            yield from self._wait(wait=wait)

    def _wait(self, *, wait: bool) -> Steps:
        if wait and self.source.feed is not None:
            self.source.feed.wait(_WAIT_S)
        self.waiting = True
        yield None
        self.waiting = False

    # On and on

    def next(self, *, whole_lines: bool, size: int = BLOCK_BYTES) -> Block | None:
        """The block behind `source.read_to`; None when there is none, or it is not there yet.

        Args:
            whole_lines: leave a last line without an end for later: its rest is still being written.
            size: bytes to read; more where one line is longer, fewer where lines are short.
        """
        source = self.source
        self.left_lines = False
        most_lines = max(1, size // _SHORT_LINE)
        if self._hands_over:  # somebody waits
            most_lines = min(most_lines, self.pace.lines, self._own_pace.lines)
        if source.elements is not None:
            return self._next_elements(at_end=not whole_lines, size=size)
        if self._long_lines is not None and self._long_lines.pending:
            return self._next_long_line(whole_lines=whole_lines)
        if self._live:
            is_behind = source.size - source.read_to > _BEHIND_BYTES
            self.pace.taken_s = _TAKEN_BEHIND_S if is_behind else _TAKEN_S
            block = self._next_of_backlog()
            if block is not None or self.waiting:
                return block
        start = self._start()
        while True:
            data = source.read(start, size)
            end = data.rfind(b"\n") + 1
            if end or len(data) < size:
                break
            if self._hands_over:
                if size >= LONG_LINE_BYTES:
                    return self._next_long_line(whole_lines=whole_lines)
                size = min(4 * size, LONG_LINE_BYTES)
                continue
            stop = long_lines.end_within(source, start + len(data), start + long_lines.MAX_LINE)
            if stop is None:
                return self._next_overlong(start, start + len(data), whole_lines=whole_lines)
            size = stop - start + 1
        self.left_lines = data.count(b"\n") > most_lines
        if self.left_lines:
            end = _end_of_line(data, most_lines)
        elif len(data) < size and not whole_lines and start + len(data) > source.read_to:
            block = self._blocks().read(data, start) if data else None
            self._torn_at = _torn_at(block, data[end:], start + end) if block is not None else None
            return block
        return self._read_paced(data[:end], start) if end else None

    def _read_paced(self, data: bytes, start: int) -> Block:
        """Read lines, and see how many of them may be read at once: those of no known form take ten times as long."""
        began = time.thread_time()
        block = self._blocks().read(data, start)
        self._own_pace.note(len(block), time.thread_time() - began)
        return block

    def _start(self) -> int:
        """Where to read on. A line that was taken torn and goes on after all is read once more, whole.

        It has been a row already, which stays: what a row shows does not change under the reader's eyes.
        """
        source, torn_at = self.source, self._torn_at
        if torn_at is None or source.size <= source.read_to:
            return source.read_to
        self._torn_at = None
        return source.read_to if source.read(source.read_to, 1) in (b"\n", b"\r") else torn_at

    def _next_overlong(self, start: int, seen: int, *, whole_lines: bool) -> Block | None:
        """A line that is longer than may be read, and has no end before `seen`."""
        source = self.source
        stop = long_lines.end_of_line(source, seen)
        if stop is None and whole_lines:
            return None
        return overlong.read_overlong(source, self._place, start, stop or source.size)

    def _next_long_line(self, *, whole_lines: bool) -> Block | None:
        """A line that another process reads; here what is left where it has no end and will have none."""
        if self._long_lines is None:
            self._long_lines = LongLines(self.source, self._place)
        block = self._long_lines.next()
        self.waiting = self._long_lines.pending
        if block is not None and not len(block) and not whole_lines:
            self._hands_over = False
            start, stop = self._start(), self.source.size
            if stop - start > long_lines.MAX_LINE:  # the process has looked for its end: none is looked for once more
                return overlong.read_overlong(self.source, self._place, start, stop)
            return self.next(whole_lines=False)
        return block if block is not None and len(block) else None

    def _next_of_backlog(self) -> Block | None:
        """A block of what waits that another process reads; None while it does (`waiting`), or where none does."""
        if self._backlog is None or self._backlog.idle:
            is_little = self.source.size - self.source.read_to <= BACKLOG_BYTES
            if is_little or self._in_order().may_matter(b""):
                return None
        if self._backlog is None:
            self._backlog = Backlog(self.source, self._place, self._in_order())
        block = self._backlog.next(self.pace)
        self.waiting = self._backlog.pending
        return block

    def _next_elements(self, *, at_end: bool, size: int, newest_first: bool = False) -> Block | None:
        found = self.source.next_elements(size, at_end=at_end, longest=long_lines.MAX_LINE)
        if found is None:
            return None
        if found.overlong_to is not None:
            return overlong.read_element(self._place, found.data, found.offset, found.overlong_to)
        spans = found.spans[::-1] if newest_first else found.spans
        return self._blocks().read_spans(found.data, spans, found.offset)

    def rest(self) -> Block | None:
        """What was left of what comes in pieces, where nothing more will come; None for nothing."""
        return self._blocks().read_rest(self.source.read_to)

    def end_live(self) -> None:
        """Nobody writes any more, and nobody waits: all that is left can be read here."""
        self._live = self._hands_over = False
        self.close()

    def close(self) -> None:
        """End the processes that read for us, if there are any."""
        for aside in (self._long_lines, self._backlog):
            if aside is not None:
                aside.end()
                self.waiting = False
        self._long_lines = self._backlog = None


def _torn_at(block: Block, line: bytes, start: int) -> int | None:
    """Where is read once more what a last line without an end holds; None where there is nothing that could go on.

    Of objects that share a line it is the last one, if it is torn: the others would be messages twice.

    Args:
        block: the last line is in it.
        line: that line.
        start: its offset.
    """
    if not line:
        return None
    offsets = block.columns["offset"]
    if not line.startswith(b"{") or not len(offsets) or offsets[-1] < start:
        return start
    return int(offsets[-1]) if block.columns["flags"][-1] & Flag.UNREADABLE else None


def _end_of_line(data: bytes, number: int) -> int:
    """Where a line ends that is there, counted from 1."""
    return int(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))[number - 1]) + 1

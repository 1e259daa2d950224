"""Reads a source block by block, from its beginning and as it grows; detects its format first.

Chooses the method: lines or array elements, in this process or in workers, at once or as data arrives. Callers need not
know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing

import numpy as np

from inspector.base.workers.child_process import are_children_disabled
from inspector.formats import registry
from inspector.formats.refused_formats import Refusal
from inspector.reading.decoder import overlong_lines
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.files.format_detection import (
    SNIFFED_LINES,
    archive_description,
    detect_unknown,
    format_of_lines,
    has_enough_bytes,
    is_newest_first,
    missing_array,
    scanner_for,
)
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.reading.reassembly.reassembler import ORDER_MARKS, Reassembler
from inspector.reading.workers.offload import BACKLOG_BYTES, LONG_LINE_BYTES, OffloadedReader
from inspector.reading.workers.parallel_reader import WORTHWHILE_BYTES, Pace, read_blocks
from inspector.store.columns.block import Block
from inspector.store.columns.flags import Flag
from inspector.store.files import long_lines
from inspector.store.files.source_files import SourceFile

BLOCK_BYTES = 1 << 20
LIVE_BLOCK_BYTES = 1 << 18
"""Bytes of a live block; small, so that the window stays responsive between blocks."""
_MIN_LINE_BYTES = 128
"""Minimal bytes a line counts in a block's limit, since each line costs time however short it is."""
POLL_S = 0.016
"""Poll interval of a document in seconds; a full-rate source fills it with a few milliseconds of work."""
_BLOCK_BUDGET_S, _CATCH_UP_BUDGET_S, _CATCH_UP_BYTES = 0.008, 0.016, 8 << 20
"""Time budget in seconds for a live block; a larger one, with larger and cheaper blocks, during catch-up; and the
backlog in bytes that starts catch-up.
"""
_WAIT_S = 0.05

BlockSteps = Generator[Block | None]
"""Yields blocks in order; None for a step without a block."""


class UnknownFormatError(Exception):
    """None of the first 1,000 lines of a file is known; the text is a sentence for the user."""


class SourceReader:
    """Reads a source of a capture.

    Attributes:
        source: the file; the caller advances its `read_to` when it processes a block.
        is_waiting: the last step had no block because the next one is not ready.
        has_more_lines: the last block omits whole lines that are there.
        waits: steps wait for worker processes and the feed; otherwise they yield None.
        pace: the caller reports its processing time here.
    """

    def __init__(self, source: SourceFile, place: int, *, live: bool = False, waits: bool = True) -> None:
        """Creates a reader.

        Args:
            source: the file.
            place: its number in the capture.
            live: it grows while a window waits: lines too long for its loop go to a worker process.
            waits: steps wait for worker processes and the feed.
        """
        self.source, self.waits = source, waits
        self.is_waiting = self.has_more_lines = False
        self.pace = Pace()  # of the caller's processing
        self._own_pace = Pace()
        self._place = place
        self._live = self._uses_workers = live
        self._offloaded: OffloadedReader | None = None
        self._torn_at: int | None = None  # start of a last record that was read without its end
        self._line_reassembler: Reassembler | None = None

    @property
    def is_live(self) -> bool:
        """True if a live source writes it, in whole lines."""
        return self._live

    @property
    def sources(self) -> list[SourceFile]:
        return [self.source]

    def _new_block_reader(self) -> BlockReader:
        """Returns the reader of the next block."""
        return BlockReader(self._place, self.source.chosen_format, self._reassembler())

    def _reassembler(self) -> Reassembler:
        """Returns the reassembler of lines that depend on earlier ones."""
        if self._line_reassembler is None:
            joined = DerivedLineSpool(self.source.name)
            self._line_reassembler, self.source.derived_lines = Reassembler(joined), joined
        return self._line_reassembler

    # From the beginning

    def detect_format(self) -> BlockSteps:
        """Detects the format as soon as enough of the file is there.

        Raises:
            UnknownFormatError: if none of the first 1,000 lines is known, or it is a nested archive.
        """
        source = self.source
        yield from self.wait_until(lambda: has_enough_bytes(source))
        # The lines of a packed file or a stream are known only now.
        source.chosen_format = source.chosen_format or format_of_lines(source)
        archive = archive_description(source)
        # An archive inside of an archive is not opened.
        if archive is not None:
            raise UnknownFormatError(f"{source.name} is {archive}. Unpack it, and open the log that is in it.")
        missing = missing_array(source)
        if missing is not None:
            title = registry.format_titles().get(source.chosen_format or "", "")
            raise UnknownFormatError(f"{source.name} has {missing}, so it is not read as {title}.")
        source.elements = scanner_for(source)
        while True:
            growing = source.is_growing
            refusal, looked_at = yield from self._sniff()
            problem = source.feed.problem if source.feed is not None else None
            if refusal is None:
                if not (looked_at or growing) and source.container is not None and source.feed is not None:
                    raise UnknownFormatError(problem or f"{source.name} holds nothing to be shown.")
                return
            if not growing or looked_at >= SNIFFED_LINES:
                # A lone record is cut by damage before it.
                raise UnknownFormatError((looked_at == 1 and problem) or refusal.sentences(source.name))
            yield from self._wait()

    def _sniff(self) -> Generator[None, None, tuple[Refusal | None, int]]:
        steps = detect_unknown(self.source)
        while True:
            try:
                next(steps)
            except StopIteration as found:
                return found.value
            yield

    def read_blocks(self, size: int, *, to_be_followed: bool = False, processes: int | None = None) -> BlockSteps:
        """Yields blocks up to the end: of the present file, or of the feed that fills it.

        Args:
            size: bytes of a block read in this process.
            to_be_followed: stop at the present end of the file.
            processes: limit of worker processes; None for as many as the machine allows.
        """
        # A worker takes time to start, so short files are read here.
        if processes != 0 and self._is_worth_processes():
            yield from self._read_in_parts(processes)
        elif self.source.elements is not None and not self.source.read_to:
            yield from self._read_reversed()
        # A file that grows is read to its present end first; the rest is followed.
        stop = None if self.source.feed is not None else self.source.size
        self._uses_workers = not self.waits  # lines too long for a window's loop
        while True:
            growing = self.source.is_growing  # read first: the end may be announced during the read
            block = self.next_block(whole_lines=growing or self._live, size=size)
            if block is not None:
                yield block
                if stop is not None and self.source.read_to >= stop and to_be_followed:
                    break
            elif not growing and not self.is_waiting:
                break
            else:
                yield from self._wait()
        self._uses_workers = self._live
        if not self._live:
            rest = self.read_unfinished() if not to_be_followed else None
            if rest is not None:
                yield rest
            self.close()

    def _is_worth_processes(self) -> bool:
        source = self.source
        if source.feed is not None or source.elements is not None or are_children_disabled():
            return False
        # Records that depend on earlier ones cannot be read in parts.
        begins = source.read(0, BLOCK_BYTES)
        if any(mark in begins for mark in ORDER_MARKS):
            return False
        if source.size >= WORTHWHILE_BYTES:
            return True
        return source.size >= LONG_LINE_BYTES and b"\n" not in source.read(0, LONG_LINE_BYTES)

    def _read_in_parts(self, processes: int | None) -> BlockSteps:
        source, pace = self.source, None if self.waits else self.pace
        with closing(
            read_blocks(source, self._place, source.size, wait=self.waits, readers=processes, pace=pace)
        ) as blocks:
            for block in blocks:
                self.is_waiting = block is None
                yield block
        self.is_waiting = False

    def _read_reversed(self) -> BlockSteps:
        """Yields an array that is newest first as one reversed block; no block for other files."""
        yield from self.wait_until(lambda: is_newest_first(self.source) is not None)
        if is_newest_first(self.source):
            yield from self.wait_until(lambda: not self.source.is_growing)
            yield self._next_elements(at_end=True, size=self.source.size + 1, newest_first=True)

    def wait_until(self, there: Callable[[], bool]) -> BlockSteps:
        """Yields None until the condition is true."""
        while not there():
            yield from self._wait()

    def _wait(self) -> BlockSteps:
        if self.waits and self.source.feed is not None:
            self.source.feed.wait(_WAIT_S)
        self.is_waiting = True
        yield None
        self.is_waiting = False

    # Incremental reading

    def next_block(self, *, whole_lines: bool, size: int = BLOCK_BYTES) -> Block | None:
        """Returns the block after `source.read_to`; None at the end, or while it is not ready.

        Args:
            whole_lines: leave out a last line without an end, since its rest is still being written.
            size: bytes to read; more for a longer line, fewer for short lines.
        """
        source = self.source
        self.has_more_lines = False
        most_lines = max(1, size // _MIN_LINE_BYTES)
        # A slow step would block the window, so earlier durations limit its lines.
        if self._uses_workers:  # a window waits
            most_lines = min(most_lines, self.pace.line_limit, self._own_pace.line_limit)
        if source.elements is not None:
            return self._next_elements(at_end=not whole_lines, size=size)
        if self._offloaded is not None and self._offloaded.is_reading_line:
            return self._next_long_line(whole_lines=whole_lines)
        if self._live:
            is_behind = source.size - source.read_to > _CATCH_UP_BYTES
            self.pace.budget_s = _CATCH_UP_BUDGET_S if is_behind else _BLOCK_BUDGET_S
            block = self._next_of_backlog()
            if block is not None or self.is_waiting:
                return block
        start = self._next_offset()
        while True:
            data = source.read(start, size)
            end = data.rfind(b"\n") + 1
            if end or len(data) < size:
                break
            if self._uses_workers:
                if size >= LONG_LINE_BYTES:
                    return self._next_long_line(whole_lines=whole_lines)
                # Grows fourfold up to the limit above which a worker takes over.
                size = min(4 * size, LONG_LINE_BYTES)
                continue
            stop = long_lines.find_line_end_before(source, start + len(data), start + long_lines.MAX_LINE_BYTES)
            if stop is None:
                return self._next_overlong(start, start + len(data), whole_lines=whole_lines)
            size = stop - start + 1
        self.has_more_lines = data.count(b"\n") > most_lines
        if self.has_more_lines:
            end = _end_of_line(data, most_lines)
        # The file will not grow: its last line may lack a line end.
        elif len(data) < size and not whole_lines and start + len(data) > source.read_to:
            block = self._new_block_reader().read_lines(data, start) if data else None
            self._torn_at = _torn_record_offset(block, data[end:], start + end) if block is not None else None
            return block
        return self._read_paced(data[:end], start) if end else None

    def _read_paced(self, data: bytes, start: int) -> Block:
        """Reads lines and measures the pace: lines of unknown form take ten times as long."""
        began = time.thread_time()
        block = self._new_block_reader().read_lines(data, start)
        self._own_pace.record_part(len(block), time.thread_time() - began)
        return block

    def _next_offset(self) -> int:
        """Returns the next offset to read. A torn line that continues after all is read again as a whole.

        Its first row stays: a row on screen does not change.
        """
        source, torn_at = self.source, self._torn_at
        if torn_at is None or source.size <= source.read_to:
            return source.read_to
        self._torn_at = None
        return source.read_to if source.read(source.read_to, 1) in (b"\n", b"\r") else torn_at

    def _next_overlong(self, start: int, seen: int, *, whole_lines: bool) -> Block | None:
        """Reads a line above MAX_LINE without an end before `seen`."""
        source = self.source
        stop = long_lines.find_line_end(source, seen)
        if stop is None and whole_lines:
            return None
        return overlong_lines.read_overlong(source, self._place, start, stop or source.size)

    def _next_long_line(self, *, whole_lines: bool) -> Block | None:
        """Reads a long line in a worker; reads it here if it has no end and will get none."""
        offloaded = self._offloaded_reader()
        block = offloaded.next_line()
        self.is_waiting = offloaded.is_reading_line
        if block is not None and not len(block) and not whole_lines:
            self._uses_workers = False
            start, stop = self._next_offset(), self.source.size
            if stop - start > long_lines.MAX_LINE_BYTES:  # the worker has searched for its end already
                return overlong_lines.read_overlong(self.source, self._place, start, stop)
            return self.next_block(whole_lines=False)
        return block if block is not None and len(block) else None

    def _next_of_backlog(self) -> Block | None:
        """Returns a block of the backlog from a worker; None while it reads (`waiting`), or without a backlog."""
        # A short rest is read here sooner than a worker could start.
        if self._offloaded is None or self._offloaded.is_idle:
            is_little = self.source.size - self.source.read_to <= BACKLOG_BYTES
            if is_little or self._reassembler().goes_on:
                return None
        offloaded = self._offloaded_reader()
        block = offloaded.next_block(self.pace)
        self.is_waiting = offloaded.is_pending
        return block

    def _offloaded_reader(self) -> OffloadedReader:
        if self._offloaded is None:
            self._offloaded = OffloadedReader(self.source, self._place, self._reassembler)
        return self._offloaded

    def _next_elements(self, *, at_end: bool, size: int, newest_first: bool = False) -> Block | None:
        found = self.source.next_elements(size, at_end=at_end, longest=long_lines.MAX_LINE_BYTES)
        if found is None:
            return None
        if found.overlong_to is not None:
            return overlong_lines.read_element(self._place, found.data, found.offset, found.overlong_to)
        spans = found.spans[::-1] if newest_first else found.spans
        return self._new_block_reader().read_spans(found.data, spans, found.offset)

    def read_unfinished(self) -> Block | None:
        """Reads the unfinished reassembled messages after the final end, if any."""
        return self._new_block_reader().read_rest(self.source.read_to)

    def end_live(self) -> None:
        """Ends live mode: the file is complete and no window waits, so the rest can be read here."""
        self._live = self._uses_workers = False
        self.close()

    def close(self) -> None:
        """Ends the worker processes."""
        if self._offloaded is not None:
            self._offloaded.end_process()
            self.is_waiting = False
        self._offloaded = None


def _torn_record_offset(block: Block, line: bytes, start: int) -> int | None:
    """Returns the offset at which a last line without an end is read again, or None if it cannot continue.

    Of objects that share a line only a torn last one is read again; the others would be duplicates.

    Args:
        block: contains the last line.
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
    """Returns the end of a line, counted from 1."""
    return int(np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))[number - 1]) + 1

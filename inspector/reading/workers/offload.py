"""Reads long lines and backlogs of a live source in a worker process.

Opened files use `reading.workers.parallel_reader` instead.
"""

from __future__ import annotations

import time
from collections import deque

from inspector.reading.reassembly.reassembler import Reassembler
from inspector.reading.workers.parallel_reader import Pace, part_size
from inspector.reading.workers.part_reader import PartReader, read_part
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile, find_last_line_end

LONG_LINE_BYTES = 4 << 20
"""Shorter lines are read faster than handed over; a line of 50 MB would block a window for 200 ms."""
BACKLOG_BYTES = 2 << 20
"""A smaller backlog would be read before a process starts, which takes some 0.3 s."""
WORTHWHILE_BYTES = 1 << 18
"""With a running process, a smaller backlog is read faster than handed over."""
_PART_BYTES = 4 << 20
_PARTS_IN_FLIGHT = 3
"""Parts in flight: the process must not idle between two polls."""
_IDLE_S = 10.0
"""Seconds without work after which the process ends."""


class OffloadedReader:
    """A worker process that reads one source; started on first use, replaced if the source's file changes."""

    _detects_order = False
    """True if the process detects lines that depend on order."""

    def __init__(self, source: SourceFile, place: int) -> None:
        self._source = source
        self._place = place
        self._reader: PartReader | None = None
        self._failed = False
        self._file = (source.data_path, source.identity)

    def _process(self) -> PartReader | None:
        """Returns the process, unless it cannot be started. Raises OSError on that failure."""
        file = (self._source.data_path, self._source.identity)
        if self._file != file:  # saved meanwhile: the process would read the old file, or fail to find it
            self._file, self._failed = file, False
            self.end_process()
        if self._reader is None and not self._failed:
            self._reader = PartReader(self._source, self._place, in_order=self._detects_order)
        return self._reader

    def _disable(self) -> None:
        """Disables the worker after a failed start or a crash; its parts are read here."""
        self._failed = True
        self.end_process()

    def end_process(self) -> None:
        """Ends the process; unfinished parts must be read again."""
        if self._reader is not None:
            self._reader.end_process()
            self._reader = None


class LongLineReader(OffloadedReader):
    """Reads lines too long for the loop, one at a time."""

    @property
    def is_pending(self) -> bool:
        """True while a line is being read."""
        return self._reader is not None and (not self._reader.is_ready or bool(self._reader.pending))

    def next_block(self) -> Block | None:
        """Returns the line at `source.read_to`, longer than LONG_LINE_BYTES; None while it is being read.

        A block without a record means that the line has no end yet.
        """
        try:
            reader = self._process()
            if reader is not None:
                return self._from(reader)
        except (OSError, EOFError):  # reads it here: late is better than never
            self._disable()
        return read_part(self._source, self._place, self._source.read_to, self._source.read_to + 1)

    def _from(self, reader: PartReader) -> Block | None:
        block = reader.receive_ready()
        if block is None and reader.is_ready and not reader.pending:
            reader.request_part(0, self._source.read_to, self._source.read_to + 1)
        return block


class BacklogReader(OffloadedReader):
    """Reads a source's backlog in a worker, so that this process only appends blocks.

    It returns no block until its process is ready, at the end of the backlog, and for lines that depend on order; the
    process detects these.
    """

    _detects_order = True

    def __init__(self, source: SourceFile, place: int, reassembler: Reassembler) -> None:
        super().__init__(source, place)
        self._reassembler = reassembler
        self._ordered_to = 0  # lines before this offset may depend on order
        self._stops: deque[int] = deque()  # ends of the parts in flight
        self._discarded_parts = 0  # parts in flight after such lines: they are read again
        self._used_s = time.monotonic()

    @property
    def is_pending(self) -> bool:
        """True while the next part is being read."""
        return bool(self._stops)

    def next_block(self, pace: Pace) -> Block | None:
        """Returns the next block; None while it is being read, or without parts in flight.

        Args:
            pace: sets the size of parts.
        """
        try:
            reader = self._process()
            if reader is None:
                return None
            block = self._receive_block(reader)
            self._send_parts(reader, pace, taken=block)
        # The worker died or its pipe broke; the caller reads everything itself from here on.
        except (OSError, EOFError):
            self._disable()
            return None
        if self._stops or block is not None:
            self._used_s = time.monotonic()
        # An idle process would keep its memory for nothing.
        elif reader.is_ready and time.monotonic() - self._used_s > _IDLE_S:
            self.end_process()
        return block

    def _receive_block(self, reader: PartReader) -> Block | None:
        while (block := reader.receive_ready()) is not None:
            # These parts were sent before the reader met records that need strict order.
            if self._discarded_parts:
                self._discarded_parts -= 1
                continue
            stop = self._stops.popleft()
            if not block.in_order:
                return block
            self._ordered_to, self._discarded_parts = stop, len(self._stops)
            self._stops.clear()
        return None

    def _send_parts(self, reader: PartReader, pace: Pace, taken: Block | None) -> None:
        """Sends parts of whole lines, each once; leaves the last line."""
        source = self._source
        start = self._stops[-1] if self._stops else taken.stop if taken is not None else source.read_to
        # Lines that depend on earlier ones must be read in order, by this process.
        if not reader.is_ready or start < self._ordered_to or self._reassembler.goes_on:
            return
        while len(self._stops) + self._discarded_parts < _PARTS_IN_FLIGHT and source.size - start > WORTHWHILE_BYTES:
            size = min(part_size(source, start, pace.line_limit, _PART_BYTES), source.size - start)
            stop = find_last_line_end(source.read, start, start + size)
            if stop == start:  # a line that long is read by `LongLineReader`
                return
            reader.request_part(0, start, stop)
            self._stops.append(stop)
            start = stop

    @property
    def is_idle(self) -> bool:
        """True without a process."""
        return self._reader is None

    def end_process(self) -> None:
        """Ends the process; unfinished parts must be read again."""
        super().end_process()
        self._stops.clear()
        self._discarded_parts = 0

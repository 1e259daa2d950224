"""Reads long lines and backlogs of a live source in a worker process.

Opened files use `reading.workers.parallel_reader` instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from inspector.base.workers.pool import WorkerPool
from inspector.reading.reassembly.reassembler import Reassembler
from inspector.reading.workers.parallel_reader import Pace, part_size
from inspector.reading.workers.part_reader import decode_block, part_pool, read_part
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
    """A worker process that reads one source; started on first use, replaced if the source's file changes.

    It reads long lines one at a time, and a backlog in parts, so that this process only appends blocks.
    """

    def __init__(self, source: SourceFile, place: int, reassembler: Callable[[], Reassembler]) -> None:
        """Starts no process.

        Args:
            source, place: the file, and its number in the capture.
            reassembler: returns the reassembler of lines that depend on earlier ones.
        """
        self._source, self._place, self._reassembler = source, place, reassembler
        self._ordered_to = 0  # lines before this offset may depend on order
        self._stops: deque[int] = deque()  # ends of the parts in flight
        self._pool = self._new_pool()

    def _new_pool(self) -> WorkerPool[int]:
        self._file = self._source.data_path, self._source.identity
        self._has_failed = self.is_reading_line = False
        return part_pool(self._source, self._place, in_order=True, in_flight=_PARTS_IN_FLIGHT, idle_s=_IDLE_S)

    def _current_pool(self) -> WorkerPool[int]:
        """Returns the pool of the present file."""
        # Saved meanwhile: the process would read the old file, or fail to find it.
        if self._file != (self._source.data_path, self._source.identity):
            self.end_process()
            self._pool = self._new_pool()
        return self._pool

    @property
    def is_idle(self) -> bool:
        """True without a process."""
        return not self._pool.pids

    @property
    def is_pending(self) -> bool:
        """True while a line or the next part is being read."""
        return self.is_reading_line or bool(self._stops)

    def end_process(self) -> None:
        """Ends the process; unfinished parts must be read again."""
        self._pool.end()
        self._stops.clear()
        self.is_reading_line = False

    def next_line(self) -> Block | None:
        """Returns the line at `source.read_to`, longer than LONG_LINE_BYTES; None while it is being read.

        A block without a record means that the line has no end yet.
        """
        pool, part = self._current_pool(), (self._source.read_to, self._source.read_to + 1)
        if not self.is_reading_line:
            self.is_reading_line = True
            pool.request(0, part)
            return None
        for answer in pool.poll():
            self.is_reading_line = False
            # Without a process it is read here: late is better than never.
            return decode_block(answer.value) if answer.error is None else read_part(self._source, self._place, *part)
        return None

    def next_block(self, pace: Pace) -> Block | None:
        """Returns the next block of the backlog; None while it is being read, or without parts in flight.

        It returns no block until its process is ready, at the end of the backlog, and for lines that depend on order;
        the process detects these.

        Args:
            pace: sets the size of parts.
        """
        pool = self._current_pool()
        if self._has_failed:
            return None
        pool.start()
        block = self._receive_block(pool)
        self._send_parts(pool, pace, taken=block)
        return block

    def _receive_block(self, pool: WorkerPool[int]) -> Block | None:
        for answer in pool.poll():
            # The caller reads everything itself from here on.
            if answer.error is not None:
                self.end_process()
                self._has_failed = True
                return None
            block = decode_block(answer.value)
            self._stops.popleft()
            if not block.in_order:
                return block
            # The parts behind it were sent before the reader met records that need strict order.
            self._ordered_to = answer.key
            self._stops.clear()
            pool.cancel()
        return None

    def _send_parts(self, pool: WorkerPool[int], pace: Pace, taken: Block | None) -> None:
        """Sends parts of whole lines, each once; leaves the last line."""
        source = self._source
        start = self._stops[-1] if self._stops else taken.stop if taken is not None else source.read_to
        # Lines that depend on earlier ones must be read in order, by this process.
        if not pool.room or start < self._ordered_to or self._reassembler().goes_on:
            return
        while pool.room and source.size - start > WORTHWHILE_BYTES:
            size = min(part_size(source, start, pace.line_limit, _PART_BYTES), source.size - start)
            stop = find_last_line_end(source.read, start, start + size)
            if stop == start:  # a line that long is read by `next_line`
                return
            pool.request(stop, (start, stop))
            self._stops.append(stop)
            start = stop

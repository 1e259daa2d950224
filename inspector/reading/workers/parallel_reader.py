"""Reads a large file with several processes; returns its blocks in order."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator

from inspector.reading.workers.part_reader import decode_block, part_pool, read_part
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile

WORTHWHILE_BYTES = 24 << 20
"""File size in bytes from which processes are started; smaller files are read before they are ready."""
PART_BYTES = 8 << 20
"""Largest part of one process in bytes: some thousands of long lines, since passes have a cost per part."""
OWN_PART_BYTES = 256 << 10
"""Largest part of this process in bytes while the others are starting."""
_MAX_LINES, _PROBE_BYTES = 12_000, 1 << 16
"""Limit of lines in a part, and bytes used to estimate the line length.

A line is a quarter of a message in a gateway's log, and passes have a cost per part.
"""
_MIN_LINES = 375
"""Smallest limit of lines in a window: so few take moments whatever they contain, and larger parts cost less."""
_PART_BUDGET_S = 0.012
_MIN_PART_BYTES = 1 << 16
"""Smallest part in bytes: with that many lines most are blank, and each part has a cost."""
LONG_LINE_BYTES = 1 << 20
"""A longer line is left to the worker processes: it would block a window too long."""
_START_TIMEOUT_S = 20
"""Seconds to wait for processes that neither start nor end."""
_PARTS_PER_WORKER = 3
_PARTS_AHEAD = 6
"""Parts in flight per process: while one takes long, the others do not accumulate results."""
_MAX_READERS = 4


def reader_count() -> int:
    """Returns the number of reading processes for this machine."""
    return min(_MAX_READERS, os.cpu_count() or 1)


class Pace:
    """Adapts the lines per part to the processing time; some traffic costs ten times as much.

    Attributes:
        line_limit: limit of the next part.
        budget_s: time budget of one part.
    """

    def __init__(self) -> None:
        self.line_limit, self.budget_s = _MIN_LINES, _PART_BUDGET_S

    def record_part(self, lines: int, seconds: float) -> None:
        """Records a processed part. Parts grow gradually and shrink at once."""
        if lines:
            wanted = int(lines * self.budget_s / max(seconds, 1e-6))
            self.line_limit = min(_MAX_LINES, max(_MIN_LINES, min(wanted, 2 * self.line_limit)))


def part_size(source: SourceFile, start: int, lines: int, most: int) -> int:
    """Returns the size in bytes of a part at an offset; each line costs time, however short it is.

    Args:
        source, start: its place.
        lines: approximate limit of lines.
        most: limit in bytes.
    """
    beginning = source.read(start, _PROBE_BYTES)
    ends = beginning.count(b"\n")
    return min(most, max(_MIN_PART_BYTES, lines * len(beginning) // ends)) if ends else most


def read_blocks(
    source: SourceFile,
    place: int,
    stop: int,
    *,
    wait: bool = True,
    readers: int | None = None,
    pace: Pace | None = None,
) -> Generator[Block | None]:
    """Yields blocks of the lines before `stop`, in order, from `source.read_to` on; closing it ends the processes.

    Args:
        source: a plain file. `read_to` is not moved.
        place: the source's number in the capture.
        stop: offset in bytes; a line that begins before it is read to its end, an unterminated one is left out.
        wait: wait for the next block; else yield None while it is not ready.
        readers: processes to start; by default as the machine allows.
        pace: of a caller with a window that waits.
    """
    reading = _PartScheduler(source, place, stop, reader_count() if readers is None else readers, pace)
    try:
        while reading.is_unfinished:
            block = reading.next_block(wait=wait)
            if block is not None or not wait:
                yield block
    finally:
        reading.pool.end()


class _PartScheduler:
    """Schedules parts: sent in order, received in any, returned in order."""

    def __init__(self, source: SourceFile, place: int, stop: int, readers: int, pace: Pace | None = None) -> None:
        self._source, self._place, self._stop, self._pace = source, place, stop, pace
        self._position = source.read_to
        self._order: deque[tuple[int, int]] = deque()  # parts in flight by start and stop
        self._taken = 0
        # Still encoded: decoded early, the few permanent objects would lie among the others and keep their memory
        # alive.
        self._blocks: dict[int, Block | bytes] = {}
        self.pool = part_pool(source, place, size=readers, in_flight=_PARTS_PER_WORKER)
        self._waits_until = time.monotonic() + _START_TIMEOUT_S

    @property
    def is_unfinished(self) -> bool:
        return self._position < self._stop or bool(self._order)

    def next_block(self, *, wait: bool) -> Block | None:
        """Returns the next block if it is ready."""
        # One process starts per call, so that the first block is not delayed.
        self.pool.start(1)
        self._send_parts()
        if self._taken not in self._blocks:
            # No worker is busy with it, so this process reads the part itself.
            if not self.pool.pending:
                return None if self._waits_for_worker(wait=wait) else self._read_here()
            self._receive(None if wait else 0)
            self._send_parts()
        block = self._blocks.pop(self._taken, None)
        if block is None:
            return None
        self._order.popleft()
        self._taken += 1
        return decode_block(block) if isinstance(block, bytes) else block

    def _send_parts(self) -> None:
        # Bounded, so that finished blocks do not pile up while an early one is awaited.
        ahead = _PARTS_AHEAD * max(1, len(self.pool.pids))
        while self._position < self._stop and len(self._order) < ahead and self.pool.room:
            start, self._position = self._position, min(self._position + self._size(PART_BYTES), self._stop)
            self._order.append((start, self._position))
            self.pool.request(self._taken + len(self._order) - 1, (start, self._position))

    def _size(self, most: int) -> int:
        return part_size(
            self._source, self._position, _MAX_LINES if self._pace is None else self._pace.line_limit, most
        )

    def _waits_for_worker(self, *, wait: bool) -> bool:
        """Returns True if the next part should wait for a worker."""
        self._receive(0)
        if wait or not self.pool.pids or time.monotonic() > self._waits_until:
            return False
        stop = self._position + self._size(OWN_PART_BYTES)
        return stop < self._stop and b"\n" not in self._source.read(stop - 1, LONG_LINE_BYTES)

    def _read_here(self) -> Block:
        """Reads the next part in this process, as no worker is busy."""
        start, self._position = self._position, min(self._position + self._size(OWN_PART_BYTES), self._stop)
        self._taken += 1
        return read_part(self._source, self._place, start, self._position)

    def _receive(self, timeout: float | None) -> None:
        """Receives blocks; reads the parts of a dead process here. If a record crashed it, this process fails too."""
        for answer in self.pool.poll(timeout):
            part = self._order[answer.key - self._taken]
            self._blocks[answer.key] = (
                answer.value if answer.error is None else read_part(self._source, self._place, *part)
            )

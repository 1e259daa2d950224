"""A large file as blocks in order, read by several processes at once."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Generator
from multiprocessing.connection import wait as wait_for

from inspector.reading.workers.parts import PartReader, block_of, read_part
from inspector.store.columns.block import Block
from inspector.store.files.source_files import SourceFile

_log = logging.getLogger(__name__)

WORTHWHILE_BYTES = 24 << 20
"""From this size on processes are started: below, they would be ready when the file has been read."""
PART_BYTES = 8 << 20
"""Of the file to one process at once, at most: of long lines some thousand still, as passes have a price a part."""
OWN_PART_BYTES = 256 << 10
"""Of the file to this process itself while the others are still starting."""
_MOST_LINES, _LOOKED_AT = 12_000, 1 << 16
"""A part is smaller where lines are so short that it would hold more of them; and by how many bytes that is told.

A line is a quarter of a message where a gateway logs it, and passes have a price a part.
"""
_FEWEST_LINES = 375
"""But where others wait: so few are taken in within moments whatever they say, and more at a time cost less."""
_TAKEN_S = 0.012
_LEAST_BYTES = 1 << 16
"""But no smaller than this: where so few bytes are so many lines most are blank, and a part has its price as well."""
LONG_LINE_BYTES = 1 << 20
"""A line that goes on for so much is left to the others, who will soon be there: reading it takes a window too long."""
_PATIENCE_S = 20
"""So long such a line is left to processes that neither get ready nor end."""
_GIVEN_AT_ONCE = 3
_GIVEN_AHEAD = 6
"""Parts a process that are being read or wait to be taken: while one of them takes long, the others do not pile up."""
_MOST_READERS = 4


def reader_count() -> int:
    """Processes that read, on this machine."""
    return min(_MOST_READERS, os.cpu_count() or 1)


class Pace:
    """How many lines are taken in at once, by the time it takes: some traffic costs ten times as much.

    Attributes:
        lines: of the next part, at most.
        taken_s: others wait so long for one to be taken in.
    """

    def __init__(self) -> None:
        self.lines, self.taken_s = _FEWEST_LINES, _TAKEN_S

    def note(self, lines: int, seconds: float) -> None:
        """Some were taken in. Parts get larger little by little and smaller at once."""
        if lines:
            wanted = int(lines * self.taken_s / max(seconds, 1e-6))
            self.lines = min(_MOST_LINES, max(_FEWEST_LINES, min(wanted, 2 * self.lines)))


def part_size(source: SourceFile, start: int, lines: int, most: int) -> int:
    """How large a part is that begins at an offset: each message takes its time to be taken in, however short it is.

    Args:
        source, start: where it begins.
        lines: that it may hold, about.
        most: bytes that it may have.
    """
    beginning = source.read(start, _LOOKED_AT)
    ends = beginning.count(b"\n")
    return min(most, max(_LEAST_BYTES, lines * len(beginning) // ends)) if ends else most


def read_blocks(
    source: SourceFile,
    place: int,
    stop: int,
    *,
    wait: bool = True,
    readers: int | None = None,
    pace: Pace | None = None,
) -> Generator[Block | None]:
    """Blocks of the lines that begin before `stop`, in order, from `source.read_to` on; closing it ends the processes.

    Args:
        source: a plain file. `read_to` is not moved.
        place: the source's number in the capture.
        stop: offset in bytes; a line beginning before it is read to its end, one that has no end is left out.
        wait: wait for the next block; else None is given while it is not there yet.
        readers: processes to start; default by the machine.
        pace: of whoever takes the blocks in, where others wait meanwhile.
    """
    reading = _Reading(source, place, stop, reader_count() if readers is None else readers, pace)
    try:
        while reading.unfinished:
            block = reading.next(wait=wait)
            if block is not None or not wait:
                yield block
    finally:
        reading.end()


class _Reading:
    """Who reads what: parts are given out in order, come back in any, and are taken in order."""

    def __init__(self, source: SourceFile, place: int, stop: int, readers: int, pace: Pace | None = None) -> None:
        self._source, self._place, self._stop, self._pace = source, place, stop, pace
        self._position = source.read_to
        self._order: deque[tuple[int, int]] = deque()  # parts given out and not taken, by start and stop
        self._taken = 0
        # As they were sent: were the objects of all that wait made at once, the few that stay would lie among them, and
        # hold on to the memory of all.
        self._blocks: dict[int, Block | bytes] = {}
        self._readers: list[PartReader] = []
        self._to_start = readers
        self._waits_until = time.monotonic() + _PATIENCE_S

    @property
    def unfinished(self) -> bool:
        return self._position < self._stop or bool(self._order)

    def next(self, *, wait: bool) -> Block | None:
        """The next block, when it is there."""
        if self._to_start:
            self._start_one()
        self._give_out()
        if self._taken not in self._blocks:
            if not any(reader.pending for reader in self._readers):
                return None if self._leaves_it(wait=wait) else self._read_here()
            self._hear(None if wait else 0)
            self._give_out()
        block = self._blocks.pop(self._taken, None)
        if block is None:
            return None
        self._order.popleft()
        self._taken += 1
        return block_of(block) if isinstance(block, bytes) else block

    def _start_one(self) -> None:
        """Start a process, which takes some ms: one a step."""
        self._to_start -= 1
        try:
            self._readers.append(PartReader(self._source, self._place))
        except OSError:  # no more processes to be had: with fewer it takes longer
            self._to_start = 0

    def _give_out(self) -> None:
        ahead = _GIVEN_AHEAD * max(1, len(self._readers))
        for reader in list(self._readers):
            while reader.ready and len(reader.pending) < _GIVEN_AT_ONCE:
                if self._position >= self._stop or len(self._order) >= ahead:
                    return
                start, self._position = self._position, min(self._position + self._size(PART_BYTES), self._stop)
                self._order.append((start, self._position))
                try:
                    reader.give(self._taken + len(self._order) - 1, start, self._position)
                except OSError:
                    self._stand_in(reader)
                    break

    def _size(self, most: int) -> int:
        return part_size(self._source, self._position, _MOST_LINES if self._pace is None else self._pace.lines, most)

    def _leaves_it(self, *, wait: bool) -> bool:
        """Whether nothing is read here until another process is ready."""
        self._hear(0)
        if wait or self._order or not self._readers or time.monotonic() > self._waits_until:
            return False
        stop = self._position + self._size(OWN_PART_BYTES)
        return stop < self._stop and b"\n" not in self._source.read(stop - 1, LONG_LINE_BYTES)

    def _read_here(self) -> Block:
        """Nobody else is at work, so the next part is read by this process."""
        if self._order:
            start, stop = self._order.popleft()
        else:
            start, stop = self._position, min(self._position + self._size(OWN_PART_BYTES), self._stop)
            self._position = stop
        self._taken += 1
        return read_part(self._source, self._place, start, stop)

    def _hear(self, timeout: float | None) -> None:
        """Take what has come; a process that has ended gives its parts back."""
        by_connection = {reader.connection: reader for reader in self._readers}
        for connection in wait_for(list(by_connection), timeout):
            reader = by_connection[connection]  # type: ignore[index]  # what was given to wait for
            try:
                found = reader.take()
            except EOFError:
                self._stand_in(reader)
            else:
                if found is not None:
                    self._blocks[found[0]] = found[1]

    def _stand_in(self, reader: PartReader) -> None:
        """A process has ended: read here what it had been given. What ended it fails here, too, if it was a record."""
        _log.info("A process that read parts of a log has ended; its %d parts are read here.", len(reader.pending))
        self._readers.remove(reader)
        reader.end()
        for number in reader.pending:
            self._blocks[number] = read_part(self._source, self._place, *self._order[number - self._taken])

    def end(self) -> None:
        for reader in self._readers:
            reader.end()

"""Merges several sources by time and keeps the order within each.

RULE: the sort key of a record is its own time, or that of an earlier record in its source if later. So the order of a
file never changes, and a record without a time stays in place. At equal times the earlier source comes first. The order
does not depend on the blocks.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.timestamps import NO_TIME
from inspector.reading.files.clock_offsets import SAMPLE_BYTES, compare_sources
from inspector.reading.files.source_reader import BlockSteps, SourceReader, UnknownFormatError
from inspector.store.columns.block import STRING_COLUMNS, Block, OpenedConnection
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.name_sets import BlockNameSets
from inspector.store.files.source_files import SourceFile

MERGE_DELAY_S = 0.25
"""Seconds that records wait for other growing sources, polled about ten times a second."""
_MAX_SOURCES_WITH_WORKERS = 4
"""Largest number of sources with worker processes of their own."""
_MERGE_BATCH = 2_000
"""Records merged at once in a window; fewer cost more, since each merge visits every source."""
_PENDING_BYTES, _MIN_BLOCK_BYTES = 1 << 23, 1 << 17
"""Bytes read but not merged of all sources together, and the minimum of one source."""
_END_OF_SOURCE = object()


class _PendingBlock:
    """Records of one source that are not merged yet.

    Attributes:
        block: contains them.
        keys: (records,) sort keys of the whole block in ns, ascending.
        first_key: key of the first pending record; of the last one if none is pending.
        arrived_at: arrival, in the monotonic clock.
    """

    def __init__(self, block: Block, after_ns: int) -> None:
        self.block = block
        self.arrived_at = time.monotonic()
        self._begin = 0
        times = block.columns["time_ns"].copy()
        times[:1] = max(after_ns, int(times[0]))
        self.keys = np.maximum.accumulate(times)
        self.first_key = int(self.keys[0])

    @property
    def last_key(self) -> int:
        return int(self.keys[-1])

    @property
    def is_empty(self) -> bool:
        return self._begin >= len(self.keys)

    def keys_before(self, until_ns: int | None) -> NDArray[np.int64]:
        """Returns the keys of pending records before a time; of all for None."""
        stop = len(self.keys) if until_ns is None else int(np.searchsorted(self.keys, until_ns))
        return self.keys[self._begin : max(self._begin, stop)]

    def take_until(self, until_ns: int | None, *, inclusive: bool) -> tuple[int, int]:
        """Removes records up to a time, all for None; returns their range in the block."""
        begin, side = self._begin, "right" if inclusive else "left"
        stop = len(self.keys) if until_ns is None else int(np.searchsorted(self.keys, until_ns, side))
        self._begin = max(begin, stop)
        self.first_key = int(self.keys[min(self._begin, len(self.keys) - 1)])
        return begin, self._begin


def _batch_limit(waiting: Sequence[_PendingBlock], until_ns: int | None, most: int) -> int | None:
    """Returns a time with about `most` pending records before it, unless fewer are pending."""
    keys = np.concatenate([held.keys_before(until_ns) for held in waiting]) if waiting else np.empty(0, np.int64)
    return int(np.partition(keys, most)[most]) if len(keys) > most else None


class _MergeQueue:
    """Merge queue of sources: a source supplies a block when it has no pending record, or others wait for it."""

    def __init__(self) -> None:
        self._waiting: list[deque[_PendingBlock]] = []  # of each source
        self._last_keys: list[int] = []  # last key of each source

    def add_source(self) -> None:
        self._waiting.append(deque())
        self._last_keys.append(NO_TIME)

    @property
    def count(self) -> int:
        """Number of sources."""
        return len(self._waiting)

    def is_empty(self, place: int) -> bool:
        """Returns True if a source has no pending record."""
        return not self._waiting[place]

    def add_block(self, place: int, block: Block) -> None:
        """Adds a source's block to the queue."""
        held = _PendingBlock(block, self._last_keys[place])
        self._waiting[place].append(held)
        self._last_keys[place] = held.last_key

    def blocking_source(self, more: Collection[int]) -> int | None:
        """Returns the source that blocks all others while few records are in order.

        Args:
            more: sources with pending records that can supply another block at once.
        """
        until, place = min(((self._last_keys[place], place) for place in more), default=(None, -1))
        if until is None:
            return None
        ready = 0
        for held in chain.from_iterable(self._waiting):
            # Called once for each block, so that of thousands of sources a comparison must do.
            if held.first_key < until:
                ready += len(held.keys_before(until))
                if ready >= _MERGE_BATCH:
                    return None
        return place

    def take_merged(self, more: Collection[int], until_ns: int | None = None, most: int | None = None) -> Block | None:
        """Removes and returns the records that are in order by now, if any.

        Args:
            more: sources that have further records.
            until_ns: upper limit of the time, if any.
            most: approximate limit of records; records of one time stay together.
        """
        ends = [(self._last_keys[place], place) for place in more]
        if until_ns is not None:
            ends.append((until_ns, len(self._waiting)))
        # Records at the last known time wait for equal times in earlier sources.
        until, first = min(ends, default=(None, len(self._waiting)))
        if (
            most is not None
            and (sooner := _batch_limit([*chain.from_iterable(self._waiting)], until, most)) is not None
        ):
            until, first = sooner, len(self._waiting)
        parts: list[tuple[Block, int, int, NDArray[np.int64]]] = []
        for place, waiting in enumerate(self._waiting):
            for held in waiting:
                begin, stop = held.take_until(until, inclusive=place <= first)
                if begin < stop:
                    parts.append((held.block, begin, stop, held.keys))
            while waiting and waiting[0].is_empty:
                waiting.popleft()
        return merge_parts(parts) if parts else None

    def release_limit(self, growing: Collection[int], now: float) -> int | None:
        """Returns the key up to which growing sources no longer delay records, if they do.

        Args:
            growing: sources that may still supply earlier records.
            now: monotonic clock.
        """
        if len(growing) < 2:
            return None
        known = min(self._last_keys[place] for place in growing)
        old = (held.last_key for held in chain.from_iterable(self._waiting) if now - held.arrived_at >= MERGE_DELAY_S)
        return max([known, *old])


class MergedReader:
    """Reads several sources of a capture as one; same interface as `SourceReader` during opening.

    Attributes:
        left_out: sources of unknown format, with the reason, as sentences.
        pace: shared by all sources.
    """

    def __init__(self, readers: Sequence[SourceReader], *, compare: bool = False) -> None:
        """Creates a merged reader.

        Args:
            readers: of the sources, in the capture's order.
            compare: estimate their clock offsets first.
        """
        self._readers = list(readers)
        self._compare = compare
        self.left_out: list[str] = []
        self.pace, self._waits = readers[0].pace, readers[0].waits
        self._order = _MergeQueue()

    @property
    def source(self) -> SourceFile:
        """The first source."""
        return self._readers[0].source

    @property
    def sources(self) -> list[SourceFile]:
        """Sources in use."""
        return [reader.source for reader in self._readers]

    @property
    def readers(self) -> list[SourceReader]:
        """Readers of the sources in use."""
        return self._readers

    @property
    def is_waiting(self) -> bool:
        """True if the last step had no block because the next one is not ready."""
        return any(reader.is_waiting for reader in self._readers)

    def detect_format(self) -> BlockSteps:
        """Detects the format of each source; drops sources of unknown format.

        Raises:
            UnknownFormatError: if no source has a known format.
        """
        known: list[SourceReader] = []
        for reader in self._readers:
            try:
                # One unreadable file among many must not hide the others.
                yield from reader.detect_format()
            except UnknownFormatError as error:
                self.left_out.append(str(error))
            except OSError as error:
                self.left_out.append(_read_error_text(reader.source, error))
            else:
                known.append(reader)
        if not known or (self.left_out and not any(reader.source.size for reader in known)):
            raise UnknownFormatError(self.left_out[0])
        self._readers = known
        for reader in known:
            yield from reader.wait_until(lambda source=reader.source: _has_sample(source))
        # Before the first record, as later ones cannot be moved any more.
        if self._compare:
            compare_sources(self.sources)

    def read_blocks(self, size: int, *, to_be_followed: bool = False) -> BlockSteps:
        """Yields blocks of all sources up to their ends; as `SourceReader.read`."""
        # Many files together keep the processors busy already.
        readers = 1 if len(self._readers) <= _MAX_SOURCES_WITH_WORKERS else 0
        # The blocks of all files together stay within this much memory.
        size = min(size, max(_MIN_BLOCK_BYTES, _PENDING_BYTES // len(self._readers)))
        with ExitStack() as stack:
            steps = [
                stack.enter_context(closing(one.read_blocks(size, to_be_followed=to_be_followed, processes=readers)))
                for one in self._readers
            ]
            self._add_new_sources()
            going = set(range(len(steps)))
            while True:
                for place in sorted(going):
                    while place in going and self._order.is_empty(place):
                        block = self._next_step(place, steps[place])
                        self._process_step(place, block, going)
                        if block is not _END_OF_SOURCE and not (self._waits and isinstance(block, Block)):
                            yield None  # first blocks of hundreds of files take long
                while (place := self._order.blocking_source(going)) is not None:
                    block = self._next_step(place, steps[place])
                    self._process_step(place, block, going)
                    if block is None or not self._waits:
                        yield None
                    if block is None:  # it may take long to come
                        break
                block = self._order.take_merged(
                    going, most=None if self._waits else max(self.pace.line_limit, _MERGE_BATCH)
                )
                if block is None and not going:
                    return
                if block is not None:
                    yield block

    def _process_step(self, place: int, block: object, going: set[int]) -> None:
        """Processes the result of a source's step."""
        if block is _END_OF_SOURCE:
            going.discard(place)
        elif isinstance(block, Block):
            self._queue_block(place, block)

    def _next_step(self, place: int, steps: BlockSteps) -> object:
        """Returns the next step of a source; a read error ends that source only."""
        try:
            return next(steps, _END_OF_SOURCE)
        except OSError as error:
            self._readers[place].source.problem = _read_error_text(self._readers[place].source, error)
            return _END_OF_SOURCE

    def add_reader(self, reader: SourceReader) -> None:
        """Adds a source that appeared later."""
        self._readers.append(reader)

    def read_new_records(self, size: int, growing: Collection[SourceFile], *, at_end: bool = False) -> Block | None:
        """Returns new records of growing sources, as far as they are in order.

        Records wait a moment for other growing sources. A record that comes even later stays at its arrival position.

        Args:
            size: bytes of a block.
            growing: sources that may supply records at any time.
            at_end: no record waits any more.
        """
        self._add_new_sources()
        more: list[int] = []
        for place, reader in enumerate(self._readers):
            source = reader.source
            if source.problem is None and self._order.is_empty(place):
                try:
                    block = reader.next_block(whole_lines=reader.is_live, size=size)
                except OSError as error:
                    source.problem, block = _read_error_text(source, error), None
                if block is not None:
                    self._queue_block(place, block)
            if source.problem is None and (reader.has_more_lines or reader.is_waiting):
                more.append(place)
        places = [place for place, reader in enumerate(self._readers) if reader.source in growing]
        return self._order.take_merged(more, None if at_end else self._order.release_limit(places, time.monotonic()))

    def _add_new_sources(self) -> None:
        while self._order.count < len(self._readers):
            self._readers[self._order.count].pace = self.pace
            self._order.add_source()

    def _queue_block(self, place: int, block: Block) -> None:
        """Queues the records of a block, in the document's clock."""
        source = self._readers[place].source
        source.read_to = max(source.read_to, block.stop)
        source.update_from_block(block)
        if not len(block):
            return
        if source.clock_offset_ns:
            block.columns["time_ns"] = _shift_times(block.columns["time_ns"], source.clock_offset_ns)
        self._order.add_block(place, block)


def _read_error_text(source: SourceFile, error: OSError) -> str:
    return f"{source.name} cannot be read to its end: {error.strerror or error}."


def _has_sample(source: SourceFile) -> bool:
    """Returns True if a source has enough bytes for a clock sample."""
    return not source.is_growing or source.size >= SAMPLE_BYTES


def _shift_times(times: NDArray[np.int64], offset_ns: int) -> NDArray[np.int64]:
    """Returns (n,) shifted times; NO_TIME and implausible ones stay."""
    usual = (times > -_LATEST_NS) & (times < _LATEST_NS)
    return np.where(usual, times + offset_ns, times)


_LATEST_NS = 1 << 62


def merge_parts(parts: Sequence[tuple[Block, int, int, NDArray[np.int64]]]) -> Block:
    """Merges parts of blocks by their keys; at equal keys the earlier part comes first.

    Args:
        parts: block, start and stop of the part, and the keys of all its records, ascending.
    """
    strings: InternTable[str] = InternTable("")
    to_sets = BlockNameSets(strings)
    # Stable, so that records of one time stay in file order.
    order = np.argsort(np.concatenate([keys[begin:stop] for _, begin, stop, keys in parts]), kind="stable")
    put = np.argsort(order)
    names = set().union(*(block.columns for block, *_ in parts))
    pieces: dict[str, list[Array]] = {name: [] for name in names}
    extracts, before = Extracts(), 0
    opened: list[OpenedConnection] = []
    for block, begin, stop, _ in parts:
        numbers = strings.intern_all([None, *block.strings[1:]], len(block.strings))
        sets = to_sets.intern_all([block.to_sets[place] for place in range(len(block.to_sets))])
        for name, held in pieces.items():
            column = block.columns.get(name)
            # A column that this block lacks is all zeros.
            piece = np.zeros(stop - begin, np.uint64) if column is None else column[begin:stop]
            held.append(numbers[piece] if name in STRING_COLUMNS else sets[piece] if name == "to_set" else piece)
        places = np.full(len(block), -1, np.int64)
        places[begin:stop] = put[before : before + stop - begin]
        extracts.add_extracts(block.extracts, places.tolist())
        opened += [_move_mark(mark, places, put) for mark in block.opened if _is_within(mark, begin, stop, len(block))]
        before += stop - begin
    columns = {name: np.concatenate(held)[order] for name, held in pieces.items()}
    opened.sort(key=lambda mark: mark.place)
    return Block(columns, strings, to_sets, extracts, Counter(), opened=opened)


def _is_within(mark: OpenedConnection, begin: int, stop: int, count: int) -> bool:
    """Returns True if a connection begins within a part of a block, or after its last record."""
    return begin <= mark.place < stop or mark.place == stop == count


def _move_mark(mark: OpenedConnection, places: NDArray[np.int64], put: NDArray[np.int64]) -> OpenedConnection:
    """Returns the mark at the new place of its next record; at the end if that is in no part yet."""
    return mark._replace(place=int(places[mark.place]) if mark.place < len(places) else len(put))

"""Several sources read as one: the records of each in their order, those of different ones by time.

RULE: a record's time is its own, or that of one before it in its source where that is later: so the order of a file is
never changed, and a record without a time stays where it is. Of records with one time those of the earlier source come
first. So the order does not depend on the blocks in which files are read.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.times import NO_TIME
from inspector.reading.files.clocks import SAMPLE_BYTES, compare_sources
from inspector.reading.files.source_reader import SourceReader, Steps, UnknownFormatError
from inspector.store.columns.block import STRING_COLUMNS, Block, Opened
from inspector.store.columns.columns import Array
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.name_sets import BlockSets
from inspector.store.columns.strings import InternTable
from inspector.store.files.source_files import SourceFile

HOLD_S = 0.25
"""So long what has come waits for other sources that grow as well: they are looked at about ten times a second."""
_MOST_IN_PROCESSES = 4
"""Of more sources none is read by processes of its own: there would be too many."""
_TAKEN = 2_000
"""Records that are put in order at once while somebody waits to paint; fewer cost more, each source anew."""
_AHEAD_BYTES, _LEAST_BYTES = 1 << 23, 1 << 17
"""Of all sources together that are read and not in order yet; of one of them, however many there are."""
_END = object()


class _Waiting:
    """Records of one source that were read and not given out.

    Attributes:
        block: they are in it.
        keys: (records,) ns, by which all of the block is put in order; ascending.
        since: when they came, by the monotonic clock.
    """

    def __init__(self, block: Block, after_ns: int) -> None:
        self.block = block
        self.since = time.monotonic()
        self._begin = 0
        times = block.columns["time_ns"].copy()
        times[:1] = max(after_ns, int(times[0]))
        self.keys = np.maximum.accumulate(times)

    @property
    def last(self) -> int:
        """The key of the last one."""
        return int(self.keys[-1])

    @property
    def is_empty(self) -> bool:
        """Whether all were given out."""
        return self._begin >= len(self.keys)

    def within(self, until_ns: int | None) -> NDArray[np.int64]:
        """The keys of those before a time that were not given out; of all of them for None."""
        stop = len(self.keys) if until_ns is None else int(np.searchsorted(self.keys, until_ns))
        return self.keys[self._begin : max(self._begin, stop)]

    def take(self, until_ns: int | None, *, inclusive: bool) -> tuple[int, int]:
        """Where those up to a time lie in the block; all of them for None."""
        begin, side = self._begin, "right" if inclusive else "left"
        stop = len(self.keys) if until_ns is None else int(np.searchsorted(self.keys, until_ns, side))
        self._begin = max(begin, stop)
        return begin, self._begin


def _limit(waiting: Sequence[_Waiting], until_ns: int | None, most: int) -> int | None:
    """The time up to which about so many records are before another; None where they are not that many."""
    keys = np.concatenate([held.within(until_ns) for held in waiting]) if waiting else np.empty(0, np.int64)
    return int(np.partition(keys, most)[most]) if len(keys) > most else None


class _InOrder:
    """Puts the records of sources in order: each gives a block when nothing of it waits, or the others wait for it."""

    def __init__(self) -> None:
        self._waiting: list[deque[_Waiting]] = []  # of each source
        self._after: list[int] = []  # the last key of each source

    def add(self) -> None:
        """Take in one more source."""
        self._waiting.append(deque())
        self._after.append(NO_TIME)

    @property
    def count(self) -> int:
        """How many sources there are."""
        return len(self._waiting)

    def wants(self, place: int) -> bool:
        """Whether nothing of a source waits."""
        return not self._waiting[place]

    def give(self, place: int, block: Block) -> None:
        """Let the records of a source wait."""
        held = _Waiting(block, self._after[place])
        self._waiting[place].append(held)
        self._after[place] = held.last

    def awaited(self, more: Collection[int]) -> int | None:
        """The source that all others wait for, where so few records are in order that it is worth its next block.

        Args:
            more: sources that have more to give at once, of each of which something waits.
        """
        until, place = min(((self._after[place], place) for place in more), default=(None, -1))
        ready = 0
        for held in chain.from_iterable(self._waiting) if until is not None else ():
            ready += len(held.within(until))
            if ready >= _TAKEN:
                return None
        return place if until is not None else None

    def take(self, more: Collection[int], until_ns: int | None = None, most: int | None = None) -> Block | None:
        """What is in order by now; None where nothing is.

        Args:
            more: sources that have more to give, however much of them waits.
            until_ns: nothing later than that; None for no such limit.
            most: about so many records; of one time all are given. None for all that are in order.
        """
        ends = [(self._after[place], place) for place in more]
        if until_ns is not None:
            ends.append((until_ns, len(self._waiting)))
        # What goes by the last time that is known waits for what the sources before it may have of the same time.
        until, first = min(ends, default=(None, len(self._waiting)))
        if most is not None and (sooner := _limit([*chain.from_iterable(self._waiting)], until, most)) is not None:
            until, first = sooner, len(self._waiting)
        parts: list[tuple[Block, int, int, NDArray[np.int64]]] = []
        for place, waiting in enumerate(self._waiting):
            for held in waiting:
                begin, stop = held.take(until, inclusive=place <= first)
                if begin < stop:
                    parts.append((held.block, begin, stop, held.keys))
            while waiting and waiting[0].is_empty:
                waiting.popleft()
        return merged(parts) if parts else None

    def due(self, growing: Collection[int], now: float) -> int | None:
        """Up to which key nothing has to wait any more for sources that grow; None where nothing has to wait.

        Args:
            growing: sources that may bring earlier records than others have by now.
            now: by the monotonic clock.
        """
        if len(growing) < 2:
            return None
        known = min(self._after[place] for place in growing)
        old = (held.last for held in chain.from_iterable(self._waiting) if now - held.since >= HOLD_S)
        return max([known, *old])


class MergedReader:
    """Reads several sources of a capture; to be used as a `SourceReader` is while a document is opened.

    Attributes:
        left_out: sources that hold nothing known, and why, as sentences.
        pace: of whoever takes the blocks in; all sources share it.
    """

    def __init__(self, readers: Sequence[SourceReader], *, compare: bool = False) -> None:
        """Prepare.

        Args:
            readers: of the sources, in the order of the capture's.
            compare: find out how their clocks stand to each other first.
        """
        self._readers = list(readers)
        self._compare = compare
        self.left_out: list[str] = []
        self.pace = readers[0].pace
        self._order = _InOrder()

    @property
    def source(self) -> SourceFile:
        """The first source that is read."""
        return self._readers[0].source

    @property
    def sources(self) -> list[SourceFile]:
        """What is read."""
        return [reader.source for reader in self._readers]

    @property
    def readers(self) -> list[SourceReader]:
        """Those of the sources that are read."""
        return self._readers

    @property
    def waiting(self) -> bool:
        """Whether the last step brought nothing because the next block is not there yet."""
        return any(reader.waiting for reader in self._readers)

    def find_out(self, *, wait: bool) -> Steps:
        """Find out what each holds; those of no known format are left out.

        Raises:
            UnknownFormatError: none holds anything known.
        """
        known: list[SourceReader] = []
        for reader in self._readers:
            try:
                yield from reader.find_out(wait=wait)
            except UnknownFormatError as error:
                self.left_out.append(str(error))
            except OSError as error:
                self.left_out.append(_cannot(reader.source, error))
            else:
                known.append(reader)
        if not known or (self.left_out and not any(reader.source.size for reader in known)):
            raise UnknownFormatError(self.left_out[0])
        self._readers = known
        for reader in known:
            yield from reader.wait_until(lambda source=reader.source: _is_sampled(source), wait=wait)
        if self._compare:
            compare_sources(self.sources)

    def read(self, size: int, *, wait: bool, to_be_followed: bool = False) -> Steps:
        """Blocks of all sources up to their ends; as `SourceReader.read`."""
        readers = 1 if len(self._readers) <= _MOST_IN_PROCESSES else 0
        size = min(size, max(_LEAST_BYTES, _AHEAD_BYTES // len(self._readers)))
        with ExitStack() as stack:
            steps = [
                stack.enter_context(
                    closing(one.read(size, wait=wait, to_be_followed=to_be_followed, processes=readers))
                )
                for one in self._readers
            ]
            self._grow()
            going = set(range(len(steps)))
            while True:
                for place in sorted(going):
                    while place in going and self._order.wants(place):
                        block = self._next(place, steps[place])
                        self._put(place, block, going)
                        if block is not _END and not (wait and isinstance(block, Block)):
                            yield None  # first blocks of hundreds of files take long
                while (place := self._order.awaited(going)) is not None:
                    block = self._next(place, steps[place])
                    self._put(place, block, going)
                    if block is None or not wait:
                        yield None
                    if block is None:  # it may take long to come
                        break
                block = self._order.take(going, most=None if wait else max(self.pace.lines, _TAKEN))
                if block is None and not going:
                    return
                if block is not None:
                    yield block

    def _put(self, place: int, block: object, going: set[int]) -> None:
        """Take in what a step of a source gave."""
        if block is _END:
            going.discard(place)
        elif isinstance(block, Block):
            self._give(place, block)

    def _next(self, place: int, steps: Steps) -> object:
        """The next step of a source; what cannot be read any more is at its end, and leaves the others alone."""
        try:
            return next(steps, _END)
        except OSError as error:
            self._readers[place].source.trouble = _cannot(self._readers[place].source, error)
            return _END

    def add(self, reader: SourceReader) -> None:
        """Read on in one more source, which has come since."""
        self._readers.append(reader)

    def read_on(self, size: int, growing: Collection[SourceFile], *, at_end: bool = False) -> Block | None:
        """What sources have gained, as far as it is in order; None where there is nothing.

        Records wait a moment for those of other sources that grow. One that comes later still stands where it came.

        Args:
            size: bytes of a block.
            growing: the sources that may bring records at any time.
            at_end: nothing waits any more.
        """
        self._grow()
        more: list[int] = []
        for place, reader in enumerate(self._readers):
            source = reader.source
            if source.trouble is None and self._order.wants(place):
                try:
                    block = reader.next(whole_lines=reader.is_live, size=size)
                except OSError as error:
                    source.trouble, block = _cannot(source, error), None
                if block is not None:
                    self._give(place, block)
            if source.trouble is None and (reader.left_lines or reader.waiting):
                more.append(place)
        places = [place for place, reader in enumerate(self._readers) if reader.source in growing]
        return self._order.take(more, None if at_end else self._order.due(places, time.monotonic()))

    def _grow(self) -> None:
        while self._order.count < len(self._readers):
            self._readers[self._order.count].pace = self.pace
            self._order.add()

    def _give(self, place: int, block: Block) -> None:
        """Let the records of a block wait, by the clock of the document."""
        source = self._readers[place].source
        source.read_to = max(source.read_to, block.stop)
        source.note(block)
        if not len(block):
            return
        if source.clock_offset_ns:
            block.columns["time_ns"] = _shifted(block.columns["time_ns"], source.clock_offset_ns)
        self._order.give(place, block)


def _cannot(source: SourceFile, error: OSError) -> str:
    return f"{source.name} cannot be read to its end: {error.strerror or error}."


def _is_sampled(source: SourceFile) -> bool:
    """Whether so much of a file that is being filled is there that its clock can be told."""
    return not source.growing or source.size >= SAMPLE_BYTES


def _shifted(times: NDArray[np.int64], offset_ns: int) -> NDArray[np.int64]:
    """(n,) times by another clock; none, and those that no clock has, stay."""
    usual = (times > -_LATEST_NS) & (times < _LATEST_NS)
    return np.where(usual, times + offset_ns, times)


_LATEST_NS = 1 << 62


def merged(parts: Sequence[tuple[Block, int, int, NDArray[np.int64]]]) -> Block:
    """Parts of blocks as one block, by their keys; of equal ones the earlier part's first.

    Args:
        parts: block, where the part begins and stops in it, and the keys of all its records, ascending.
    """
    strings: InternTable[str] = InternTable("")
    to_sets = BlockSets(strings)
    order = np.argsort(np.concatenate([keys[begin:stop] for _, begin, stop, keys in parts]), kind="stable")
    put = np.argsort(order)
    names = set().union(*(block.columns for block, *_ in parts))
    pieces: dict[str, list[Array]] = {name: [] for name in names}
    extracts, before = Extracts(), 0
    opened: list[Opened] = []
    for block, begin, stop, _ in parts:
        numbers = strings.intern_all([None, *block.strings[1:]], len(block.strings))
        sets = to_sets.intern_all([block.to_sets[place] for place in range(len(block.to_sets))])
        for name, held in pieces.items():
            column = block.columns.get(name)
            piece = np.zeros(stop - begin, np.uint64) if column is None else column[begin:stop]
            held.append(numbers[piece] if name in STRING_COLUMNS else sets[piece] if name == "to_set" else piece)
        places = np.full(len(block), -1, np.int64)
        places[begin:stop] = put[before : before + stop - begin]
        extracts.put(block.extracts, places.tolist())
        opened += [_moved(mark, places, put) for mark in block.opened if _is_within(mark, begin, stop, len(block))]
        before += stop - begin
    columns = {name: np.concatenate(held)[order] for name, held in pieces.items()}
    opened.sort(key=lambda mark: mark.place)
    return Block(columns, strings, to_sets, extracts, Counter(), opened=opened)


def _is_within(mark: Opened, begin: int, stop: int, count: int) -> bool:
    """Whether a connection begins in a part of a block: before its last record, or behind all of them."""
    return begin <= mark.place < stop or mark.place == stop == count


def _moved(mark: Opened, places: NDArray[np.int64], put: NDArray[np.int64]) -> Opened:
    """The mark where its next record has come to lie; behind all where that is in no part yet."""
    return mark._replace(place=int(places[mark.place]) if mark.place < len(places) else len(put))

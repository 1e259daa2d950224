"""Several sources read as one: the records of each in their order, those of different ones by time.

RULE: a record's time is its own, or that of one before it in its source where that is later: so the order of a file is
never changed, and a record without a time stays where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing

import numpy as np
from numpy.typing import NDArray

from inspector.capture.block import STRING_COLUMNS, Block, Opened
from inspector.capture.columns import Array
from inspector.capture.extracts import Extracts
from inspector.capture.hashes import NO_HASH
from inspector.capture.name_sets import BlockSets
from inspector.capture.reading import SourceReader, Steps, UnknownFormatError
from inspector.capture.sightings import identities
from inspector.capture.sources import SourceFile
from inspector.capture.strings import InternTable
from inspector.protocol.times import NO_TIME


class _Waiting:
    """Records of one source that were read and not given out."""

    def __init__(self, block: Block, after_ns: int, offset_ns: int) -> None:
        self.block = block
        self.begin = 0
        times = block.columns["time_ns"].copy()
        times[times != NO_TIME] += offset_ns
        times[:1] = max(after_ns, int(times[0]))
        self.keys = np.maximum.accumulate(times)

    def take(self, until_ns: int | None) -> tuple[int, int]:
        """Where those up to a time lie in the block; all of them for None."""
        begin = self.begin
        stop = len(self.keys) if until_ns is None else int(np.searchsorted(self.keys, until_ns, "right"))
        self.begin = max(begin, stop)
        return begin, self.begin


class MergedReader:
    """Reads several sources of a capture; to be used as a `SourceReader` is while a document is opened.

    Attributes:
        left_out: sources that hold nothing known, and why, as sentences.
    """

    def __init__(self, readers: Sequence[SourceReader]) -> None:
        self._readers = list(readers)
        self.left_out: list[str] = []
        self.source = readers[0].source
        self.pace = readers[0].pace
        self._placed = False

    @property
    def sources(self) -> list[SourceFile]:
        """What is read."""
        return [reader.source for reader in self._readers]

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
                if len(self.left_out) == len(self._readers):
                    raise
            else:
                known.append(reader)
        self._readers = known

    def read(self, size: int, *, wait: bool, to_be_followed: bool = False) -> Steps:
        """Blocks of all sources up to their ends; as `SourceReader.read`."""
        with ExitStack() as stack:
            steps = [
                stack.enter_context(closing(reader.read(size, wait=wait, to_be_followed=to_be_followed)))
                for reader in self._readers
            ]
            waiting: list[_Waiting | None] = [None] * len(steps)
            after = [NO_TIME] * len(steps)
            going = set(range(len(steps)))
            while True:
                for place in sorted(going):
                    while waiting[place] is None and place in going:
                        block = next(steps[place], _END)
                        if block is _END:
                            going.discard(place)
                        elif block is None:
                            yield None
                        elif isinstance(block, Block):
                            waiting[place] = self._taken(self._readers[place].source, block, after[place])
                if not self._placed:
                    self._placed = True
                    self._place_in_space([held.block if held is not None else None for held in waiting])
                    waiting = self._set_clocks(waiting)
                there = [(place, held) for place, held in enumerate(waiting) if held is not None]
                if not there:
                    return
                limits = [int(held.keys[-1]) for place, held in there if place in going]
                until = min(limits) if limits else None
                parts: list[tuple[Block, int, int, NDArray[np.int64]]] = []
                for place, held in there:
                    begin, stop = held.take(until)
                    parts.append((held.block, begin, stop, held.keys))
                    after[place] = max(after[place], int(held.keys[-1]))
                    if stop == len(held.keys):
                        waiting[place] = None
                yield merged([part for part in parts if part[1] < part[2]])

    def _taken(self, source: SourceFile, block: Block, after_ns: int) -> _Waiting | None:
        source.read_to = max(source.read_to, block.stop)
        source.formats.update(block.formats)
        if block.origin is not None:
            source.origin = block.origin
        if block.ended is not None:
            source.ended = block.ended
        return _Waiting(block, after_ns, source.clock_offset_ns) if len(block) else None

    def _set_clocks(self, waiting: Sequence[_Waiting | None]) -> list[_Waiting | None]:
        """Find out by how much the clock of each source is behind that of a gateway's log, where there is one.

        RULE: nobody has a message before the gateway received it. So a source is put that much later that none of
        what both have at their beginnings is, but for what is a second off the usual.
        """
        logs = [held for held in waiting if held is not None and held.block.columns["event"].any()]
        if len(logs) != 1:
            return list(waiting)
        log, found = logs[0], list(waiting)
        theirs, first = np.unique(identities(log.block), return_index=True)
        for place, held in enumerate(waiting):
            if held is None or held is log:
                continue
            own = identities(held.block)
            at = np.minimum(np.searchsorted(theirs, own), len(theirs) - 1)
            both = np.flatnonzero((theirs[at] == own) & (own != NO_HASH))
            late, early = (one.block.columns["time_ns"] for one in (log, held))
            there = (late[first[at[both]]] != NO_TIME) & (early[both] != NO_TIME)
            apart = (late[first[at[both]]] - early[both])[there]
            if len(apart):
                usual = apart[np.abs(apart - np.median(apart)) <= _OUTLIER_NS]
                offset = int(usual.max()) if len(usual) else int(np.median(apart))
                self._readers[place].source.clock_offset_ns = offset
                found[place] = _Waiting(held.block, NO_TIME, offset)
        return found

    def _place_in_space(self, blocks: Sequence[Block | None]) -> None:
        """What names no space is of the one that the others name.

        RULE: where envelopes of a source name none at its beginning, and all those of the others one and the same, they
        are of that: participants' own logs do not say what a gateway's says in each line. Named by several, it stays
        open.
        """
        named = [_spaces_of(block) for block in blocks]
        spaces = set[str]().union(*named)
        if len(spaces) != 1:
            return
        for reader, block, own in zip(self._readers, blocks, named, strict=True):
            if block is not None and not own and _holds_envelopes(block):
                reader.source.space = next(iter(spaces))


def _spaces_of(block: Block | None) -> set[str]:
    return set() if block is None else {block.strings[code] for code in np.unique(block.columns["space"]) if code}


def _holds_envelopes(block: Block) -> bool:
    """Whether most of its records have ids of their own, and are no transcript's."""
    envelopes = (block.columns["content_hash"] != NO_HASH) & (block.columns["part"] == 0)
    return 2 * int(np.count_nonzero(envelopes)) > len(block)


_END = object()
_OUTLIER_NS = 1_000_000_000


def merged(parts: Sequence[tuple[Block, int, int, NDArray[np.int64]]]) -> Block:
    """Parts of blocks as one block, by their keys; of equal ones the earlier part's first.

    Args:
        parts: block, where the part begins and stops in it, and the keys of all its records, ascending.
    """
    strings: InternTable[str] = InternTable("")
    to_sets = BlockSets()
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

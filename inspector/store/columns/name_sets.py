"""Sets of names stored once and referenced by number; forty names cost forty numbers and no Python object."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.hashes import NO_ROW, HashIndex, hash_each
from inspector.store.columns.intern_table import InternTable

_MAX_ROW = np.iinfo(np.int64).max
# A list of recipients comes from the wire; a longer one would fill memory for no reader.
MAX_NAMES = 10_000
"""Limit of stored names in a set."""
_NAMES_PER_BLOCK = 1 << 18  # names processed in one block


class NameSets(Sequence[tuple[str, ...]]):
    """Tuples of names in order of first appearance. The place of a tuple is its permanent id; id 0 is the empty set.

    The tuples are stored in sequence as string ids, with an index by hash.

    Args:
        strings: values of the ids; most names are senders as well.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._names = strings
        self._members = array("I")
        self._ends = array("Q", [0])
        self._index = HashIndex()

    def intern_all(self, values: Sequence[tuple[str, ...] | None]) -> NDArray[np.uint32]:
        """Returns the ids of tuples: (values,) uint32; 0 for None. O(names in them)."""
        return self._ids_of(_encode_sets(values, self._names))

    def intern_block(self, sets: BlockNameSets, ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Returns the ids of a block's sets, by their ids there: (sets,) uint32.

        Args:
            sets: of the block.
            ids: (strings of the block,) their ids here.
        """
        written = [*sets.encoded_sets]
        here = ids[np.frombuffer(b"".join(written), np.uint32)].tobytes()
        return self._ids_of(_split_by_lengths(here, map(len, written)))

    def _ids_of(self, written: Sequence[bytes]) -> NDArray[np.uint32]:
        """Returns the ids of tuples given as string ids."""
        hashes = hash_each(written)
        found = self._index.latest_rows(hashes, np.full(len(hashes), _MAX_ROW, np.int64))
        new: dict[bytes, int] = {b"": 0}
        start = len(self)
        # Equal hashes do not prove equal tuples, so the members are compared too.
        ids = [
            known if known != NO_ROW and self._bytes_of(known) == members else self._number(members, new)
            for known, members in zip(found.tolist(), written, strict=True)
        ]
        added = hash_each([*new][1:])
        self._index.add(added, np.arange(start, len(self), dtype=np.uint32))
        return np.array(ids, np.uint32)

    def _number(self, members: bytes, new: dict[bytes, int]) -> int:
        found = new.get(members)
        if found is None:
            found = new[members] = len(self._ends)
            self._members.frombytes(members)
            self._ends.append(len(self._members))
        return found

    def _bytes_of(self, place: int) -> bytes:
        return self._members[self._ends[place - 1] : self._ends[place]].tobytes() if place else b""

    def single_names(self, sets: NDArray[Any]) -> NDArray[np.int64]:
        """Returns (sets,) the string id of the only name in each; 0 for several or none."""
        if not self._members:
            return np.zeros(len(sets), np.int64)
        ends = np.frombuffer(self._ends, np.uint64).astype(np.int64, copy=False)
        stop = ends[sets]
        single = (sets != 0) & (stop - ends[np.maximum(sets.astype(np.int64), 1) - 1] == 1)
        members = np.frombuffer(self._members, np.uint32)[np.maximum(stop, 1) - 1].astype(np.int64)
        return np.where(single, members, 0)

    def contain_names(self, sets: NDArray[Any], names: NDArray[Any]) -> NDArray[np.bool_]:
        """Returns (n,) True if a set contains the given name (a string id). O(names in them)."""
        held = np.zeros(len(sets), np.bool_)
        if not self._members:
            return held
        ends = np.frombuffer(self._ends, np.uint64).astype(np.int64, copy=False)
        # These views copy nothing; they become invalid once a tuple is added.
        members = np.frombuffer(self._members, np.uint32)
        stops = ends[sets]
        counts = np.where(sets != 0, stops - ends[np.maximum(sets.astype(np.int64), 1) - 1], 0)
        before = np.cumsum(counts)
        first = 0
        while first < len(sets):  # in blocks: a set may have thousands of names
            last = max(first + 1, int(np.searchsorted(before, before[first] - counts[first] + _NAMES_PER_BLOCK)))
            of = np.repeat(np.arange(first, last), counts[first:last])
            places = np.arange(len(of)) + np.repeat(
                stops[first:last] - np.cumsum(counts[first:last]), counts[first:last]
            )
            held[of[members[places] == names[of]]] = True
            first = last
        return held

    def sets_with_name(self, name: str | None) -> NDArray[np.bool_]:
        """Returns (len(self),) True if a set contains the name. O(names in all)."""
        held = np.zeros(len(self), np.bool_)
        code = self._names.find(name) if name is not None else None
        if code is not None and self._members:
            places = np.flatnonzero(np.frombuffer(self._members, np.uint32) == code)
            held[np.searchsorted(np.frombuffer(self._ends, np.uint64), places.astype(np.uint64), "right")] = True
        return held

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: Any) -> Any:
        place = range(len(self))[index]
        if not place:
            return ()
        names = self._names
        return tuple([names[code] for code in self._members[self._ends[place - 1] : self._ends[place]]])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return map(self.__getitem__, range(len(self)))


class BlockNameSets(Sequence[tuple[str, ...]]):
    """Name sets of one block; short-lived and sent between processes.

    Args:
        strings: of the block.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._names = strings
        self._sets: InternTable[bytes] = InternTable(b"")

    @property
    def encoded_sets(self) -> Iterator[bytes]:
        """String ids of the names in each set, as uint32 bytes."""
        return iter(self._sets)

    def intern_all(self, values: Sequence[tuple[str, ...] | None]) -> NDArray[np.uint32]:
        """Returns the ids of tuples: (values,) uint32; 0 for None. O(names in them).

        Of a set above MAX_NAMES it keeps the first ones and the number of the rest.
        """
        return self._sets.intern_all(
            [one or None for one in _encode_sets([*map(_truncated, values)], self._names)], len(values)
        )

    def intern(self, value: tuple[str, ...]) -> int:
        return int(self.intern_all([value])[0])

    def __len__(self) -> int:
        return len(self._sets)

    def __getitem__(self, index: Any) -> Any:
        return tuple([self._names[code] for code in np.frombuffer(self._sets[index], np.uint32).tolist()])


def _truncated(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Truncates a set above MAX_NAMES; leaves one that is truncated already."""
    if names is None or len(names) <= MAX_NAMES + 1:
        return names
    return (*names[:MAX_NAMES], f"… {len(names) - MAX_NAMES:,} more")


def _encode_sets(values: Sequence[tuple[str, ...] | None], names: InternTable[str]) -> list[bytes]:
    """Returns each tuple as string ids, uint32 bytes."""
    counts = [len(value) if value else 0 for value in values]
    data = names.intern_all(chain.from_iterable(filter(None, values)), sum(counts)).tobytes()
    return _split_by_lengths(data, [count * 4 for count in counts])


def _split_by_lengths(data: bytes, lengths: Iterable[int]) -> list[bytes]:
    """Splits data into consecutive parts of the given lengths."""
    stops = [*accumulate(lengths)]
    return [data[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]

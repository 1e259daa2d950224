"""Sets of names kept once and named by number: forty names take as many numbers, and no Python object."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture.hashes import NO_ROW, HashIndex, hash_bytes
from inspector.capture.strings import InternTable

_ANY = np.iinfo(np.int64).max


class NameSets(Sequence[tuple[str, ...]]):
    """Tuples of names in the order first seen; a tuple's place is its id and never changes, id 0 is nobody named.

    The names stand in one table, the tuples one after another as places in it; an index by hash finds what is known.
    """

    def __init__(self) -> None:
        self._names: InternTable[str] = InternTable("")
        self._members = array("I")
        self._ends = array("Q", [0])
        self._index = HashIndex()

    def intern_all(self, values: Sequence[tuple[str, ...] | None]) -> NDArray[np.uint32]:
        """The ids of some tuples: (values,) uint32; of None 0. O(names in them)."""
        intern = self._names.intern
        written = [array("I", map(intern, value)).tobytes() if value else b"" for value in values]
        hashes = np.fromiter(map(hash_bytes, written), np.uint64, len(written))
        found = self._index.latest(hashes, np.full(len(hashes), _ANY, np.int64))
        new: dict[bytes, int] = {b"": 0}
        start = len(self)
        ids = [
            known if known != NO_ROW and self._bytes_of(known) == members else self._number(members, new)
            for known, members in zip(found.tolist(), written, strict=True)
        ]
        added = np.fromiter(map(hash_bytes, [*new][1:]), np.uint64, len(new) - 1)
        self._index.add(added, np.arange(start, len(self), dtype=np.uint32))
        return np.array(ids, np.uint32)

    def _number(self, members: bytes, new: dict[bytes, int]) -> int:
        found = new.get(members)
        if found is None:
            found = new[members] = len(self)
            self._members.frombytes(members)
            self._ends.append(len(self._members))
        return found

    def _bytes_of(self, place: int) -> bytes:
        return self._members[self._ends[place - 1] : self._ends[place]].tobytes() if place else b""

    def holding(self, name: str | None) -> NDArray[np.bool_]:
        """(len(self),) whether each has a name in it. O(names in all)."""
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

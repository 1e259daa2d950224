"""Strings kept once, and named by number in columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T", bound=Hashable)


class InternTable(Sequence[_T], Generic[_T]):
    """Values in the order first seen; a value's place is its id and never changes.

    Whatever is looked up and unknown is numbered by the dict itself, and listed afterwards from its end: where most
    values are new, as names in a crowd are, that takes a third of what a method for each of them would.

    Args:
        absent: what id 0 stands for; it is no value, so interning an equal one gives another id.
    """

    def __init__(self, absent: _T) -> None:
        self._values: list[_T] = [absent]
        self._ids: defaultdict[_T | None, int] = _numbered((None,))

    def intern(self, value: _T | None) -> int:
        """The value's id, new when it was not seen before; 0 for None."""
        found = self._ids[value]
        if found == len(self._values):
            self._list_new()
        return found

    def intern_all(self, values: Iterable[_T | None], count: int) -> NDArray[np.uint32]:
        """The ids of `count` values: (count,) uint32. None is absent, id 0."""
        try:
            return np.fromiter(map(self._ids.__getitem__, values), np.uint32, count)
        finally:
            self._list_new()

    def _list_new(self) -> None:
        """List the values that were numbered since the last time, which are the dict's last."""
        new = len(self._ids) - len(self._values)
        if new:
            self._values += [*islice(reversed(self._ids), new)][::-1]  # type: ignore[arg-type]  # None is the first

    def find(self, value: _T) -> int | None:
        """The value's id; None when it was never seen."""
        return self._ids.get(value)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):  # type: ignore[override]  # Sequence's overloads add nothing here
        return self._values[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._values)

    def __getstate__(self) -> list[_T]:
        return self._values

    def __setstate__(self, values: list[_T]) -> None:
        self._values = values
        self._ids = _numbered((None, *values[1:]))


def _numbered(values: Sequence[_T | None]) -> defaultdict[_T | None, int]:
    """Ids by value, which number what is unknown."""
    ids = defaultdict[_T | None, int](None, zip(values, count(), strict=False))
    ids.default_factory = count(len(ids)).__next__
    return ids

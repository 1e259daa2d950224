"""Strings kept once, and named by number in columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T", bound=Hashable)


class _Ids(dict[_T | None, int], Generic[_T]):
    """Ids by value; a value that is asked for and unknown is numbered. None is absent, id 0."""

    def __init__(self, values: list[_T]) -> None:
        super().__init__({None: 0})
        self._values = values

    def __missing__(self, value: _T) -> int:
        found = self[value] = len(self._values)
        self._values.append(value)
        return found


class InternTable(Sequence[_T], Generic[_T]):
    """Values in the order first seen; a value's place is its id and never changes.

    Args:
        absent: what id 0 stands for; it is no value, so interning an equal one gives another id.
    """

    def __init__(self, absent: _T) -> None:
        self._values: list[_T] = [absent]
        self._ids: _Ids[_T] = _Ids(self._values)

    def intern(self, value: _T | None) -> int:
        """The value's id, new when it was not seen before; 0 for None."""
        return self._ids[value]

    def intern_all(self, values: Iterable[_T | None], count: int) -> NDArray[np.uint32]:
        """The ids of `count` values: (count,) uint32. None is absent, id 0."""
        return np.fromiter(map(self._ids.__getitem__, values), np.uint32, count)

    def find(self, value: _T) -> int | None:
        """The value's id; None when it was never seen."""
        return self._ids.get(value)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):  # type: ignore[override]  # Sequence's overloads add nothing here
        return self._values[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._values)

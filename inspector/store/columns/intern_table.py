"""Intern table: strings stored once and referenced by number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_T = TypeVar("_T", bound=Hashable)


class InternTable(Sequence[_T], Generic[_T]):
    """Values in order of first appearance. The place of a value is its permanent id.

    The dict itself numbers unknown values on lookup, and the list takes them from the dict's end afterwards. With
    mostly new values, like names in a crowd, that takes a third of the time of a method call per value.

    Args:
        absent: value of id 0; interning an equal value gives another id.
    """

    def __init__(self, absent: _T) -> None:
        self._values: list[_T] = [absent]
        self._ids: defaultdict[_T | None, int] = _numbering_dict((None,))

    def intern(self, value: _T | None) -> int:
        """Returns the value's id, a new one if unknown; 0 for None."""
        found = self._ids[value]
        if found == len(self._values):
            self._list_new()
        return found

    def intern_all(self, values: Iterable[_T | None], count: int) -> NDArray[np.uint32]:
        """Returns the ids of `count` values: (count,) uint32; 0 for None."""
        try:
            return np.fromiter(map(self._ids.__getitem__, values), np.uint32, count)
        finally:
            # Also after an error: by then the dict has numbered the values before it.
            self._list_new()

    def _list_new(self) -> None:
        """Appends the values numbered since the last call, which are the dict's last."""
        new = len(self._ids) - len(self._values)
        if new:
            self._values += [*islice(reversed(self._ids), new)][::-1]  # type: ignore[arg-type] - only index 0 is None

    def find(self, value: _T) -> int | None:
        """Returns the value's id, if known."""
        return self._ids.get(value)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):  # type: ignore[override] - Sequence's overloads add nothing here
        return self._values[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._values)

    def __getstate__(self) -> list[_T]:
        # Only the values go to another process: the dict is rebuilt from them.
        return self._values

    def __setstate__(self, values: list[_T]) -> None:
        self._values = values
        self._ids = _numbering_dict((None, *values[1:]))


def _numbering_dict(values: Sequence[_T | None]) -> defaultdict[_T | None, int]:
    """Returns a dict of ids by value that numbers unknown keys."""
    ids = defaultdict[_T | None, int](None, zip(values, count(), strict=False))
    ids.default_factory = count(len(ids)).__next__
    return ids

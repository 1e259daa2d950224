"""Strings kept once, and named by number in columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, TypeVar

_T = TypeVar("_T", bound=Hashable)


class InternTable(Sequence[_T], Generic[_T]):
    """Values in the order first seen; a value's place is its id and never changes.

    Args:
        absent: what id 0 stands for; it is no value, so interning an equal one gives another id.
    """

    def __init__(self, absent: _T) -> None:
        self._values: list[_T] = [absent]
        self._ids: dict[_T, int] = {}

    def intern(self, value: _T) -> int:
        """The value's id, new when it was not seen before."""
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self._values)
            self._values.append(value)
        return found

    def find(self, value: _T) -> int | None:
        """The value's id; None when it was never seen."""
        return self._ids.get(value)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index):  # type: ignore[override]  # Sequence's overloads add nothing here
        return self._values[index]

    def __iter__(self) -> Iterator[_T]:
        return iter(self._values)

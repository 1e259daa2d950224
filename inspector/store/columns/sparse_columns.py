"""Columns of numbers that few messages have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.columns import GrowingColumns, places_among


class SparseColumns:
    """Numbers that few messages have: (k,) of each message, ascending, in a row of `names`."""

    def __init__(self, **names: Any) -> None:
        self._columns = GrowingColumns({"message": np.uint32, **names})
        self._names = tuple(names)

    def append(self, found: Mapping[int, tuple[int, ...]]) -> None:
        """Add those of messages that come after all others."""
        if not found:
            return
        rows = sorted(found)
        values = np.array([found[row] for row in rows], np.uint64).reshape(-1, len(self._names))
        columns = {name: values[:, place] for place, name in enumerate(self._names)}
        self._columns.append({"message": np.array(rows, np.uint32), **columns}, len(rows))

    @property
    def messages(self) -> NDArray[Any]:
        """The messages that have any, ascending."""
        return self._columns["message"]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """(k,) a number of all messages that have any."""
        return self._columns[name]

    def has(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) which of some messages have any. O(n log k)."""
        return places_among(rows, self.messages)[1]

    def of(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the numbers of some messages; 0 where they have none."""
        if not len(self.messages):
            return np.zeros(len(rows), np.uint64)
        places, known = places_among(rows, self.messages)
        return np.where(known, self._columns[name][places], 0)

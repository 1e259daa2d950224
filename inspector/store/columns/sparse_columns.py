"""Sparse columns: numbers that few messages have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.columns import GrowingColumns, locate_rows


class SparseColumns:
    """Numbers of few messages: (k,) per name, ordered by message."""

    def __init__(self, **names: Any) -> None:
        self._columns = GrowingColumns({"message": np.uint32, **names})
        self._names = tuple(names)

    def append(self, found: Mapping[int, tuple[int, ...]]) -> None:
        """Appends values of messages that come after all earlier ones."""
        if not found:
            return
        rows = sorted(found)
        values = np.array([found[row] for row in rows], np.uint64).reshape(-1, len(self._names))
        columns = {name: values[:, place] for place, name in enumerate(self._names)}
        self._columns.append({"message": np.array(rows, np.uint32), **columns}, len(rows))

    @property
    def messages(self) -> NDArray[Any]:
        """Messages with values, ascending."""
        return self._columns["message"]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns (k,) one number of all messages with values."""
        return self._columns[name]

    def has_values(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns (n,) True for messages with values. O(n log k)."""
        return locate_rows(rows, self.messages)[1]

    def values_of(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Returns (n,) a number of messages; 0 if absent."""
        if not len(self.messages):
            return np.zeros(len(rows), np.uint64)
        places, known = locate_rows(rows, self.messages)
        return np.where(known, self._columns[name][places], 0)

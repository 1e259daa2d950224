"""Collects the messages that a pass changed, for the caller that refreshes them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import sorted_unique

Rows = NDArray[np.int64]

# 8 MB of rows: merging smaller amounts would sort the same rows again and again.
_MERGE_LIMIT = 1 << 20

NO_ROWS: Rows = np.empty(0, np.int64)


class ChangedRows:
    """Collects changed messages between two calls of `take_rows`."""

    def __init__(self) -> None:
        self._rows: set[int] = set()
        self._batches: list[Rows] = []
        self._batched_count, self._merge_limit = (
            0,
            _MERGE_LIMIT,
        )  # rows in batches, and the limit before they are merged

    def add(self, row: int) -> None:
        self._rows.add(row)

    def update(self, rows: Iterable[int]) -> None:
        self._rows.update(rows)

    def add_array(self, rows: Rows) -> None:
        """Adds the messages of an array; the caller must not change the array afterwards."""
        if len(rows):
            self._batches.append(rows)
            self._batched_count += len(rows)
            if (
                self._batched_count > self._merge_limit
            ):  # no caller has taken them yet: merge duplicates, so that memory stays bounded
                self._batches = [sorted_unique(*self._batches)]
                self._batched_count = len(self._batches[0])
                # A limit of twice the rest keeps the cost of all merges linear in the number of rows.
                self._merge_limit = max(_MERGE_LIMIT, 2 * self._batched_count)

    def take_rows(self) -> Rows:
        """Returns the collected messages, ascending, and clears them."""
        if not (self._rows or self._batches):
            return NO_ROWS
        rows = np.fromiter(self._rows, np.int64, len(self._rows))
        # Batches may overlap with each other and with single rows.
        found = sorted_unique(rows, *self._batches)
        self._rows, self._batches, self._batched_count, self._merge_limit = set(), [], 0, _MERGE_LIMIT
        return found

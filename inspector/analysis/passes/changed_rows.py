"""Collects the messages that a pass changed, for the caller that refreshes them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import ascending

Rows = NDArray[np.int64]

# 8 MB of rows: merging smaller amounts would sort the same rows again and again.
_ENOUGH = 1 << 20

NO_ROWS: Rows = np.empty(0, np.int64)


class ChangedRows:
    """Collects changed messages between two calls of `take`."""

    def __init__(self) -> None:
        self._rows: set[int] = set()
        self._batches: list[Rows] = []
        self._held, self._most = 0, _ENOUGH  # rows in batches, and the limit before they are merged

    def add(self, row: int) -> None:
        self._rows.add(row)

    def update(self, rows: Iterable[int]) -> None:
        self._rows.update(rows)

    def update_all(self, rows: Rows) -> None:
        """Adds the messages of an array; the caller must not change the array afterwards."""
        if len(rows):
            self._batches.append(rows)
            self._held += len(rows)
            if self._held > self._most:  # no caller has taken them yet: merge duplicates, so that memory stays bounded
                self._batches = [ascending(*self._batches)]
                self._held = len(self._batches[0])
                # A limit of twice the rest keeps the cost of all merges linear in the number of rows.
                self._most = max(_ENOUGH, 2 * self._held)

    def take_rows(self) -> Rows:
        """Returns the collected messages, ascending, and clears them."""
        if not (self._rows or self._batches):
            return NO_ROWS
        rows = np.fromiter(self._rows, np.int64, len(self._rows))
        # Batches may overlap with each other and with single rows.
        found = ascending(rows, *self._batches)
        self._rows, self._batches, self._held, self._most = set(), [], 0, _ENOUGH
        return found

"""How high the rows of a conversation are: as laid out where that was done, else as the length of their text says.

Laying out fifty thousand messages takes half a minute, estimating them a tenth of a second; the bar moves by the sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Heights:
    """Heights of rows, in pixels.

    Attributes:
        exact: (n,) bool, which rows were laid out.
    """

    def __init__(self) -> None:
        self._heights = np.zeros(0, np.int64)
        self.exact = np.zeros(0, np.bool_)
        self._tops: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self._heights)

    def take(self, estimates: NDArray[np.int64]) -> None:
        """Begin anew with estimates: (n,) int64, pixels."""
        self._heights = estimates.astype(np.int64)
        self.exact = np.zeros(len(estimates), np.bool_)
        self._tops = None

    def insert(self, row: int, estimates: NDArray[np.int64]) -> None:
        """Rows came before `row`."""
        self._heights = np.insert(self._heights, row, estimates)
        self.exact = np.insert(self.exact, row, np.zeros(len(estimates), np.bool_))
        self._tops = None

    def set_exact(self, rows: Sequence[int], heights: Sequence[int]) -> bool:
        """Rows were laid out; whether any has another height than was thought."""
        if not len(rows):
            return False
        places = np.asarray(rows, np.int64)
        found = np.asarray(heights, np.int64)
        self.exact[places] = True
        moved = bool(np.any(self._heights[places] != found))
        if moved:
            self._heights[places] = found
            self._tops = None
        return moved

    def forget(self, row: int) -> None:
        """A row has to be laid out again; until then it stays as high as it was."""
        self.exact[row] = False

    @property
    def total(self) -> int:
        """All of them together."""
        return int(self._all_tops()[-1])

    def top(self, row: int) -> int:
        """Where a row begins; for the row after the last one, where the last one ends."""
        return int(self._all_tops()[row])

    def height(self, row: int) -> int:
        """How high a row is."""
        return int(self._heights[row])

    def row_at(self, y: int) -> int:
        """The row at a height: the first above it, the last below it; -1 where there are no rows."""
        found = int(np.searchsorted(self._all_tops(), y, side="right")) - 1
        return min(max(found, 0), len(self._heights) - 1)

    def _all_tops(self) -> NDArray[np.int64]:
        if self._tops is None:
            self._tops = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._heights)))
        return self._tops

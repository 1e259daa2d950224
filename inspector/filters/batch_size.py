"""How many messages are decoded between two looks at the clock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_FIRST, _MOST = 32, 4096
_MOST_BYTES = 2 << 20
"""Of records in one slice: what comes next may be a thousand times as long as what came before."""
_SLICE_S = 0.002


class Pace:
    """Cuts messages into slices of some milliseconds, however dear they turn out to be."""

    def __init__(self) -> None:
        self._size = _FIRST

    def stop(self, start: int, ends: NDArray[np.int64]) -> int:
        """Where the slice ends that begins at a place.

        Args:
            start: the first of the slice.
            ends: (n,) where the record of each ends, if they lay one after the other from 0 on.
        """
        before = int(ends[start - 1]) if start else 0
        enough = int(ends.searchsorted(before + _MOST_BYTES))
        return min(start + min(self._size, _MOST), max(start + 1, enough), len(ends))

    def took(self, seconds: float) -> None:
        """The last slice took so much processor time: what others take of the machine makes no message dearer."""
        self._size = max(1, int(min(self._size, _MOST) * min(4.0, _SLICE_S / max(seconds, 1e-6))))

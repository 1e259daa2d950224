"""Adapts the number of messages decoded between two checks of the clock; limits work on changed ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_CHANGED = 50_000
"""Above this number of changed messages, all are evaluated again."""
_FIRST_SIZE, _MAX_SIZE = 32, 4096
_MOST_BYTES = 2 << 20
"""Limit of record bytes in one slice: the next records may be 1,000 times as long as the last ones."""
# Far below a frame of 16 ms, since other slices may come in the same one.
_SLICE_S = 0.002


class Pace:
    """Cuts messages into slices of about 2 ms, whatever one message costs."""

    def __init__(self) -> None:
        self._size = _FIRST_SIZE

    def slice_end(self, start: int, ends: NDArray[np.int64]) -> int:
        """Returns the end of the slice that begins at `start`.

        Args:
            start: index of the slice's first record.
            ends: (n,) end offset of each record if all were laid end to end from 0.
        """
        before = int(ends[start - 1]) if start else 0
        enough = int(ends.searchsorted(before + _MOST_BYTES))
        return min(start + min(self._size, _MAX_SIZE), max(start + 1, enough), len(ends))

    def note_duration(self, seconds: float) -> None:
        """Adapts the slice size to the processor time of the last slice.

        Processor time, not wall time: other load on the machine does not make a message more expensive.
        """
        # Grows fourfold at most: a cheap slice may be followed by long records.
        self._size = max(1, int(min(self._size, _MAX_SIZE) * min(4.0, _SLICE_S / max(seconds, 1e-6))))

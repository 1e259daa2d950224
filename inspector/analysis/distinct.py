"""What numbers there are among many, found without sorting them where they lie close together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_DENSE = 1 << 22


def distinct(keys: NDArray[np.integer]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Each number there is, where it comes first, and which of them each one is: as `numpy.unique` says it."""
    if not len(keys):
        return keys, np.zeros(0, np.int64), np.zeros(0, np.int64)
    low, high = int(keys.min()), int(keys.max())
    if high - low >= _DENSE:
        return np.unique(keys, return_index=True, return_inverse=True)
    least = keys.dtype.type(low)
    near = (keys - least).astype(np.int64)
    first = np.full(high - low + 1, len(keys), np.int64)
    first[near[::-1]] = np.arange(len(keys) - 1, -1, -1)  # of several in one place the last put stays
    found = np.flatnonzero(first < len(keys))
    number = np.zeros(len(first), np.int64)
    number[found] = np.arange(len(found))
    return found.astype(keys.dtype) + least, first[found], number[near]

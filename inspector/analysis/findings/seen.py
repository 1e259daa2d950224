"""Which hashes have been seen before: a filter that never misses one, and is wrong about few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture.hashes import NO_HASH

_FIRST = 1 << 16
_SLOTS_EACH = 4
_MANY = 255
"""Stands in a slot that has held more than one mark: whatever falls there may have been seen."""


class SeenHashes:
    """A mark of one byte in a table for each hash, 4 to 8 bytes a message: asking costs a tenth of an index.

    Of new hashes some 2 in 100 look as if they had been seen; whoever must know asks the index then.
    """

    def __init__(self) -> None:
        self._table = np.zeros(_FIRST, np.uint8)
        self._count = 0

    def add(self, hashes: NDArray[np.uint64], every: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Add hashes, and say at which places there may be one that was seen before, these included.

        Args:
            hashes: those that are new; NO_HASH is none.
            every: all hashes added so far and now, from which a larger table is made.
        """
        if not len(hashes):
            return np.empty(0, np.int64)
        maybe = _twice_among(hashes) | self._mark(hashes)
        self._count += len(hashes)
        if self._count * _SLOTS_EACH > len(self._table):
            self._table = np.zeros(1 << (self._count * _SLOTS_EACH).bit_length(), np.uint8)
            for start in range(0, len(every), 1 << 16):
                self._mark(every[start : start + (1 << 16)])
        return np.flatnonzero(maybe & (hashes != NO_HASH))

    def _mark(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Leave the marks of some hashes, and say which of them may have stood there."""
        slots = (hashes & np.uint64(len(self._table) - 1)).astype(np.int64)
        marks = ((hashes >> np.uint64(56)) % np.uint64(_MANY - 1) + np.uint64(1)).astype(np.uint8)
        standing = self._table[slots]
        maybe = (standing == marks) | (standing == _MANY)
        marks[(standing != 0) & (standing != marks)] = _MANY
        self._table[slots] = marks
        lost = self._table[slots] != marks  # two of these fell into one slot
        self._table[slots[lost]] = _MANY
        return maybe


def _twice_among(hashes: NDArray[Any]) -> NDArray[np.bool_]:
    """Those that are among them more than once."""
    ordered = np.sort(hashes)
    twice = ordered[1:][(ordered[1:] == ordered[:-1]) & (ordered[1:] != NO_HASH)]
    return np.isin(hashes, twice) if len(twice) else np.zeros(len(hashes), np.bool_)

"""64-bit hashes of ids, and where messages with a hash lie.

A dict of ids costs 115 bytes a message; sorted runs of (hash, row) cost 12 (design.md 4).
"""

from __future__ import annotations

import secrets

import numpy as np
import xxhash
from numpy.typing import NDArray

NO_HASH = 0
"""Stands for "no id"; a real hash is never 0."""

# A seed of this process: nobody who writes traffic can aim at a collision.
SEED = secrets.randbits(63)

NO_ROW = -1


def hash_text(text: str, seed: int = SEED) -> int:
    """Hash a string to 64 bits, never NO_HASH."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed) or 1


def hash_bytes(data: bytes, seed: int = SEED) -> int:
    """Hash bytes to 64 bits, never NO_HASH."""
    return xxhash.xxh3_64_intdigest(data, seed) or 1


class HashIndex:
    """Finds the rows of a hash. Rows are added in ascending order; a probe is O(log n) a run, runs are few.

    Each run is (hashes, rows), sorted by hash and within one hash by row. A new run is merged into its
    neighbours while they are not much larger, so n rows make about log n runs.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint32]]] = []

    def add(self, hashes: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        """Add a batch; entries with NO_HASH are left out. Rows must be greater than all added before."""
        keep = hashes != NO_HASH
        hashes, rows = hashes[keep], rows[keep]
        if not len(hashes):
            return
        order = np.argsort(hashes, kind="stable")
        run = (hashes[order], rows[order].astype(np.uint32))
        while self._runs and len(self._runs[-1][0]) < 4 * len(run[0]):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def latest(self, hashes: NDArray[np.uint64], before: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each hash, the greatest row below `before`; NO_ROW where there is none.

        Args:
            hashes: (n,) uint64.
            before: (n,) int64, exclusive upper limits.
        """
        found = np.full(len(hashes), NO_ROW, np.int64)
        for run_hashes, run_rows in self._runs:
            low = np.searchsorted(run_hashes, hashes, side="left").astype(np.int64)
            high = np.searchsorted(run_hashes, hashes, side="right").astype(np.int64)
            place = np.flatnonzero((high > low) & (hashes != NO_HASH))
            last = _last_below(run_rows, low[place], high[place], before[place])
            found[place] = np.maximum(found[place], last)
        return found

    def rows(self, value: int) -> list[int]:
        """Every row with this hash, ascending."""
        found: list[int] = []
        key = np.uint64(value)
        for run_hashes, run_rows in self._runs:
            low, high = np.searchsorted(run_hashes, key, "left"), np.searchsorted(run_hashes, key, "right")
            found.extend(int(row) for row in run_rows[low:high])
        return sorted(found)


def _merge(
    old: tuple[NDArray[np.uint64], NDArray[np.uint32]], new: tuple[NDArray[np.uint64], NDArray[np.uint32]]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    hashes, rows = np.concatenate((old[0], new[0])), np.concatenate((old[1], new[1]))
    order = np.argsort(hashes, kind="stable")  # rows of `old` come first and are smaller, so ties stay in order
    return hashes[order], rows[order]


def _last_below(
    rows: NDArray[np.uint32], low: NDArray[np.int64], high: NDArray[np.int64], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Greatest of `rows[low:high]` below `before`, or NO_ROW; all at once by bisection, as ids may repeat often."""
    start = low.copy()
    high = high.copy()
    while (active := np.flatnonzero(low < high)).size:
        middle = (low[active] + high[active]) >> 1
        below = rows[middle] < before[active]
        low[active[below]] = middle[below] + 1
        high[active[~below]] = middle[~below]
    return np.where(low > start, rows[np.maximum(low - 1, 0)].astype(np.int64), NO_ROW)

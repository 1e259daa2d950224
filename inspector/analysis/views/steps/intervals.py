"""Arithmetic of time intervals by group, for many intervals at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]


def union_lengths(groups: Array, starts: Array, stops: Array, count: int) -> Array:
    """Returns the time that the intervals of each group cover. O(n log n).

    Args:
        groups: (n,) group of each interval, 0 to `count` - 1.
        starts, stops: (n,) nanoseconds, ascending pairs.
        count: number of groups.
    """
    found = np.zeros(count, np.int64)
    if not len(groups):
        return found
    order = np.lexsort((stops, starts, groups))
    groups, starts, stops = groups[order], starts[order], stops[order]
    reached = _reached_before(groups, stops)
    lengths = np.maximum(stops - np.maximum(starts, reached), 0)
    first = np.diff(groups, prepend=-1) != 0
    lengths[first] = (stops - starts)[first]
    np.add.at(found, groups, lengths)
    return found


def _reached_before(groups: Array, stops: Array) -> Array:
    """(n,) the latest end among earlier intervals of the same group; of a first one any value."""
    values, ranks = np.unique(stops, return_inverse=True)
    keys = groups * len(values) + ranks.reshape(-1)
    latest = np.maximum.accumulate(keys)
    before = np.concatenate((latest[:1], latest[:-1]))
    return values[before % len(values)]


def overlap_counts(groups: Array, starts: Array, stops: Array) -> Array:
    """(n,) number of intervals of the same group that share time with each, itself included. O(n log n)."""
    if not len(groups):
        return np.zeros(0, np.int64)
    _, times = np.unique(np.concatenate((starts, stops)), return_inverse=True)
    times = times.reshape(-1).astype(np.int64)
    _, groups = np.unique(groups, return_inverse=True)
    base = groups.reshape(-1).astype(np.int64) * (int(times.max()) + 2)
    begins, ends = base + times[: len(starts)], base + times[len(starts) :]
    begun = np.searchsorted(np.sort(begins), ends, side="left") - np.searchsorted(np.sort(begins), base, side="left")
    ended = np.searchsorted(np.sort(ends), begins, side="right") - np.searchsorted(np.sort(ends), base, side="left")
    return begun - ended


def idle_gaps(starts: Array, stops: Array, least_ns: int) -> Array:
    """(g, 2) int64, start and end of the gaps of at least this length that no interval covers, ascending."""
    if not len(starts):
        return np.zeros((0, 2), np.int64)
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(stops[order])
    gaps = np.flatnonzero(starts[1:] - reached[:-1] >= least_ns)
    return np.stack((reached[:-1][gaps], starts[1:][gaps]), axis=1)

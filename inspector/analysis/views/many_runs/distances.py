"""Distances between runs, their medoid (Kaufman and Rousseeuw, 1987), and outliers by Tukey's fences (1977).

The distance of two runs is the share of their steps without a partner in their alignment. Beyond _MOST_COMPARED
different chains, all are compared with an even sample of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.sequences import Features, align
from inspector.base.slices import SlicedWork

Floats = NDArray[np.float64]

_MOST_COMPARED = 64
_MOST_KEYS = 1_000
"""Steps of a run that are aligned."""
_LEAST_RUNS, _FENCE, _MULTIPLE = 5, 1.5, 3.0
"""RULE: of at least five runs, an outlier is far from the usual run, or has three times the median of steps."""


class Outlier(NamedTuple):
    """A run unlike the others.

    Attributes:
        run: its index.
        distance: to the usual run, 0 to 1; `is_far` if it is beyond the fence.
        steps: number of its steps; `is_long` if they are more than three times the median.
    """

    run: int
    distance: float
    is_far: bool
    steps: int
    is_long: bool


class Distances:
    """Distances of runs to some of them.

    Args:
        of_run: (n,) int64, number of each run's chain.
        sampled: (s,) int64, chains that others are compared with.
        table: (c, s) float64, distance of each chain to these.
    """

    def __init__(self, of_run: NDArray[np.int64], sampled: NDArray[np.int64], table: Floats) -> None:
        self._of_run, self._sampled, self._table = of_run, sampled, table

    def nearest(self, runs: Sequence[int]) -> int:
        """Returns the medoid of some runs: the one with the least distance to the others."""
        chains = self._of_run[list(runs)]
        weights = np.bincount(chains, minlength=len(self._table))[self._sampled]
        if not weights.any():
            weights = np.ones(len(self._sampled), np.int64)
        return runs[int(np.argmin(self._table[chains] @ weights))]


def distances(chains: Sequence[Sequence[int]]) -> SlicedWork[Distances]:
    """Aligns the runs by pairs. Bounded: 64 alignments for each different chain."""
    numbers: dict[tuple[int, ...], int] = {}
    of_run = np.array([numbers.setdefault(tuple(chain[:_MOST_KEYS]), len(numbers)) for chain in chains], np.int64)
    different = list(numbers)
    count = min(len(different), _MOST_COMPARED)
    sampled = np.unique(np.linspace(0, len(different) - 1, count).astype(np.int64))
    table = np.zeros((len(different), len(sampled)))
    column = {int(chain): place for place, chain in enumerate(sampled)}
    for chain in range(len(different)):
        for place, other in enumerate(sampled.tolist()):
            if chain in column and other < chain:
                table[chain, place] = table[other, column[chain]]  # the same pair the other way round
            elif chain != other:
                table[chain, place] = _distance(different[chain], different[other])
                yield
    return Distances(of_run, sampled, table)


def _distance(one: Sequence[int], other: Sequence[int]) -> float:
    if not len(one) and not len(other):
        return 0.0
    left, right = (np.array(some[:_MOST_KEYS], np.int64) for some in (one, other))
    pairs = align(_features(left), _features(right))
    equal = sum(left[i] == right[j] for i, j in pairs)
    return 1 - 2 * float(equal) / (len(left) + len(right))


def _features(keys: NDArray[np.int64]) -> Features:
    return Features(keys, keys, np.zeros((len(keys), 4), np.int64))


def outliers(chains: Sequence[Sequence[int]], usual: int) -> list[Outlier]:
    """Returns the runs unlike the others, the farthest first.

    Args:
        chains: keys of each run's steps.
        usual: index of the medoid.
    """
    if len(chains) < _LEAST_RUNS:
        return []
    far = np.array([_distance(chain, chains[usual]) for chain in chains])
    low, high = np.quantile(far, [0.25, 0.75])
    fence = high + _FENCE * (high - low)
    steps = np.array([len(chain) for chain in chains])
    most = _MULTIPLE * float(np.median(steps))
    found = [
        Outlier(run, float(far[run]), bool(far[run] > fence), int(steps[run]), bool(steps[run] > most > 0))
        for run in range(len(chains))
        if far[run] > fence or steps[run] > most > 0
    ]
    return sorted(found, key=lambda one: (-one.distance, -one.steps, one.run))

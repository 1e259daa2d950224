"""The tree of the steps of many runs: a prefix tree over their keys, with chains folded.

Folded prefix trees are Morrison's Patricia (1968).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple


class TreeRow(NamedTuple):
    """Steps that several runs did one after another, before some of them parted or ended.

    Attributes:
        parent: index of the row before it; -1 for the first.
        depth: number of rows above it.
        runs: indices of the runs.
        start, stop: places of the steps in their chains.
        ended: number of runs that ended here.
        representative: the run that is nearest to the others.
    """

    parent: int
    depth: int
    runs: list[int]
    start: int
    stop: int
    ended: int
    representative: int


def run_tree(chains: Sequence[Sequence[int]], nearest: Callable[[Sequence[int]], int]) -> list[TreeRow]:
    """Returns the rows of the tree, parents before children, and the way of most runs first. O(steps).

    Args:
        chains: keys of each run's steps.
        nearest: returns the representative of some runs.
    """
    rows: list[TreeRow] = []
    waiting: list[tuple[list[int], int, int, int]] = [(list(range(len(chains))), 0, -1, 0)]
    while waiting:
        runs, start, parent, depth = waiting.pop()
        stop, following = start, _following(chains, runs, start)
        while len(following) == 1 and len(next(iter(following.values()))) == len(runs):
            stop += 1
            following = _following(chains, runs, stop)
        ended = len(runs) - sum(map(len, following.values()))
        # All runs have the root in common, even if their first steps differ.
        if stop > start or parent < 0:
            rows.append(TreeRow(parent, depth, runs, start, stop, ended, nearest(runs)))
            parent, depth = len(rows) - 1, depth + 1
        ways = sorted(following.values(), key=lambda some: (len(some), [-one for one in some]))
        waiting += [(some, stop, parent, depth) for some in ways]
    return rows


def _following(chains: Sequence[Sequence[int]], runs: Sequence[int], place: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for run in runs:
        if place < len(chains[run]):
            found.setdefault(chains[run][place], []).append(run)
    return found


def way_count(chains: Sequence[Sequence[int]]) -> int:
    """Returns the number of different chains."""
    return len(Counter(map(tuple, chains)))

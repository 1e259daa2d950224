"""Aligns two sequences of steps: anchors by patience, then a weighted alignment of the gaps.

Patience diff (Bram Cohen) takes elements that occur once in each sequence, and keeps the longest chain of them that
ascends in both. It is repeated within each gap, then with pairs and fours of neighbours as elements. A remaining gap is
aligned by the dynamic programme of Needleman and Wunsch (1970), where steps that are only similar may be pairs too.
Gaps beyond `_MAX_CELLS` are cut at equal shares first, so that time and memory are bounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.base.longest_chain import longest_chain

Array = NDArray[np.int64]

_MAX_CELLS = 1 << 20
"""Cells of a table: one byte each. Two runs of 100,000 different steps need 100 tables."""
_EQUAL, _SIMILAR, _MEMBER = 60, 4, 3
"""Weights of a pair of equal steps, of steps of one tool or kind, and of each equal argument in addition."""
_NEVER = -(1 << 20)
_MOST_ROUNDS = 40


class Features(NamedTuple):
    """Values of steps by which they are aligned.

    Attributes:
        acts: (n,) int64, equal for equal steps.
        groups: (n,) int64, kind and tool; only steps of one group can be a pair.
        members: (n, 4) int64, arguments in the order of their names; 0 without one.
    """

    acts: Array
    groups: Array
    members: Array

    def at_places(self, places: Array) -> Features:
        """Returns the values of some steps."""
        return Features(self.acts[places], self.groups[places], self.members[places])


def align(one: Features, other: Features) -> list[tuple[int, int]]:
    """Returns pairs of places, ascending in both; places without a partner are left out."""
    pairs: list[tuple[int, int]] = []
    gaps = [(0, len(one.acts), 0, len(other.acts), 0)]
    rest: list[tuple[int, int, int, int]] = []
    while gaps:
        a, b, c, d, rounds = gaps.pop()
        while a < b and c < d and one.acts[a] == other.acts[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and one.acts[b - 1] == other.acts[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d:
            continue
        anchors = _anchors(one.acts[a:b], other.acts[c:d]) if rounds < _MOST_ROUNDS else []
        if not anchors:
            rest.append((a, b, c, d))
            continue
        start, begin = a, c
        for i, j in [(a + i, c + j) for i, j in anchors] + [(b, d)]:
            gaps.append((start, i, begin, j, rounds + 1))
            if i < b:
                pairs.append((i, j))
            start, begin = i + 1, j + 1
    for gap in rest:
        pairs += _aligned_gap(one, other, *gap)
    return sorted(pairs)


def _anchors(one: Array, other: Array) -> list[tuple[int, int]]:
    """Returns anchors: elements that occur once in each, else where they and their neighbours do."""
    for width in (1, 2, 4):
        if width > min(len(one), len(other)):
            break
        found = _unique_chain(_joined(one, width), _joined(other, width))
        if found:
            return found
    return []


def _joined(keys: Array, width: int) -> Array:
    """Returns a hash of each element with the ones after it."""
    if width == 1:
        return keys
    with np.errstate(over="ignore"):
        found = keys[: len(keys) - width + 1].copy()
        for offset in range(1, width):
            found = found * np.int64(1_000_003) ^ keys[offset : len(keys) - width + 1 + offset]
    return found


def _unique_chain(one: Array, other: Array) -> list[tuple[int, int]]:
    first, places, counts = np.unique(one, return_index=True, return_counts=True)
    second, others, again = np.unique(other, return_index=True, return_counts=True)
    first, places = first[counts == 1], places[counts == 1]
    second, others = second[again == 1], others[again == 1]
    _, mine, theirs = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    order = np.argsort(places[mine], kind="stable")
    starts, stops = places[mine][order].tolist(), others[theirs][order].tolist()
    return longest_chain(list(zip(starts, stops, strict=True)))


def _aligned_gap(one: Features, other: Features, a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Aligns a gap without anchors."""
    parts = 1
    while -(-(b - a) // parts) * -(-(d - c) // parts) > _MAX_CELLS:
        parts += 1
    pairs: list[tuple[int, int]] = []
    lefts, rights = np.linspace(a, b, parts + 1).astype(int), np.linspace(c, d, parts + 1).astype(int)
    for part in range(parts):
        left, right = np.arange(lefts[part], lefts[part + 1]), np.arange(rights[part], rights[part + 1])
        found = _weighted(one.at_places(left), other.at_places(right))
        pairs += [(int(left[i]), int(right[j])) for i, j in found]
    return pairs


def _weighted(one: Features, other: Features) -> list[tuple[int, int]]:
    """Returns the pairs of the greatest weight that ascend in both. Gaps cost nothing; early pairs are preferred."""
    n, m = len(one.acts), len(other.acts)
    if not n or not m:
        return []
    moves = np.full((n, m), 2, np.uint8)  # 0: skip in `one`, 1: skip in `other`, 2: pair
    similar = {group: np.flatnonzero(other.groups == group) for group in np.unique(one.groups).tolist()}
    known = np.isin(one.acts, other.acts)
    before = np.zeros(m + 1, np.int32)
    for i in range(n):
        weights = np.full(m, _NEVER, np.int32)
        places, members = similar[int(one.groups[i])], one.members[i]
        weights[places] = _SIMILAR
        if members.any() and len(places):
            weights[places] += _MEMBER * ((other.members[places] == members) & (members != 0)).sum(
                axis=1, dtype=np.int32
            )
        if known[i]:
            weights[other.acts == one.acts[i]] = _EQUAL
        now = np.zeros(m + 1, np.int32)
        np.maximum.accumulate(np.maximum(before[1:], before[:-1] + weights), out=now[1:])
        moves[i][now[1:] == now[:-1]] = 1
        moves[i][now[1:] == before[1:]] = 0
        before = now
    pairs: list[tuple[int, int]] = []
    i, j = n - 1, m - 1
    while i >= 0 and j >= 0:
        move = moves[i, j]
        if move == 2:
            pairs.append((i, j))
            i, j = i - 1, j - 1
        elif move == 1:
            j -= 1
        else:
            i -= 1
    return pairs[::-1]

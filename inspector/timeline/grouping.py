"""Whose lane a message stands in: its participant's, or that of the outermost context it lies in."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN

LaneBy = Literal["participant", "context"]
"""What a lane stands for."""

Rows = NDArray[Any]


def keys_of(analysis: Analysis, by: LaneBy, rows: Rows, nodes: Rows) -> NDArray[np.int64]:
    """(rows,) int64, a number for the lane of each message: its space, and in it a participant or a root context.

    Args:
        rows: messages.
        nodes: the contexts they lie in.
    """
    columns = analysis.capture.columns
    spaces = columns["space"][rows].astype(np.int64) << 32
    if by == "participant":
        return spaces | columns["sender"][rows].astype(np.int64)
    tree = analysis.contexts.tree
    roots = np.full(len(tree) - MAIN, MAIN, np.int64)  # by node, main's first
    for node in (np.flatnonzero(np.bincount(nodes - MAIN)) + MAIN).tolist():
        roots[node - MAIN] = MAIN if node == MAIN else tree.line_to(node)[0]
    return spaces | (roots[nodes - MAIN] + 1)


def lane_name(analysis: Analysis, by: LaneBy, key: int) -> str:
    """What the head of a lane says; as the wire has it, not made safe to show."""
    number = key & 0xFFFFFFFF
    if by == "participant":
        return analysis.capture.strings[number] if number else "No sender"
    return analysis.contexts.label(number - 1) if number else "main"


def numbered(keys: NDArray[np.int64], known: dict[int, int]) -> tuple[Rows, list[int]]:
    """Each key as a number, counted from zero in the order first seen; new ones are added to `known`.

    Returns:
        (keys,) the numbers, and the keys that are new.
    """
    if len(keys) and (keys == keys[0]).all():
        found, first, places = keys[:1], np.zeros(1, np.int64), np.zeros(len(keys), np.int64)
    else:
        found, first, places = _distinct(keys)
    new = [int(found[n]) for n in np.argsort(first).tolist() if int(found[n]) not in known]
    for key in new:
        known[key] = len(known)
    return np.array([known[key] for key in found.tolist()], np.int64)[places], new


_DENSE = 1 << 22


def _distinct(keys: NDArray[np.int64]) -> tuple[Rows, Rows, Rows]:
    """As `numpy.unique` with first places and inverse; without sorting where keys lie close together."""
    low, high = int(keys.min()), int(keys.max())
    if high - low >= _DENSE:
        return np.unique(keys, return_index=True, return_inverse=True)
    near = keys - low
    first = np.full(high - low + 1, len(keys), np.int64)
    first[near[::-1]] = np.arange(len(keys) - 1, -1, -1)  # of several in one place the last put stays
    found = np.flatnonzero(first < len(keys))
    number = np.zeros(len(first), np.int64)
    number[found] = np.arange(len(found))
    return found + low, first[found], number[near]

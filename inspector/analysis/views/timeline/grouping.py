"""Whose lane a message stands in: its participant's, or that of the outermost context it lies in."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import distinct
from inspector.analysis.passes.contexts.context_tree import MAIN

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
    return spaces | (analysis.contexts.tree.lines.roots[nodes].astype(np.int64) - MAIN)


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
    found, first, places = distinct(keys)
    new = [int(found[n]) for n in np.argsort(first).tolist() if int(found[n]) not in known]
    for key in new:
        known[key] = len(known)
    return np.array([known[key] for key in found.tolist()], np.int64)[places], new

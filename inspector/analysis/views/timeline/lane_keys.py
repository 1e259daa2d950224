"""Assigns messages to lanes, by participant or by outermost context, and names lanes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.unique_ints import unique_with_places
from inspector.analysis.passes.contexts.context_tree import MAIN

LaneBy = Literal["participant", "context"]
"""Subject of a lane."""

Rows = NDArray[Any]


def lane_keys(analysis: Analysis, by: LaneBy, rows: Rows, nodes: Rows) -> NDArray[np.int64]:
    """(rows,) int64, number of each message's lane: space, and within it a participant or root context.

    Args:
        rows: messages.
        nodes: their contexts.
    """
    columns = analysis.capture.columns
    spaces = columns["space"][rows].astype(np.int64) << 32
    if by == "participant":
        return spaces | columns["sender"][rows].astype(np.int64)
    return spaces | (analysis.contexts.tree.lines.roots[nodes].astype(np.int64) - MAIN)


def lane_name(analysis: Analysis, by: LaneBy, key: int) -> str:
    """Returns the label of a lane, as on the wire and not escaped."""
    number = key & 0xFFFFFFFF
    if by == "participant":
        return analysis.capture.strings[number] if number else "No sender"
    return analysis.contexts.label(number - 1) if number else "main"


def number_keys(keys: NDArray[np.int64], known: dict[int, int]) -> tuple[Rows, list[int]]:
    """Numbers keys from zero in order of appearance; adds new ones to `known`.

    Returns:
        (keys,) the numbers, and the new keys.
    """
    found, first, places = unique_with_places(keys)
    new = [int(found[n]) for n in np.argsort(first).tolist() if int(found[n]) not in known]
    for key in new:
        known[key] = len(known)
    return np.array([known[key] for key in found.tolist()], np.int64)[places], new

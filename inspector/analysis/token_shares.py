"""What some messages cost, added up by tool, context, participant or kind: all of them, or those a view shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.analysis.node_columns import living_nodes
from inspector.analysis.token_sums import carried_up

Way = Literal["tool", "context", "participant", "kind"]
NO_TOOL = 0
DEFINITIONS = MAIN
"""Lists of tools, and what asked for them: no call of a tool, and mostly the greatest part of what is none."""


@dataclass(frozen=True, slots=True)
class Share:
    """One of those the tokens are shared among.

    Attributes:
        key: string id, or node of a context; NO_TOOL or DEFINITIONS where tools are counted.
        tokens: of its messages, as far as they are counted.
        messages: how many those are, counted or not.
    """

    key: int
    tokens: int
    messages: int


def codes_of(analysis: Analysis, way: Way, rows: slice | NDArray[np.integer]) -> NDArray[np.int64]:
    """(rows,) what each message goes to: a string id, 0 for nobody or no tool; DEFINITIONS; or a node, MAIN."""
    columns = analysis.capture.columns
    if way == "context":
        return analysis.contexts.nodes_of(rows).astype(np.int64)
    if way == "tool":
        call, listing = map(analysis.capture.strings.find, ("tools/call", "tools/list"))
        held = analysis.correlation.columns
        methods = held["method"][rows]
        targets = np.where(methods == (-1 if call is None else call), held["target"][rows].astype(np.int64), NO_TOOL)
        return np.where(methods == (-1 if listing is None else listing), DEFINITIONS, targets)
    return columns["sender" if way == "participant" else "kind"][rows].astype(np.int64)


def shares(
    analysis: Analysis, way: Way, rows: NDArray[np.integer] | None = None, *, below: bool = False
) -> list[Share]:
    """Those that have messages, the most tokens first. O(messages) in numpy.

    Args:
        analysis: of the capture.
        way: what is added up by.
        rows: the messages looked at; all of them by default.
        below: a context stands for all contexts below it too, the main context for everything.
    """
    taken: slice | NDArray[np.integer] = slice(0, len(analysis)) if rows is None else rows
    codes = codes_of(analysis, way, taken)
    counted = np.maximum(analysis.tokens.columns["tokens"][taken], 0)
    room = len(analysis.contexts.tree) + 1 if way == "context" else int(codes.max(initial=0)) + 2
    codes = np.where(codes == MAIN, room - 1, codes)  # of tools DEFINITIONS
    messages = np.bincount(codes, minlength=room)
    tokens = np.bincount(codes, weights=counted, minlength=room).astype(np.int64)  # exact up to 2 ** 53
    if way == "context":
        tokens, messages = _contexts(analysis, tokens, messages, below=below)
    return _ordered(tokens, messages, main=room - 1)


def _contexts(
    analysis: Analysis, tokens: NDArray[np.int64], messages: NDArray[np.intp], *, below: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    tree, counts = analysis.contexts.tree, messages.astype(np.int64)
    if below:
        everything = int(tokens.sum()), int(counts.sum())
        tokens, counts = carried_up(tree, tokens), carried_up(tree, counts)
        tokens[MAIN], counts[MAIN] = everything
    gone = living_nodes(tree) != np.arange(len(tree))
    tokens[:-1][gone] = counts[:-1][gone] = 0  # merged into others, which have theirs
    return tokens, counts


def _ordered(tokens: NDArray[np.int64], messages: NDArray[np.integer], *, main: int) -> list[Share]:
    found = np.flatnonzero(messages)
    order = found[np.lexsort((found, -messages[found], -tokens[found]))]
    return [Share(MAIN if key == main else key, int(tokens[key]), int(messages[key])) for key in order.tolist()]


def over_time(
    analysis: Analysis, times: NDArray[np.int64], edges: NDArray[np.int64], keys: list[int], way: Way,
    rows: NDArray[np.integer] | None = None,
) -> NDArray[np.int64]:  # fmt: skip
    """(keys + 1, bins) tokens in stretches of time: of each of `keys`, and of all others. O(messages) in numpy.

    Args:
        analysis: of the capture.
        times: (n,) int64, when each message was.
        edges: (bins + 1,) int64, equally far apart; what lies outside counts in the outermost ones.
        keys: as `shares` gives them.
        way: what they are.
        rows: the messages looked at; all of them by default.
    """
    taken: slice | NDArray[np.integer] = slice(0, len(times)) if rows is None else rows
    bins = len(edges) - 1
    codes = codes_of(analysis, way, taken)
    series = np.full(len(codes), len(keys), np.int64)
    for place, key in enumerate(keys):
        series[codes == key] = place
    width = max(1, int(edges[1] - edges[0]))
    places = np.clip((times[taken] - edges[0]) // width, 0, bins - 1)
    counted = np.maximum(analysis.tokens.columns["tokens"][taken], 0)
    sums = np.bincount(series * bins + places, weights=counted, minlength=(len(keys) + 1) * bins)
    return sums.astype(np.int64).reshape(len(keys) + 1, bins)

"""Sums tokens of messages by tool, context, participant or kind; for all messages or those of a view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import living_nodes
from inspector.analysis.passes.tokens.token_sums import subtree_tokens
from inspector.base.slices import SlicedWork, run_to_end

Grouping = Literal["tool", "context", "participant", "kind"]
NO_TOOL = 0
_MESSAGES_PER_STEP = 1 << 16
# Negative, so no string id has this number.
DEFINITIONS = MAIN
"""Tool lists and their requests: no tool calls, and mostly the largest part of the rest."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share of one key in the tokens.

    Attributes:
        key: string id, or node of a context; NO_TOOL or DEFINITIONS when grouped by tool.
        tokens: counted tokens of its messages.
        messages: number of its messages, uncounted ones included.
    """

    key: int
    tokens: int
    messages: int


def codes_of(analysis: Analysis, way: Grouping, rows: slice | NDArray[np.integer]) -> NDArray[np.int64]:
    """(rows,) group of each message: a string id, 0 without one; DEFINITIONS; or a node, MAIN."""
    columns = analysis.capture.columns
    if way == "context":
        return analysis.contexts.nodes_of(rows).astype(np.int64)
    if way == "tool":
        call, listing = map(analysis.capture.strings.find, ("tools/call", "tools/list"))
        held = analysis.correlation.columns
        methods = held["method"][rows]
        targets = np.where(methods == (-1 if call is None else call), held["target"][rows].astype(np.int64), NO_TOOL)
        return np.where(methods == (-1 if listing is None else listing), DEFINITIONS, targets)
    return (columns["sender"][rows] if way == "participant" else analysis.capture.foreign_rpc.kind_codes(rows)).astype(
        np.int64
    )


@dataclass(frozen=True, slots=True)
class Sums:
    """Tokens and messages by group (`codes_of`); the last entry, at index MAIN, is MAIN.

    Attributes:
        tokens: (n,) int64, counted tokens.
        messages: (n,) int64, number of messages, uncounted ones included.
    """

    tokens: NDArray[np.int64]
    messages: NDArray[np.int64]

    @property
    def order(self) -> NDArray[np.int64]:
        """(k,) indexes of groups with messages, most tokens first."""
        found = np.flatnonzero(self.messages)
        return found[np.lexsort((found, -self.messages[found], -self.tokens[found]))]

    def those(self, places: NDArray[np.int64]) -> Sums:
        """Returns the sums of some groups only."""
        messages = np.zeros_like(self.messages)
        messages[places] = self.messages[places]
        return Sums(self.tokens, messages)

    def key(self, place: int) -> int:
        """Returns the group at an index."""
        return MAIN if place == len(self.tokens) - 1 else place


def sum_in_steps(analysis: Analysis, way: Grouping, rows: NDArray[np.integer] | None = None) -> SlicedWork[Sums]:
    """Sums the tokens of messages. O(messages) in numpy.

    Args:
        analysis: passes of the capture.
        way: grouping; a context counts its own messages only.
        rows: messages; None for all.
    """
    sums = np.zeros((2, 1), np.int64)  # MAIN first
    for taken in _parts(len(analysis), rows):
        # MAIN is -1, and bincount needs indexes from 0.
        codes = codes_of(analysis, way, taken) - MAIN
        counted = np.maximum(analysis.tokens.columns["tokens"][taken], 0)
        messages = np.bincount(codes, minlength=sums.shape[1])
        sums = np.pad(sums, ((0, 0), (0, len(messages) - sums.shape[1])))
        sums[0] += np.bincount(codes, weights=counted, minlength=len(messages)).astype(np.int64)  # exact up to 2 ** 53
        sums[1] += messages
        yield
    room = len(analysis.contexts.tree) + 1 if way == "context" else 0
    sums = np.pad(sums, ((0, 0), (0, max(0, room - sums.shape[1]))))
    tokens, held = np.roll(sums, -1, axis=1)  # MAIN is -1
    return Sums(tokens, held)


def _parts(stop: int, rows: NDArray[np.integer] | None) -> Iterator[slice | NDArray[np.integer]]:
    """Yields the messages in parts that take some milliseconds each."""
    for low in range(0, stop if rows is None else len(rows), _MESSAGES_PER_STEP):
        yield slice(low, min(stop, low + _MESSAGES_PER_STEP)) if rows is None else rows[low : low + _MESSAGES_PER_STEP]


def shares(
    analysis: Analysis, way: Grouping, rows: NDArray[np.integer] | None = None, *, below: bool = False
) -> list[Share]:
    """Returns the groups with messages, most tokens first. O(messages) in numpy.

    Args:
        analysis: passes of the capture.
        way: grouping.
        rows: messages; None for all.
        below: True to include descendants of a context; the main context then includes everything.
    """
    sums = run_to_end(sum_in_steps(analysis, way, rows))
    if below:
        sums = with_descendants(analysis, sums)
    order = sums.order
    figures = zip(order.tolist(), sums.tokens[order].tolist(), sums.messages[order].tolist(), strict=True)
    return [Share(sums.key(place), tokens, messages) for place, tokens, messages in figures]


def with_descendants(analysis: Analysis, sums: Sums) -> Sums:
    """Returns sums of contexts with descendants; the main context includes everything."""
    tree = analysis.contexts.tree
    tokens, messages = subtree_tokens(tree, sums.tokens), subtree_tokens(tree, sums.messages)
    tokens[MAIN], messages[MAIN] = sums.tokens.sum(), sums.messages.sum()
    gone = living_nodes(tree) != np.arange(len(tree))
    tokens[:-1][gone] = messages[:-1][gone] = 0  # merged into others, which have their sums
    return Sums(tokens, messages)


def tokens_over_time(
    analysis: Analysis, times: NDArray[np.int64], edges: NDArray[np.int64], keys: list[int], way: Grouping,
    rows: NDArray[np.integer] | None = None,
) -> SlicedWork[NDArray[np.int64]]:  # fmt: skip
    """(keys + 1, bins) tokens per time interval, of each key and of all others. O(messages) in numpy.

    Args:
        analysis: passes of the capture.
        times: (n,) int64, time of each message.
        edges: (bins + 1,) int64, equally spaced; outside messages count in the outermost bins.
        keys: as in `shares`.
        way: grouping.
        rows: messages; None for all.
    """
    bins, width = len(edges) - 1, max(1, int(edges[1] - edges[0]))
    sums = np.zeros((len(keys) + 1) * bins, np.int64)
    for taken in _parts(len(times), rows):
        codes = codes_of(analysis, way, taken)
        series = np.full(len(codes), len(keys), np.int64)
        for place, key in enumerate(keys):
            series[codes == key] = place
        places = np.clip((times[taken] - edges[0]) // width, 0, bins - 1)
        counted = np.maximum(analysis.tokens.columns["tokens"][taken], 0)
        sums += np.bincount(series * bins + places, weights=counted, minlength=len(sums)).astype(np.int64)
        yield
    return sums.reshape(len(keys) + 1, bins)

"""What some messages cost, added up by tool, context, participant or kind: all of them, or those a view shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import living_nodes
from inspector.analysis.passes.tokens.token_sums import carried_up
from inspector.base.slices import Steps, finished

Way = Literal["tool", "context", "participant", "kind"]
NO_TOOL = 0
_AT_ONCE = 1 << 16
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
    return (columns["sender"][rows] if way == "participant" else analysis.capture.foreign_rpc.kind_codes(rows)).astype(
        np.int64
    )


@dataclass(frozen=True, slots=True)
class Sums:
    """Tokens and messages by what they go to (`codes_of`); the last entry, reached by index MAIN, stands for MAIN.

    Attributes:
        tokens: (n,) int64, of the messages, as far as they are counted.
        messages: (n,) int64, how many those are, counted or not.
    """

    tokens: NDArray[np.int64]
    messages: NDArray[np.int64]

    @property
    def order(self) -> NDArray[np.int64]:
        """(k,) places of those that have messages, the most tokens first."""
        found = np.flatnonzero(self.messages)
        return found[np.lexsort((found, -self.messages[found], -self.tokens[found]))]

    def those(self, places: NDArray[np.int64]) -> Sums:
        """Of what stands at some places alone."""
        messages = np.zeros_like(self.messages)
        messages[places] = self.messages[places]
        return Sums(self.tokens, messages)

    def key(self, place: int) -> int:
        """What stands at a place."""
        return MAIN if place == len(self.tokens) - 1 else place


def summing(analysis: Analysis, way: Way, rows: NDArray[np.integer] | None = None) -> Steps[Sums]:
    """Add up what messages cost. O(messages) in numpy.

    Args:
        analysis: of the capture.
        way: what is added up by; of contexts each stands for its own messages alone.
        rows: the messages looked at; all of them by default.
    """
    sums = np.zeros((2, 1), np.int64)  # of MAIN first
    for taken in _parts(len(analysis), rows):
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
    """The messages looked at, so many at once that it takes some milliseconds."""
    for low in range(0, stop if rows is None else len(rows), _AT_ONCE):
        yield slice(low, min(stop, low + _AT_ONCE)) if rows is None else rows[low : low + _AT_ONCE]


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
    sums = finished(summing(analysis, way, rows))
    if below:
        sums = with_below(analysis, sums)
    order = sums.order
    figures = zip(order.tolist(), sums.tokens[order].tolist(), sums.messages[order].tolist(), strict=True)
    return [Share(sums.key(place), tokens, messages) for place, tokens, messages in figures]


def with_below(analysis: Analysis, sums: Sums) -> Sums:
    """Sums of contexts where each stands for all below it too, and the main context for everything."""
    tree = analysis.contexts.tree
    tokens, messages = carried_up(tree, sums.tokens), carried_up(tree, sums.messages)
    tokens[MAIN], messages[MAIN] = sums.tokens.sum(), sums.messages.sum()
    gone = living_nodes(tree) != np.arange(len(tree))
    tokens[:-1][gone] = messages[:-1][gone] = 0  # merged into others, which have theirs
    return Sums(tokens, messages)


def over_time(
    analysis: Analysis, times: NDArray[np.int64], edges: NDArray[np.int64], keys: list[int], way: Way,
    rows: NDArray[np.integer] | None = None,
) -> Steps[NDArray[np.int64]]:  # fmt: skip
    """(keys + 1, bins) tokens in stretches of time: of each of `keys`, and of all others. O(messages) in numpy.

    Args:
        analysis: of the capture.
        times: (n,) int64, when each message was.
        edges: (bins + 1,) int64, equally far apart; what lies outside counts in the outermost ones.
        keys: as `shares` gives them.
        way: what they are.
        rows: the messages looked at; all of them by default.
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

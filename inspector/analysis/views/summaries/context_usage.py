"""Sums reported usage of model calls in one context, and its context window fill."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import living_nodes
from inspector.analysis.passes.tokens.call_costs import CallCosts
from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS, Usage
from inspector.analysis.passes.tokens.token_sums import subtree_tokens
from inspector.analysis.views.summaries.context_summary import subtree_mask


class ContextUsage(NamedTuple):
    """Usage reported by calls in a context.

    Attributes:
        calls: number of calls.
        usage: their sum.
        window: tokens in the model's context after the last call, its answer included.
        peak: maximum after any call.
        cost: cost of calls in the context itself; None without a known price.
        cost_with_below: cost with all descendants; None without descendants.
        with_below: calls with all descendants; None without descendants.
    """

    calls: int
    usage: Usage
    window: int
    peak: int
    with_below: int | None
    cost: CallCosts | None
    cost_with_below: CallCosts | None


def context_usage(analysis: Analysis, space: int, node: int) -> ContextUsage | None:
    """Returns the usage of a context, or of a space's main context (MAIN); None without calls. O(calls of models)."""
    rows = analysis.usage.reports()
    rows = rows[analysis.capture.columns["space"][rows] == space]
    nodes = analysis.contexts.nodes_of(rows)
    own = rows[nodes == node]
    if not len(own):
        return None
    held = np.stack([analysis.usage.numbers_at(name, own) for name in USAGE_KINDS])
    windows = held.sum(axis=0)
    all_rows = rows if node == MAIN else rows[subtree_mask(analysis, node)[nodes]]
    more = len(all_rows)
    return ContextUsage(
        len(own), Usage(*held.sum(axis=1).tolist()), int(windows[-1]), int(windows.max()),
        more if more > len(own) else None,
        analysis.costs.costs_of(own), analysis.costs.costs_of(all_rows) if more > len(own) else None,
    )  # fmt: skip


class NodeUsage(NamedTuple):
    """Reported usage of model calls by context; the last row, at index MAIN, sums the main contexts.

    Attributes:
        subtree: (nodes + 1, 4) int64, per context with descendants, the figures of USAGE.
        main: figures of the main context of each space (string id) only.
        spaces: figures of each space.
    """

    subtree: NDArray[np.int64]
    main: dict[int, Usage]
    spaces: dict[int, Usage]


def usage_by_node(analysis: Analysis) -> NodeUsage:
    """Returns the usage of all contexts. O(calls of models + nodes log depth)."""
    rows, held = analysis.usage.reported()
    tree, spaces = analysis.contexts.tree, analysis.capture.columns["space"][rows]
    nodes = analysis.contexts.nodes_of(rows)
    subtree = np.zeros((len(tree) + 1, len(USAGE_KINDS)), np.int64)
    np.add.at(subtree, nodes, held)
    for place in range(len(USAGE_KINDS)):
        subtree[:, place] = subtree_tokens(tree, subtree[:, place].copy())
    living = np.append(living_nodes(tree), MAIN)
    main = nodes == MAIN
    return NodeUsage(subtree[living], _by_space(spaces[main], held[main]), _by_space(spaces, held))


def _by_space(spaces: NDArray[np.uint32], held: NDArray[np.int64]) -> dict[int, Usage]:
    found = np.flatnonzero(np.bincount(spaces))  # sorting would take most of the time
    which = np.zeros(int(found[-1]) + 1 if len(found) else 0, np.int64)
    which[found] = np.arange(len(found))
    sums = np.zeros((len(found), len(USAGE_KINDS)), np.int64)
    np.add.at(sums, which[spaces], held)
    return {space: Usage(*one) for space, one in zip(found.tolist(), sums.tolist(), strict=True)}

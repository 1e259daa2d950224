"""What the calls of models in one context reported: in sum, and how full the model's context was."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import living_nodes
from inspector.analysis.passes.tokens.costs import Cost
from inspector.analysis.passes.tokens.reported_usage import USAGE, Usage
from inspector.analysis.passes.tokens.token_sums import carried_up
from inspector.analysis.views.summaries.context_summary import below


class ContextUsage(NamedTuple):
    """What calls in a context reported.

    Attributes:
        calls: how many.
        usage: their sum.
        window: tokens in the model's context after the last of them, its answer included.
        peak: the most after any of them.
        cost: of those in the context itself; None where no price is known.
        cost_with_below: the same with all contexts below; None where there is nothing below.
        with_below: calls there, and in all contexts below; None where there is nothing below.
    """

    calls: int
    usage: Usage
    window: int
    peak: int
    with_below: int | None
    cost: Cost | None
    cost_with_below: Cost | None


def context_usage(analysis: Analysis, space: int, node: int) -> ContextUsage | None:
    """What was reported of a context, or of a space's main one (MAIN); None where no call was. O(calls of models)."""
    rows = analysis.usage.reports()
    rows = rows[analysis.capture.columns["space"][rows] == space]
    nodes = analysis.contexts.nodes_of(rows)
    own = rows[nodes == node]
    if not len(own):
        return None
    held = np.stack([analysis.usage.at(name, own) for name in USAGE])
    windows = held.sum(axis=0)
    all_rows = rows if node == MAIN else rows[below(analysis, node)[nodes]]
    more = len(all_rows)
    return ContextUsage(
        len(own), Usage(*held.sum(axis=1).tolist()), int(windows[-1]), int(windows.max()),
        more if more > len(own) else None,
        analysis.costs.of(own), analysis.costs.of(all_rows) if more > len(own) else None,
    )  # fmt: skip


class NodeUsage(NamedTuple):
    """What calls of models reported, by context; the last row, reached by index MAIN, is the main contexts' together.

    Attributes:
        subtree: (nodes + 1, 4) int64, of each context with all below, the numbers of USAGE.
        main: the same of the main context of each space (string id) alone.
        spaces: of each space as a whole.
    """

    subtree: NDArray[np.int64]
    main: dict[int, Usage]
    spaces: dict[int, Usage]


def usage_by_node(analysis: Analysis) -> NodeUsage:
    """Reported usage of all contexts at once. O(calls of models + nodes log depth)."""
    rows, held = analysis.usage.reported()
    tree, spaces = analysis.contexts.tree, analysis.capture.columns["space"][rows]
    nodes = analysis.contexts.nodes_of(rows)
    subtree = np.zeros((len(tree) + 1, len(USAGE)), np.int64)
    np.add.at(subtree, nodes, held)
    for place in range(len(USAGE)):
        subtree[:, place] = carried_up(tree, subtree[:, place].copy())
    living = np.append(living_nodes(tree), MAIN)
    main = nodes == MAIN
    return NodeUsage(subtree[living], _by_space(spaces[main], held[main]), _by_space(spaces, held))


def _by_space(spaces: NDArray[np.uint32], held: NDArray[np.int64]) -> dict[int, Usage]:
    found = np.flatnonzero(np.bincount(spaces))  # sorting them would take most of the time
    which = np.zeros(int(found[-1]) + 1 if len(found) else 0, np.int64)
    which[found] = np.arange(len(found))
    sums = np.zeros((len(found), len(USAGE)), np.int64)
    np.add.at(sums, which[spaces], held)
    return {space: Usage(*one) for space, one in zip(found.tolist(), sums.tolist(), strict=True)}

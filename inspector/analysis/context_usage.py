"""What the calls of models in one context reported: in sum, and how full the model's context was."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.context_summary import below
from inspector.analysis.context_tree import MAIN
from inspector.analysis.costs import Cost
from inspector.analysis.reported_usage import USAGE, Usage


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

"""What was counted, in the order people ask: in all, by whom, by tool and kind, where, and what collapsing saved.

All of it are estimates by one tokenizer, never mixed with what participants report of themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.analysis.token_shares import DEFINITIONS, NO_TOOL, shares
from inspector.analysis.tokens import NOT_COUNTED
from inspector.analysis.transients import Badge
from inspector.document.document import CaptureDocument
from inspector.tokens.counter import TOKENIZER

MOST_CONTEXTS = 20
"""Contexts that are named, those with the most tokens first."""


@dataclass(frozen=True, slots=True)
class Collapsing:
    """What collapsing did to the results that were collapsed; tokens.

    Attributes:
        results: how many were collapsed, as far as they are counted.
        before: of the results as they came.
        after: of the summaries that stand for them.
    """

    results: int
    before: int
    after: int

    @property
    def saved(self) -> int:
        """Tokens that left the context."""
        return self.before - self.after


def collapsing(analysis: Analysis) -> Collapsing:
    """What collapsing saved so far."""
    counts = analysis.tokens.columns["tokens"]
    collapsed = (analysis.transients.columns["badges"] & Badge.COLLAPSED.value) != 0
    rows = np.flatnonzero(collapsed & (counts != NOT_COUNTED))
    after = sum(analysis.tokens.summary_tokens(row) or 0 for row in rows.tolist())
    return Collapsing(len(rows), int(counts[rows].sum(dtype=np.int64)), after)


def tokens_of(document: CaptureDocument) -> dict[str, Any]:
    """Everything that was counted, as a plain object; whoever wants it whole has had it counted before."""
    analysis, strings = document.analysis, document.capture.strings
    sums, saved = analysis.tokens.sums(), collapsing(analysis)
    left = {one.key: one.tokens for one in shares(analysis, "tool") if one.key in (NO_TOOL, DEFINITIONS)}
    return {
        "tokenizer": TOKENIZER,
        "total": sums.total,
        "uncounted": sums.uncounted,
        "main": int(sums.by_node.own[MAIN]),
        "participants": sums.by_participant,
        "tools": {tool: tokens for tool, tokens in sums.by_tool.items() if tool},
        "tool_definitions": left.get(DEFINITIONS, 0),
        "no_tool": left.get(NO_TOOL, 0),
        "kinds": sums.by_kind,
        "contexts": [
            {
                "path": analysis.contexts.tree.path(node),
                "label": analysis.contexts.label(node),
                "inside": _label_above(analysis, node),
                "space": strings[analysis.contexts.tree.space[node]] or None,
                "own": int(sums.by_node.own[node]),
                "subtree": int(sums.by_node.subtree[node]),
            }
            for node in largest_contexts(analysis)
        ],
        "collapsed": {
            "results": saved.results, "before": saved.before, "after": saved.after, "saved": saved.saved,
        },
        "without_collapsing": sums.total,
        "with_collapsing": sums.total - saved.saved,
    }  # fmt: skip


def _label_above(analysis: Analysis, node: int) -> str | None:
    """The label of the context around one; None directly below main."""
    parent = analysis.contexts.tree.parent[node]
    return analysis.contexts.label(parent) if parent != MAIN else None


def largest_contexts(analysis: Analysis, most: int = MOST_CONTEXTS) -> list[int]:
    """The contexts that hold the most tokens themselves, the largest first."""
    own = analysis.tokens.node_sums().own[:-1].copy()
    aliases = np.array(analysis.contexts.tree.aliases, np.int64)
    own[aliases != np.arange(len(aliases))] = 0  # merged into another, which has them
    order = np.argsort(-own, kind="stable")[:most]
    return [node for node in order.tolist() if own[node]]

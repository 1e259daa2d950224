"""Tokens of a document for the summary: by context, kind and tool; savings by collapsing.

All counts are estimates by one tokenizer, never mixed with reports of participants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.results.transient_results import Badge
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.summaries.token_shares import DEFINITIONS, NO_TOOL, shares
from inspector.document.document import CaptureDocument
from inspector.tokens.counter import TOKENIZER

MOST_CONTEXTS = 20
"""Limit of named contexts, by descending tokens."""


@dataclass(frozen=True, slots=True)
class Collapsing:
    """Effect of collapsing on tokens.

    Attributes:
        results: number of collapsed and counted results.
        before: tokens of the original results.
        after: tokens of their summaries.
    """

    results: int
    before: int
    after: int

    @property
    def saved(self) -> int:
        """Tokens that left the context."""
        return self.before - self.after


def collapse_savings(analysis: Analysis) -> Collapsing:
    """Returns the saving by collapsing so far."""
    counts = analysis.tokens.columns["tokens"]
    collapsed = (analysis.transients.columns["badges"] & Badge.COLLAPSED.value) != 0
    # Before and after must be sums over the same results.
    rows = np.flatnonzero(collapsed & (counts != NOT_COUNTED))
    after = sum(analysis.tokens.summary_tokens(row) or 0 for row in rows.tolist())
    return Collapsing(len(rows), int(counts[rows].sum(dtype=np.int64)), after)


def tokens_of(document: CaptureDocument) -> dict[str, Any]:
    """Returns all token counts as a plain object; call it after the count is complete."""
    analysis, strings = document.analysis, document.capture.strings
    sums, saved = analysis.tokens.all_sums(), collapse_savings(analysis)
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
    """Returns the label of a context's parent; None directly below main."""
    parent = analysis.contexts.tree.parent[node]
    return analysis.contexts.label(parent) if parent != MAIN else None


def largest_contexts(analysis: Analysis) -> list[int]:
    """Returns the contexts with the most tokens of their own, largest first."""
    own = analysis.tokens.node_sums().own[:-1].copy()
    aliases = np.array(analysis.contexts.tree.aliases, np.int64)
    own[aliases != np.arange(len(aliases))] = 0  # merged into another node, which has the tokens
    order = np.argsort(-own, kind="stable")[:MOST_CONTEXTS]
    return [node for node in order.tolist() if own[node]]

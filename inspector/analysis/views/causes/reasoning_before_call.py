"""Finds the last thought before a call or proposal, and its line of text.

The link goes by time, as calls and proposals of released agents do not name their reasoning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.protocol import kinds

_MAX_LOOKBACK = 5_000  # messages searched before the call
_MAX_THOUGHTS = 200  # thoughts of one sender that are checked
_MAX_LEVELS = 1_000  # depth of nested contexts
_KINDS = ("reasoning/start", "reasoning/thought")


def thought_before(analysis: Analysis, message: int) -> int | None:
    """Returns the sender's last thought before a tool call or proposal, in a reasoning still open.

    Returns None for other kinds. It is a thought or a reasoning start. A call inside a context belongs to the
    reasoning of this context, an ancestor or a descendant.
    """
    capture, contexts = analysis.capture, analysis.contexts
    columns = capture.columns
    sender, low = int(columns["sender"][message]), max(0, message - _MAX_LOOKBACK)
    codes = [code for code in map(capture.strings.find, _KINDS) if code]
    if not sender or not codes or not _is_act(analysis, message):
        return None
    near = slice(low, message)
    thought = columns["sender"][near] == sender
    thought &= np.logical_or.reduce([columns["kind"][near] == code for code in codes])
    thought &= columns["space"][near] == columns["space"][message]
    own = contexts.tree.ancestry(contexts.tree.resolve(contexts.node_of(message)), _MAX_LEVELS)
    rows = np.flatnonzero(thought)[::-1][:_MAX_THOUGHTS] + low
    for row in rows[_may_be_in_line(analysis, rows, own)].tolist():
        line = reasoning_line(analysis, row)
        if own and line and own[-1] not in line and line[-1] not in own:
            continue
        if any(contexts.started_by[node] >= 0 and not contexts.has_ended_before(node, message) for node in line):
            return row
    return None


def _may_be_in_line(analysis: Analysis, rows: NDArray[np.int64], own: list[int]) -> NDArray[np.bool_]:
    """Returns (n,) False for thoughts without a context, or below another root than the contexts `own`."""
    contexts, capture = analysis.contexts, analysis.capture
    nodes, roots = contexts.nodes_of(rows), contexts.tree.lines.roots
    inside = roots[nodes] == roots[own[-1]] if own else nodes != MAIN
    return inside | (capture.columns["kind"][rows] == (capture.strings.find(_KINDS[0]) or -1))


def _is_act(analysis: Analysis, message: int) -> bool:
    capture, kind = analysis.capture, analysis.capture.string("kind", message)
    method = capture.strings[int(analysis.correlation.columns["method"][message])]
    return kind == kinds.PROPOSAL or (kind == kinds.REQUEST and method == "tools/call")


def reasoning_line(analysis: Analysis, message: int) -> list[int]:
    """Returns the contexts from the root to the one that a reasoning message opened or lies in; the nearest ones."""
    contexts = analysis.contexts
    node = analysis.named.started_by(message)
    if node == MAIN:
        node = contexts.tree.resolve(contexts.node_of(message))
    return contexts.tree.ancestry(node, _MAX_LEVELS)

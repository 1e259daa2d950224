"""Finds the messages with the results of contexts."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_facts import CANCELLED
from inspector.formats import registry
from inspector.store.messages.transcripts import SubAgent


def conclusion_row(analysis: Analysis, node: int) -> int:
    """Returns the message with the conclusion of a context; -1 without one.

    For a sub-agent this is its own last text if the end message only closes a turn or is a notice of the program.
    """
    ended = analysis.contexts.concluded_by[node] if node != MAIN else -1
    capture, tree = analysis.capture, analysis.contexts.tree
    agent = capture.transcripts.agents.get(tree.name[node]) if ended >= 0 else None
    if agent is None or not _has_no_result(analysis, node, agent, ended):
        return ended
    columns, find = capture.columns, capture.strings.find
    said = columns["kind"][:ended] == (find("chat") or -1)
    said &= columns["sender"][:ended] == (find(agent.name) or -1)
    said &= columns["context"][:ended] == (find(agent.context) or -1)
    said &= columns["space"][:ended] == tree.space[node]
    found = np.flatnonzero(said)
    # Copies in other files are no later words.
    found = found[~capture.repeated_messages(found)[1]]
    return int(found[-1]) if len(found) else ended


def _has_no_result(analysis: Analysis, node: int, agent: SubAgent, ended: int) -> bool:
    """Returns True if an end message closes a turn, or tells others that the sub-agent has ended."""
    capture = analysis.capture
    kind = capture.string("kind", ended) or ""
    is_told = kind == "chat" and agent.name not in ("", capture.string("sender", ended))
    is_outside = capture.columns["context"][ended] != (capture.strings.find(agent.context) or -1)
    # The notice of a failure has its reason.
    is_notice = is_told and is_outside and analysis.contexts.facts.end[node] != CANCELLED
    return is_notice or kind.startswith(registry.groups().control)

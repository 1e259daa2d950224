"""Counts sub-agents that a log starts and has no messages of."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.formats import registry


def unlogged_agents(analysis: Analysis) -> int:
    """Returns the number of sub-agents whose calls are in the log, and no message of their own."""
    capture, tree = analysis.capture, analysis.contexts.tree
    started = {name for name, agent in capture.transcripts.agents.items() if agent.is_agent and agent.call is not None}
    if not started:
        return 0
    kinds = capture.columns["kind"][: len(analysis)]
    control, strings = registry.groups().control, capture.strings
    records = [code for code in np.unique(kinds).tolist() if (strings[code] or "").startswith(control)]
    # Records of progress repeat a sub-agent's messages without their usage.
    spoken = set(np.unique(analysis.contexts.nodes()[: len(kinds)][~np.isin(kinds, records)]).tolist())
    return sum(tree.name[node] in started and node not in spoken for node in tree.alive())

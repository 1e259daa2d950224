"""Finds sub-agents that work in the background: the answer to their call only confirms the start.

RULE: such a call lasts until the agent's last message before its first reported end. Without messages of the agent, it
lasts until that report.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW


def background_ends(analysis: Analysis, calls: NDArray[np.integer[Any]]) -> dict[int, int]:
    """Returns the ends of the background agents of some calls, by the answer that confirms the start. O(calls).

    Times are nanoseconds since the epoch.
    """
    capture, links = analysis.capture, analysis.correlation.columns
    times, found = capture.columns["time_ns"], dict[int, int]()
    request = capture.strings.find(kinds.REQUEST) or -1
    for agent in capture.transcripts.started_by_hashes(capture.ids.text_hashes("id_hash", calls)):
        for row in capture.ids.rows_anywhere(agent.call) if agent.call is not None else ():
            if row >= len(analysis) or capture.columns["kind"][row] != request:
                continue
            answer = int(links["answer"][row])
            node = analysis.contexts.tree.find(int(capture.columns["space"][row]), agent.context)
            if answer == NO_ROW or node == MAIN:
                continue
            end = _end_ns(analysis, node, answer)
            if NO_TIME not in (end, int(times[answer])) and end > times[answer]:
                found[answer] = end
            break
    return found


def answer_latency_ns(analysis: Analysis, answer: int) -> int | None:
    """Returns `CorrelationPass.latency_ns` of an answer; of the start of a background agent, the time until its end."""
    took, capture = analysis.correlation.latency_ns(answer), analysis.capture
    if took is None or not capture.transcripts.agents:
        return took
    cause = int(analysis.correlation.columns["cause"][answer])
    end = background_ends(analysis, np.array([cause])).get(answer)
    return took if end is None else end - int(capture.columns["time_ns"][cause])


def _end_ns(analysis: Analysis, node: int, answer: int) -> int:
    """Returns the end of an agent; NO_TIME if the answer is its end, or if it is unknown."""
    contexts = analysis.contexts
    first = contexts.facts.sequences.first_end[node]
    ended = first if first >= 0 else contexts.concluded_by[node]
    if ended == answer:
        return NO_TIME
    told = int(analysis.capture.columns["time_ns"][ended]) if ended >= 0 else NO_TIME
    last = int(contexts.last_ns[node])
    return min(last, told) if NO_TIME not in (last, told) else max(last, told)

"""Counts tool calls, each once, with answers and failures (docs/design.md 5b).

Counted as one call: a proposal and its fulfilment, a question and its retry, a task and its result, copies, and a
transcript's call with its MCP request. A refusal by a gateway is a failed answer.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.open_waits import are_refused, are_untraced
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.call_pairs import CallPairs
from inspector.protocol import kinds
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW


class ToolCalls(NamedTuple):
    """Numbers of tool calls.

    Attributes:
        tools: calls.
        answered: calls with an answer or a refusal.
        failed: calls with an error or a refusal.
        unanswered: calls without an answer, where answers are recorded.
        rejected: answered calls that the user did not allow.
        by_tool: calls by tool, most first; "" for calls without a name.
        untraced: calls in traces without tool spans, or in saved answers of a model alone, without a later answer.
    """

    tools: int
    answered: int
    failed: int
    unanswered: int
    rejected: int
    by_tool: dict[str, int]
    untraced: int = 0


def tool_calls(analysis: Analysis) -> ToolCalls:
    """Counts the tool calls. O(messages) in numpy."""
    calls = calls_of(analysis)
    rows, failed, answered = calls.rows, calls.failed, calls.answered
    tools, strings = Counter(analysis.correlation.columns["target"][rows].tolist()), analysis.capture.strings
    by_tool = {strings[code] if code else "": n for code, n in tools.most_common()}
    untraced = ~answered & are_untraced(analysis.capture, rows)
    answered_n, failed_n, open_n, rejected_n, untraced_n = (
        int(np.count_nonzero(one)) for one in (answered, failed, ~answered & ~untraced, calls.declined, untraced)
    )
    return ToolCalls(len(rows), answered_n, failed_n, open_n, rejected_n, by_tool, untraced_n)


class Calls(NamedTuple):
    """Tool calls, each once.

    Attributes:
        rows: (n,) requests, ascending; of a call in two sources, the asker's.
        answers: (n,) answers; NO_ROW without one.
        failed: (n,) bool, True for errors and refusals.
        declined: (n,) bool, True if the user did not allow it.
    """

    rows: Rows
    answers: Rows
    failed: NDArray[np.bool_]
    declined: NDArray[np.bool_]

    @property
    def answered(self) -> NDArray[np.bool_]:
        """(n,) bool: True with an answer, or a refusal without a message."""
        return (self.answers != NO_ROW) | self.failed


def calls_of(analysis: Analysis) -> Calls:
    """Returns the tool calls. O(messages) in numpy."""
    capture, links = analysis.capture, analysis.correlation.columns
    request, call = (capture.strings.find(text) or -1 for text in (kinds.REQUEST, "tools/call"))
    rows = np.flatnonzero((capture.columns["kind"] == request) & (links["method"][:] == call))
    of_copies = _answers_of_copies(analysis, rows) if capture.has_copies else {}
    if capture.has_copies:
        rows = rows[~capture.repeated_messages(rows)[1]]
    rounds = analysis.correlation.rounds
    # A retry continues a call that is counted by its first request.
    rows = rows[~np.isin(rows, list(rounds.retries))]
    answers = rounds.results(rows, links["answer"][rows].astype(np.int64))
    outer = CallPairs.find_all(analysis).outer_calls(rows)
    inner = outer != NO_ROW
    # The transcript may lack an answer that its MCP server logged.
    elsewhere = of_copies | dict(zip(outer[inner].tolist(), answers[inner].tolist(), strict=True))
    rows, answers = rows[~inner], answers[~inner]
    for place in np.flatnonzero(answers == NO_ROW).tolist() if elsewhere else ():
        answers[place] = elsewhere.get(int(rows[place]), NO_ROW)
    answered = answers != NO_ROW
    failed = capture.columns["flags"][np.where(answered, answers, 0)] & np.uint32(Flag.ERROR.value) != 0
    flags = capture.columns["flags"][np.where(answered, answers, 0)]
    declined = answered & (flags & np.uint32(Flag.DECLINED.value) != 0)
    failed |= np.isin(rows, [row for row, call in rounds.calls.items() if call.failed])
    # Over HTTP a status alone is no answer: the server may not have read the request.
    refused = are_refused(capture, links, rows) & (capture.columns["flags"][rows] & np.uint32(Flag.RPC.value) == 0)
    return Calls(rows, answers, np.where(answered, failed, refused), declined)


def _answers_of_copies(analysis: Analysis, rows: Rows) -> dict[int, int]:
    """Returns the answers to copies by call: a history with the answer repeats the call."""
    of, is_copy = analysis.capture.repeated_messages(rows)
    answers = analysis.correlation.columns["answer"][rows].astype(np.int64)
    found: dict[int, int] = {}
    for place in np.flatnonzero(is_copy & (answers != NO_ROW)).tolist():
        found.setdefault(int(of[place]), int(answers[place]))
    return found

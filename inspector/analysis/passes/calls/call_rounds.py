"""Follows calls that take several requests: retries with requested input, polled tasks, and repeated attempts.

RULE: an answer that asks for input and the retry that brings it are one call. They must share the state, the method and
the name, and only one such answer may be open in the conversation. If two fit, neither is linked.

RULE: an answer that hands out a task is no result. The call continues with the requests about that task in the same
source. It ends with an answer that brings the result (2025-11-25: of `tasks/result`; the tasks extension: within
`tasks/get`), or that reports the task as cancelled or failed (docs/protocols.md 13, Calls in several requests).

RULE: a model call that is made again after a failure is one call. It ends as its last attempt does (section 17).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.formats.table import MODEL_OPERATIONS
from inspector.protocol import kinds, mcp_messages
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.extracted_columns import TASK_FAILED, TASK_HANDED, TASK_RESULT, TASK_STATUS
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_FETCH_RESULT, _TASK_PREFIX = "tasks/result", "tasks/"
_FINAL_STATUSES = (mcp_messages.TaskStatus.FAILED, mcp_messages.TaskStatus.CANCELLED)
_MAX_UNLINKED = 1_000


@dataclass(slots=True)
class RoundsOfCall:
    """A call that takes several requests.

    Attributes:
        requests: the requests after the first, in order.
        result: the answer that ends the call, NO_ROW until then.
        failed: true if that answer reports a failure.
        cancelled: true if that answer reports only that the task was cancelled.
    """

    requests: list[int] = field(default_factory=list)
    result: int = NO_ROW
    failed: bool = False
    cancelled: bool = False


class CallRounds:
    """Links the requests and answers of such calls; stores a few numbers for each of their messages.

    Attributes:
        calls: the rounds, by the first request of the call.
        first: the first request of the call, by each further request.
        retries: further requests that repeat the call.
        interim_answers: the first request of the call, by each interim answer, which asks for input or
            hands out a task.
        begun: the first request of the call, by the answer that ends it in a later round.
    """

    def __init__(self, capture: Capture, links: GrowingColumns, changed: ChangedRows) -> None:
        self._capture = capture
        self._links = links
        self._changed = changed
        self.calls: dict[int, RoundsOfCall] = {}
        self.first: dict[int, int] = {}
        self.retries: set[int] = set()
        self.interim_answers: dict[int, int] = {}
        self.begun: dict[int, int] = {}
        # requests with an answer that asks for input, by the key of a matching retry
        self._open_input_requests: dict[tuple[int, ...], list[int]] = {}
        self._tasks: dict[tuple[int, int], int] = {}  # by source and task, the request that became the task
        self._attempts: set[int] = set()  # further requests that repeat a model call
        self._awaiting_answer: dict[
            int, None
        ] = {}  # further requests that still lack an answer, which may be the result
        self._unlinked_answers: list[int] = []  # answers without a known request so far

    def feed(self, start: int, stop: int) -> None:
        """Processes messages `start` to `stop` after they are linked. O(stop - start)."""
        told = self._capture.extracted.mcp_rows
        low, high = np.searchsorted(told, [start, stop])
        rows = told[low:high].astype(np.int64)
        # An answer may come before its request in captures merged out of order.
        rows = np.concatenate((np.array(self._unlinked_answers, np.int64), rows)) if self._unlinked_answers else rows
        self._unlinked_answers = []
        states, tasks, says = (
            self._capture.extracted.mcp_values(name, rows) for name in ("state", "task", "task_says")
        )
        # Most rows with extracted MCP facts have neither a state nor a task: only these few are visited one by one.
        told_of = np.flatnonzero((states != 0) | (tasks != 0))
        if len(told_of):
            rows = rows[told_of]
            pipes = connection_keys(self._capture, rows).tolist()
            values = (column[told_of].tolist() for column in (states, tasks, says))
            for row, pipe, state, task, told_here in zip(rows.tolist(), pipes, *values, strict=True):
                self._take(row, pipe, state, task, told_here)
        self._link_attempts(start, stop)
        self._process_answers()

    def _link_attempts(self, start: int, stop: int) -> None:
        """Links repeated requests to a model among the new messages."""
        codes = [code for name in MODEL_OPERATIONS if (code := self._capture.strings.find(name)) is not None]
        request = self._capture.strings.find(kinds.REQUEST)
        if not codes or request is None:
            return
        asks = are_any_of(self._links["method"][start:stop], codes) & (
            self._capture.columns["kind"][start:stop] == request
        )
        rows = start + np.flatnonzero(asks)
        of, copied = self._capture.repeated_messages(rows)
        for row, first in zip(rows[copied].tolist(), of[copied].tolist(), strict=True):
            if first != NO_ROW:
                self._add_request(row, first)
                self._attempts.add(row)
                self._awaiting_answer[row] = None

    def _take(self, row: int, pipe: int, state: int, task: int, says: int) -> None:
        kind = self._capture.string("kind", row)
        if kind == kinds.REQUEST:
            if state and self._method(row) in mcp_messages.RETRIED_METHODS:
                self._link_retry(row, (pipe, state, int(self._links["method"][row]), int(self._links["target"][row])))
            elif task and self._method(row).startswith(_TASK_PREFIX):
                self._add_request(row, self._tasks.get((pipe >> 32, task), NO_ROW))
            return
        asked = int(self._links["cause"][row])
        if kind != kinds.RESPONSE or asked == NO_ROW:
            if kind == kinds.RESPONSE and len(self._unlinked_answers) < _MAX_UNLINKED:
                self._unlinked_answers.append(row)
            return
        method = self._method(asked)
        if task and method.startswith(_TASK_PREFIX):
            self._process_task_answer(row, asked, says)
        elif says & TASK_HANDED:
            self._add_interim(row, asked)
            # A task is known across all connections of its source, since a client may poll it over another one.
            self._tasks[pipe >> 32, task] = self.first.get(asked, asked)
        elif state and method in mcp_messages.RETRIED_METHODS:
            self._add_interim(row, asked)
            key = (pipe, state, int(self._links["method"][asked]), int(self._links["target"][asked]))
            self._open_input_requests.setdefault(key, []).append(asked)

    def _method(self, row: int) -> str:
        code = int(self._links["method"][row])
        return self._capture.strings[code] if code else ""

    def _add_interim(self, row: int, asked: int) -> None:
        first = self.interim_answers[row] = self.first.get(asked, asked)
        self.calls.setdefault(first, RoundsOfCall())
        self._awaiting_answer.pop(asked, None)
        self._changed.update((row, first))

    def _link_retry(self, row: int, key: tuple[int, ...]) -> None:
        # RULE: with two open answers of the same key it is unknown to which of them the retry belongs.
        if len(self._open_input_requests.get(key, ())) == 1:
            asked = self._open_input_requests.pop(key)[0]
            self._add_request(row, self.first.get(asked, asked))
            self.retries.add(row)

    def _add_request(self, row: int, first: int) -> None:
        if first == NO_ROW:
            return
        self.first[row] = first
        self.calls.setdefault(first, RoundsOfCall()).requests.append(row)
        self._changed.update((row, first))
        if self._method(row) == _FETCH_RESULT or self._method(row) in mcp_messages.RETRIED_METHODS:
            self._awaiting_answer[row] = None

    def _process_task_answer(self, row: int, asked: int, says: int) -> None:
        """Ends a call if an answer about its task reports a final state.

        The tasks extension puts the result into that answer.
        """
        first = self.first.get(asked, NO_ROW)
        if first == NO_ROW or self._method(asked) == _FETCH_RESULT:
            return
        if says & TASK_RESULT or says & TASK_STATUS in _FINAL_STATUSES:
            status = mcp_messages.TaskStatus(says & TASK_STATUS)
            cancelled = status is mcp_messages.TaskStatus.CANCELLED
            self._end_call(
                row,
                first,
                failed=bool(says & TASK_FAILED) or status is mcp_messages.TaskStatus.FAILED,
                cancelled=cancelled,
            )

    def _process_answers(self) -> None:
        """Processes the answers to retries and to requests for results."""
        for row in [row for row in self._awaiting_answer if self._links["answer"][row] != NO_ROW]:
            answer = int(self._links["answer"][row])
            del self._awaiting_answer[row]
            if answer not in self.interim_answers:
                failed = bool(int(self._capture.columns["flags"][answer]) & Flag.ERROR.value)
                self._end_call(answer, self.first[row], failed=failed, cancelled=False, anew=row in self._attempts)

    def _end_call(self, row: int, first: int, *, failed: bool, cancelled: bool, anew: bool = False) -> None:
        call = self.calls.setdefault(first, RoundsOfCall())
        # The first result stays, except that a real result replaces a mere cancellation, and a new attempt any result.
        if call.result != NO_ROW and not anew and not (call.cancelled and not cancelled):
            return
        call.result, call.failed, call.cancelled = row, failed, cancelled
        self.begun[row] = first
        self._changed.update((row, first))

    # Lookup

    def are_interim(self, rows: Rows) -> NDArray[np.bool_]:
        """Returns (n,) flags of interim answers: they ask for input, or hand out a task."""
        return (
            np.isin(rows, _row_array(self.interim_answers)) if self.interim_answers else np.zeros(len(rows), np.bool_)
        )

    def continued_calls(self, rows: Rows) -> Rows:
        """Returns (n,) the first request of the call that each request continues; else NO_ROW.

        These are retries and requests with the result of a task: they share the outcome of their call.
        """
        found = np.full(len(rows), NO_ROW, np.int64)
        for place in np.flatnonzero(np.isin(rows, _row_array(self.first))).tolist() if self.first else ():
            row = int(rows[place])
            fetches = row in self.retries or self._method(row) == _FETCH_RESULT
            if fetches or int(self._links["answer"][row]) in self.begun:
                found[place] = self.first[row]
        return found

    def follow(self, row: int) -> list[int]:
        """Returns the further requests of a call: all for its first request, the later ones for an interim answer."""
        first = self.interim_answers.get(row, row)
        call = self.calls.get(first)
        return [one for one in call.requests if one > row] if call is not None else []

    def begun_by(self, rows: Rows, causes: Rows) -> Rows:
        """Returns (n,) the first request of the call that each message ends after rounds; else its `causes` entry."""
        if not self.begun:
            return causes
        ends = np.flatnonzero(np.isin(rows, _row_array(self.begun)))
        found = causes.copy()
        found[ends] = [self.begun[row] for row in rows[ends].tolist()]
        return found

    def ended(self, rows: Rows) -> Rows:
        """Returns (k,) the messages that bring the result of a call in a round after its first."""
        return rows[np.isin(rows, _row_array(self.begun))] if self.begun else NO_ROWS

    def results(self, calls: Rows, answers: Rows) -> Rows:
        """Returns (n,) the answer that ends each call, or NO_ROW.

        Args:
            calls: first requests.
            answers: the answers to them; used for calls with one round.
        """
        if not self.calls:
            return answers
        found = answers.copy()
        for place in np.flatnonzero(np.isin(calls, _row_array(self.calls))).tolist():
            found[place] = self.calls[int(calls[place])].result
        return found


def _row_array(rows: dict[int, object] | set[int] | dict[int, int] | dict[int, RoundsOfCall]) -> Rows:
    return np.fromiter(rows, np.int64, len(rows))

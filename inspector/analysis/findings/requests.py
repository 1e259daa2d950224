"""Checks requests and responses: unanswered, slow, doubled or mismatched answers (docs/protocols.md 3, 5)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
from inspector.analysis.findings.agent_calls import AgentCalls
from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.before_capture import BEGAN_BEFORE_CAPTURE
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.deadlines import DeadlineQueue, OverdueCheck, are_overdue
from inspector.analysis.findings.mcp_rows import ANSWERED_TWICE, UNKNOWN_REQUEST
from inspector.analysis.findings.mcp_rows import UNANSWERED as OF_MCP
from inspector.analysis.passes.calls.correlation_names import NamedThing
from inspector.analysis.passes.calls.correlation_pass import ToolRule
from inspector.analysis.passes.calls.open_waits import are_abandoned, need_answer
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds, mcp_messages
from inspector.protocol.secrets.masking import masked_value_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW

ANSWER_LIMIT_S = 15
"""Longest wait of released agents for an answer, in seconds (docs/protocols.md 16)."""

_LATE = f"has had no answer for more than {ANSWER_LIMIT_S} s"
_WENT_ON = "went on without an answer"

WITHOUT_REQUEST = Check(
    "response-without-request", WARNING, "Response without a request",
    "{who} answers a request that was not seen{answered}.",
    "The answered request is unknown, and its sender keeps waiting. A capture that began late shows this for the "
    "first responses, and withdraws it when the request appears.",
    "Name the request's id in correlation_id, exactly as it was sent.",
    "MEW v0.4, mcp/response: correlation_id names the request",
)  # fmt: skip
NOT_A_REQUEST = Check(
    "response-to-proposal", WARNING, "Response to a proposal",
    "{who} answers {other}, a proposal, instead of the request that fulfils it.",
    "The request that fulfilled the proposal stays unanswered, and its sender waits.",
    "Name the request in the response, never the proposal.",
    "MEW v0.4, mcp/response; k9j, correlation of proposals",
)  # fmt: skip
UNANSWERED = Check(
    "request-unanswered", WARNING, "Request without an answer",
    "{who} sent {call} to {to} and {detail}.",
    "The sender still waits, or continues without the result.",
    "{advice}.",
    "MEW v0.4, mcp/request and mcp/response", limit=ANSWER_LIMIT_S, on_transcripts=True,
    example=_LATE,
)  # fmt: skip
SLOW = Check(
    "response-slow", NOTE, "Slow answer",
    "The answer to {other} took {detail}.",
    "Released agents stop waiting after {limit} s: a later answer may not be used.",
    "Check the work of the tool, or split the call.",
    "MEW release v0.11.0, agent", limit=ANSWER_LIMIT_S,
    example="42 s",
)  # fmt: skip
ANSWERED_AGAIN = Check(
    "request-answered-again", WARNING, "Request answered twice by the same participant",
    "{who} has already answered {other}.",
    "The tool may have run twice, and the second result may replace the first.",
    "Send one response for each request; send a retry as a new request.",
    "JSON-RPC 2.0, 5: one response for each request",
)  # fmt: skip
BY_ANOTHER = Check(
    "response-from-other", WARNING, "Answer from another participant",
    "{who} answers {other}, which was addressed to {detail}.",
    "The addressed participant may also answer, or the sender may impersonate it.",
    "Answer only requests addressed to you, and check the sender of a response.",
    "MEW v0.4, mcp/request: to names who is to answer",
    example="files",
)  # fmt: skip
ID_DIFFERS = Check(
    "jsonrpc-id-differs", NOTE, "JSON-RPC ids of request and response differ",
    "The response to {other} has a different JSON-RPC id.",
    "Plain MCP clients match by payload.id and never find the answer. 7 and \"7\" differ.",
    "Copy payload.id of the request unchanged, or leave it out.",
    "JSON-RPC 2.0, 5; MEW v0.4, mcp/response",
)  # fmt: skip
ANOTHER_CALL = Check(
    "response-names-other-call", WARNING, "Response names another call",
    "{who} answers {detail}{in_payload}.",
    "Readers of only one of the two assign the result to another call. Context Inspector shows the kind's call, else "
    "the payload's.",
    "Write the same method and tool in kind and payload as in the request.",
    "MCPx v0.1, mcp/response; Decision 002",
    example="with completion/complete a request for tools/call grep",
)  # fmt: skip

CHECKS = (WITHOUT_REQUEST, NOT_A_REQUEST, UNANSWERED, SLOW, ANSWERED_AGAIN, BY_ANOTHER, ANOTHER_CALL, ID_DIFFERS)


class Requests:
    """Tracks requests until they are answered."""

    def __init__(self) -> None:
        self._waiting = DeadlineQueue(ANSWER_LIMIT_S)  # open requests below the limit
        self._of_agents = AgentCalls()
        self._of_mcp = OverdueCheck(
            OF_MCP, _is_settled, since=lambda batch, rows: batch.mcp.wait_starts(batch.capture, rows)
        )
        self._now_ns = NO_TIME

    def feed(self, batch: Batch) -> None:
        self._responses(batch)
        self._requests(batch)

    def _responses(self, batch: Batch) -> None:
        rows = batch.new_and_changed_rows(kinds.RESPONSE)
        if not len(rows):
            return
        links, found = batch.links, batch.findings
        cause = links["cause"][rows].astype(np.int64)
        orphaned = cause == NO_ROW
        unseen = orphaned.copy()
        unseen[orphaned] = ~_match_answered_requests(batch, rows[orphaned])
        unseen &= ~_are_errors_without_id(batch, rows)
        unseen &= batch.column_values("flags", rows) & Flag.CONTAINS_REQUEST.value == 0
        # By k9j a correlation may name a context instead of a request.
        unseen[unseen] = batch.passes.named.named(rows[unseen]) != NamedThing.CONTEXT.value
        unseen[unseen] = ~_are_self_contained(batch, rows[unseen])
        early = unseen.copy()
        early[unseen] = batch.beginnings.are_early(rows[unseen])
        unseen &= ~early
        ours = batch.mcp.are_mcp(batch.capture, rows)
        found.replace_findings(WITHOUT_REQUEST, rows, unseen & ~ours)
        found.replace_findings(UNKNOWN_REQUEST, rows, unseen & ours & batch.mcp.began(batch.capture, rows))
        found.replace_findings(BEGAN_BEFORE_CAPTURE, rows, early, details="answer")
        _find_other_calls(batch, rows, cause)
        rows, cause = rows[~orphaned], cause[~orphaned]
        asked = batch.column_values("kind", cause) == batch.code(kinds.REQUEST)
        found.replace_findings(NOT_A_REQUEST, rows, ~asked, others=cause)
        rows, cause = rows[asked], cause[asked]
        first = links["answer"][cause].astype(np.int64)
        senders = batch.column_values("sender", rows)
        again = (first != NO_ROW) & (first < rows)
        again[again] &= batch.column_values("sender", first[again]) == senders[again]
        again[again] &= ~are_copies(batch, first[again], rows[again])
        # Methods with streamed answers have several responses by design.
        streamed = [code for name in kinds.STREAMED_ANSWERS if (code := batch.capture.strings.find(name))]
        again &= ~np.isin(batch.column_values("method", cause), streamed)
        _settle_second_answers(batch, rows, again, cause)
        self._by_another(batch, rows, cause, senders)
        ours, theirs = batch.column_values("rpc_hash", rows), batch.column_values("rpc_hash", cause)
        found.replace_findings(
            ID_DIFFERS, rows, (ours != theirs) & (ours != NO_HASH) & (theirs != NO_HASH), others=cause
        )
        _find_slow(batch, rows, cause)

    def _by_another(self, batch: Batch, rows: Rows, cause: Rows, senders: Array) -> None:
        sets = batch.column_values("to_set", cause)
        pairs, which = np.unique(sets.astype(np.int64) << 32 | senders, return_inverse=True)
        to, sender = pairs >> 32, pairs & 0xFFFFFFFF
        # Distinct pairs of recipients and sender are few, so each is tested once.
        wrong = (~batch.addressed(to, sender) & (to != 0) & (sender != 0))[which]
        details = [", ".join(batch.capture.to_sets[code]) for code in sets[wrong].tolist()]
        batch.findings.replace_findings(BY_ANOTHER, rows, wrong, others=cause, details=details)

    def _requests(self, batch: Batch) -> None:
        new = batch.rows(kinds.REQUEST)
        new = new[need_answer(batch.capture, new, batch.links["method"][new])]
        ours = batch.mcp.are_mcp(batch.capture, new)
        changed = sorted_unique(batch.changed_rows(kinds.REQUEST), batch.mcp.take_progressed(batch.start))
        self._of_mcp.feed(batch, new[ours & ~_ask_user(batch, new)], changed)
        new = new[~ours]
        # Looks up ids of all settled requests of the batch, so only while there are findings.
        if batch.findings.count_of(UNANSWERED):
            self._withdraw_settled(batch)
        agents, new = self._of_agents.split_agent_calls(batch, new)
        passed = self._of_agents.feed(batch, agents[~_is_settled(batch, agents)])
        passed = passed[~_is_copy_settled(batch, passed)] if len(passed) else passed
        batch.findings.add(UNANSWERED, passed, details=_WENT_ON)
        self._queue_open(batch, new[~_is_settled(batch, new)])
        late = self._waiting.take_due(batch.now_ns)
        late = late[~_is_settled(batch, late)]
        late = late[~_is_copy_settled(batch, late)] if len(late) else late
        batch.findings.add(UNANSWERED, late, details=_LATE)
        self._now_ns = batch.now_ns

    def _queue_open(self, batch: Batch, rows: Rows) -> None:
        self._waiting.add(batch.column_values("time_ns", rows), rows, lambda waiting: ~_is_settled(batch, waiting))

    def _withdraw_settled(self, batch: Batch) -> None:
        """Withdraws findings about requests that are now settled, also through a copy, or that are not late yet."""
        found, both = batch.findings, batch.new_and_changed_rows(kinds.REQUEST)
        settled = both[_is_settled(batch, both)]
        hashes = batch.column_values("id_hash", settled)
        copies = batch.capture.ids.all_rows(sorted_unique(hashes[hashes != NO_HASH]))[1]
        mended = sorted_unique(settled, copies)
        found.withdraw(UNANSWERED, mended[found.has(UNANSWERED, mended)])
        if batch.now_ns < self._now_ns:  # the log clock was set back: an earlier time proved wrong (analysis.log_clock)
            late = self._of_agents.split_agent_calls(batch, np.sort(found.rows_of(UNANSWERED)))[1]
            early = late[~are_overdue(batch.column_values("time_ns", late), batch.now_ns, ANSWER_LIMIT_S)]
            found.withdraw(UNANSWERED, early)
            self._queue_open(batch, early)


_RPC_ERROR = (Flag.RPC | Flag.ERROR).value


def are_copies(batch: Batch, rows: Rows, others: Rows) -> Array:
    """(rows,) bool: True if a message has the same id as its counterpart. Messages without an id have no copies."""
    ours = batch.column_values("id_hash", rows)
    return (ours != NO_HASH) & (ours == batch.column_values("id_hash", others))


def _ask_user(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for server requests for user input, which wait for a person."""
    asking = [code for method in mcp_messages.SERVER_METHODS if (code := batch.code(method)) >= 0]
    return are_any_of(batch.links["method"][rows], asking)


def _are_self_contained(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for responses that name their call and whose requester joined before the log began.

    Decision 002 has the call named for this case. A participant seen joining is known from its beginning.
    """
    named = are_any_of(batch.links["rule"][rows], (ToolRule.KIND.value, ToolRule.PAYLOAD.value))
    for place in np.flatnonzero(named).tolist():
        row = int(rows[place])
        named[place] = not batch.beginnings.joined_before(row, batch.capture.recipients(row))
    return named


def _find_other_calls(batch: Batch, rows: Rows, cause: Rows) -> None:
    """Finds responses that name two calls: kind against payload, or response against request."""
    source, links = batch.capture.columns, batch.links
    own_method, own_target = source["method"][rows], source["target"][rows]
    method, target = links["method"][cause], links["target"][cause]
    asked = (cause != NO_ROW) & (batch.column_values("kind", cause) == batch.code(kinds.REQUEST))
    otherwise = asked & (own_method != 0) & (method != 0)
    otherwise &= (own_method != method) | ((own_target != 0) & (target != 0) & (own_target != target))
    itself = source["flags"][rows] & Flag.CALLS_DIFFER.value != 0
    wrong = otherwise | itself
    details: list[str] = []
    for place in np.flatnonzero(wrong).tolist():
        own = _call_words(batch, int(own_method[place]), int(own_target[place]))
        if otherwise[place]:
            other = _call_words(batch, int(method[place]), int(target[place]))
            details.append(f"with {own} a request for {other}")
        else:
            details.append(f"as {own} by its kind")
    batch.findings.replace_findings(
        ANOTHER_CALL, rows, wrong, others=np.where(otherwise, cause, NO_ROW), details=details
    )


_MAX_CALL_CHARS = 120


def _call_words(batch: Batch, method: int, target: int) -> str:
    names = (batch.capture.strings[code] for code in (method, target) if code)
    return masked_value_text(" ".join(names), _MAX_CALL_CHARS)


def _are_errors_without_id(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for JSON-RPC errors without an id, the answer to an unreadable request (JSON-RPC 2.0, 5)."""
    failed = batch.column_values("flags", rows) & _RPC_ERROR == _RPC_ERROR
    return failed & (batch.column_values("rpc_hash", rows) == NO_HASH)


def _match_answered_requests(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for orphaned responses to an answered request, or with a differently written id."""
    meant = [batch.passes.correlation.probable_request(row) for row in rows.tolist()]
    known = np.array([one is not None for one in meant], np.bool_)
    if known.any():
        rows = rows[known]
        requests = np.array([one[0] for one in meant if one is not None], np.int64)
        differs = np.array([not one[1] for one in meant if one is not None], np.bool_)
        first = batch.links["answer"][requests]
        _settle_second_answers(batch, rows, (first != NO_ROW) & (first < rows), requests)
        batch.findings.replace_findings(ID_DIFFERS, rows, differs, others=requests)
    return known


def _settle_second_answers(batch: Batch, rows: Rows, again: Array, requests: Rows) -> None:
    """Settles the findings about second answers."""
    ours = batch.mcp.are_mcp(batch.capture, rows)
    batch.findings.replace_findings(ANSWERED_AGAIN, rows, again & ~ours, others=requests)
    batch.findings.replace_findings(ANSWERED_TWICE, rows, again & ours, others=requests)


def _is_settled(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True for requests that were answered, refused or cancelled."""
    return (batch.links["answer"][rows] != NO_ROW) | are_abandoned(batch.capture, batch.links, rows)


def _is_copy_settled(batch: Batch, rows: Rows) -> Array:
    """(n,) bool: True if a copy with the same id is settled. Logs of several recipients repeat a request.

    O(messages with these ids).
    """
    hashes, which = np.unique(batch.column_values("id_hash", rows), return_inverse=True)
    places, copies = batch.capture.ids.all_rows(hashes)
    request = _is_settled(batch, copies) & (batch.column_values("kind", copies) == batch.code(kinds.REQUEST))
    settled = np.zeros(len(hashes), np.bool_)
    settled[places[request]] = True
    return settled[which]


def _find_slow(batch: Batch, rows: Rows, cause: Rows) -> None:
    times, asked = batch.column_values("time_ns", rows), batch.column_values("time_ns", cause)
    known = (times != NO_TIME) & (asked != NO_TIME)
    # Hostile times can be further apart than 64 bits hold.
    late = times.astype(np.float64) - asked.astype(np.float64)
    slow = known & (late > ANSWER_LIMIT_S * 1e9) & ~batch.mcp.are_mcp(batch.capture, rows)  # MCP has no such limit
    details = [f"{nanoseconds / 1e9:,.0f} s" for nanoseconds in late[slow].tolist()]
    batch.findings.replace_findings(SLOW, rows, slow, others=cause, details=details)

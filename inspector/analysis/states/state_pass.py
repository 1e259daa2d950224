"""Derives the field `state` of requests, proposals, starts and streams from passes and findings.

The states of requests and proposals are combined on demand from the columns of other passes. A request waits until a
finding reports it (`request-unanswered`), or the server behind a tap fails; then it is unanswered. It is cancelled if
its sender cancelled it or is gone. A request that a gateway refused has failed.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.mcp_rows import UNANSWERED as OF_MCP
from inspector.analysis.findings.requests import UNANSWERED
from inspector.analysis.findings.store import Findings
from inspector.analysis.findings.streams import UNOPENED
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.calls.ended_servers import failed_servers
from inspector.analysis.passes.calls.open_waits import are_abandoned, are_refused, need_answer, settled_copies
from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.reasoning_sequences import CANCELLED, CONCLUDED, RUNNING
from inspector.protocol import kinds, mcp_messages, msp
from inspector.protocol.context_places import START_KIND
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, NO_ROW
from inspector.store.messages.capture import Capture


class MessageState(enum.IntEnum):
    """State of a message."""

    NONE = 0
    ANSWERED = 1
    FAILED = 2
    UNANSWERED = 3
    WAITING = 4
    FULFILLED = 5
    REJECTED = 6
    WITHDRAWN = 7
    RUNNING = 8
    CONCLUDED = 9
    CANCELLED = 10
    OPEN = 11
    CLOSED = 12


STATE_NAMES = (
    "", "answered", "failed", "unanswered", "waiting", "fulfilled", "rejected", "withdrawn", "running", "concluded",
    "cancelled", "open", "closed",
)  # fmt: skip
"""The values of the field `state` by `MessageState`; filters of users name them."""

_PROPOSAL_STATES = np.zeros(len(ProposalState), np.uint8)
for _became, _state in {
    ProposalState.OPEN: MessageState.WAITING,
    ProposalState.REJECTED: MessageState.REJECTED,
    ProposalState.WITHDRAWN: MessageState.WITHDRAWN,
    ProposalState.FULFILLED: MessageState.FULFILLED,
    ProposalState.ANSWERED: MessageState.FULFILLED,
}.items():
    _PROPOSAL_STATES[_became] = _state

_STREAM_OPEN, _STREAM_CLOSE, _STREAM_REQUEST = "stream/open", "stream/close", "stream/request"
_REASONING_START = "reasoning/start"
_FIRST_STATES = {
    _REASONING_START: MessageState.RUNNING, START_KIND: MessageState.RUNNING, msp.SUBSESSION_OPENED: MessageState.OPEN,
    _STREAM_OPEN: MessageState.OPEN, _STREAM_REQUEST: MessageState.WAITING,
}  # fmt: skip
_START_STATES, _SESSION_STATES = np.zeros((2, 3), np.uint8)
_START_STATES[[RUNNING, CONCLUDED, CANCELLED]] = MessageState.RUNNING, MessageState.CONCLUDED, MessageState.CANCELLED
_SESSION_STATES[[RUNNING, CONCLUDED, CANCELLED]] = MessageState.OPEN, MessageState.CLOSED, MessageState.CANCELLED


class StatePass:
    """Tracks starts and streams; derives states of requests and proposals from other passes on demand.

    Attributes:
        columns: per message `state` uint8: `MessageState`, of starts and streams only.
    """

    def __init__(
        self, capture: Capture, contexts: ContextPass, correlation: CorrelationPass, findings: Findings
    ) -> None:
        self._capture = capture
        self._sequences = contexts.sequences
        self._links = correlation.columns
        self._rounds = correlation.rounds
        self._findings = findings
        self.columns = GrowingColumns({"state": np.uint8})
        self._streams = _OpenStreams(capture, correlation)
        self._server_ends: dict[int, int] = {}  # by source, the last report that its server failed
        self._changed = ChangedRows()

    def take_changes(self) -> Rows:
        """Returns starts and streams with a changed state, and clears them."""
        return self._changed.take_rows()

    def feed(self, start: int, stop: int, linked: Rows) -> None:
        """Processes messages `start` to `stop`. O(stop - start).

        Args:
            linked: messages with changed links.
        """
        kind = self._capture.columns["kind"][start:stop]
        self.columns.append({"state": 0}, stop - start)
        for name, state in _FIRST_STATES.items():
            rows = self._rows_of_kind(kind, name, start)
            if len(rows):
                self.columns.replace("state", rows, state.value)
        self._update_starts()
        self._end_servers(start, stop)
        # An open may have been linked to its request only now.
        opens = np.union1d(self._rows_of_kind(kind, _STREAM_OPEN, start), self._linked_opens(linked[linked < start]))
        asked, closes = (self._rows_of_kind(kind, name, start) for name in (_STREAM_REQUEST, _STREAM_CLOSE))
        if len(opens) or len(asked) or len(closes):
            became = self._streams.feed(opens, asked, closes)
            self._put(np.fromiter(became, np.int64, len(became)), np.fromiter(became.values(), np.uint8, len(became)))

    def _end_servers(self, start: int, stop: int) -> None:
        """Reports open requests of servers that failed as changed. O(messages since the last failure of the server)."""
        columns = self._capture.columns
        for row in failed_servers(self._capture, start, stop).tolist():
            source = int(columns["source"][row])
            since, self._server_ends[source] = self._server_ends.get(source, NO_ROW) + 1, row
            asked = self._rows_of_kind(columns["kind"][since:row], kinds.REQUEST, since)
            asked = asked[columns["source"][asked] == source]
            self._changed.add_array(asked[self._links["answer"][asked] == NO_ROW])

    def _are_of_failed_servers(self, rows: Rows) -> NDArray[np.bool_]:
        """(n,) bool: True for JSON-RPC requests whose server failed after them."""
        found = self._capture.columns["flags"][rows] & Flag.RPC.value != 0
        sources, ends = self._capture.columns["source"][rows], np.full(len(rows), NO_ROW, np.int64)
        for source, end in self._server_ends.items():
            ends[sources == source] = end
        return found & (rows < ends)

    def _rows_of_kind(self, kind: NDArray[Any], name: str, start: int) -> Rows:
        code = self._capture.strings.find(name)
        return np.flatnonzero(kind == code) + start if code else NO_ROWS

    def _linked_opens(self, rows: Rows) -> Rows:
        code = self._capture.strings.find(_STREAM_OPEN)
        return rows[self._capture.columns["kind"][rows] == code] if code else NO_ROWS

    def _put(self, rows: Rows, states: NDArray[Any]) -> None:
        """Sets states, and records the messages that had another one."""
        before = self.columns["state"][rows]
        other = before != states
        if other.any():
            self.columns.replace("state", rows[other], states[other])
            self._changed.add_array(rows[other])

    # Contexts

    def _update_starts(self) -> None:
        """Updates the states of starts. O(starts with a changed state)."""
        became, self._sequences.changed_starts = dict(self._sequences.changed_starts), []
        if not became:
            return
        started, over = np.fromiter(became, np.int64, len(became)), np.fromiter(became.values(), np.uint8, len(became))
        start_kinds = self._capture.columns["kind"][started]
        sessions = start_kinds == (self._capture.strings.find(msp.SUBSESSION_OPENED) or -1)
        states = np.where(sessions, _SESSION_STATES[over], _START_STATES[over])
        are_starts = are_any_of(
            start_kinds, [code for name in _FIRST_STATES if (code := self._capture.strings.find(name))]
        )
        self._put(started[are_starts], states[are_starts])

    # Lookup

    def states_at(self, take: slice | NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """Returns (k,) `MessageState` of a slice or array of messages. O(messages)."""
        rows = np.arange(*take.indices(len(self.columns))) if isinstance(take, slice) else take.astype(np.int64)
        states = np.array(self.columns["state"][take], np.uint8)
        told = np.flatnonzero(states)
        states[told[are_refused(self._capture, self._links, rows[told])]] = MessageState.FAILED
        waits = told[states[told] == MessageState.WAITING]
        states[waits[self._findings.has(UNOPENED, rows[waits])]] = MessageState.UNANSWERED
        kind = self._capture.columns["kind"][take]
        for name, of in ((kinds.REQUEST, self._request_states), (kinds.PROPOSAL, self._proposal_states)):
            code = self._capture.strings.find(name)
            places = np.flatnonzero(kind == code) if code else NO_ROWS
            if len(places):
                states[places] = of(rows[places])
        return states

    def state_of(self, message: int) -> MessageState:
        """Returns the state of one message. O(1)."""
        return MessageState(int(self.states_at(np.array([message]))[0]))

    def _request_states(self, rows: Rows) -> NDArray[np.uint8]:
        states = np.full(len(rows), MessageState.WAITING, np.uint8)
        states[self._findings.has(UNANSWERED, rows) | self._findings.has(OF_MCP, rows)] = MessageState.UNANSWERED
        if self._server_ends:
            states[self._are_of_failed_servers(rows)] = MessageState.UNANSWERED
        states[are_abandoned(self._capture, self._links, rows)] = MessageState.CANCELLED
        gone = states == MessageState.CANCELLED
        # Notifications have no state, also after they were cancelled.
        states[~need_answer(self._capture, rows, self._links["method"][rows])] = MessageState.NONE
        listens = self._links["method"][rows] == (self._capture.strings.find(mcp_messages.LISTEN_METHOD) or -1)
        states[listens] = np.where(gone[listens], MessageState.CLOSED, MessageState.OPEN)
        answer = self._links["answer"][rows].astype(np.int64)
        self._set_answered(states, answer)
        self._set_answered_in_rounds(states, rows, gone)
        states[are_refused(self._capture, self._links, rows)] = MessageState.FAILED
        left = np.flatnonzero((states == MessageState.WAITING) | (states == MessageState.UNANSWERED))
        copies = settled_copies(self._capture, self._links, rows[left])
        found = copies != NO_ROW
        answer = np.full(len(rows), NO_ROW, np.int64)
        answer[left[found]] = self._links["answer"][copies[found]]
        self._set_answered(states, answer)
        return states

    def _set_answered_in_rounds(self, states: NDArray[np.uint8], rows: Rows, gone: NDArray[np.bool_]) -> None:
        """Sets the states of calls with several requests by their result.

        Args:
            gone: flags of cancelled requests.
        """
        calls = self._rounds.calls
        for place in np.flatnonzero(np.isin(rows, list(calls))).tolist() if calls else ():
            call = calls[int(rows[place])]
            if call.result == NO_ROW:
                states[place] = MessageState.CANCELLED if gone[place] else MessageState.WAITING
            else:
                ended = MessageState.FAILED if call.failed else MessageState.ANSWERED
                states[place] = MessageState.CANCELLED if call.cancelled else ended

    def _set_answered(self, states: NDArray[np.uint8], answer: Rows) -> None:
        """Sets the states of requests by their answers; NO_ROW without one."""
        places = np.flatnonzero(answer != NO_ROW)
        answer = answer[places]
        failed = self._capture.columns["flags"][answer] & Flag.ERROR.value != 0
        if self._capture.has_copies:  # a repeated answer in a history may lack the error mark
            first = self._capture.repeated_messages(answer)[0]
            failed |= (first != NO_ROW) & (self._capture.columns["flags"][first] & Flag.ERROR.value != 0)
        states[places] = np.where(failed, MessageState.FAILED.value, MessageState.ANSWERED.value)
        declined = self._capture.columns["flags"][answer] & np.uint32(Flag.DECLINED.value) != 0
        states[places[declined]] = MessageState.REJECTED

    def _proposal_states(self, rows: Rows) -> NDArray[np.uint8]:
        became = self._links["proposal_state"]
        states = _PROPOSAL_STATES[became[rows]]
        left = np.flatnonzero(states == MessageState.WAITING)
        copies = settled_copies(self._capture, self._links, rows[left])
        found = copies != NO_ROW
        states[left[found]] = _PROPOSAL_STATES[became[copies[found]]]
        left = left[~found]
        states[left[are_abandoned(self._capture, self._links, rows[left])]] = MessageState.CANCELLED
        left = np.flatnonzero(states == MessageState.CANCELLED)
        states[left[are_refused(self._capture, self._links, rows[left])]] = MessageState.FAILED
        return states


class _OpenStreams:
    """Tracks open streams with the messages that opened and requested them. One entry per stream."""

    def __init__(self, capture: Capture, correlation: CorrelationPass) -> None:
        self._capture = capture
        self._correlation = correlation
        self._changed_states: dict[int, int] = {}  # by message, new states from this batch
        self._open: dict[int, list[int]] = {}  # by space and stream: its open, with copies
        self._keys_by_id: dict[int, int] = {}  # these keys, by the hash of the stream's id
        self._keys_by_message: dict[int, int] = {}  # by message that opened or requested a stream: space and stream
        self._unopened_requests: dict[int, list[int]] = {}  # by the hash of their id: requests without a stream

    def feed(self, opens: Rows, asked: Rows, closes: Rows) -> dict[int, int]:
        """Processes a batch's messages about streams, and earlier opens with newly linked requests.

        Returns:
            The states of messages with a changed one.
        """
        self._changed_states = {}
        for row, own in zip(asked.tolist(), self._capture.columns["id_hash"][asked].tolist(), strict=True):
            self._unopened_requests.setdefault(own, []).append(row)
        closing = set(closes.tolist())
        for row in np.union1d(opens, closes).tolist():
            if row in closing:
                self._close_stream(row)
            else:
                self._note_open(row)
        return self._changed_states

    def _key(self, row: int, stream: int) -> int:
        return int(self._capture.columns["space"][row]) << 32 | stream

    def _note_open(self, row: int) -> None:
        columns = self._capture.columns
        stream = int(columns["stream"][row])
        key = self._key(row, stream)
        asked = int(self._correlation.columns["cause"][row])
        if asked != NO_ROW and self._capture.string("kind", asked) == _STREAM_REQUEST:
            self._keys_by_message[asked] = key
            self._answer_request(asked)
        if row in self._keys_by_message or not stream:
            return
        self._keys_by_message[row] = key
        before = self._open.get(key)
        if before is None:
            before = self._open[key] = []
            self._keys_by_id[self._capture.ids.hash_in_space(key >> 32, self._capture.strings[stream])] = key
        own = int(columns["id_hash"][row])
        if before and (own == NO_HASH or int(columns["id_hash"][before[0]]) != own):
            # Copies of an open share its id; another id means another stream.
            self._changed_states.update(dict.fromkeys(before, MessageState.CLOSED.value))  # its id is in use again
            before.clear()
        before.append(row)

    def _answer_request(self, asked: int) -> None:
        own = int(self._capture.columns["id_hash"][asked])
        rows = self._unopened_requests.pop(own, [asked]) if own != NO_HASH else [asked]
        self._changed_states.update(dict.fromkeys(rows, MessageState.ANSWERED.value))

    def _close_stream(self, row: int) -> None:
        if int(self._capture.columns["flags"][row]) & Flag.REFUSED.value:
            return
        for key in self._streams_closed_by(row):
            self._changed_states.update(dict.fromkeys(self._open.pop(key, ()), MessageState.CLOSED.value))

    def _streams_closed_by(self, row: int) -> list[int]:
        """Returns the streams that a close may end: the one it names, else by correlation."""
        stream = int(self._capture.columns["stream"][row])
        if stream:
            return [self._key(row, stream)]
        causes = [
            self._keys_by_message[cause] for cause in self._correlation.causes(row) if cause in self._keys_by_message
        ]
        return causes or [
            self._keys_by_id[value] for value in self._capture.named_hashes(row) if value in self._keys_by_id
        ]

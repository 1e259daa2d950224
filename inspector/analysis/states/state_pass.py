"""Derives the field `state` of requests, proposals, starts and streams from passes and findings.

The states of requests and proposals are combined on demand from the columns of other passes. A request waits until a
finding reports it (`request-unanswered`); then it is unanswered. It is cancelled if its sender cancelled it or is gone.
A request that a gateway refused has failed.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any
from inspector.analysis.findings.mcp_rows import UNANSWERED as OF_MCP
from inspector.analysis.findings.requests import UNANSWERED
from inspector.analysis.findings.store import Findings
from inspector.analysis.findings.streams import UNOPENED
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.calls.open_waits import are_forgotten, are_refused, settled_copies, wants_answer
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


class State(enum.IntEnum):
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


STATES = ("", *(state.name.lower() for state in State if state))
"""The values of the field."""

_OF_PROPOSALS = np.zeros(len(ProposalState), np.uint8)
for _became, _state in {
    ProposalState.OPEN: State.WAITING,
    ProposalState.REJECTED: State.REJECTED,
    ProposalState.WITHDRAWN: State.WITHDRAWN,
    ProposalState.FULFILLED: State.FULFILLED,
    ProposalState.ANSWERED: State.FULFILLED,
}.items():
    _OF_PROPOSALS[_became] = _state

_STREAM_OPEN, _STREAM_CLOSE, _STREAM_REQUEST = "stream/open", "stream/close", "stream/request"
_REASONING = "reasoning/start"
_BEGIN = {
    _REASONING: State.RUNNING, START_KIND: State.RUNNING, msp.SUBSESSION_OPENED: State.OPEN, _STREAM_OPEN: State.OPEN,
    _STREAM_REQUEST: State.WAITING,
}  # fmt: skip
_OF_STARTS, _OF_SESSIONS = np.zeros((2, 3), np.uint8)
_OF_STARTS[[RUNNING, CONCLUDED, CANCELLED]] = State.RUNNING, State.CONCLUDED, State.CANCELLED
_OF_SESSIONS[[RUNNING, CONCLUDED, CANCELLED]] = State.OPEN, State.CLOSED, State.CANCELLED


class StatePass:
    """Tracks starts and streams; derives states of requests and proposals from other passes on demand.

    Attributes:
        columns: per message `state` uint8: `State`, of starts and streams only.
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
        self._streams = _Streams(capture, correlation)
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
        for name, state in _BEGIN.items():
            rows = self._of_kind(kind, name, start)
            if len(rows):
                self.columns.replace("state", rows, state.value)
        self._end()
        # An open may have been linked to its request only now.
        opens = np.union1d(self._of_kind(kind, _STREAM_OPEN, start), self._linked_opens(linked[linked < start]))
        asked, closes = (self._of_kind(kind, name, start) for name in (_STREAM_REQUEST, _STREAM_CLOSE))
        if len(opens) or len(asked) or len(closes):
            became = self._streams.feed(opens, asked, closes)
            self._put(np.fromiter(became, np.int64, len(became)), np.fromiter(became.values(), np.uint8, len(became)))

    def _of_kind(self, kind: NDArray[Any], name: str, start: int) -> Rows:
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
            self._changed.update_all(rows[other])

    # Contexts

    def _end(self) -> None:
        """Updates the states of starts. O(starts with a changed state)."""
        became, self._sequences.became = dict(self._sequences.became), []
        if not became:
            return
        started, over = np.fromiter(became, np.int64, len(became)), np.fromiter(became.values(), np.uint8, len(became))
        start_kinds = self._capture.columns["kind"][started]
        sessions = start_kinds == (self._capture.strings.find(msp.SUBSESSION_OPENED) or -1)
        states = np.where(sessions, _OF_SESSIONS[over], _OF_STARTS[over])
        are_starts = are_any(start_kinds, [code for name in _BEGIN if (code := self._capture.strings.find(name))])
        self._put(started[are_starts], states[are_starts])

    # Lookup

    def states_at(self, take: slice | NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
        """Returns (k,) `State` of a slice or array of messages. O(messages)."""
        rows = np.arange(*take.indices(len(self.columns))) if isinstance(take, slice) else take.astype(np.int64)
        states = np.array(self.columns["state"][take], np.uint8)
        told = np.flatnonzero(states)
        states[told[are_refused(self._capture, self._links, rows[told])]] = State.FAILED
        waits = told[states[told] == State.WAITING]
        states[waits[self._findings.has(UNOPENED, rows[waits])]] = State.UNANSWERED
        kind = self._capture.columns["kind"][take]
        for name, of in ((kinds.REQUEST, self._of_requests), (kinds.PROPOSAL, self._of_proposals)):
            code = self._capture.strings.find(name)
            places = np.flatnonzero(kind == code) if code else NO_ROWS
            if len(places):
                states[places] = of(rows[places])
        return states

    def state_of(self, message: int) -> State:
        """Returns the state of one message. O(1)."""
        return State(int(self.states_at(np.array([message]))[0]))

    def _of_requests(self, rows: Rows) -> NDArray[np.uint8]:
        states = np.full(len(rows), State.WAITING, np.uint8)
        states[self._findings.has(UNANSWERED, rows) | self._findings.has(OF_MCP, rows)] = State.UNANSWERED
        states[are_forgotten(self._capture, self._links, rows)] = State.CANCELLED
        gone = states == State.CANCELLED
        # Notifications have no state, also after they were cancelled.
        states[~wants_answer(self._capture, rows, self._links["method"][rows])] = State.NONE
        listens = self._links["method"][rows] == (self._capture.strings.find(mcp_messages.LISTEN_METHOD) or -1)
        states[listens] = np.where(gone[listens], State.CLOSED, State.OPEN)
        answer = self._links["answer"][rows].astype(np.int64)
        self._answer(states, answer)
        self._answer_in_rounds(states, rows, gone)
        states[are_refused(self._capture, self._links, rows)] = State.FAILED
        left = np.flatnonzero((states == State.WAITING) | (states == State.UNANSWERED))
        copies = settled_copies(self._capture, self._links, rows[left])
        found = copies != NO_ROW
        answer = np.full(len(rows), NO_ROW, np.int64)
        answer[left[found]] = self._links["answer"][copies[found]]
        self._answer(states, answer)
        return states

    def _answer_in_rounds(self, states: NDArray[np.uint8], rows: Rows, gone: NDArray[np.bool_]) -> None:
        """Sets the states of calls with several requests by their result.

        Args:
            gone: flags of cancelled requests.
        """
        calls = self._rounds.calls
        for place in np.flatnonzero(np.isin(rows, list(calls))).tolist() if calls else ():
            call = calls[int(rows[place])]
            if call.result == NO_ROW:
                states[place] = State.CANCELLED if gone[place] else State.WAITING
            else:
                ended = State.FAILED if call.failed else State.ANSWERED
                states[place] = State.CANCELLED if call.cancelled else ended

    def _answer(self, states: NDArray[np.uint8], answer: Rows) -> None:
        """Sets the states of requests by their answers; NO_ROW without one."""
        places = np.flatnonzero(answer != NO_ROW)
        answer = answer[places]
        failed = self._capture.columns["flags"][answer] & Flag.ERROR.value != 0
        if self._capture.has_copies:  # a repeated answer in a history may lack the error mark
            first = self._capture.repeated_messages(answer)[0]
            failed |= (first != NO_ROW) & (self._capture.columns["flags"][first] & Flag.ERROR.value != 0)
        states[places] = np.where(failed, State.FAILED.value, State.ANSWERED.value)
        declined = self._capture.columns["flags"][answer] & np.uint32(Flag.DECLINED.value) != 0
        states[places[declined]] = State.REJECTED

    def _of_proposals(self, rows: Rows) -> NDArray[np.uint8]:
        became = self._links["proposal_state"]
        states = _OF_PROPOSALS[became[rows]]
        left = np.flatnonzero(states == State.WAITING)
        copies = settled_copies(self._capture, self._links, rows[left])
        found = copies != NO_ROW
        states[left[found]] = _OF_PROPOSALS[became[copies[found]]]
        left = left[~found]
        states[left[are_forgotten(self._capture, self._links, rows[left])]] = State.CANCELLED
        left = np.flatnonzero(states == State.CANCELLED)
        states[left[are_refused(self._capture, self._links, rows[left])]] = State.FAILED
        return states


class _Streams:
    """Tracks open streams with the messages that opened and requested them. One entry per stream."""

    def __init__(self, capture: Capture, correlation: CorrelationPass) -> None:
        self._capture = capture
        self._correlation = correlation
        self._became: dict[int, int] = {}  # by message, new states from this batch
        self._open: dict[int, list[int]] = {}  # by space and stream: its open, with copies
        self._named: dict[int, int] = {}  # these keys, by the hash of the stream's id
        self._stream_of: dict[int, int] = {}  # by message that opened or requested a stream: space and stream
        self._asked: dict[int, list[int]] = {}  # by the hash of their id: requests without a stream

    def feed(self, opens: Rows, asked: Rows, closes: Rows) -> dict[int, int]:
        """Processes a batch's messages about streams, and earlier opens with newly linked requests.

        Returns:
            The states of messages with a changed one.
        """
        self._became = {}
        for row, own in zip(asked.tolist(), self._capture.columns["id_hash"][asked].tolist(), strict=True):
            self._asked.setdefault(own, []).append(row)
        closing = set(closes.tolist())
        for row in np.union1d(opens, closes).tolist():
            if row in closing:
                self._close(row)
            else:
                self._note_open(row)
        return self._became

    def _key(self, row: int, stream: int) -> int:
        return int(self._capture.columns["space"][row]) << 32 | stream

    def _note_open(self, row: int) -> None:
        columns = self._capture.columns
        stream = int(columns["stream"][row])
        key = self._key(row, stream)
        asked = int(self._correlation.columns["cause"][row])
        if asked != NO_ROW and self._capture.string("kind", asked) == _STREAM_REQUEST:
            self._stream_of[asked] = key
            self._answer(asked)
        if row in self._stream_of or not stream:
            return
        self._stream_of[row] = key
        before = self._open.get(key)
        if before is None:
            before = self._open[key] = []
            self._named[self._capture.ids.hash_in_space(key >> 32, self._capture.strings[stream])] = key
        own = int(columns["id_hash"][row])
        if before and (own == NO_HASH or int(columns["id_hash"][before[0]]) != own):
            # Copies of an open share its id; another id means another stream.
            self._became.update(dict.fromkeys(before, State.CLOSED.value))  # its id is in use again
            before.clear()
        before.append(row)

    def _answer(self, asked: int) -> None:
        own = int(self._capture.columns["id_hash"][asked])
        rows = self._asked.pop(own, [asked]) if own != NO_HASH else [asked]
        self._became.update(dict.fromkeys(rows, State.ANSWERED.value))

    def _close(self, row: int) -> None:
        if int(self._capture.columns["flags"][row]) & Flag.REFUSED.value:
            return
        for key in self._closed_by(row):
            self._became.update(dict.fromkeys(self._open.pop(key, ()), State.CLOSED.value))

    def _closed_by(self, row: int) -> list[int]:
        """Returns the streams that a close may end: the one it names, else by correlation."""
        stream = int(self._capture.columns["stream"][row])
        if stream:
            return [self._key(row, stream)]
        causes = [self._stream_of[cause] for cause in self._correlation.causes(row) if cause in self._stream_of]
        return causes or [self._named[value] for value in self._capture.named_hashes(row) if value in self._named]

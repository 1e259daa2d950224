"""Finds the times in which calls wait for a person's permission.

RULE: a person is waited for from a proposal, or a request for a permission, to its decision. A call for which
permission was asked does not work in that time: a tool's own duration begins after the decision. Without both times in
the log, the call has all of its time.

RULE: an answer without a time has come by the next message of its source that has one. A declined call does not work:
its time is that of its questions, if the log tells them.

RULE: an agent's tool changes a file in milliseconds. If the log tells neither the tool's duration nor the times of a
question, a change of 3 s or more includes a person's permission.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.protocol import kinds
from inspector.protocol.payloads.file_edits import CHANGING_TOOLS
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LONG_CHANGE_NS = 3_000_000_000

_FULFILLED = (ProposalState.FULFILLED, ProposalState.ANSWERED)
_DECISIONS = (
    (kinds.REQUEST, _FULFILLED), (kinds.RESPONSE, _FULFILLED), (kinds.REJECT, (ProposalState.REJECTED,)),
    (kinds.WITHDRAW, (ProposalState.WITHDRAWN,)),
)  # fmt: skip
"""Kinds of messages that decide proposals, with the states that they make."""


class Approvals(NamedTuple):
    """Times in which calls waited for a person's permission.

    Attributes:
        steps: (w,) int64, the call, ascending.
        starts_ns, stops_ns: (w,) int64, within the time of the call; they do not overlap.
    """

    steps: Rows
    starts_ns: Rows
    stops_ns: Rows

    def without(self, steps: Rows, starts: Rows, stops: Rows) -> tuple[Rows, Rows, Rows]:
        """Cuts the waits out of the times of some steps. O(n log n) with waits.

        Returns:
            Indexes into `steps`, starts and stops of the parts.
        """
        inside, index = np.isin(self.steps, steps), np.arange(len(steps))
        if not inside.any():
            return index, starts, stops
        by_step = np.argsort(steps)
        own = by_step[np.searchsorted(steps[by_step], self.steps[inside])]
        index = np.concatenate((index, own))
        starts = np.concatenate((starts, self.stops_ns[inside]))
        stops = np.concatenate((stops, self.starts_ns[inside]))
        # Each part ends with the next wait, the last one with the call.
        by_start, by_stop = np.lexsort((starts, index)), np.lexsort((stops, index))
        return index[by_start], starts[by_start], stops[by_stop]

    def split(self, steps: Rows, starts: Rows, stops: Rows) -> tuple[Rows, Rows, Rows]:
        """Splits the times of some steps into work and waits, as `without` does.

        Returns:
            Index of each part in `steps`, inverted (`~index`) for a wait; starts and stops of the parts.
        """
        inside = np.isin(self.steps, steps)
        index, starts, stops = self.without(steps, starts, stops)
        if not inside.any():
            return index, starts, stops
        by_step = np.argsort(steps)
        own = by_step[np.searchsorted(steps[by_step], self.steps[inside])]
        return (
            np.append(index, ~own), np.append(starts, self.starts_ns[inside]), np.append(stops, self.stops_ns[inside])
        )  # fmt: skip


NO_APPROVALS = Approvals(*(np.zeros(0, np.int64) for _ in range(3)))


def are_allowed(capture: Capture, targets: Rows, ends: Rows, took_ns: Rows, sessions: Collection[int]) -> Bools:
    """(n,) bool: True for calls whose time includes a permission that the log does not separate. O(n).

    Args:
        capture: the messages.
        targets: (n,) string id of the tool of each call.
        ends: (n,) answers; NO_ROW without one.
        took_ns: (n,) durations.
        sessions: string ids of the formats of agents' sessions.
    """
    found = (ends != NO_ROW) & (took_ns >= _LONG_CHANGE_NS)
    found &= np.isin(targets, [code for name in CHANGING_TOOLS if (code := capture.strings.find(name))])
    found &= np.isin(capture.columns["protocol"][np.maximum(ends, 0)], list(sessions))
    found[found] = capture.extracted.tool_durations_ns(ends[found]) < 0
    return found


def proposal_answers(capture: Capture, causes: Rows, states: NDArray[np.uint8]) -> tuple[Rows, Rows]:
    """Returns decided proposals and the first message that made their state. O(messages).

    Args:
        capture: the messages.
        causes, states: (n,) cause and `ProposalState` of each of the first n messages.
    """
    kind, sender = capture.columns["kind"][: len(causes)], capture.columns["sender"]
    proposal = capture.strings.find(kinds.PROPOSAL) or -1
    rows = np.flatnonzero(causes != NO_ROW)
    rows = rows[kind[np.minimum(causes[rows], len(causes) - 1)] == proposal]
    asked = causes[rows].astype(np.int64)
    decides = np.zeros(len(rows), np.bool_)
    for name, made in _DECISIONS:
        decides |= (kind[rows] == (capture.strings.find(name) or -1)) & np.isin(states[asked], made)
    # Only the proposer withdraws.
    decides &= (states[asked] != ProposalState.WITHDRAWN) | (sender[rows] == sender[asked])
    asked, first = np.unique(asked[decides], return_index=True)
    return asked, rows[decides][first]


def decision_times(capture: Capture, answers: Rows) -> Rows:
    """Returns (n,) times of answers; of one without a time, that of the next message of its source, else NO_TIME.

    O(n), and O(messages) if one has no time.

    Args:
        capture: the messages.
        answers: (n,) messages.
    """
    times = capture.columns["time_ns"][answers].astype(np.int64)
    untimed = np.flatnonzero(times == NO_TIME)
    if len(untimed):
        sources, timed = capture.columns["source"], np.flatnonzero(capture.columns["time_ns"][:] != NO_TIME)
        for source in np.unique(sources[answers[untimed]]).tolist():
            rows, own = timed[sources[timed] == source], untimed[sources[answers[untimed]] == source]
            places = np.searchsorted(rows, answers[own])
            own, places = own[places < len(rows)], places[places < len(rows)]
            times[own] = capture.columns["time_ns"][rows[places]]
    return times


def approvals_within(calls: Rows, begins: Rows, ends: Rows, starts: Rows, stops: Rows) -> Approvals:
    """Returns the waits within the times of their calls; of overlapping ones each moment once. O(w log w).

    Args:
        calls: (w,) step of the call of each wait.
        begins, ends: (w,) times of the waits.
        starts, stops: (w,) times of the calls.
    """
    order = np.lexsort((begins, calls))
    found: list[tuple[int, int, int]] = []
    columns = (calls[order], np.maximum(begins, starts)[order], np.minimum(ends, stops)[order])
    for call, begin, end in zip(*(column.tolist() for column in columns), strict=True):
        after = max(begin, found[-1][2]) if found and found[-1][0] == call else begin
        if after < end:
            found.append((call, after, end))
    return Approvals(*np.array(found, np.int64).reshape(-1, 3).T.copy())

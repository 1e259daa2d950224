"""Derives the state of each proposal from the links between messages (docs/protocols.md 5)."""

from __future__ import annotations

import enum

import numpy as np

from inspector.analysis.passes.changed_rows import ChangedRows
from inspector.protocol import kinds
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture


class ProposalState(enum.IntEnum):
    """State of a proposal. A higher state replaces a lower one, in any order of arrival."""

    NONE = 0
    OPEN = 1
    REJECTED = 2
    WITHDRAWN = 3
    FULFILLED = 4
    ANSWERED = 5


PROPOSAL_STATE_NAMES = ("", "open", "rejected", "withdrawn", "fulfilled", "answered")
"""The values of the field `proposal.state` by `ProposalState`; filters of users name them."""


class ProposalStates:
    """Maintains the column `proposal_state` of the correlation pass.

    Args:
        links: the columns of that pass; `cause` and `answer` are read, `proposal_state` is written.
        changed: collects proposals with a changed state.

    Attributes:
        rejections: by rejected proposal, the first message that rejected it.
    """

    def __init__(self, capture: Capture, links: GrowingColumns, changed: ChangedRows) -> None:
        self._capture = capture
        self._links = links
        self._changed = changed
        self.rejections: dict[int, int] = {}

    def extend(self, start: int, stop: int) -> None:
        """Opens the proposals among messages `start` to `stop`."""
        proposal = self._capture.strings.find(kinds.PROPOSAL) or -1
        proposed = self._capture.columns["kind"][start:stop] == proposal
        self._links.replace("proposal_state", np.flatnonzero(proposed) + start, ProposalState.OPEN.value)

    def note_link(self, row: int, cause: int) -> None:
        """Updates the state of a proposal after a message was linked to its cause; links may come in any order."""
        kind, cause_kind = (self._capture.string("kind", message) for message in (row, cause))
        # A message that the gateway refused decides no proposal.
        if any(self._capture.flags_of(one) & Flag.REFUSED for one in (row, cause if kind == kinds.RESPONSE else row)):
            return
        if kind == kinds.RESPONSE and cause_kind == kinds.REQUEST:
            proposal = int(self._links["cause"][cause])
            if proposal != NO_ROW and self._capture.string("kind", proposal) == kinds.PROPOSAL:
                self._raise_state(proposal, ProposalState.ANSWERED)
        elif cause_kind == kinds.PROPOSAL:
            sender = self._capture.columns["sender"]
            if kind == kinds.REQUEST:
                answered = self._links["answer"][row] != NO_ROW  # its response may have come first
                self._raise_state(cause, ProposalState.ANSWERED if answered else ProposalState.FULFILLED)
            elif kind == kinds.RESPONSE and self._capture.flags_of(row) & Flag.DERIVED:  # as permissions of a user
                self._raise_state(cause, ProposalState.FULFILLED)
            elif kind == kinds.REJECT:
                self.rejections[cause] = min(row, self.rejections.get(cause, row))
                self._raise_state(cause, ProposalState.REJECTED)
            elif kind == kinds.WITHDRAW and sender[row] == sender[cause] and self._capture.logged_sender(row) is None:
                self._raise_state(cause, ProposalState.WITHDRAWN)

    def _raise_state(self, proposal: int, state: ProposalState) -> None:
        states = self._links["proposal_state"]
        # Comparing states makes the result independent of the order of arrival.
        if states[proposal] < state:
            self._links.replace("proposal_state", proposal, state.value)
            self._changed.add(proposal)

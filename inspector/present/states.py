"""The state of a message, context or participant: one word, a colour by name, a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.analysis.context_tree import MAIN
from inspector.analysis.findings.requests import PATIENCE_S
from inspector.analysis.fulfilments import has_failed
from inspector.analysis.participants import Participant
from inspector.analysis.pending import is_cancelled, is_refused, wants_no_answer, who_left
from inspector.analysis.proposals import ProposalState
from inspector.capture.flags import Flag
from inspector.present.badges import shown_in_row
from inspector.present.subject import Subject
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

Glyph = Literal["ring", "check", "dash", "cross"]

ANSWER_WITHIN_NS = PATIENCE_S * 1_000_000_000
"""Live requests count as waiting that long."""


@dataclass(frozen=True, slots=True)
class State:
    """What the pill says."""

    word: str
    token: str
    glyph: Glyph


_GOOD, _GREY, _AMBER, _RED = "badge.consumed", "badge.collapsed", "badge.transient", "severity.error"
_PROPOSALS = {
    ProposalState.OPEN: State("open", _GREY, "ring"),
    ProposalState.REJECTED: State("rejected", _AMBER, "cross"),
    ProposalState.WITHDRAWN: State("withdrawn", _GREY, "cross"),
    ProposalState.FULFILLED: State("fulfilled", _GOOD, "check"),
    ProposalState.ANSWERED: State("answered", _GOOD, "check"),
}
CONTEXT_STATES: dict[str, State] = {
    "active": State("active", _GOOD, "ring"),  # a pill's text needs more contrast than a mark's colour has
    "idle": State("idle", _GREY, "ring"),
    "concluded": State("concluded", _GREY, "check"),
    "cancelled": State("cancelled", _GREY, "cross"),
}


def state_of(subject: Subject) -> State | None:
    """The state worth a pill; None when the message has none."""
    flags = subject.flags
    if flags & Flag.UNREADABLE:
        return State("unreadable", _RED, "cross")
    if flags & Flag.REJECTED:
        return State("rejected", _RED, "cross")
    if subject.hints and (badges := shown_in_row(subject.story.badges)):
        return State(badges[-1].text, badges[-1].token, badges[-1].glyph)
    if subject.kind == kinds.REQUEST:
        return request_state(subject)
    if subject.kind == kinds.PROPOSAL and has_failed(subject.analysis, subject.message):
        return State("failed", _RED, "cross")
    if subject.kind == kinds.PROPOSAL:
        return _PROPOSALS.get(
            ProposalState(int(subject.analysis.correlation.columns["proposal_state"][subject.message]))
        )
    if subject.kind != "system/error" and subject.has_finding("capability-denied"):
        return State("refused", _RED, "cross")
    if flags & Flag.ERROR:
        return State("failed" if subject.kind == kinds.RESPONSE else "error", _RED, "cross")
    if subject.has_finding("response-without-request"):
        return State("no request", _AMBER, "cross")
    if subject.started_node != MAIN:
        analysis = subject.analysis
        return CONTEXT_STATES.get(analysis.contexts.state(subject.started_node, analysis.now_ns))
    return None


def request_state(subject: Subject) -> State | None:
    """Of a request: answered, failed, refused, cancelled, waiting, no answer; None for a notification."""
    analysis, message = subject.analysis, subject.message
    if is_refused(analysis, message):
        return State("refused", _RED, "cross")
    if subject.answer is not None:
        if subject.capture.flags(subject.answer) & Flag.ERROR:
            return State("failed", _RED, "cross")
        return State("answered", _GOOD, "check")
    if is_cancelled(analysis, message):
        return State("cancelled", _GREY, "cross")
    if wants_no_answer(analysis, message):
        return None
    if gone := who_left(analysis, message):
        return State(f"{gone} left", _GREY, "cross")
    if subject.document.live and subject.last_ns() - subject.time_ns < ANSWER_WITHIN_NS:
        return State("waiting", _GREY, "ring")
    return State("no answer", _AMBER, "cross")


def presence(participant: Participant | None, time_ns: int) -> str:
    """Whether somebody was there at a time, as "here", "left later", "had left", "came later", "invited"."""
    if participant is None:
        return "never seen"
    if participant.here is None:
        return "invited" if participant.invited else "never announced"
    if NO_TIME not in (time_ns, participant.first_ns) and participant.first_ns > time_ns:
        return "came later"
    if participant.here:
        return "here"
    later = NO_TIME not in (time_ns, participant.left_ns) and participant.left_ns > time_ns
    return "here, left later" if later else "had left"

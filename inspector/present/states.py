"""The state of a message, context or participant: one word, a colour by name, a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.analysis.findings.requests import PATIENCE_S
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.states.state_pass import State as Became
from inspector.present.badges import badge_words, shown_in_row
from inspector.present.subject import Subject
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME
from inspector.store.columns.flags import Flag

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
BY_YOU = "rejected by you"
"""Said of a call that the user of a coding agent did not allow, and of its result."""
LOOKS: dict[Became, tuple[str, Glyph]] = {
    Became.ANSWERED: (_GREY, "check"),
    Became.FAILED: (_RED, "cross"),
    Became.UNANSWERED: (_AMBER, "cross"),
    Became.WAITING: (_AMBER, "ring"),
    Became.FULFILLED: (_GREY, "check"),
    Became.REJECTED: (_AMBER, "cross"),
    Became.WITHDRAWN: (_GREY, "cross"),
    Became.RUNNING: (_GOOD, "ring"),
    Became.CONCLUDED: (_GREY, "check"),
    Became.CANCELLED: (_GREY, "cross"),
    Became.OPEN: (_GOOD, "ring"),
    Became.CLOSED: (_GREY, "check"),
}
"""Colour and mark of what became of a message; its word is that of the field `state` everywhere."""
QUIET = _GREY
"""The colour of what is done and over: in a row its words are enough, it needs no pill."""
NOT_CACHED = State("not cached from here", _AMBER, "cross")


def cache_state(mark: str) -> State:
    """Of what bears the mark of a prompt cache: how long it is to last."""
    return State(f"cache {mark}", _GOOD, "check")


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
    became = subject.analysis.states.of(subject.message)
    if became is not Became.NONE:
        return State(became.name.lower(), *LOOKS[became])
    if flags & Flag.REJECTED:
        return State("rejected", _RED, "cross")
    if subject.hints and (badges := shown_in_row(badge_words(subject.analysis.transients, subject.message))):
        return State(badges[-1].text, badges[-1].token, badges[-1].glyph)
    if subject.kind != "system/error" and subject.has_finding("capability-denied"):
        return State("refused", _RED, "cross")
    if flags & Flag.DECLINED:
        return State(BY_YOU, _AMBER, "cross")
    if flags & Flag.ERROR:
        return State("failed" if subject.kind == kinds.RESPONSE else "error", _RED, "cross")
    if subject.has_finding("response-without-request", "mcp-answer-to-nothing"):
        return State("no request", _AMBER, "cross")
    return None


def presence(participant: Participant | None, time_ns: int) -> str:
    """Returns whether somebody was there at a time: "present", "had left", "came later", "invited"."""
    if participant is None:
        return "never seen"
    if participant.here is None:
        return "invited" if participant.invited else "never announced"
    if NO_TIME not in (time_ns, participant.first_ns) and participant.first_ns > time_ns:
        return "came later"
    if participant.here:
        return "present"
    later = NO_TIME not in (time_ns, participant.left_ns) and participant.left_ns > time_ns
    return "was present (left later)" if later else "had left"

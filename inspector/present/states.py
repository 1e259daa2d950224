"""States of messages, contexts and participants: word, colour and glyph; also use of the prompt cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.analysis.findings.requests import ANSWER_LIMIT_S
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.present.badges import badge_words, shown_in_row
from inspector.present.subject import Subject
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

Glyph = Literal["ring", "check", "dash", "cross", "plus"]

ANSWER_WITHIN_NS = ANSWER_LIMIT_S * 1_000_000_000
"""Duration for which live requests count as waiting."""


@dataclass(frozen=True, slots=True)
class StatePill:
    """Content of a state's pill."""

    word: str
    token: str
    glyph: Glyph


_GOOD, _GREY, _AMBER, _RED = "badge.consumed", "badge.collapsed", "badge.transient", "severity.error"
BY_USER = "rejected by the user"
"""Word for a call that the user of a coding agent did not allow, and for its result."""
STATE_LOOKS: dict[MessageState, tuple[str, Glyph]] = {
    MessageState.ANSWERED: (_GREY, "check"),
    MessageState.FAILED: (_RED, "cross"),
    MessageState.UNANSWERED: (_AMBER, "cross"),
    MessageState.WAITING: (_AMBER, "ring"),
    MessageState.FULFILLED: (_GREY, "check"),
    MessageState.REJECTED: (_AMBER, "cross"),
    MessageState.WITHDRAWN: (_GREY, "cross"),
    MessageState.RUNNING: (_GOOD, "ring"),
    MessageState.CONCLUDED: (_GREY, "check"),
    MessageState.CANCELLED: (_GREY, "cross"),
    MessageState.OPEN: (_GOOD, "ring"),
    MessageState.CLOSED: (_GREY, "check"),
}
"""Colour and glyph by message state; the word is the value of the field `state`."""
QUIET_COLOR = _GREY
"""Colour of completed states; in a row they need no pill."""
NOT_CACHED = StatePill("not cached from here", _AMBER, "cross")


def cache_state(mark: str) -> StatePill:
    """Returns the state for a prompt cache mark with its lifetime."""
    return StatePill(f"cache {mark}", _GOOD, "check")


CONTEXT_STATES: dict[str, StatePill] = {
    "active": StatePill("active", _GOOD, "ring"),  # a pill's text needs more contrast than a mark
    "idle": StatePill("idle", _GREY, "ring"),
    "concluded": StatePill("concluded", _GREY, "check"),
    "cancelled": StatePill("cancelled", _GREY, "cross"),
}


def state_of(subject: Subject) -> StatePill | None:
    """Returns the state for a message's pill, if any."""
    flags = subject.flags
    if flags & Flag.UNREADABLE:
        return StatePill("unreadable", _RED, "cross")
    became = subject.analysis.states.state_of(subject.message)
    if became is not MessageState.NONE:
        return StatePill(STATE_NAMES[became], *STATE_LOOKS[became])
    if flags & Flag.REJECTED:
        return StatePill("rejected", _RED, "cross")
    if subject.hints and (badges := shown_in_row(badge_words(subject.analysis.transients, subject.message))):
        return StatePill(badges[-1].text, badges[-1].token, badges[-1].glyph)
    if subject.kind != "system/error" and subject.has_finding("capability-denied"):
        return StatePill("refused", _RED, "cross")
    # Before the general error: the tool did not fail, the user said no.
    if flags & Flag.DECLINED:
        return StatePill(BY_USER, _AMBER, "cross")
    if flags & Flag.ERROR:
        return StatePill("failed" if subject.kind == kinds.RESPONSE else "error", _RED, "cross")
    if subject.has_finding("response-without-request", "mcp-answer-to-nothing"):
        return StatePill("no request", _AMBER, "cross")
    return None


def presence_word(participant: Participant | None, time_ns: int) -> str:
    """Returns a participant's presence at a time: "present", "had left", "came later", "invited"."""
    if participant is None:
        return "never seen"
    if participant.here is None:
        return "invited" if participant.is_invited else "never announced"
    if NO_TIME not in (time_ns, participant.first_ns) and participant.first_ns > time_ns:
        return "came later"
    # The pass knows the present only; times tell about the moment of the message.
    if participant.here:
        return "present"
    later = NO_TIME not in (time_ns, participant.left_ns) and participant.left_ns > time_ns
    return "was present, left later" if later else "had left"

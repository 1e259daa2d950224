"""Words for the outcome at the end of a row ("answered in 34 ms", "rejected (unsafe)"), and its duration."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.analysis.views.account.unanswered import is_refused, party_who_left
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.document.document import CaptureDocument
from inspector.present import formats, wire_text
from inspector.present.states import BY_USER, STATE_LOOKS, Glyph
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_ROW


@dataclass(frozen=True, slots=True)
class RowState:
    """End of a row.

    Attributes:
        word: "answered in 34 ms".
        short: "34 ms", for a narrow row.
        token: colour of its pill; QUIET if words suffice.
        glyph: mark of its pill.
    """

    word: str
    short: str
    token: str
    glyph: Glyph


_MAX_NAME = 40


def row_state(document: CaptureDocument, message: int, state: MessageState) -> RowState | None:
    """Returns the words for a message's state, if it has one."""
    if state is MessageState.NONE:
        return None
    token, glyph = STATE_LOOKS[state]
    word, short = _state_words(document, message, state), STATE_NAMES[state]
    if state is MessageState.ANSWERED:
        short = word.removeprefix(f"{short} in ")
    elif state is MessageState.CANCELLED and party_who_left(document.analysis, message) == "asker":
        short = "asker left"
    return RowState(word, short, token, glyph)


def took_ns(document: CaptureDocument, message: int) -> int | None:
    """Returns the latency of a request's answer, if any."""
    if document.capture.string("kind", message) != kinds.REQUEST:
        return None
    links = document.analysis.correlation
    call = links.rounds.calls.get(message)
    # The first answer of a task only confirms it; its result counts.
    answer = call.result if call is not None else int(links.columns["answer"][message])
    return None if answer == NO_ROW else answer_latency_ns(document.analysis, answer)


def _state_words(document: CaptureDocument, message: int, state: MessageState) -> str:
    word = STATE_NAMES[state]
    if state in (MessageState.ANSWERED, MessageState.FAILED):
        if state is MessageState.FAILED and is_refused(document.analysis, message):
            return f"{word} (refused)"
        took = took_ns(document, message)
        return word if took is None or took < 0 else f"{word} in {formats.duration(took)}"
    if state is MessageState.CANCELLED and party_who_left(document.analysis, message) == "asker":
        return f"{word} (asker left)"
    if state is MessageState.FULFILLED:
        by = int(document.analysis.correlation.columns["answer"][message])
        who = document.capture.shown_name(document.capture.string("sender", by) or "") if by != NO_ROW else ""
        return f"{word} by {wire_text.safe_line(who, _MAX_NAME)}" if who else word
    if state is MessageState.REJECTED and document.capture.string("kind", message) == kinds.REQUEST:
        return BY_USER
    if state is MessageState.REJECTED and (why := _rejection_reason(document, message)):
        return f"{word} ({why})"
    return word


def _rejection_reason(document: CaptureDocument, message: int) -> str:
    """Returns the reason of the first rejection of a proposal, or ""."""
    rejection = document.analysis.correlation.rejected_by(message)
    reason = None if rejection is None else document.capture.records.payload(rejection).get("reason")
    return wire_text.safe_line(reason, _MAX_NAME) if isinstance(reason, str) else ""

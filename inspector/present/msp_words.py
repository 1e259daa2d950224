"""Texts of sub-sessions: labels, states, ages and visibility, and lines of the list."""

from __future__ import annotations

from inspector.msp import Session, SessionDocument, Subsession
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME

GLOBAL = "global: also in the parent chat"
MAIN_ONLY_INSIDE = "main_only: no effect in a sub-session"
NO_MESSAGES = "No messages yet."
_NAME = 60
_SEARCHED_MESSAGES = 8
"""Number of first messages searched for text."""


def label_of(one: Session | Subsession) -> str:
    """Returns the label of a session or sub-session, safe to show."""
    return safe_line(one.label, _NAME) or safe_line(one.key, _NAME) or "without a name"


def dot_state(document: SessionDocument, sub: Subsession) -> str:
    """Returns the shape of its dot, as in the context tree. An open one without recent activity is idle."""
    if sub.is_open:
        return "active" if document.is_active(sub) else "idle"
    return "cancelled" if sub.discarded else "concluded"


def age(since_ns: int, until_ns: int) -> str:
    """Formats a duration in one unit: "1 min", "3 h", "12 d"; "" if a time is unknown or they are swapped."""
    if NO_TIME in (since_ns, until_ns) or until_ns < since_ns:
        return ""
    seconds = (until_ns - since_ns) // 1_000_000_000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:,} {unit}"
    return f"{seconds} s"


def state_words(sub: Subsession, now_ns: int) -> str:
    """Describes its state at a time: "open for 1 min, 6 messages", "closed after 4 min, merged, 11 messages"."""
    count = formats.count_of(len(sub.messages), "message")
    if sub.is_open:
        how = age(sub.created_ns, now_ns)
        return f"open for {how}, {count}" if how else f"open, {count}"
    how = age(sub.created_ns, sub.closed_ns)
    state = "discarded" if sub.discarded else "closed"
    words = f"{state} after {how}" if how else state
    return f"{words}, merged, {count}" if sub.merged else f"{words}, {count}"


def state_of(sub: Subsession) -> str:
    """Returns its state: open, closed or discarded."""
    return "open" if sub.is_open else "discarded" if sub.discarded else "closed"


def age_words(sub: Subsession, now_ns: int) -> str:
    """Returns its age: "open for 1 min", "closed 2 h ago"; only its state without a time."""
    state = state_of(sub)
    span = age(sub.created_ns if sub.is_open else sub.closed_ns, now_ns)
    if not span:
        return state
    return f"open for {span}" if sub.is_open else f"{state} {span} ago"


def tokens_words(tokens: int, *, complete: bool) -> str:
    """Formats an estimate: "348 tokens". An ellipsis follows the figure while counting."""
    if complete:
        return formats.count_of(tokens, "token")
    return f"{tokens:,}… tokens" if tokens else "… tokens"


def about(sub: Subsession) -> str:
    """Returns its summary, else its first text."""
    if sub.summary:
        return sub.summary
    contents = (message.content for message in sub.messages[:_SEARCHED_MESSAGES])
    return next((text for text in contents if text.strip()), "")

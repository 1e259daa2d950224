"""Texts of a sub-session: labels, states, ages, times, ends and visibility."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.protocol.timestamps import NO_TIME

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
    from inspector.msp.objects import Message, Session, Subsession

GLOBAL = "global: also in the parent chat"
MAIN_ONLY_INSIDE = "main_only: no effect in a sub-session"
NO_MESSAGES = "No messages yet."
_NAME = 60
_DAY_NS = 86_400_000_000_000
_OWN_ROLES = ("user", "assistant")


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


def time_words(message: Message) -> str:
    """Returns the time of a message, and its role unless it is user or assistant."""
    when = when_words(message.time_ns, message.owner.created_ns)
    role = "" if message.role in _OWN_ROLES else safe_line(message.role, 40) or "no role"
    return "  ".join(filter(None, (when, role)))


def when_words(time_ns: int, began_ns: int) -> str:
    """Returns the time of day, with the date if it differs from the first day; "" if unknown."""
    when = formats.clock(time_ns)
    day, first = formats.day_and_time(time_ns)[:10], formats.day_and_time(began_ns)[:10]
    return f"{day} {when}" if when and first and day != first else when


def visibility_words(message: Message, kind: str) -> str:
    """Describes an unusual visibility of a message, else ""."""
    if message.visibility == "global":
        return GLOBAL if kind == "own" else "global"
    if kind == "own":
        return MAIN_ONLY_INSIDE if message.visibility == "main_only" else ""
    return "main_only" if message.visibility == "main_only" else ""


def end_words(sub: Subsession) -> str:
    """Describes the end of a sub-session."""
    at = when_words(sub.closed_ns, sub.created_ns)
    when = f" at {at}" if at else ""
    if sub.discarded:
        return f"discarded{when}, messages kept for the record"
    if sub.merged:
        return f"closed{when}, merged to the parent chat"
    return f"closed{when}{'' if sub.summary else ', without a summary'}"

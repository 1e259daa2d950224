"""What the list says of a sub-session: its age, its tokens, what it is about. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.present import formats
from inspector.ui.msp.panel.words import age

if TYPE_CHECKING:
    from inspector.msp.objects import Subsession

_LOOKED_AT = 8
"""Messages that are looked at for one that says something."""


def state_of(sub: Subsession) -> str:
    """Its state in a word: open, closed or discarded."""
    return "open" if sub.is_open else "discarded" if sub.discarded else "closed"


def age_words(sub: Subsession, now_ns: int) -> str:
    """How long it is open, or when it was closed: "open for 1 min", "closed 2 h ago"; only its state without a time."""
    state = state_of(sub)
    span = age(sub.created_ns if sub.is_open else sub.closed_ns, now_ns)
    if not span:
        return state
    return f"open for {span}" if sub.is_open else f"{state} {span} ago"


def tokens_words(tokens: int, *, complete: bool) -> str:
    """An estimate: "348 tokens"; while it is still being counted an ellipsis follows the figure."""
    if complete:
        return formats.count_of(tokens, "token")
    return f"{tokens:,}… tokens" if tokens else "… tokens"


def about(sub: Subsession) -> str:
    """What it is about, as text: its summary; without one what was said in it first."""
    if sub.summary:
        return sub.summary
    said = (message.content for message in sub.messages[:_LOOKED_AT])
    return next((text for text in said if text.strip()), "")

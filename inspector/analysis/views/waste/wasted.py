"""One thing that could have been spared."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class WasteKind(enum.Enum):
    """The ways to waste, with the words they are listed under."""

    UNCONSUMED = "never consumed"
    PENDING = "not consumed yet"
    TWICE = "fetched twice"
    UNREFERRED = "never referred to"
    COPIED = "better by reference"
    LISTED = "tools listed again"
    UNCALLED = "tools never called"


@dataclass(frozen=True, slots=True)
class Waste:
    """Tokens that could have been spared.

    Attributes:
        kind: how they were wasted.
        message: the one to look at first.
        messages: all that cost something here or show why it need not have, ascending; of many the first.
        tokens: what could have been spared, estimate.
        sentence: what happened.
        advice: what would spare it.
        sure: the traffic shows it; else it may have had its reason, or rests on an assumption.
        participant: in whose context; None where nobody is named.
        tool: what brought it; None for lists of tools.
    """

    kind: WasteKind
    message: int
    messages: tuple[int, ...]
    tokens: int
    sentence: str
    advice: str
    sure: bool
    participant: str | None
    tool: str | None


MOST_MESSAGES = 200
"""Messages that one of them names."""


def some(messages: list[int]) -> tuple[int, ...]:
    """Messages as they are kept: each once, ascending, not too many."""
    return tuple(sorted(set(messages))[:MOST_MESSAGES])

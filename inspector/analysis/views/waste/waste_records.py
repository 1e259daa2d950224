"""The types of one waste, and of their sums."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class WasteKind(enum.Enum):
    """Kinds of waste, with their labels."""

    UNCONSUMED = "never consumed"
    PENDING = "not consumed yet"
    TWICE = "fetched twice"
    UNREFERRED = "never referred to"
    COPIED = "better by reference"
    LISTED = "tools listed again"
    UNCALLED = "tools never called"


@dataclass(frozen=True, slots=True)
class Waste:
    """Tokens that were unnecessary.

    Attributes:
        kind: kind of waste.
        message: the message to show first.
        messages: the messages that cost tokens or prove the waste, ascending; the first of many.
        tokens: estimated waste.
        sentence: description.
        advice: remedy.
        sure: True if the traffic proves it; otherwise it may have a reason or rests on an assumption.
        participant: owner of the context, or None.
        tool: source of the tokens; None for tool lists.
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


@dataclass(frozen=True, slots=True)
class WasteTotals:
    """Sums over all wastes.

    Attributes:
        tokens: estimated tokens.
        sure_tokens: estimated tokens of wastes that the traffic proves.
        first: the largest waste; None without any.
    """

    tokens: int
    sure_tokens: int
    first: Waste | None


MAX_MESSAGES = 200
"""Messages per waste at most."""


def limited_messages(messages: list[int]) -> tuple[int, ...]:
    """Returns messages without duplicates, ascending, cut to the limit."""
    return tuple(sorted(set(messages))[:MAX_MESSAGES])

"""BADGES: the pills of results, with their words and looks.

To add one: a bit in `analysis.passes.results.result_badges`, its rows in `TransientPass`, and a `Badge` of that name
here. Source: docs/design.md 2 (words), docs/design.md 14 (looks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inspector.analysis.passes.results.transient_results import TransientPass

Glyph = Literal["ring", "check", "dash"]
"""Shape of a badge's mark, so that colour is never the only sign."""


@dataclass(frozen=True)
class Badge:
    """One pill."""

    id: str
    """Value of the field `badge`, used in filters; or the id of `CONSUMED_NOTHING`."""
    text: str
    """Text of the pill."""
    token: str
    """Colour of its text and mark; the fill is a transparent version."""
    glyph: Glyph
    tooltip: str
    """One sentence."""
    hides: tuple[str, ...] = ()
    """Badges that this one makes redundant in a row."""


BADGES: tuple[Badge, ...] = (
    Badge(
        "transient", "transient", "badge.transient", "ring",
        "Its server marked this result as collapsible: the model sees it in full until a tool consumes it.",
    ),
    Badge(
        "consumed", "consumed", "badge.consumed", "check",
        "This result says that an earlier transient one was consumed and can be replaced by its summary.",
    ),
    Badge(
        "collapsed", "collapsed", "badge.collapsed", "dash",
        "This result was consumed: the model now sees only its summary.",
        hides=("transient",),
    ),
)  # fmt: skip
"""In the order of a result's life."""

CONSUMED_NOTHING = Badge(
    "consumed nothing", "consumed nothing", "badge.collapsed", "ring",
    "This result says that an earlier transient one was consumed, and collapsed none.",
)  # fmt: skip
"""Replaces `consumed` on a result that collapsed none; its id is not a value of the field `badge`."""

BADGE_BY_ID: dict[str, Badge] = {badge.id: badge for badge in BADGES}


def badge_words(transients: TransientPass, message: int) -> tuple[str, ...]:
    """Returns badge ids of a message; `consumed` only if it collapsed a result."""
    words = transients.badges(message)
    # A server may state a consumption for which no result is waiting.
    if "consumed" not in words or transients.consumes(message) is not None:
        return words
    return tuple(CONSUMED_NOTHING.id if word == "consumed" else word for word in words)


def shown_in_row(words: Sequence[str]) -> tuple[Badge, ...]:
    """Returns the badges to show in a row; a collapsed result shows only that one."""
    present = [badge for badge in (*BADGES, CONSUMED_NOTHING) if badge.id in words]
    hidden = {word for badge in present for word in badge.hides}
    return tuple(badge for badge in present if badge.id not in hidden)

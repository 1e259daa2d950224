"""Vocabulary for the life of a tool result: badges, notes about signals without effect, and a summary of its life."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Badge(enum.IntFlag):
    """Bits of the `badges` column, eight at most.

    `TransientPass` sets them. `inspector.present.badges.Badge` has their look, under the same names.
    """

    TRANSIENT = 1
    CONSUMED = 2
    COLLAPSED = 4


class SignalNote(enum.IntEnum):
    """Reason why a signal had no effect."""

    NONE = 0
    FAILED = 1
    NOT_PAIRED = 2
    NOTHING_WAITS = 3
    NO_TOOL = 4
    NO_CALL = 5
    NOT_KEPT = 6
    REPEATED = 7
    UNPAIRED = 8


NOTE_SENTENCES = {
    SignalNote.FAILED: "It failed, so it consumed nothing.",
    SignalNote.NOT_PAIRED: "No hint names it as a consumer, so it collapsed nothing.",
    SignalNote.NOTHING_WAITS: "No result was waiting to be consumed by it.",
    SignalNote.NO_TOOL: "Its request was not seen, so the consuming tool is unknown, and it collapsed nothing.",
    SignalNote.NO_CALL: "It answers no tool call, so its signals do not count.",
    SignalNote.NOT_KEPT: "It failed, so it is not marked as transient.",
    SignalNote.UNPAIRED: "A result waited, but no hint pairs its tool with this one, so it collapsed nothing.",
    SignalNote.REPEATED: "The same answer was there before, so it does not count again.",
}
"""Sentences by note."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The life of one result. Message numbers are 0-based, None for a step that did not happen."""

    badges: tuple[str, ...]
    summary: str | None
    tool: str | None
    hinted_by: int | None
    collapsed_by: int | None
    consumes: int | None
    note: str | None


_BADGE_WORDS = {Badge.TRANSIENT: "transient", Badge.CONSUMED: "consumed", Badge.COLLAPSED: "collapsed"}
"""The values of the field `badge`; filters of users name them."""
BADGE_SETS: tuple[tuple[str, ...], ...] = tuple(
    tuple(word for badge, word in _BADGE_WORDS.items() if badge & bits) for bits in range(1 << len(Badge))
)
"""Words by the bits of the `badges` column."""

"""Words about the life of a result: its badges, notes about signals that did nothing, and its story in short."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Badge(enum.IntFlag):
    """Bits of the `badges` column, eight at the most; in small letters, the words of the field `badge`.

    Who bears one is found out in `TransientPass`. How it looks is a `Badge` of that name in `inspector.present.badges`.
    """

    TRANSIENT = 1
    CONSUMED = 2
    COLLAPSED = 4


class Note(enum.IntEnum):
    """What is said about a signal that did not do what it says."""

    NONE = 0
    FAILED = 1
    NOT_PAIRED = 2
    NOTHING_WAITS = 3
    NO_TOOL = 4
    NO_CALL = 5
    NOT_KEPT = 6
    REPEATED = 7
    UNPAIRED = 8


NOTES = {
    Note.FAILED: "It failed, so it consumed nothing.",
    Note.NOT_PAIRED: "No hint names it as a consumer, so it collapsed nothing.",
    Note.NOTHING_WAITS: "No result was waiting to be consumed by it.",
    Note.NO_TOOL: "Its request was not seen, so it is not known which tool consumed, and it collapsed nothing.",
    Note.NO_CALL: "It answers no tool call, so what it signals does not count.",
    Note.NOT_KEPT: "It failed, so it is not marked as transient.",
    Note.UNPAIRED: "A result waited, but no hint pairs its tool with this one, so it collapsed nothing.",
    Note.REPEATED: "The same answer was there before, so it does not count again.",
}
"""Sentences about notes."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The story of one result; message numbers are 0-based, None where it did not happen."""

    badges: tuple[str, ...]
    summary: str | None
    tool: str | None
    hinted_by: int | None
    collapsed_by: int | None
    consumes: int | None
    note: str | None


BADGE_SETS: tuple[tuple[str, ...], ...] = tuple(
    tuple(badge.name.lower() for badge in Badge if badge & bits and badge.name) for bits in range(1 << len(Badge))
)
"""Words by the bits of the `badges` column."""

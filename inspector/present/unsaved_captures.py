"""Words for an unsaved capture of an earlier run."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from inspector.present import formats

if TYPE_CHECKING:
    from inspector.store.files.capture_folder import UnsavedCapture as UnsavedCapture

MAX_SHOWN = 3
"""Limit of captures with lines of their own; a last line counts the rest."""


def unsaved_words(unsaved: UnsavedCapture, now: datetime) -> str:
    """Describes its content: "demo, 8,412 messages, 18:04 to 18:31".

    Args:
        unsaved: the capture.
        now: local time.
    """
    size = formats.size(unsaved.size_bytes).replace(".0 ", " ")
    much = size if unsaved.messages is None else formats.count_of(unsaved.messages, "message")
    return ", ".join(word for word in (unsaved.space or unsaved.path.stem, much, _time_range(unsaved, now)) if word)


def unsaved_sentence(unsaved: UnsavedCapture, now: datetime) -> str:
    """Returns the sentence for the start page."""
    return f"A capture was not saved when the program last ended: {unsaved_words(unsaved, now)}."


def more_words(more: list[UnsavedCapture]) -> str:
    """Counts the captures that the start page does not list."""
    size = formats.size(sum(one.size_bytes for one in more)).replace(".0 ", " ")
    one = len(more) == 1
    return f"{formats.count_of(len(more), 'more capture')} {'was' if one else 'were'} not saved, {size}."


def _time_range(unsaved: UnsavedCapture, now: datetime) -> str:
    if unsaved.first_ns is None or unsaved.last_ns is None:
        return ""
    try:
        first, last = (
            datetime.fromtimestamp(time_ns / 1e9).astimezone() for time_ns in (unsaved.first_ns, unsaved.last_ns)
        )
    except (OverflowError, OSError, ValueError):
        return ""
    day, last_day = _day(first, now), _day(last, now)
    begin, end = f"{first:%H:%M}", f"{last:%H:%M}"
    if day != last_day:
        return f"{day} {begin} to {last_day} {end}"
    span = begin if begin == end else f"{begin} to {end}"
    return span if day == "today" else f"{day} {span}"


def _day(then: datetime, now: datetime) -> str:
    days = (now.date() - then.date()).days
    if days == 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{then.day} {then:%B}" if then.year == now.year else f"{then.day} {then:%B %Y}"

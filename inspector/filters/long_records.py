"""Searches long records in windows, so that a record of 50 MB does not block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from inspector.filters.cache import UNKNOWN
from inspector.filters.message_text import own_place
from inspector.store.messages.capture import Capture

LONG_RECORD = 1 << 19
"""Record size in bytes above which the search uses windows."""
_WINDOW = 1 << 18
_OVERLAP = 1 << 15
"""Overlap of two windows in bytes: the longest query, escaped twice."""
_ESCAPE = 12
"""Bytes before an offset that can contain the start of a cut escape or character."""
_CONTEXT_BYTES = 1 << 12


class PartFinder(Protocol):
    """Searches a part of a record."""

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """Returns 1 for a match, 0 for no match, 2 for a timeout.

        Args:
            part: bytes of a record.
            first: the part begins the record; else a match at its first byte does not count.
            last: the part ends the record; else a match at its last byte does not count.
        """
        ...


def search_long(finder: PartFinder, capture: Capture, message: int) -> Iterator[np.int8]:
    """Searches one message's record; yields UNKNOWN after each undecided window, then the result."""
    length, size = int(capture.columns["length"][message]), int(capture.columns["size"][message])
    own = own_place(capture.records.line_part(message, 0, _CONTEXT_BYTES), 0, length, size)
    first, stop = own or (0, length)
    too_long = False
    for start in range(first, stop, _WINDOW):
        # Look-behind and `\b` need some text before the window; no match begins in it.
        begin = max(first, start - _CONTEXT_BYTES)
        end = min(start + _WINDOW + _OVERLAP, stop)
        part = capture.records.line_part(message, begin, end - begin)
        last = end == stop
        answer = finder.in_part(part[_uncut_offset(part, start - begin) :], first=start == first, last=last)
        if answer == 1:
            yield np.int8(1)
            return
        too_long |= answer != 0
        if last:
            break
        yield UNKNOWN
    yield np.int8(2 if too_long else 0)


def _uncut_offset(part: bytes, place: int) -> int:
    """Returns the last offset at or before `place` that cuts no escape and no character."""
    for at in range(place, _ESCAPE, -1):
        if b"\\" not in part[at - _ESCAPE : at] and (at == len(part) or part[at] & 0xC0 != 0x80):
            return at
    return place if place > _ESCAPE else 0

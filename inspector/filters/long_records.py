"""Records too long to be searched at once: window by window, so that nobody waits for one of 50 MB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from inspector.filters.cache import UNKNOWN
from inspector.filters.message_text import own_place
from inspector.store.messages.capture import Capture

LONG = 1 << 19
"""Bytes of a record above which it is searched window by window."""
_WINDOW = 1 << 18
_OVERLAP = 1 << 15
"""What two windows share: as long as what is looked for can be, escaped by JSON in JSON."""
_ESCAPE = 12
"""Bytes before a place that tell whether an escape, or a character of several bytes, is cut there."""
_FURTHEST = 1 << 12


class PartFinder(Protocol):
    """Finds something in a part of a record."""

    def in_part(self, part: bytes, *, first: bool, last: bool) -> int:
        """1 when the part holds it, 0 when not, 2 when that takes too long to say.

        Args:
            part: bytes of a record.
            first: the record begins with it; else what is found at its very beginning does not count.
            last: the record ends with it; else what is found at its very end does not count.
        """
        ...


def search_long(finder: PartFinder, capture: Capture, message: int) -> Iterator[np.int8]:
    """Search one message's record: UNKNOWN after each window as long as nothing is known, the answer at last."""
    length, size = int(capture.columns["length"][message]), int(capture.columns["size"][message])
    own = own_place(capture.records.line_part(message, 0, _FURTHEST), 0, length, size)
    first, stop = own or (0, length)
    too_long = False
    for start in range(first, stop, _WINDOW):
        begin = max(first, start - _FURTHEST)
        end = min(start + _WINDOW + _OVERLAP, stop)
        part = capture.records.line_part(message, begin, end - begin)
        last = end == stop
        answer = finder.in_part(part[_clean(part, start - begin) :], first=start == first, last=last)
        if answer == 1:
            yield np.int8(1)
            return
        too_long |= answer != 0
        if last:
            break
        yield UNKNOWN
    yield np.int8(2 if too_long else 0)


def _clean(part: bytes, place: int) -> int:
    """The last place at or before one where neither an escape nor a character is cut."""
    for at in range(place, _ESCAPE, -1):
        if b"\\" not in part[at - _ESCAPE : at] and (at == len(part) or part[at] & 0xC0 != 0x80):
            return at
    return place if place > _ESCAPE else 0

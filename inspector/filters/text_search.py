"""Finds messages that contain a text or match an expression: adjacent records at once, very long ones in windows.

Only the message inside its log line counts. Fields that a log writes around it, such as `space_id` in a gateway's log,
are not searched. Whole lines are searched first, which is fast; only matching lines are checked for a match in the
message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.block_search import Mask
from inspector.filters.cache import UNKNOWN
from inspector.filters.find_query import Finder
from inspector.filters.full_text import TextFinder
from inspector.filters.record_prefilter import in_stretches
from inspector.formats.line_reading import read_line
from inspector.store.columns.flags import Flag
from inspector.store.messages.adjacent_reads import LineRange
from inspector.store.messages.capture import Capture

# The fields before a message are short. If they are longer, the line is parsed instead.
_HEAD = 4 << 10
"""Bytes of a line searched for the start of its message."""
# No brace before it, so it is a member of the line's own object; a quotation mark in a text would be escaped.
_CARRIED_MESSAGE = re.compile(rb'\{[^{}\[\]]*?"(?:envelope|frame|message|data|log|msg)"\s*:\s*(?=[{\[])')

LONG_RECORD = 1 << 19
"""Record size in bytes above which find in view uses windows, so that a record of 50 MB does not block."""
_LONG_RECORD = 8 << 20
"""The same for filters, to bound memory; they have no steps within a record."""
_WINDOW = 1 << 18
_OVERLAP = 1 << 15
"""Overlap of two windows in bytes: the longest query, escaped twice."""
_ESCAPE = 12
"""Bytes before an offset that can contain the start of a cut escape or character."""
_CONTEXT_BYTES = 1 << 12


def own_place(line: bytes, start: int, end: int, size: int) -> tuple[int, int] | None:
    """Returns the range of the message in a line; None if only a full parse can tell.

    Args:
        line: bytes with the line, or its beginning.
        start, end: range of the line; `end` may lie behind the available bytes.
        size: message size in bytes.
    """
    if end - start == size:
        return start, end
    carried = _CARRIED_MESSAGE.match(line, start, min(end, start + _HEAD))
    if carried is None:
        return None
    begin, stop = carried.end(), carried.end() + size
    # A line may be read in part only; then the closing bracket cannot be checked.
    held = stop < min(end, len(line))
    if stop >= end or (held and (line[stop - 1 : stop] not in (b"}", b"]") or line[stop : stop + 1] not in b",} ")):
        return None
    return begin, stop


def found_in_own(
    finder: TextFinder | Finder, capture: Capture, messages: NDArray[np.integer[Any]], lines: LineRange
) -> NDArray[Any]:
    """Returns the finder's results for messages, without matches outside the message.

    Args:
        finder: the finder.
        capture: the capture of the messages.
        messages: (k,) integer, ascending.
        lines: their k lines.
    """
    found = finder.search_records(*lines)
    sizes, lengths = capture.columns["size"][messages], capture.columns["length"][messages]
    # Equal size and length mean that the line is the message, so no field surrounds it.
    carried = np.flatnonzero((found == 1) & (sizes != lengths))
    if not len(carried):
        return found
    derived = capture.columns["flags"][messages[carried]] & Flag.DERIVED.value != 0
    for place in carried[derived].tolist():  # one of several messages from one record
        raw = capture.records.envelope_bytes(int(messages[place]))
        found[place] = finder.search_records(raw, np.zeros(1, np.int64), np.array([len(raw)]))[0]
    carried = carried[~derived]
    known: list[tuple[int, int, int]] = []
    for place in carried.tolist():
        start, end = int(lines.starts[place]), int(lines.ends[place])
        own = own_place(lines.data, start, end, int(sizes[place]))
        if own is not None:
            known.append((place, *own))
        else:
            # Rare layouts only: a full parse costs a hundred times the search.
            raw = read_line(lines.data[start:end]).raw
            found[place] = finder.search_records(raw, np.zeros(1, np.int64), np.array([len(raw)]))[0]
    if known:
        places, starts, ends = np.array(known, np.int64).T
        found[places] = finder.search_records(lines.data, starts, ends)
    return found


def search_long(finder: TextFinder | Finder, capture: Capture, message: int) -> Iterator[np.int8]:
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


def found_in(finder: TextFinder, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
    """Returns a mask of messages that contain the text.

    Args:
        finder: the finder.
        capture: the capture with the records.
        rows: (k,) integer, message indices in any order, at least one.
    """
    long = capture.columns["length"][rows] > _LONG_RECORD
    found = np.zeros(len(rows), np.bool_)
    if not long.all():
        short = rows[~long]
        found[~long] = in_stretches(lambda at, some: found_in_own(finder, capture, some, at), capture, short)
    for place in np.flatnonzero(long).tolist():
        *_, answer = search_long(finder, capture, int(rows[place]))
        found[place] = answer == 1
    return found

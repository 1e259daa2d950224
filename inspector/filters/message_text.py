"""Restricts text search to the message inside its log line.

Fields that a log writes around a message, such as `space_id` in a gateway's log, are not searched. Whole lines are
searched first, which is fast; only matching lines are checked for a match in the message.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.filters.records import Offsets
from inspector.formats.line_reading import read_line
from inspector.store.columns.flags import Flag
from inspector.store.messages.adjacent_reads import LineRange
from inspector.store.messages.capture import Capture

# The fields before a message are short. If they are longer, the line is parsed instead.
_HEAD = 4 << 10
"""Bytes of a line searched for the start of its message."""
# No brace before it, so it is a member of the line's own object; a quotation mark in a text would be escaped.
_CARRIED_MESSAGE = re.compile(rb'\{[^{}\[\]]*?"(?:envelope|frame|message|data|log|msg)"\s*:\s*(?=[{\[])')


class RecordFinder(Protocol):
    """Finds a query in many records."""

    def search_records(self, data: bytes, starts: Offsets, ends: Offsets) -> NDArray[Any]:
        """As `find_query.Finder.search_records`."""
        ...


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
    finder: RecordFinder, capture: Capture, messages: NDArray[np.integer[Any]], lines: LineRange
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

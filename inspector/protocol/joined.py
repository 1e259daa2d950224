"""Objects that share a line because an end of line is missing between them.

So it is where logs were put one behind the other, and where a program stopped in the middle of a line and its next run
went on behind it. RULE: each object is a record of its own; so is the last one behind a torn one, where it begins with
the key that the line begins with, and is good to the line's end, but for where it may be what the torn one holds.
"""

from __future__ import annotations

import json
import re
from typing import Any

from inspector.protocol.header import MAX_LENIENT
from inspector.protocol.record import Record, unreadable

Piece = tuple[int, int]
"""Where an object begins in its line, and where it ends."""

_MOST = 1 << 15
"""Objects on one line. Each becomes a message: a line of a megabyte could stand for 300,000."""
_TRIES = 8
_BLANK = re.compile(r"[ \t\r]*")
_FIRST_KEY = re.compile(r'\{"[^"\\]{1,40}":')
_decode: Any = json.JSONDecoder().raw_decode


def joined_in(line: bytes) -> Record | None:
    """A record that stands for the objects of a line until they are read one by one; None for any other line."""
    count = len(pieces_of(line))
    if not count:
        return None
    record = unreadable(line, f"{count:,} JSON objects, where one was expected")
    record.batch = count
    return record


def pieces_of(line: bytes) -> list[Piece]:
    """Where the objects of a line lie, and what is torn; none where there are not several of them. Never raises."""
    if line[:1] != b"{" or len(line) > MAX_LENIENT:
        return []
    text = line.decode("latin-1")  # a character for each byte; what they mean does not matter
    whole: list[Piece] = []
    place = 0
    while place < len(text) and len(whole) <= _MOST and (stop := _end_of(text, place)) is not None:
        whole.append((place, stop))
        blank = _BLANK.match(text, stop)
        place = blank.end() if blank else stop
    if len(whole) > _MOST:
        return []
    last = _begins_again(text, place)
    rest = [(place, last), (last, len(text))] if last else [(place, len(text))] if place < len(text) else []
    return [*whole, *rest] if last or len(whole) + text.startswith("{", place) > 1 else []


def _end_of(text: str, begin: int) -> int | None:
    if text[begin] != "{":
        return None
    try:
        return int(_decode(text, begin)[1])
    except (ValueError, RecursionError):
        return None


def _begins_again(text: str, torn: int) -> int:
    """Where behind a torn object's beginning a good one begins that goes to the end of the line; 0."""
    key = _FIRST_KEY.match(text)
    place = torn
    for _ in range(_TRIES if key else 0):
        place = text.find(key[0] if key else "", place + 1)
        if place < 0:
            return 0
        if _end_of(text, place) == len(text):
            return 0 if _is_cut(text, torn) else place
    return 0


def _is_cut(text: str, begin: int) -> bool:
    """Whether nothing is wrong with an object but that its end is missing: what it holds is none that begins again."""
    try:
        _decode(text, begin)
    except json.JSONDecodeError as error:
        return error.pos == len(text)
    except (ValueError, RecursionError):
        return True
    return False

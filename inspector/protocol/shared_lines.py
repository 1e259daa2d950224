"""Splits objects that share a line because a line end is missing between them.

This happens in concatenated logs, and after a program stopped in the middle of a line.

RULE: each object is a record. So is the last one after a torn one, if it begins with the line's first key and is valid
to the line's end, unless the torn one may contain it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from inspector.protocol.header import MAX_LENIENT
from inspector.protocol.record import Record, unreadable_record

Piece = tuple[int, int]
"""Start and end of an object in its line."""

_MAX_OBJECTS = 1 << 15
"""Limit of objects on one line. Each becomes a message; a line of a megabyte could contain 300,000."""
_TRIES = 8
_BLANK = re.compile(r"[ \t\r]*")
_FIRST_KEY = re.compile(r'\{"[^"\\]{1,40}":')
_decode: Any = json.JSONDecoder().raw_decode


def objects_in_line(line: bytes) -> Record | None:
    """Returns a placeholder record if a line consists of several objects."""
    count = len(object_spans(line))
    if not count:
        return None
    record = unreadable_record(line, f"{count:,} JSON objects, where one was expected")
    record.batch = count
    return record


def object_spans(line: bytes) -> list[Piece]:
    """Returns the spans of a line's objects and torn parts; empty unless there are several. Never raises."""
    if line[:1] != b"{" or len(line) > MAX_LENIENT:
        return []
    text = line.decode("latin-1")  # one character per byte; their meaning is irrelevant
    whole: list[Piece] = []
    place = 0
    while place < len(text) and len(whole) <= _MAX_OBJECTS and (stop := _end_of(text, place)) is not None:
        whole.append((place, stop))
        blank = _BLANK.match(text, stop)
        place = blank.end() if blank else stop
    # So many objects in a line are data, not joined messages.
    if len(whole) > _MAX_OBJECTS:
        return []
    last = _find_restart(text, place)
    rest = [(place, last), (last, len(text))] if last else [(place, len(text))] if place < len(text) else []
    return [*whole, *rest] if last or len(whole) + text.startswith("{", place) > 1 else []


def _end_of(text: str, begin: int) -> int | None:
    if text[begin] != "{":
        return None
    try:
        return int(_decode(text, begin)[1])
    except (ValueError, RecursionError):
        return None


def _find_restart(text: str, torn: int) -> int:
    """Returns the start of a valid object after a torn one that reaches the line's end, else 0."""
    key = _FIRST_KEY.match(text)
    place = torn
    for _ in range(_TRIES if key else 0):
        # Writers write the same first key each time.
        place = text.find(key[0] if key else "", place + 1)
        if place < 0:
            return 0
        if _end_of(text, place) == len(text):
            return 0 if _is_cut(text, torn) else place
    return 0


def _is_cut(text: str, begin: int) -> bool:
    """Returns True if an object only lacks its end: it may contain the object found after it."""
    try:
        _decode(text, begin)
    except json.JSONDecodeError as error:
        # The error at the very end means that only the end is missing.
        return error.pos == len(text)
    except (ValueError, RecursionError):
        return True
    return False

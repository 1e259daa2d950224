"""Small conversions the formats share."""

from __future__ import annotations

from inspector.protocol.header import ABSENT, Header
from inspector.protocol.times import NO_TIME, parse_time


def text_or_none(value: object) -> str | None:
    """The value when it is a string, else None."""
    return value if isinstance(value, str) else None


def line_time(header: Header) -> int:
    """The time a wrapping line carries under any of its usual keys; NO_TIME without one."""
    for value in (header.t, header.time, header.ts, header.timestamp, header.journal_time):
        if value is not ABSENT:
            return parse_time(value)
    return NO_TIME

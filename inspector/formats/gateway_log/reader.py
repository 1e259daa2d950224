"""Format: logs of the MEW gateway, `envelope-history.jsonl` and `capability-decisions.jsonl` (docs/protocols.md 11)."""

from __future__ import annotations

import copy
from functools import lru_cache

from inspector.formats.value_conversions import text_or_none
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import parse_time

LABEL = "gateway-log"
INBOUND_EVENTS = ("received", "rejected")
"""Events whose participant is the sender of the envelope."""

_LONGEST_CACHED = 1 << 16
# An envelope is logged as received and then once per recipient; the cache decodes its copies once.
_read_copy = lru_cache(maxsize=16)(read_frame)


def read(header: Header, line: bytes) -> Record | None:
    """Reads one log line if it has this format.

    A line with an envelope has the envelope's type; one without (a decision, a routing event) is log-only.
    """
    if not isinstance(header.event, str) or header.kind is not ABSENT or header.jsonrpc is not ABSENT:
        return None
    if header.envelope:
        raw = bytes(header.envelope)
        # Adjacent lines have the same envelope; a copy, since time and event differ.
        record = copy.copy(_read_copy(raw)) if len(raw) <= _LONGEST_CACHED else read_frame(raw)
    elif any(bytes(raw)[:1] == b"{" for raw in (header.message, header.frame, header.text, header.data)):
        return None  # another tool's line with a wrapped message
    elif header.timestamp is not ABSENT or header.participant is not ABSENT:
        record = Record(Shape.LOG_ONLY, line, header)
    else:
        return None
    record.time_ns = parse_time(header.timestamp)
    record.event = header.event
    record.participant = text_or_none(header.participant)
    record.space = text_or_none(header.space_id)
    record.direction = text_or_none(header.direction)
    return record

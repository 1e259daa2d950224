"""The MEW gateway's own logs: `envelope-history.jsonl` and `capability-decisions.jsonl` (protocols.md 11)."""

from __future__ import annotations

from inspector.protocol.formats.values import text_or_none
from inspector.protocol.frames import read_frame
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.record import Record, Shape
from inspector.protocol.times import parse_time

NAME = "gateway_log"
LABELS = {Shape.LOG_ONLY: "capability-decisions"}
LABEL = "gateway-log"


def read(header: Header, line: bytes) -> Record | None:
    """Read one log line; None when it is none.

    A line with an envelope holds what the envelope is; one without (a decision, a routing event) is log-only.
    """
    if not isinstance(header.event, str) or header.kind is not ABSENT or header.jsonrpc is not ABSENT:
        return None
    if header.envelope:
        record = read_frame(bytes(header.envelope))
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

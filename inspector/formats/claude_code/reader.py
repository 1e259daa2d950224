"""Format: sessions of Claude Code, versions 1.0 to 2.1: one JSON object a line (docs/transcripts.md).

`records` decodes the shape of a record, `derivation` derives its messages, `payloads` creates their payloads.
"""

from __future__ import annotations

from inspector.formats.claude_code.derivation import derive_messages
from inspector.formats.claude_code.payloads import payload_of
from inspector.formats.claude_code.records import is_claude, read_claude
from inspector.protocol.derived_messages import Payload
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import parse_text_time

LABEL = "claude-code"


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads one line if it is a record of a session. Never raises.

    Args:
        line: without its end.
        unknown: accept a record of an unknown type too; used if no other format matches the line.
    """
    if not is_claude(line):
        return None
    found = read_claude(line, unknown=unknown)
    if found is None:
        return None
    time_ns = parse_text_time(found.timestamp)
    return Record(
        Shape.DERIVED, line, time_ns=time_ns, space=found.session, derived_messages=derive_messages(found),
        derived_by=LABEL,
    )  # fmt: skip


def payload(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    return payload_of(line, number)

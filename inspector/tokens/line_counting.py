"""Counts the tokens of one log line in any wrapper, decoded as in the capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.formats.kind_families import family_of
from inspector.formats.line_reading import payload_of, read_line
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.kinds import Family
from inspector.protocol.record import Record, Shape
from inspector.protocol.truncated_json import complete_json
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.tokens.counted_text import SUMMARY, counted_text
from inspector.tokens.counter import count_tokens

NOT_COUNTED = -1
"""Sentinel of a message without a count."""
COUNTED_HEAD = 1 << 18
"""Bytes examined of a line above 1 MB; the rest is extrapolated."""
_OWN_PAYLOAD = (Shape.RPC, Shape.CLIENT_HELLO)
_UNCOUNTED_SHAPES = (Shape.UNREADABLE, Shape.STREAM, Shape.LOG_ONLY, Shape.GAP, Shape.NO_MESSAGE)
"""Shapes without a participant's message; the frames of a stream count with its final message."""

Read = Callable[[int, int], bytes]
"""Reads bytes of the line: offset and length."""


def count_line(
    read: Read, length: int, kind: str, part: int = 0, reading: str | None = None,
    known: Mapping[str, Any] | None = None,
) -> int:  # fmt: skip
    """Returns the tokens of a line's message; 0 if no model receives it, NOT_COUNTED if the line is lost.

    Args:
        read: reads the line.
        length: its bytes.
        kind: canonical kind of the message.
        part: 1-based index of a message in a transcript's record; 0 if the line is itself the message.
        reading: the chosen format of its log.
        known: facts from earlier lines.
    """
    if part and kind != SUMMARY and family_of(kind) in (Family.CONTROL, Family.GATEWAY):
        return 0  # bookkeeping is not sent to models
    if length > MAX_WHOLE_BYTES:
        head = read(0, COUNTED_HEAD)
        # Only the head is counted; the rest is estimated by its length.
        whole = complete_json(head, mark=False)
        if whole is None:
            return 0
        return round(count_tokens(line_text(whole, kind, part, reading, known)) * (1 if part else length / len(head)))
    line = read(0, length)
    # A shorter read means that the file was truncated.
    return count_tokens(line_text(line, kind, part, reading, known)) if len(line) == length else NOT_COUNTED


def line_text(
    line: bytes, kind: str, part: int = 0, reading: str | None = None, known: Mapping[str, Any] | None = None
) -> str:
    """Returns the part of a line that a model receives."""
    record = read_line(line, reading, known)
    if part:
        return counted_text(kind, payload_of(record, part - 1)) if part <= len(record.derived_messages) else ""
    return counted_text(kind, _payload(record))


def _payload(record: Record) -> dict[str, Any]:
    if record.shape in _UNCOUNTED_SHAPES:
        return {}
    try:
        envelope = decode_json(record.raw)
    except NotAnObjectError:
        return {}
    if not isinstance(envelope, dict):
        return {}
    if record.shape in _OWN_PAYLOAD or "payload" not in envelope:
        return envelope if "kind" not in envelope else {}
    payload = envelope["payload"]
    return payload if isinstance(payload, dict) else {}

"""The tokens of one line of a log, however it is wrapped, read as the capture reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.protocol.cut import completed
from inspector.protocol.formats import payload_of, read_line
from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.kinds import Family, family
from inspector.protocol.record import Record, Shape
from inspector.store.columns.large_headers import MAX_WHOLE
from inspector.tokens.counter import count
from inspector.tokens.text import SUMMARY, counted_text

NOT_COUNTED = -1
"""Stands for the number of a message that is not counted, or cannot be."""
COUNTED_HEAD = 1 << 18
"""Bytes of a line above 1 MB that are looked at; the rest is taken to be as dense."""
_OWN_PAYLOAD = (Shape.RPC, Shape.JOIN)
_SILENT = (Shape.UNREADABLE, Shape.STREAM, Shape.LOG_ONLY, Shape.GAP, Shape.NOTHING)
"""What is nobody's message, and what cannot be read; frames of a stream are counted with what they end in."""

Read = Callable[[int, int], bytes]
"""Bytes of the line: from a place on, so many."""


def count_line(
    read: Read, length: int, kind: str, part: int = 0, reading: str | None = None,
    known: Mapping[str, Any] | None = None,
) -> int:  # fmt: skip
    """Tokens of the message a line holds; 0 where a model would be given nothing, NOT_COUNTED where it is gone.

    Args:
        read: the line.
        length: its bytes.
        kind: canonical kind of the message.
        part: of a transcript's record, which of the messages it means, from 1; 0 where the line is one itself.
        reading: the format that was chosen for its log.
        known: what lines before it tell of it.
    """
    if part and kind != SUMMARY and family(kind) in (Family.CONTROL, Family.GATEWAY):
        return 0  # bookkeeping, which no model is given
    if length > MAX_WHOLE:
        head = read(0, COUNTED_HEAD)
        whole = completed(head, mark=False)
        if whole is None:
            return 0
        return round(count(line_text(whole, kind, part, reading, known)) * (1 if part else length / len(head)))
    line = read(0, length)
    return count(line_text(line, kind, part, reading, known)) if len(line) == length else NOT_COUNTED


def line_text(
    line: bytes, kind: str, part: int = 0, reading: str | None = None, known: Mapping[str, Any] | None = None
) -> str:
    """What of a line a model would be given."""
    record = read_line(line, reading, known)
    if part:
        return counted_text(kind, payload_of(record, part - 1)) if part <= len(record.means) else ""
    return counted_text(kind, _payload(record))


def _payload(record: Record) -> dict[str, Any]:
    if record.shape in _SILENT:
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

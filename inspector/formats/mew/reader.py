"""Reads envelopes as participants log them, one a line (docs/protocols.md 11)."""

from __future__ import annotations

from inspector.protocol.frames import classify
from inspector.protocol.header import Header
from inspector.protocol.record import Record

LABEL = "envelopes"


def read(header: Header, line: bytes) -> Record | None:
    """Reads a line if it is itself a wire message; JSON-RPC too, if the format was forced."""
    return classify(header, line)

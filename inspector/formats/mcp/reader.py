"""Reads JSON-RPC messages, one a line (docs/protocols.md 11, 13)."""

from __future__ import annotations

import re

from inspector.protocol.frames import classify
from inspector.protocol.header import ABSENT, Header
from inspector.protocol.record import Record, Shape

LABEL = "json-rpc"

_BEGINNING = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,')


def is_rpc(line: bytes) -> bool:
    """Returns True if a line begins like JSON-RPC, and not like a transcript's record."""
    return _BEGINNING.match(line) is not None


def read(header: Header, line: bytes) -> Record | None:
    """Reads a line if it is a request, an answer or a notification."""
    if header.kind is not ABSENT:  # most envelopes, before their other members are compared
        return None
    record = classify(header, line)
    return record if record is not None and record.shape is Shape.RPC else None

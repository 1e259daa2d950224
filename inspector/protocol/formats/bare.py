"""Format: bare lines, envelopes as participants log them, JSON-RPC as in MCP stdio (docs/protocols.md 11, 13)."""

from __future__ import annotations

import re

from inspector.protocol.frames import classify
from inspector.protocol.header import Header
from inspector.protocol.record import Record, Shape

LABELS = {Shape.RPC: "json-rpc"}
LABEL = "envelopes"
WORDS = {"envelopes": "envelopes", "json-rpc": "JSON-RPC"}
READS = "envelopes one a line, JSON-RPC lines"

_RPC = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,')


def is_rpc(line: bytes) -> bool:
    """Returns True if a line begins like JSON-RPC, and not like a transcript's record."""
    return _RPC.match(line) is not None


def read(header: Header, line: bytes) -> Record | None:
    """Reads a line if it is itself a wire message."""
    return classify(header, line)

"""Bare lines: envelopes as participants log them, JSON-RPC as MCP stdio carries it (docs/protocols.md 11, 13)."""

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
    """Whether a line begins as JSON-RPC does, and no record of a transcript."""
    return _RPC.match(line) is not None


def read(header: Header, line: bytes) -> Record | None:
    """Read a line that is itself what the wire carried; None when it is not."""
    return classify(header, line)

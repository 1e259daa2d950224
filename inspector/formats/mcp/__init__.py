"""Format: JSON-RPC messages one a line, as MCP writes on its pipes (docs/protocols.md 13)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.mcp import reader

FORMAT = Format(
    name=reader.LABEL,
    title="JSON-RPC",
    reads="JSON-RPC lines",
    stage=Stage.ENVELOPE,
    traffic=TrafficKind.WIRE,
    read=reader.read,
    begins_like=reader.is_rpc,
    checks="inspector.formats.mcp.checks.topic:TOPIC",
)

"""Format: session logs of mcpsnoop (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.mcpsnoop import reader

FORMAT = Format(
    name=reader.NAME,
    title="mcpsnoop session",
    reads="session logs of mcpsnoop",
    stage=Stage.ENVELOPE,
    traffic=TrafficKind.WIRE,
    read=reader.read,
    conversion="inspector.formats.mcpsnoop.conversion:CONVERSION",
)

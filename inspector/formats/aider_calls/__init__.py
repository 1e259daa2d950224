"""Format: Aider's history of its model calls (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="aider-calls",
    title="Aider's model calls",
    reads="histories of Aider's model calls",
    stage=Stage.DOCUMENT,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.aider_calls.conversion:CONVERSION",
    has_numbered_entries=True,
)

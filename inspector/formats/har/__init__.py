"""Format: HTTP archives (docs/protocols.md 13)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="har",
    title="HTTP archive",
    reads="HTTP archives (HAR)",
    stage=Stage.DOCUMENT,
    suffixes=(".har",),
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.har.conversion:CONVERSION",
    has_numbered_entries=True,
)

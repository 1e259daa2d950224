"""Format: cassettes of VCR, recorded HTTP exchanges of tests (docs/what-it-reads.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name="vcr",
    title="VCR cassette",
    reads="cassettes of VCR",
    stage=Stage.DOCUMENT,
    traffic=TrafficKind.WIRE,
    conversion="inspector.formats.vcr.conversion:CONVERSION",
    has_numbered_entries=True,
)

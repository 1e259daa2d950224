"""Format: envelopes of the MEW lineage, one a line (docs/protocols.md 11)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.mew import reader

FORMAT = Format(
    name=reader.LABEL,
    title="envelopes",
    reads="envelopes one a line",
    stage=Stage.ENVELOPE,
    traffic=TrafficKind.WIRE,
    read=reader.read,
    fast_lines="inspector.formats.mew.fast_lines:READER",
)

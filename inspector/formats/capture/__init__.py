"""Format: captures of this program (docs/design.md 5)."""

from __future__ import annotations

from inspector.formats.capture import reader
from inspector.formats.format import Format, Stage, TrafficKind

FORMAT = Format(
    name=reader.LABEL,
    title="capture",
    reads="captures",
    stage=Stage.ENVELOPE,
    suffixes=(".ctxcap",),
    traffic=TrafficKind.WIRE,
    read=reader.read,
    fast_lines="inspector.formats.capture.fast_lines:READER",
)

"""Format: JSON objects with a message of another format inside."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.wrapped import reader

FORMAT = Format(
    name=reader.LABEL,
    title="wrapped lines",
    reads="wrapped lines",
    stage=Stage.WRAPPER,
    traffic=TrafficKind.LOG,
    read=reader.read,
)

"""Format: messages behind a time or a name on their line."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.prefixed import reader

FORMAT = Format(
    name=reader.LABEL,
    title="lines with a prefix",
    reads="any of these behind a time or a name",
    stage=Stage.TEXT,
    traffic=TrafficKind.LOG,
    read=reader.read,
    payload=reader.payload,
    failing_kinds=(reader.DISCONNECTED,),
)

"""Format: messages behind a time or a name on their line."""

from __future__ import annotations

from inspector.formats.format import Conversations, Format, LogLines, Stage, TrafficKind
from inspector.formats.prefixed import reader

FORMAT = Format(
    name=reader.LABEL,
    title="lines with a prefix",
    reads="any of these behind a time or a name",
    stage=Stage.TEXT,
    traffic=TrafficKind.LOG,
    read=reader.read,
    payload=reader.payload,
    order_marks=(*reader.LOG_MARKS, *reader.SPREAD_DATA),
    reassembly="inspector.formats.prefixed.reassembly:EventDataLines",
    log_lines=LogLines(
        marks=reader.LOG_MARKS,
        is_log_line=reader.is_log_line,
        is_continuation=reader.is_continuation,
        names_message=reader.names_message,
    ),
    conversations=Conversations.NAMED,
    failing_kinds=(reader.DISCONNECTED,),
)

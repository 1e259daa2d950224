"""Format: logs of the MEW gateway (docs/protocols.md 11)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.gateway_log import reader
from inspector.protocol.record import Shape

FORMAT = Format(
    name=reader.LABEL,
    title="gateway log",
    reads="MEW gateway logs, capability decisions",
    stage=Stage.ENVELOPE,
    traffic=TrafficKind.LOG,
    read=reader.read,
    fast_lines="inspector.formats.gateway_log.fast_lines:READER",
    inbound_events=reader.INBOUND_EVENTS,
    checks="inspector.formats.gateway_log.checks:TOPIC",
    titles_by_shape={Shape.LOG_ONLY: ("capability-decisions", "capability decisions")},
)

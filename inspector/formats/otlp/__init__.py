"""Format: OpenTelemetry traces and logs (docs/transcripts.md)."""

from __future__ import annotations

from inspector.formats.format import Format, Stage, TrafficKind
from inspector.formats.otlp import reader

FORMAT = Format(
    name=reader.LABEL,
    title="OpenTelemetry traces",
    reads="OpenTelemetry traces (OTLP)",
    stage=Stage.TRANSCRIPT,
    traffic=TrafficKind.TRACE,
    read=reader.read,
    payload=reader.payload,
    icons={"otlp/": "ri.git-commit-line", "otlp/agent": "ri.robot-line"},
    namespace="otlp/",
    conversion="inspector.formats.otlp.file_conversion:CONVERSION",
    identified_by_type=True,
    spoken_kinds=reader.SPOKEN,
    failing_kinds=reader.FAILING_KINDS,
    checks="inspector.formats.otlp.checks:TOPIC",
)

"""Checks ids of spans."""

from __future__ import annotations

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import WARNING, Check
from inspector.analysis.findings.topic import DeclaredTopic
from inspector.formats.otlp.reader import DUPLICATE

SAME_ID = Check(
    "span-id-again", WARNING, "Span id used again",
    "Two different spans of one trace have the same id.",
    "A program that joins spans by their ids loses one of them, with its calls and tokens. "
    "Children may get the wrong parent.",
    "Let the SDK make the ids of spans, and give copied spans new ones.",
    "OpenTelemetry specification, Trace API, SpanContext", on_transcripts=True,
)  # fmt: skip


class SpanChecks:
    """Finds spans with the id of an earlier one."""

    def feed(self, batch: Batch) -> None:
        batch.findings.add(SAME_ID, batch.rows(DUPLICATE))


TOPIC = DeclaredTopic("spans", (SAME_ID,), SpanChecks)

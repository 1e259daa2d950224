"""Runs an export of any format in steps, between turns of the window's event loop."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.export.files import export_file, refuse_source_files
from inspector.export.masking_worker import MaskingWorker
from inspector.export.options import ExportOptions, Format, Steps
from inspector.export.redaction import Redaction


def export_steps(document: CaptureDocument, messages: Iterable[int], target: Path, options: ExportOptions) -> Steps:
    """Writes messages to a file in any format, as `files.export_file`; Parquet gets all fields as columns."""
    if options.format is Format.PARQUET:
        from inspector.export.parquet import parquet_steps  # importing DuckDB takes longer than starting the window

        every = isinstance(messages, range) and len(messages) == len(document.capture)
        return parquet_steps(
            document, None if every else messages, target, raw=options.raw, masked=options.masked
        )  # fmt: skip
    if options.format is Format.OTLP:
        from inspector.export.otlp import TraceWriter, write_traces

        refuse_source_files(document, target)
        redaction = Redaction(masked=options.masked)
        return write_traces(TraceWriter(document, messages, content=options.content, redaction=redaction), target)
    return _lines_steps(document, messages, target, options)


def _lines_steps(document: CaptureDocument, messages: Iterable[int], target: Path, options: ExportOptions) -> Steps:
    aside = MaskingWorker()
    try:
        yield from export_file(document, messages, target, options, aside)
    finally:
        aside.end()

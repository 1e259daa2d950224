"""Runs an export of any format in steps, between turns of the window's event loop."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.export.files import export_file, refuse_source_files
from inspector.export.masking_worker import MaskingWorker
from inspector.export.options import Exported, ExportOptions, Format, Steps
from inspector.export.redaction import Redaction
from inspector.tables.read_requests import ReadRequests


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


def trace_lines(
    document: CaptureDocument, messages: Iterable[int], options: ExportOptions
) -> Iterator[tuple[bytes, int]]:
    """Yields lines of traces, without line ends, with the number of spans in each."""
    from inspector.export.otlp import TraceWriter

    redaction = Redaction(masked=options.masked)
    return TraceWriter(document, messages, content=options.content, redaction=redaction).lines()


def sending_steps(document: CaptureDocument, messages: Iterable[int], url: str, options: ExportOptions) -> Steps:
    """Sends traces to a collector; the last step counts the accepted spans. Raises OSError."""
    from inspector.export.otlp_sending import send_traces, traces_url

    address, lines = traces_url(url), trace_lines(document, messages, options)
    reads, interrupted, sent = ReadRequests(), threading.Event(), 0

    def send() -> None:
        nonlocal sent
        # A thread sends; lines are made between two steps, since they read the document.
        sent = send_traces(iter(lambda: reads(lambda: next(lines, None)), None), address, interrupted)

    for _ in reads.run_thread(send, interrupted.set):
        yield Exported(0, 0, Counter())
    yield Exported(0, 0, Counter(), sent)


def _lines_steps(document: CaptureDocument, messages: Iterable[int], target: Path, options: ExportOptions) -> Steps:
    aside = MaskingWorker()
    try:
        yield from export_file(document, messages, target, options, aside)
    finally:
        aside.end()

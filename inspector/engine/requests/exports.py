"""Exports: messages, a context or all sources, written to a file by the engine with progress, or returned as bytes."""

from __future__ import annotations

import io
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.user_marks import ContextTarget as ContextTarget
from inspector.document.marks_file import notes_of, write_beside
from inspector.document.saving import save_sources
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Part, PartsRequest, Query, Request, RequestError, Steps
from inspector.engine.requests.overview import ShowOverview, overview_steps
from inspector.engine.requests.rows import compiled_filter, matching_messages
from inspector.engine.requests.turns import steps_of
from inspector.engine.threads import in_thread
from inspector.export.files import (
    export_stream,
    export_to,
    refuse_source_files,
    rows_of,
    takes_a_stream,
    write_error_words,
)
from inspector.export.msp import export_subsession, node_at
from inspector.export.options import DEFAULT_FIELDS as DEFAULT_FIELDS
from inspector.export.options import MARKED_FIELDS as MARKED_FIELDS
from inspector.export.options import Exported
from inspector.export.options import ExportOptions as ExportOptions
from inspector.export.options import Format as Format
from inspector.export.preview import Preview as Preview
from inspector.export.preview import preview
from inspector.export.steps import export_steps, sending_steps, trace_lines
from inspector.filters import FilterError
from inspector.filters.naming import field_named
from inspector.filters.naming import names_in as names_in
from inspector.present.conversation.export import conversation_file, write_conversation
from inspector.present.overview.cards import line_text

PROGRESS_S = 0.25
"""Interval of progress; shorter exports have none."""


class NotWrittenError(RequestError):
    """A file cannot be written; the text is the reason and a remedy, as the end of a sentence."""


class ExportProgress(msgspec.Struct, frozen=True):
    """Progress of an export.

    Attributes:
        messages, size_bytes: written so far.
        masked: number of masked secrets.
        spans: spans of traces, written or accepted.
        data: the next bytes, for an export without a target.
        marks: the written file of marks, if any.
    """

    messages: int
    size_bytes: int
    masked: int = 0
    spans: int = 0
    data: bytes = b""
    marks: Path | None = None


class MessagesOfView(msgspec.Struct, frozen=True):
    """Messages that a table shows.

    Attributes:
        view: number of the view.
        rows: messages with a row, ascending, (n,) uint32: only the messages that they stand for; None for all rows.
    """

    view: int
    rows: NDArray[np.uint32] | None = None


class ExportMessages(PartsRequest[ExportProgress, ExportProgress], frozen=True):
    """Writes messages that pass a filter; the answer is the last progress.

    Attributes:
        target: the file; None for their bytes in the parts. A name with .gz or .zst is compressed.
        format: the format.
        filter: a display filter.
        fields: columns; () for the usual ones.
        self_contained, masked, view, raw, content: as in `ExportOptions`.
        marks: also writes marks and comments beside the file.
        among: the messages, instead of a filter.
    """

    target: Path | None
    format: Format = Format.JSONL
    filter: str = ""
    fields: tuple[str, ...] = ()
    self_contained: bool = False
    masked: bool = True
    view: str = ""
    raw: bool = False
    content: bool = False
    marks: bool = False
    among: MessagesOfView | None = None


class SendTraces(PartsRequest[ExportProgress, ExportProgress], frozen=True):
    """Sends messages as traces to a collector; the answer counts the accepted spans."""

    url: str
    filter: str = ""
    content: bool = False
    masked: bool = True


class ExportContext(PartsRequest[ExportProgress, ExportProgress], frozen=True):
    """Writes a context and its descendants as sub-sessions of their session.

    Attributes:
        context: its path.
        target: the file.
        masked: replaces secrets by dots.
        node: the context, instead of a path.
    """

    context: str
    target: Path
    masked: bool = True
    node: ContextTarget | None = None


class ExportSources(Request[ExportProgress], frozen=True):
    """Writes all sources into one capture file, unchanged, secrets included."""

    target: Path


class ExportableCounts(msgspec.Struct, frozen=True):
    """Numbers of messages to choose from for an export."""

    selected: int
    marked: int
    shown: int
    all: int


class CountExportable(Request[ExportableCounts], frozen=True):
    """Counts messages of a view.

    Attributes:
        view: number of the view.
        selected: messages with a selected row, ascending, (n,) uint32.
    """

    view: int
    selected: NDArray[np.uint32]


class PreviewExport(PartsRequest[Preview, Preview], frozen=True):
    """Counts the secrets of messages; the parts are counts so far.

    Attributes:
        filter: a display filter.
        among: the messages, instead of a filter.
    """

    filter: str = ""
    among: MessagesOfView | None = None


class CheckColumns(Request[str], frozen=True):
    """Returns a sentence about the first unknown field among columns, or ""."""

    names: tuple[str, ...]


class ContextFileName(Request[str], frozen=True):
    """Returns the label of a context, for the name of its file; "" for the main context."""

    node: ContextTarget


def _progress(done: Exported) -> ExportProgress:
    return ExportProgress(done.messages, done.size_bytes, done.masked.total(), done.spans)


def _reported(steps: Generator[Exported]) -> Steps[ExportProgress]:
    last, due = None, time.perf_counter() + PROGRESS_S
    for last in steps:
        if time.perf_counter() >= due:
            due = time.perf_counter() + PROGRESS_S
            yield Part(_progress(last))
        else:
            yield
    return ExportProgress(0, 0) if last is None else _progress(last)


def _explained(steps: Steps[ExportProgress]) -> Steps[ExportProgress]:
    """Raises NotWrittenError for errors of the file system."""
    try:
        return (yield from steps)
    except OSError as error:
        raise NotWrittenError(write_error_words(error)) from error


def _matches(held: OpenDocument, text: str, among: MessagesOfView | None) -> Steps[NDArray[np.uint32]]:
    if among is not None:
        rows = held.view(among.view).rows
        return rows.chosen if among.rows is None else rows.members(among.rows)
    blocks = [np.empty(0, np.uint32)]
    for block in matching_messages(held.document.analysis, compiled_filter(text)):
        blocks.append(block)
        yield
    return np.concatenate(blocks)


def _export(held: OpenDocument, asked: ExportMessages) -> Steps[ExportProgress]:
    document, target = held.document, asked.target
    if asked.format is Format.PARQUET:
        if target is None or takes_a_stream(target):
            raise RequestError("Parquet cannot be streamed: name a file.")
        from inspector.export.parquet import parquet_steps  # DuckDB takes long to import

        some = asked.filter.strip() or asked.among is not None
        rows = (yield from _matches(held, asked.filter, asked.among)) if some else None
        steps = parquet_steps(
            document, None if rows is None else rows_of(rows), target, fields=asked.fields, raw=asked.raw,
            masked=asked.masked,
        )  # fmt: skip
        return (yield from _reported(steps))
    if asked.format is Format.CONVERSATION:
        return (yield from _export_conversation(held, asked))
    matches = yield from _matches(held, asked.filter, asked.among)
    if asked.format.is_traces:
        return (yield from _export_traces(held, asked, rows_of(matches)))
    usual = MARKED_FIELDS if len(document.analysis.marks) else DEFAULT_FIELDS
    options = ExportOptions(asked.format, asked.self_contained, asked.masked, asked.fields or usual, asked.view)
    if asked.format is Format.MARKDOWN and not asked.filter.strip() and asked.among is None:
        overview = yield from overview_steps(held, ShowOverview())
        head = tuple(filter(None, (overview.above, line_text(overview.below))))
        about = ((overview.title, head), *((card.title, tuple(card.texts)) for card in overview.cards))
        options = replace(options, about=about)
    if target is None:
        return (yield from _bytes_of(held, rows_of(matches), options))
    write = export_stream if takes_a_stream(target) else export_steps
    last = yield from _reported(write(document, rows_of(matches), target, options))
    if not asked.marks:
        return last
    notes = notes_of(document, matches, masked=asked.masked)
    try:
        # The exported file is read for it.
        marks = yield from in_thread(lambda: write_beside(notes, target))
    except ValueError as error:
        raise OSError(str(error)) from error
    return msgspec.structs.replace(last, marks=marks)


def _export_conversation(held: OpenDocument, asked: ExportMessages) -> Steps[ExportProgress]:
    if not asked.masked:
        raise RequestError("A conversation is always written with masked secrets.")
    some = asked.filter.strip() or asked.among is not None
    matches = (yield from _matches(held, asked.filter, asked.among)) if some else None
    if asked.target is not None:
        return (yield from _reported(conversation_file(held.document, steps_of(held), asked.target, matches)))
    file, last = io.BytesIO(), ExportProgress(0, 0)
    for done in write_conversation(held.document, steps_of(held), file, matches, as_html=False):
        last = _progress(done)
        yield Part(msgspec.structs.replace(last, data=file.getvalue()))
        file.seek(0)
        file.truncate()
    return last


def _bytes_of(held: OpenDocument, messages: Iterator[int], options: ExportOptions) -> Steps[ExportProgress]:
    file, last = io.BytesIO(), ExportProgress(0, 0)
    for done in export_to(held.document, messages, file, options):
        last = _progress(done)
        yield Part(msgspec.structs.replace(last, data=file.getvalue()))
        file.seek(0)
        file.truncate()
    return last


def _export_traces(held: OpenDocument, asked: ExportMessages, messages: Iterator[int]) -> Steps[ExportProgress]:
    options = ExportOptions(asked.format, masked=asked.masked, content=asked.content)
    if asked.target is not None:
        return (yield from _reported(export_steps(held.document, messages, asked.target, options)))
    spans = 0
    for line, count in trace_lines(held.document, messages, options):
        spans += count
        yield Part(ExportProgress(0, 0, spans=spans, data=line + b"\n"))
    return ExportProgress(0, 0, spans=spans)


def _send(held: OpenDocument, asked: SendTraces) -> Steps[ExportProgress]:
    matches = yield from _matches(held, asked.filter, None)
    options = ExportOptions(masked=asked.masked, content=asked.content)
    return (yield from _reported(sending_steps(held.document, rows_of(matches), asked.url, options)))


def _context(held: OpenDocument, asked: ExportContext) -> Steps[ExportProgress]:
    found = node_at(held.document, asked.context) if asked.node is None else _living(held, asked.node)
    if found is None:
        raise RequestError(f"There is no context {asked.context}.")
    return (yield from _reported(export_subsession(held.document, *found, asked.target, masked=asked.masked)))


def _living(held: OpenDocument, target: ContextTarget) -> ContextTarget:
    """Returns the context that a context has been merged with, if it has."""
    return ContextTarget(target.space, held.document.analysis.contexts.tree.resolve(target.node))


def _sources(held: OpenDocument, asked: ExportSources) -> Steps[ExportProgress]:
    refuse_source_files(held.document, asked.target)
    save_sources(held.document, asked.target)
    yield
    return ExportProgress(len(held.document.capture), asked.target.stat().st_size)


def _count(held: OpenDocument, asked: CountExportable) -> ExportableCounts:
    rows, analysis = held.view(asked.view).rows, held.document.analysis
    everything = np.arange(len(analysis))
    marked = int(np.count_nonzero(compiled_filter("mark").mask(analysis, everything))) if len(analysis.marks) else 0
    return ExportableCounts(len(rows.members(asked.selected)), marked, len(rows.chosen), len(analysis))


def _preview(held: OpenDocument, asked: PreviewExport) -> Steps[Preview]:
    matches = yield from _matches(held, asked.filter, asked.among)
    found, due = Preview(), time.perf_counter() + PROGRESS_S
    for found in preview(held.document, rows_of(matches)):
        if time.perf_counter() >= due:
            due = time.perf_counter() + PROGRESS_S
            yield Part(found)
        else:
            yield
    return found


def _check_columns(_held: OpenDocument, asked: CheckColumns) -> str:
    try:
        for name in asked.names:
            field_named(name)
    except FilterError as error:
        return str(error)
    return ""


def _context_name(held: OpenDocument, asked: ContextFileName) -> str:
    contexts, node = held.document.analysis.contexts, asked.node.node
    return contexts.label(node) if 0 <= node < len(contexts.tree) else ""


QUERIES = (
    Query(ExportMessages, ExportProgress, lambda held, asked: _explained(_export(held, asked)), ExportProgress),
    Query(SendTraces, ExportProgress, _send, ExportProgress),
    Query(ExportContext, ExportProgress, lambda held, asked: _explained(_context(held, asked)), ExportProgress),
    Query(ExportSources, ExportProgress, lambda held, asked: _explained(_sources(held, asked))),
    Query(CountExportable, ExportableCounts, _count),
    Query(PreviewExport, Preview, _preview, Preview),
    Query(CheckColumns, str, _check_columns),
    Query(ContextFileName, str, _context_name),
)

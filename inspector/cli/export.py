"""`export`: writes messages in any format, a model context, or all sources as one capture."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import asks_for_findings, asks_for_tokens, compiled, named, opened, require_field
from inspector.cli.printing import escape_hostile
from inspector.engine.log import Log
from inspector.engine.request import RequestError
from inspector.engine.requests.exports import (
    ExportContext,
    ExportMessages,
    ExportProgress,
    ExportSources,
    NotWrittenError,
    SendTraces,
)
from inspector.export.files import takes_a_stream, write_error_words
from inspector.export.options import Format, format_of
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.naming import names_in
from inspector.present.formats import count_of

_MSP, _CAPTURE = "msp", "capture"
_FORMATS = (*(one.value for one in Format), _CAPTURE, _MSP)
"""Values of --format: formats of messages, the whole capture, and an MSP sub-session."""


def _parse_format(text: str) -> str:
    if text not in _FORMATS:
        raise typer.BadParameter(f"{escape_hostile(text)!r} is not one of {', '.join(map(repr, _FORMATS))}.")
    return text


@takes_reading(*JUDGED)
def export_command(
    files: LogFiles,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="File to write, compressed if it ends in .gz or .zst; - for standard output.",
        ),
    ] = "",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", parser=_parse_format, metavar="|".join(_FORMATS), help="Default: by extension, or jsonl."
        ),
    ] = None,
    context: Annotated[
        str | None,
        typer.Option("--context", metavar="PATH", help="msp: the context to write as a sub-session of its session."),
    ] = None,
    self_contained: Annotated[
        bool,
        typer.Option(
            "--self-contained",
            help="jsonl: envelopes only; each response with its method, target, the rule, and its request.",
        ),
    ] = False,
    display_filter: Annotated[str, typer.Option("-Y", "--filter", metavar="FILTER", help="Display filter.")] = "",
    fields: Annotated[
        list[str] | None,
        typer.Option("-e", "--field", metavar="FIELD", help="csv, parquet: field; repeatable, or with commas."),
    ] = None,
    with_raw: Annotated[
        bool,
        typer.Option(
            "--with-raw",
            help="parquet: add the raw messages, so that the file can be opened again. Their bytes are exact "
            "only with --unmasked.",
        ),
    ] = False,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="otlp: send to a collector, as http://127.0.0.1:4318.")
    ] = "",
    with_content: Annotated[
        bool, typer.Option("--with-content", help="otlp: add message texts, with secrets masked.")
    ] = False,
    unmasked: Annotated[bool, typer.Option("--unmasked", help="Do not mask secrets.")] = False,
    marks: Annotated[bool, typer.Option("--marks", help="jsonl: also write marks and comments, beside OUT.")] = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Write messages to a file: as JSON Lines that can be opened again, CSV, Markdown or a web page.

    Conversation is a page to read: HTML, or Markdown if OUT ends in .md. Parquet has one column for each field. OTLP
    writes OpenTelemetry traces, or sends them to a collector. --format msp writes one context and its descendants as
    sub-sessions of a session. --format capture writes all FILEs into one capture, unchanged, secrets included.
    """
    if bool(output) == bool(to):
        fail("Name the file to write with -o, or a collector with --to.")
    if (to or with_content) and format_ != Format.OTLP:
        fail("--to and --with-content require --format otlp.")
    if format_ == _MSP:
        _export_context(files, output, context, reading, masked=not unmasked)
        return
    if format_ == _CAPTURE:
        if display_filter.strip() or fields or not unmasked:
            fail(
                "--format capture copies FILEs, secrets included: it requires --unmasked and takes no filter or fields."
            )
        _export_sources(files, output, reading)
        return
    if context is not None:
        fail("--context requires --format msp; use --filter to select messages by context.")
    filter_ = compiled(display_filter)
    names = tuple(name for part in fields or () for name in names_in(part))
    for name in names:
        require_field(name)
    if format_ is None and (named_so := format_of(output)) is not None:
        format_ = named_so.value
    chosen = Format(format_) if format_ is not None else Format.JSONL
    if chosen is Format.CONVERSATION and unmasked:
        fail("--format conversation always masks secrets.")
    if chosen is Format.PARQUET:
        refused = next((name for name in names if name not in FIELD_BY_NAME), None)
        if refused is not None:
            fail(f"{escape_hostile(refused)} has no fixed type, so it cannot be a Parquet column.")
        if output == "-" or takes_a_stream(Path(output)):
            fail("Parquet cannot be streamed: name a file with -o.")
        checked = not names or asks_for_findings(filter_, names)
        counted = asks_for_tokens(filter_, names) or (not names and _COUNTED_BYTES)
    elif chosen is Format.OTLP:
        checked, counted = True, False
    else:
        if with_raw:
            fail("--with-raw requires --format parquet; JSON Lines are complete without it.")
        if marks and (chosen is not Format.JSONL or output == "-" or takes_a_stream(Path(output))):
            fail("--marks requires JSON Lines in a file; other formats include marks and comments.")
        checked, counted = asks_for_findings(filter_, names), asks_for_tokens(filter_, names)
    view = f"Messages that match the filter {display_filter.strip()}" if display_filter.strip() else "All messages"
    request = ExportMessages(
        None if output == "-" else Path(output), chosen, display_filter, tuple(dict.fromkeys(names)), self_contained,
        not unmasked, view, with_raw, with_content, marks,
    )  # fmt: skip
    with opened(files, reading, checked=checked, counted=counted, masked=not unmasked) as log:
        if to:
            _send_traces(log, SendTraces(to, display_filter, with_content, not unmasked))
        else:
            _export_messages(log, output, request)


_COUNTED_BYTES = 16 << 20
"""Tokens are counted by default in logs of at most this many bytes."""


def _export_messages(log: Log, output: str, request: ExportMessages) -> None:
    done = _written(output, log.parts(request))
    if request.format is Format.OTLP:
        if output != "-":
            typer.echo(f"{output}: {count_of(done.spans, 'span')}.", err=True)
    elif output != "-":
        _print_written(output, done)
    if request.raw and done.masked:
        typer.echo(f"{count_of(done.masked, 'secret')} masked in raw messages; --unmasked keeps them.", err=True)


def _written(output: str, parts: Generator[ExportProgress, None, ExportProgress]) -> ExportProgress:
    """Completes an export; exits if the file cannot be written."""
    try:
        while True:
            try:
                part = next(parts)
            except StopIteration as end:
                sys.stdout.buffer.flush()  # a full disk raises here, not at the end of the program
                return end.value
            if part.data:
                sys.stdout.buffer.write(part.data)
    except NotWrittenError as error:
        fail(f"{output} cannot be written: {error}")
    except RequestError:
        raise
    except (OSError, ValueError) as error:
        why = write_error_words(error) if isinstance(error, OSError) else f"{error}."
        fail(f"{output} cannot be written: {why}")


def _send_traces(log: Log, request: SendTraces) -> None:
    from inspector.export.otlp_sending import CollectorError, shown_url, traces_url

    try:
        sent = log.answer_to(request)
        address = escape_hostile(shown_url(traces_url(request.url)))
        typer.echo(f"{address}: {count_of(sent.spans, 'span')} sent.", err=True)
    except CollectorError as error:
        fail(escape_hostile(str(error)))
    except OSError as error:
        fail(f"The traces cannot be sent: {write_error_words(error)}")


def _export_context(files: Sequence[str], output: str, context: str | None, reading: Reading, *, masked: bool) -> None:
    if not context:
        fail("--format msp writes one context: name it by its path with --context. `contexts FILE` lists them.")
    if output == "-":
        fail("--format msp writes a file: name it with -o.")
    with opened(files, reading) as log:
        try:
            done = _written(output, log.parts(ExportContext(context, Path(output), masked)))
        except RequestError:
            fail(
                f"There is no context {escape_hostile(context)}; `contexts {escape_hostile(named(files))}` lists them."
            )
    _print_written(output, done)


def _export_sources(files: Sequence[str], output: str, reading: Reading) -> None:
    if output == "-":
        fail("--format capture writes a file: name it with -o.")
    with opened(files, reading, masked=False) as log:
        try:
            done = log.answer_to(ExportSources(Path(output)))
        except NotWrittenError as error:
            fail(f"{output} cannot be written: {error}")
    _print_written(output, done)


def _print_written(output: str, done: ExportProgress) -> None:
    size = f"{done.size_bytes / 1e6:,.1f} MB" if done.size_bytes >= 100_000 else f"{done.size_bytes:,} bytes"
    typer.echo(f"{output}: {count_of(done.messages, 'message')}, {size}.", err=True)

"""`export`: writes messages in any format, a model context, or all sources as one capture."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import asks_for_findings, asks_for_tokens, compiled, named, opened, require_field
from inspector.cli.printing import escape_hostile
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import notes_of, write_beside
from inspector.document.saving import save_sources
from inspector.export import (
    DEFAULT_FIELDS,
    Exported,
    ExportOptions,
    Format,
    export_file,
    export_stream,
    export_to,
    matching,
)
from inspector.export.files import refuse_source_files, takes_a_stream, write_error_words
from inspector.export.msp import export_subsession, node_at
from inspector.export.options import MARKED_FIELDS, format_of
from inspector.export.redaction import Redaction
from inspector.filters import DisplayFilter
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

    Parquet has one column for each field. OTLP writes OpenTelemetry traces, or sends them to a collector. --format msp
    writes one context and its descendants as sub-sessions of a session. --format capture writes all FILEs into one
    capture, unchanged, secrets included.
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
    if format_ == Format.PARQUET:
        chosen_fields = tuple(dict.fromkeys(names))
        refused = next((name for name in chosen_fields if name not in FIELD_BY_NAME), None)
        if refused is not None:
            fail(f"{escape_hostile(refused)} has no fixed type, so it cannot be a Parquet column.")
        checked = not names or asks_for_findings(filter_, names)
        counted = asks_for_tokens(filter_, names) or (not names and _COUNTED_BYTES)
        with opened(files, reading, checked=checked, counted=counted, masked=not unmasked) as document:
            messages = matching(document, filter_) if display_filter.strip() else None
            _export_parquet(document, messages, output, chosen_fields, raw=with_raw, masked=not unmasked)
        return
    if format_ == Format.OTLP:
        with opened(files, reading, checked=True, masked=not unmasked) as document:
            messages = matching(document, filter_)
            _export_otlp(document, messages, output, to, content=with_content, masked=not unmasked)
        return
    if with_raw:
        fail("--with-raw requires --format parquet; JSON Lines are complete without it.")
    view = f"Messages that match the filter {display_filter.strip()}" if display_filter.strip() else "All messages"
    chosen = Format(format_) if format_ is not None else Format.JSONL
    flows = output == "-" or takes_a_stream(Path(output))
    if marks and (flows or chosen is not Format.JSONL):
        fail("--marks requires JSON Lines in a file; other formats include marks and comments.")
    checked, counted = asks_for_findings(filter_, names), asks_for_tokens(filter_, names)
    with opened(files, reading, checked=checked, counted=counted, masked=not unmasked) as document:
        usual = MARKED_FIELDS if len(document.analysis.marks) else DEFAULT_FIELDS
        options = ExportOptions(chosen, self_contained, not unmasked, names or usual, view)
        _export_messages(document, filter_, output, options, marks=marks)


_COUNTED_BYTES = 16 << 20
"""Tokens are counted by default in logs of at most this many bytes."""


def _export_messages(
    document: CaptureDocument, filter_: DisplayFilter, output: str, options: ExportOptions, *, marks: bool
) -> None:
    """Writes messages in a format that takes them one by one."""
    messages, target = matching(document, filter_), Path(output)
    try:
        if output == "-":
            # Exhausts the generator, which writes while it is iterated.
            deque(export_to(document, messages, sys.stdout.buffer, options), maxlen=0)
            return
        write = export_stream if takes_a_stream(target) else export_file
        # The last step is the complete result; earlier ones are progress.
        done: Exported = deque(write(document, messages, target, options), maxlen=1)[0]
        if marks:
            # Matched again, since writing has exhausted the first iterator.
            write_beside(notes_of(document, matching(document, filter_), masked=options.masked), target)
    except (OSError, ValueError) as error:
        why = write_error_words(error) if isinstance(error, OSError) else f"{error}."
        fail(f"{output} cannot be written: {why}")
    _print_written(output, done)


def _export_parquet(
    document: CaptureDocument, messages: Iterator[int] | None, output: str, fields: tuple[str, ...], *, raw: bool,
    masked: bool,
) -> None:  # fmt: skip
    from inspector.export.parquet import export_parquet

    target = Path(output)
    if output == "-" or takes_a_stream(target):
        fail("Parquet cannot be streamed: name a file with -o.")
    try:
        done = export_parquet(document, messages, target, fields=fields, raw=raw, masked=masked)
    except OSError as error:
        fail(f"{output} cannot be written: {write_error_words(error)}")
    _print_written(output, done)
    masked_secrets = done.masked.total()
    if raw and masked_secrets:
        typer.echo(f"{count_of(masked_secrets, 'secret')} masked in raw messages; --unmasked keeps them.", err=True)


def _export_otlp(
    document: CaptureDocument, messages: Iterator[int], output: str, to: str, *, content: bool, masked: bool
) -> None:
    from inspector.export.otlp import TraceWriter, write_traces
    from inspector.export.otlp_sending import CollectorError, send_traces, shown_url, traces_url

    writer = TraceWriter(document, messages, content=content, redaction=Redaction(masked=masked))
    try:
        if to:
            url = traces_url(to)
            typer.echo(
                f"{escape_hostile(shown_url(url))}: {count_of(send_traces(writer.lines(), url), 'span')} sent.",
                err=True,
            )
        elif output == "-":
            for line, _ in writer.lines():
                sys.stdout.buffer.write(line + b"\n")
        else:
            refuse_source_files(document, Path(output))
            deque(write_traces(writer, Path(output)), maxlen=0)
            typer.echo(f"{output}: {count_of(writer.spans, 'span')}.", err=True)
    except CollectorError as error:
        fail(escape_hostile(str(error)))
    except OSError as error:
        fail(f"{output} cannot be written: {write_error_words(error)}")


def _export_context(files: Sequence[str], output: str, context: str | None, reading: Reading, *, masked: bool) -> None:
    if not context:
        fail("--format msp writes one context: name it by its path with --context. `contexts FILE` lists them.")
    if output == "-":
        fail("--format msp writes a file: name it with -o.")
    with opened(files, reading) as document:
        found = node_at(document, context)
        if found is None:
            fail(
                f"There is no context {escape_hostile(context)}; `contexts {escape_hostile(named(files))}` lists them."
            )
        try:
            # As in `_export_messages`, only the last step is the result.
            done = deque(export_subsession(document, *found, Path(output), masked=masked), maxlen=1)[0]
        except OSError as error:
            fail(f"{output} cannot be written: {write_error_words(error)}")
    _print_written(output, done)


def _export_sources(files: Sequence[str], output: str, reading: Reading) -> None:
    if output == "-":
        fail("--format capture writes a file: name it with -o.")
    with opened(files, reading, masked=False) as document:
        target = Path(output)
        try:
            refuse_source_files(document, target)
            save_sources(document, target)
        except OSError as error:
            fail(f"{output} cannot be written: {write_error_words(error)}")
        _print_written(output, Exported(len(document.capture), target.stat().st_size, Redaction(masked=False).tally))


def _print_written(output: str, done: Exported) -> None:
    size = f"{done.size_bytes / 1e6:,.1f} MB" if done.size_bytes >= 100_000 else f"{done.size_bytes:,} bytes"
    typer.echo(f"{output}: {count_of(done.messages, 'message')}, {size}.", err=True)

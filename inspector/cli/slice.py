"""`slice`: extracts messages from logs that are too large to open."""

from __future__ import annotations

import contextlib
import gzip
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from inspector.base.atomic_files import open_replacement
from inspector.base.optional_dependencies import FLEET
from inspector.cli.arguments import FormatFile, Reading, fail
from inspector.cli.opening import asks_for_findings, asks_for_tokens, compiled, opened
from inspector.cli.printing import escape_hostile
from inspector.cli.survey import StatusLine, rough
from inspector.document.document import CaptureDocument
from inspector.export.lines import LinesWriter
from inspector.export.options import ExportOptions
from inspector.export.redaction import Redaction
from inspector.export.whole_slice import cut_whole
from inspector.filters.errors import FilterError
from inspector.filters.strings import quote
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_text
from inspector.store.files.spool import temporary_folder
from inspector.survey.byte_ranges import ByteRange, RangeError, has_independent_lines, range_filter, ranges_of
from inspector.survey.dask_workers import (
    EngineError,
    cluster_at,
    local_workers,
    memory_for_each,
    run_each,
    workers_here,
)
from inspector.survey.one_run import FailedError, fetched
from inspector.survey.run_places import PlaceError, RunPlace, find_runs, is_address
from inspector.survey.run_survey import Progress
from inspector.survey.slicing import find_lines, run_here


def slice_command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Logs, folders of logs, globs, and addresses such as s3://bucket/logs."),
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="File to write; - for standard output.")
    ],
    display_filter: Annotated[
        str, typer.Option("-Y", "--filter", metavar="FILTER", help="Display filter on fields of single messages.")
    ] = "",
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only from this time on: 2026-01-05T08:00:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only before this time.")] = None,
    with_related: Annotated[
        bool, typer.Option("--with-related", help="Also causes and effects of these messages, and all messages "
                           "in their contexts.")
    ] = False,
    unmasked: Annotated[bool, typer.Option("--unmasked", help="Do not mask secrets.")] = False,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="Dask cluster to use instead of this machine."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Local processes. Default: one a core.")
    ] = None,
    format_file: FormatFile = None,
) -> None:  # fmt: skip
    """Extract messages from logs that are too large to open into a smaller log.

    Byte ranges of the logs are searched in parallel. OUT opens like any log; the fields slice.source, slice.line and
    slice.offset give the origin of each message. For a gateway's log, all copies of a message are extracted with it.
    Filters that need the whole log, such as the state of a request, are refused: use `list`, or open the slice.
    Transcripts, HTTP recordings, archives, compressed files and logs with --format-file are read whole, one after the
    other, with any filter.
    """
    # Only to validate it; workers compile the text again.
    compiled(display_filter)
    try:
        places = find_runs(paths)
    except PlaceError as error:
        fail(escape_hostile(mask_text(str(error))))
    is_declared = format_file is not None
    whole = [place for place in places if is_declared or not has_independent_lines(place.path, place.size)]
    text = _filter_text(display_filter, since, until, by_stretches=len(whole) < len(places))
    ranges = [part for place in places if place not in whole for part in ranges_of(place.path, place.size)]
    # Starting workers takes longer than reading a single range.
    alone = scheduler is None and (len(ranges) <= 1 or workers == 1)
    if not alone and (missing := FLEET.missing_message()):
        fail(missing)
    try:
        with _engine(scheduler, workers, len(ranges), alone=alone) as each, _target(output) as file:
            lines = (
                _write_ranges(ranges, text, each, file, with_related=with_related, masked=not unmasked) if ranges else 0
            )
            lines += sum(
                _write_whole(one, text, file, format_file, with_related=with_related, masked=not unmasked)
                for one in whole
            )
    except (RangeError, EngineError, FailedError) as error:
        fail(escape_hostile(mask_text(str(error))))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}.")
    except KeyboardInterrupt:
        typer.echo("Stopped: no file was written.", err=True)
        # 128 + SIGINT, as shells report an interrupt.
        raise typer.Exit(130) from None
    typer.echo(f"{output}: {count_of(lines, 'line')} of {sum(one.size for one in places):,} bytes.", err=True)


def _filter_text(text: str, since: str | None, until: str | None, *, by_stretches: bool) -> str:
    """Combines the filter with --since and --until; exits if a part is malformed or needs the whole log."""
    parts = [f"({text})"] if text.strip() else []
    for option, operator, time in (("--since", ">=", since), ("--until", "<", until)):
        if time is not None:
            try:
                range_filter(f"time {operator} {quote(time)}")
            except FilterError as error:
                fail(escape_hostile(f"{option}: {error}"))
            parts.append(f"time {operator} {quote(time)}")
    try:
        if by_stretches:
            range_filter(text)
    except FilterError as error:
        caret = " " * error.position + "^" * max(1, error.length)
        fail(f"{escape_hostile(str(error))}\n  {escape_hostile(text)}\n  {caret}")
    return " && ".join(parts)


def _write_whole(
    place: RunPlace, text: str, file: Any, format_file: str | None, *, with_related: bool, masked: bool
) -> int:  # fmt: skip
    """Writes matching lines of a log that is read whole. Returns their count."""
    filter_ = compiled(text)
    with temporary_folder() if place.is_remote else contextlib.nullcontext(Path()) as folder:
        path = fetched(place, folder) if place.is_remote else Path(place.path)
        asks = asks_for_findings(filter_, ()), asks_for_tokens(filter_, ())
        with opened(
            [str(path)], Reading(format_file=format_file), checked=asks[0], counted=asks[1], masked=masked
        ) as log:
            return sum(1 for line in cut_whole(log.document, filter_, related=with_related, masked=masked)
                       if file.write(line))  # fmt: skip


@contextlib.contextmanager
def _engine(scheduler: str | None, workers: int | None, count: int, *, alone: bool) -> Generator[Any]:
    """Chooses workers: this process for small jobs, local worker processes, or a Dask cluster."""
    if alone:
        yield run_here
        return
    number = min(workers_here(workers), count)
    with cluster_at(scheduler) if scheduler else local_workers(number, memory_for_each(number)) as client:
        yield lambda work, ranges: run_each(client, work, ranges)


@contextlib.contextmanager
def _target(output: str) -> Generator[Any]:
    """Opens standard output, or a file that appears only when it is complete."""
    if output == "-":
        yield sys.stdout.buffer
        return
    with open_replacement(Path(output)) as file:
        if not output.endswith(".gz"):
            yield file
            return
        with gzip.open(file, "wb") as packed:
            yield packed


def _write_ranges(ranges: list[ByteRange], text: str, each: Any, file: Any, *, with_related: bool, masked: bool) -> int:
    """Writes matching lines and prints progress. Returns their count."""
    status_line, lines = StatusLine(), 0
    total = sum(one.stop - one.start for one in ranges)
    clock = Progress(len(ranges), bytes_total=total)
    # An empty document: the writer only masks lines.
    writer = LinesWriter(CaptureDocument(), ExportOptions(), Redaction(masked=masked), exact=True)

    def as_logged(line: bytes, pieces: Mapping[bytes, bytes]) -> bytes:
        return writer.masked_log_line(pieces.get(line, line) if masked else line)

    for done in find_lines(ranges, text, each, file.write, read=_read if with_related else None, shown=as_logged):
        lines, clock.bytes_done = done.lines, done.bytes_done
        left = clock.left_s
        rest = f", about {rough(left)} left" if left is not None and done.bytes_done < total else ""
        status_line.progress(f"{done.bytes_done / max(1, total):.0%} searched, {count_of(lines, 'line')} so far{rest}")
    status_line.end()
    return lines


def _read(path: str, offset: int, length: int) -> bytes:
    if is_address(path):
        from fsspec.core import url_to_fs

        store, name = url_to_fs(path)
        return store.cat_file(name, start=offset, end=offset + length)
    with Path(path).open("rb") as file:
        file.seek(offset)
        return file.read(length)

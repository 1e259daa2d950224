"""`survey`: analyzes many runs in parallel and writes the results as Parquet tables."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from inspector.base.optional_dependencies import FLEET
from inspector.cli.arguments import FormatFile, PriceFile, ToolAliasTexts, fail
from inspector.cli.opening import aliases_of, format_of_file, prices_of
from inspector.cli.printing import escape_hostile, print_line, printable
from inspector.present.formats import count_of, duration
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.dask_workers import (
    EngineError,
    cluster_at,
    local_workers,
    memory_for_each,
    worker_count,
    workers_here,
)
from inspector.survey.folder import SurveyError, SurveyFolder, query_rows
from inspector.survey.one_run import SurveyOptions
from inspector.survey.run_places import PlaceError, find_runs
from inspector.survey.run_survey import Progress, batch_count, runs_to_survey, survey

_MB = 1_000_000
_MESSAGE_SHARE = 0.7
"""Share of a worker's memory for the messages of one run."""
_LINE_INTERVAL_S, _UPDATE_INTERVAL_S = 10.0, 0.2  # pauses between lines of a log, and between updates of a terminal
_MAX_LISTED = 10


def survey_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Logs, folders of logs with all below them, globs, and addresses such as s3://bucket/logs.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write; an existing one is updated: new or "
                           "changed logs are read.")
    ],
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="Dask cluster to use instead of this machine."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Local processes. Default: one a core.")
    ] = None,
    memory: Annotated[
        int, typer.Option("--memory", metavar="MB", min=0, help="Memory limit of each process. Default: 80 % of free "
                          "memory, shared among them, 4,295 at most.")
    ] = 0,
    tokens: Annotated[
        bool, typer.Option("--tokens/--no-tokens", help="Count tokens and find waste; slow.")
    ] = True,
    anew: Annotated[bool, typer.Option("--anew", help="Also read unchanged logs again.")] = False,
    tool_alias: ToolAliasTexts = None,
    prices: PriceFile = None,
    format_file: FormatFile = None,
) -> None:  # fmt: skip
    """Survey many runs at once: cost, calls, failures and waste of each run, as Parquet tables in a folder.

    A gateway's log with its decisions, or a session with its sub-agents, is one run. Unreadable logs are listed in the
    table failures, and the survey continues. `check DIR` compares a survey with expectations, as it does a log;
    `context-inspector DIR` shows the runs in a window.
    """
    if missing := FLEET.missing_message():
        fail(missing)
    # Only to validate them: workers parse the texts again, since rules are not sent to them.
    aliases_of(tool_alias or [])
    lines, dated = prices_of(prices)
    reading = format_of_file(format_file).name if format_file is not None else None
    try:
        places = find_runs(paths, output)
        folder = SurveyFolder(output)
    except (PlaceError, SurveyError) as error:
        fail(escape_hostile(mask_text(str(error))))
    try:
        options = SurveyOptions(tokens, tuple(tool_alias or ()), 0, tuple(lines), dated, reading)
        last = Progress(len(places), len(places))
        todo = places if anew else runs_to_survey(places, folder.known_runs(), options.version)
        if anew or todo:
            count = min(workers_here(workers), max(1, batch_count(todo)))  # starting more takes longer than it saves
            each = memory * _MB or memory_for_each(count)
            # A cluster has memory of its own, unknown here.
            options = replace(options, memory_mb=0 if scheduler else int(each * _MESSAGE_SHARE / _MB))
            client = cluster_at(scheduler) if scheduler else local_workers(count, each)
            last = _survey(client, places, folder, options, anew=anew)
        folder.finish()
    except (EngineError, SurveyError) as error:
        fail(escape_hostile(mask_text(str(error))))
    finally:
        folder.close()
    _print_result(output, last)


def _survey(
    workers: AbstractContextManager[Any], places: list[Any], folder: SurveyFolder, options: SurveyOptions, *, anew: bool
) -> Progress:
    """Runs the survey with progress; Ctrl+C ends it and keeps the finished runs."""
    status_line = StatusLine()
    last = Progress(len(places))
    try:
        with workers as client:
            status_line.line(f"{count_of(len(places), 'run')}, {count_of(worker_count(client), 'worker')}.")
            for progress in survey(places, folder, client, options, anew=anew):
                last = progress
                status_line.progress(_words(progress))
    except KeyboardInterrupt:
        status_line.end()
        folder.finish()
        left = last.total - last.known - last.done
        typer.echo(f"Stopped: {count_of(left, 'run')} not surveyed. Run the same command to continue.", err=True)
        raise typer.Exit(130) from None
    status_line.end()
    return last


class StatusLine:
    """Prints progress on standard error: one updated line on a terminal, else a line every ten seconds."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()
        self._due = time.monotonic() + (0 if self._shows else _LINE_INTERVAL_S)
        self._width = 0

    def line(self, text: str) -> None:
        typer.echo(text, err=True)

    def progress(self, words: str) -> None:
        """Prints progress, unless the last time was too recent."""
        now = time.monotonic()
        if now < self._due:
            return
        if self._shows:
            self._due = now + _UPDATE_INTERVAL_S
            sys.stderr.write("\r" + words.ljust(self._width))
            sys.stderr.flush()
            self._width = len(words)
        else:
            self._due = now + _LINE_INTERVAL_S
            typer.echo(words, err=True)

    def end(self) -> None:
        """Ends the updated line."""
        if self._shows and self._width:
            sys.stderr.write("\n")


def _words(progress: Progress) -> str:
    known = f", {progress.known:,} unchanged" if progress.known else ""
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    left = progress.left_s
    rest = f", about {rough(left)} left" if left is not None and progress.bytes_done < progress.bytes_total else ""
    return f"{progress.done + progress.known:,} of {progress.total:,} runs{known}{failed}{rest}"


def rough(seconds: float) -> str:
    """Formats an estimated time: "40 s", "12 min"."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else duration(round(seconds / 60) * 60 * 10**9)


def _print_result(output: Path, progress: Progress) -> None:
    """Prints the result, and the logs that could not be surveyed."""
    known = f", {progress.known:,} of them unchanged" if progress.known else ""
    print_line(f"{output}: {count_of(progress.total, 'run')}{known}.")
    rows = list(query_rows(output, "SELECT path, text FROM failures ORDER BY path"))
    for path, text in rows[:_MAX_LISTED]:
        print_line(f"  {printable(mask_text(path), 300)}: {printable(text, 300)}")
    if len(rows) > _MAX_LISTED:
        print_line(f"  and {len(rows) - _MAX_LISTED:,} more in the table failures")

"""Reads the runs of several paths for a command, with progress, on workers where that is worthwhile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import chain
from typing import Annotated, Any, NamedTuple

import typer

from inspector.analysis.views.compare.ignored import Ignored, IgnoreError
from inspector.analysis.views.many_runs.run_chain import RunChain
from inspector.base.optional_dependencies import FLEET
from inspector.cli.arguments import Reading, fail
from inspector.cli.opening import aliases_of, compiled, format_of
from inspector.cli.printing import escape_hostile
from inspector.cli.survey import StatusLine
from inspector.present.formats import count_of
from inspector.present.run_chains import ChainQuestion
from inspector.protocol.secrets.masking import mask_text
from inspector.survey.dask_workers import EngineError, cluster_at, local_workers, memory_for_each, workers_here
from inspector.survey.folder import SurveyError
from inspector.survey.many_runs import WORTHWHILE_BYTES, ReadRuns, logs_at, read_runs
from inspector.survey.one_run import SurveyOptions
from inspector.survey.run_places import PlaceError, RunPlace

Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="tcp://HOST:PORT", help="Read many runs on this Dask cluster."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="Local processes that read many runs; 1 for this process alone. Default: "
        "one a core for large logs.",
    ),
]  # fmt: skip


class PathRuns(NamedTuple):
    """Runs of the paths of a command.

    Attributes:
        by_path: the runs of each path, in order.
        failures: path and reason of logs that cannot be read.
    """

    by_path: list[list[RunChain]]
    failures: list[tuple[str, str]]


def read_paths(
    paths: Sequence[str], asked: ChainQuestion, reading: Reading, scheduler: str | None, workers: int | None
) -> PathRuns:
    """Reads runs; exits if a filter or path is wrong. Ctrl+C ends it with code 130."""
    for text in filter(None, (asked.by, asked.when)):
        compiled(text)
    try:
        Ignored(asked.ignore)
        places = logs_at(paths)
        aliases_of(reading.tool_alias or [])
        options = SurveyOptions(False, tuple(reading.tool_alias or ()), reading.memory, reading=format_of(reading))
        flat = list(chain.from_iterable(places))
        found = _read(flat, asked, options, scheduler, workers)
    except IgnoreError as error:
        fail(str(error))
    except (PlaceError, SurveyError, EngineError) as error:
        fail(escape_hostile(mask_text(str(error))))
    ends, start = list[list[RunChain]](), 0
    for some in places:
        ends.append([run for place in range(start, start + len(some)) for run in found.runs.get(place, ())])
        start += len(some)
    return PathRuns(ends, found.failures)


def _read(
    logs: Sequence[RunPlace], asked: ChainQuestion, options: SurveyOptions, scheduler: str | None, workers: int | None
) -> ReadRuns:
    status_line = StatusLine()
    found = ReadRuns(len(logs))
    try:
        with _client(logs, scheduler, workers) as client:
            for found in read_runs(logs, asked, options, client):
                status_line.progress(f"{found.done:,} of {count_of(found.total, 'log')}")
    except KeyboardInterrupt:
        status_line.end()
        typer.echo(f"Stopped: {count_of(found.total - found.done, 'log')} not read.", err=True)
        raise typer.Exit(130) from None
    status_line.end()
    return found


def _client(logs: Sequence[RunPlace], scheduler: str | None, workers: int | None) -> Any:
    if scheduler is not None or (workers or 1) > 1:
        if missing := FLEET.missing_message():
            fail(missing)
        if scheduler is not None:
            return cluster_at(scheduler)
    count = min(workers_here(workers), len(logs))
    small = sum(log.size for log in logs) < WORTHWHILE_BYTES and workers is None
    if count < 2 or small or FLEET.missing_modules():
        return nullcontext()
    return local_workers(count, memory_for_each(count))

"""Reads many runs as chains of steps: here, or on worker processes as a survey does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from inspector.analysis.views.many_runs.run_chain import RunChain
from inspector.base.slices import run_to_end
from inspector.base.workers.child_process import disable_children
from inspector.present.run_chains import ChainQuestion, read_chains
from inspector.protocol.secrets.masking import mask_text
from inspector.sources.run_members import file_of_run
from inspector.store.columns.hashes import run_seed, set_seed
from inspector.survey import is_survey
from inspector.survey.dask_workers import folder_of_worker, run_each
from inspector.survey.folder import query_rows
from inspector.survey.one_run import SurveyOptions, failure_of, opened_run
from inspector.survey.run_places import RunPlace, find_runs, reason_of

_WHOLE_BYTES = 64 << 20
"""A file of runs up to this size is read once for all of them."""
WORTHWHILE_BYTES = 64 << 20
"""Fewest bytes for workers: fewer are read before workers have started."""


@dataclass(slots=True)
class ReadRuns:
    """Runs read so far.

    Attributes:
        total: number of logs; `done` of them are read.
        runs: the runs, by place of their log.
        failures: path and reason of logs that cannot be read.
    """

    total: int
    done: int = 0
    runs: dict[int, list[RunChain]] = field(default_factory=dict)
    failures: list[tuple[str, str]] = field(default_factory=list)

    def in_order(self) -> list[RunChain]:
        """Returns the runs in the order of their logs."""
        return [run for place in sorted(self.runs) for run in self.runs[place]]


def logs_at(paths: Sequence[str]) -> list[list[RunPlace]]:
    """Returns the logs of each path, in order; a file of runs is one log, unless it is large.

    Raises:
        PlaceError: a path has no logs, or cannot be listed.
        SurveyError: a survey cannot be read.
    """
    return [[*_logs_at(path)] for path in paths]


def _logs_at(path: str) -> Iterator[RunPlace]:
    if "://" not in path and is_survey(Path(path)):
        yield from find_runs([one for (one,) in query_rows(Path(path), "SELECT path FROM runs ORDER BY path")])
    else:
        yield from _whole(find_runs([path]))


def _whole(places: Sequence[RunPlace]) -> Iterator[RunPlace]:
    """Yields places; a file in place of its runs."""
    members: dict[str, list[RunPlace]] = {}
    for place in places:
        file = place.path if place.is_remote else str(file_of_run(Path(place.path)))
        members.setdefault(file, []).append(place)
    for file, some in members.items():
        if len(some) < 2 or some[0].size > _WHOLE_BYTES:
            yield from some
        else:
            yield RunPlace(file, some[0].size, some[0].modified)


def read_runs(
    logs: Sequence[RunPlace], asked: ChainQuestion, options: SurveyOptions, client: Any = None
) -> Iterator[ReadRuns]:
    """Reads logs; yields after each the same object, with all that is read.

    Args:
        logs: the logs.
        asked: options for reading their runs.
        options: options for opening the logs; tokens are not counted.
        client: client of the workers; None for this process.
    """
    found = ReadRuns(len(logs))
    yield found
    work = partial(_read_in_worker, asked=asked, options=options, seed=run_seed())
    outcomes = (
        run_each(client, work, enumerate(logs)) if client is not None
        else ((item, _read(item[1], asked, options)) for item in enumerate(logs))
    )  # fmt: skip
    for (place, log), outcome in outcomes:
        found.done += 1
        if isinstance(outcome, list):
            found.runs[place] = outcome
        else:
            text = outcome if isinstance(outcome, str) else f"It could not be read: {reason_of(outcome)}."
            found.failures.append((mask_text(log.path), mask_text(text)))
        yield found


def _read_in_worker(
    item: tuple[int, RunPlace], asked: ChainQuestion, options: SurveyOptions, seed: int
) -> list[RunChain] | str:
    # Keys of steps are hashes, equal only with one seed.
    set_seed(seed)
    disable_children()
    return _read(item[1], asked, options, folder_of_worker())


def _read(
    place: RunPlace, asked: ChainQuestion, options: SurveyOptions, folder: str | None = None
) -> list[RunChain] | str:
    """Returns the runs of a log, or the reason if it cannot be read."""
    asked = msgspec.structs.replace(asked, name=mask_text(place.path), own_numbers=True)
    try:
        with opened_run(place, options, folder) as log:
            return run_to_end(read_chains(log.document, asked))
    except Exception as error:  # noqa: BLE001 - a log that breaks the program costs its own rows alone
        return failure_of(error)[1]

"""Runs a survey: surveys new and changed runs, and keeps the known rows of the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from inspector.base.workers.child_process import disable_children
from inspector.survey.dask_workers import WorkerLostError, folder_of_worker, run_each
from inspector.survey.folder import KnownRun, SurveyFolder
from inspector.survey.one_run import RunRows, SurveyOptions, failure_row, survey_run
from inspector.survey.run_places import RunPlace, reason_of

_Item = tuple[RunPlace, str]
"""A run and its known digest; "" for a new run."""
# Small, so that a batch that ends its worker repeats little work.
_BATCH_BYTES, _BATCH_RUNS = 4 << 20, 16


_FEWEST_TOLD = 3
"""Runs before the remaining time is estimated; the first ones wait for the workers."""
_RUN_BYTES = 500_000
"""Fixed time cost of a run, in bytes."""


@dataclass(slots=True)
class Progress:
    """Progress of a survey.

    Attributes:
        total: number of runs; `known` of them are unchanged.
        done: number of runs surveyed now.
        failed: number of these with a failure.
        bytes_total, bytes_done: bytes to survey, and surveyed.
    """

    total: int
    known: int = 0
    done: int = 0
    failed: int = 0
    bytes_total: int = 0
    bytes_done: int = 0
    _began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    @property
    def left_s(self) -> float | None:
        """Estimated seconds left, if known."""
        if self.done < _FEWEST_TOLD:
            return None
        # Small runs cost mostly their start, so each counts with a fixed share.
        done = self.bytes_done + self.done * _RUN_BYTES
        whole = self.bytes_total + (self.total - self.known) * _RUN_BYTES
        return self.seconds * (whole - done) / done


def runs_to_survey(places: Sequence[RunPlace], known: dict[str, KnownRun], version: str) -> list[RunPlace]:
    """Returns new and changed runs, largest first, so that no long run starts last."""

    def is_known(place: RunPlace) -> bool:
        before = known.get(place.path)
        same = before is not None and (before.size, before.version) == (place.size, version)
        # Without a change time, a digest of the content decides later, in the worker.
        return same and before is not None and place.modified > 0 and before.modified == place.modified

    return sorted((place for place in places if not is_known(place)), key=lambda place: -place.size)


def batch_count(runs: Sequence[RunPlace]) -> int:
    """Returns the number of work items for the runs, the limit for useful workers."""
    return sum(1 for _ in _batches([(run, "") for run in runs]))


def survey(
    places: Sequence[RunPlace], folder: SurveyFolder, client: Any, options: SurveyOptions, *, anew: bool = False
) -> Iterator[Progress]:
    """Surveys runs and writes their rows; yields progress after each run.

    Args:
        places: the runs.
        folder: destination; the caller finishes it, also after Ctrl+C.
        client: client of the workers.
        options: options for each run.
        anew: also surveys unchanged runs.

    Raises:
        SurveyError: the folder cannot be written.
    """
    known = {} if anew else folder.known_runs()
    todo = runs_to_survey(places, known, options.version)
    progress = Progress(len(places), len(places) - len(todo), bytes_total=sum(one.size for one in todo))
    yield progress
    work = partial(_survey_in_worker, options=options)
    again: list[_Item] = []
    batches = _batches([(place, _digest_known(known.get(place.path), options)) for place in todo])
    for batch, outcome in run_each(client, work, batches):
        if isinstance(outcome, list):
            yield from _take_in(outcome, folder, progress)
        elif len(batch) > 1:
            again += batch  # one of them is at fault; each is tried alone later
        else:
            yield from _take_in([_failure_rows(place, outcome, options) for place, _ in batch], folder, progress)
    alone: list[tuple[_Item, ...]] = [(item,) for item in again]
    # Alone, so that the run at fault is named and costs no other one.
    for batch, outcome in run_each(client, work, alone):
        rows = outcome if isinstance(outcome, list) else [_failure_rows(place, outcome, options) for place, _ in batch]
        yield from _take_in(rows, folder, progress)


def _take_in(found: Sequence[RunRows], folder: SurveyFolder, progress: Progress) -> Iterator[Progress]:
    for rows in found:
        if rows.unchanged:
            progress.known += 1
        else:
            folder.add(rows)
            progress.done += 1
            progress.failed += rows.failed
        progress.bytes_done += rows.place.size
        yield progress


def _batches(items: Sequence[_Item]) -> Iterator[tuple[_Item, ...]]:
    """Groups runs into work items, since submitting and collecting each has a cost."""
    batch: list[_Item] = []
    size = 0
    for item in items:
        # A big run forms a batch of its own.
        if batch and (size + item[0].size > _BATCH_BYTES or len(batch) == _BATCH_RUNS):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(item)
        size += item[0].size
    if batch:
        yield tuple(batch)


def _digest_known(before: KnownRun | None, options: SurveyOptions) -> str:
    return before.digest if before is not None and before.version == options.version else ""


def _survey_in_worker(batch: tuple[_Item, ...], options: SurveyOptions) -> list[RunRows]:
    """Surveys runs in a worker; skips runs with a known digest."""
    # Dask already runs a process per core; workers of a worker would compete for the same cores.
    disable_children()
    folder = folder_of_worker()
    return [survey_run(place, options, digest, folder) for place, digest in batch]


def _failure_rows(place: RunPlace, error: object, options: SurveyOptions) -> RunRows:
    """Returns the failure rows of a run that ended its worker or raised."""
    if isinstance(error, WorkerLostError):
        text = "It ended the process that read it, each time: it needs more memory than a worker has, or is damaged."
    else:
        text = f"It could not be surveyed: {reason_of(error) if isinstance(error, BaseException) else error}."
    return RunRows(place, "", {"failures": [failure_row(place, "worker", text, options)]})

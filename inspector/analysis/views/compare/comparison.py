"""Compares two runs: rows, counts, the first divergence and its cause."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.views.compare.alignment import align_runs
from inspector.analysis.views.compare.cause import Divergence, find_divergence
from inspector.analysis.views.compare.differences import Rows, classify
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.run_steps import RunSteps, of_one_format, read_run
from inspector.analysis.views.compare.surroundings import Change, Surroundings
from inspector.base.slices import SlicedWork


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two compared runs.

    Attributes:
        one, other: their steps.
        rows: rows in display order.
        changes: changes of models, settings and definitions, by number.
        divergence: where they part, and why.
        around: models, settings and deliveries.
    """

    one: RunSteps
    other: RunSteps
    rows: Rows
    changes: list[Change]
    divergence: Divergence
    around: Surroundings


def compare_runs(one: Analysis, other: Analysis, ignored: Ignored) -> SlicedWork[RunComparison]:
    """Compares two runs, in steps. O(bytes of their messages)."""
    programs = of_one_format(one, other)
    mine = yield from read_run(one, ignored, programs=programs)
    theirs = yield from read_run(other, ignored, programs=programs)
    aligned = yield from align_runs(mine, theirs)
    around = Surroundings(mine, theirs, ignored)
    yield
    rows, changes = classify(mine, theirs, aligned, around)
    yield
    divergence = yield from find_divergence(mine, theirs, rows)
    return RunComparison(mine, theirs, rows, changes, divergence, around)

"""Compares two runs: rows, counts, the first divergence and its cause."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.views.compare.alignment import align_runs
from inspector.analysis.views.compare.differences import Rows, classify
from inspector.analysis.views.compare.divergence import Divergence, find_divergence
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.run_steps import RunSteps, of_one_format, read_run
from inspector.analysis.views.compare.surroundings import Change, Surroundings
from inspector.analysis.views.steps.step_columns import StepTable
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
        ignored: values that did not count.
    """

    one: RunSteps
    other: RunSteps
    rows: Rows
    changes: list[Change]
    divergence: Divergence
    around: Surroundings
    ignored: Ignored


def compare_runs(one: Analysis, other: Analysis, ignored: Ignored) -> SlicedWork[RunComparison]:
    """Compares two runs, in steps. O(bytes of their messages)."""
    programs = of_one_format(one, other)
    mine = yield from read_run(one, ignored, programs=programs)
    theirs = yield from read_run(other, ignored, programs=programs)
    return (yield from _compare(mine, theirs, ignored))


def compare_turns(analysis: Analysis, table: StepTable, one: int, other: int) -> SlicedWork[RunComparison]:
    """Compares two turns of a document, in steps. O(bytes of their messages)."""
    ignored = Ignored()
    mine = yield from read_run(analysis, ignored, programs=False, table=table, turn=one)
    theirs = yield from read_run(analysis, ignored, programs=False, table=table, turn=other)
    return (yield from _compare(mine, theirs, ignored))


def _compare(mine: RunSteps, theirs: RunSteps, ignored: Ignored) -> SlicedWork[RunComparison]:
    aligned = yield from align_runs(mine, theirs)
    around = Surroundings(mine, theirs, ignored)
    yield
    rows, changes = classify(mine, theirs, aligned, around)
    yield
    divergence = yield from find_divergence(mine, theirs, rows)
    return RunComparison(mine, theirs, rows, changes, divergence, around, ignored)

"""Compares two open documents."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.analysis.views.compare.comparison import compare_runs
from inspector.analysis.views.compare.ignored import Ignored
from inspector.analysis.views.compare.ignored import IgnoreError as IgnoreError
from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.base.slices import SlicedWork, run_to_end
from inspector.document.document import CaptureDocument
from inspector.present.run_comparison import ComparisonAnswer


def compared(one: CaptureDocument, other: CaptureDocument, ignore: Sequence[str] = ()) -> ComparisonAnswer:
    """Compares two documents at once. Raises IgnoreError for a malformed pattern."""
    return run_to_end(comparison_steps(one, other, ignore))


def comparison_steps(
    one: CaptureDocument, other: CaptureDocument, ignore: Sequence[str] = ()
) -> SlicedWork[ComparisonAnswer]:
    """Compares two documents, in steps. Raises IgnoreError for a malformed pattern."""
    found = yield from compare_runs(one.analysis, other.analysis, Ignored(ignore))
    mine = yield from _changed_files(one)
    theirs = yield from _changed_files(other)
    return ComparisonAnswer(one, other, found, (mine, theirs))


def _changed_files(document: CaptureDocument) -> SlicedWork[int]:
    calls = yield from KeptCalls(document.analysis).facts()
    return sum(file.is_changed for file in calls.files())

"""Counts the problems of a document for the status bar and a preset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector.present.findings import problems_of
from inspector.ui import budgets
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

if TYPE_CHECKING:
    from inspector.analysis import AnalysisChanges
    from inspector.document.document import CaptureDocument

_PAUSE_FACTOR = 10
"""Pause after a count, as a multiple of its duration."""


class ProblemCounts(QObject):
    """Counts the problems of one document, at most a few times a second.

    Signals:
        changed(Problems): the numbers have changed.

    Attributes:
        problems: the last count.
        throttle: schedules the counts.
    """

    changed = Signal(object)

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._found = document.analysis.findings.found
        self._total = len(self._found)
        self.problems = problems_of(self._found)
        self.throttle = RefreshThrottle(self, self._count, lambda: budgets.current.lists_ms, rest=_PAUSE_FACTOR)

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Schedules a count if problems may have changed. O(new and changed messages)."""
        sets = self._found.columns["set"]
        if (
            len(self._found) != self._total
            or bool(sets[changes.start : changes.stop].any())
            or bool(sets[changes.changed].any())
        ):
            self.throttle.request()

    def refresh(self) -> None:
        """Counts now. O(messages), 0.1 ms for a million, and O(problems)."""
        self.throttle.run()

    def stop(self) -> None:
        self.throttle.stop()

    def _count(self) -> None:
        self._total = len(self._found)
        problems = problems_of(self._found)
        if problems != self.problems:
            self.problems = problems
            self.changed.emit(problems)

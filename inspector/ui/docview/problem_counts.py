"""How many problems were found in the document: figures that stand in the status bar and on a preset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector.present.findings import problems_of
from inspector.ui import budgets
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

if TYPE_CHECKING:
    from inspector.analysis import Changes
    from inspector.document.document import CaptureDocument

_REST = 10
"""Between two times it is left alone for this many times as long as it took."""


class ProblemCounts(QObject):
    """Counts the problems of one document, a few times a second at most.

    Signals:
        changed(Problems): there are more or fewer.

    Attributes:
        problems: the figures as they were counted last.
        throttle: when they are counted.
    """

    changed = Signal(object)

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._found = document.analysis.findings.found
        self._total = len(self._found)
        self.problems = problems_of(self._found)
        self.throttle = RefreshThrottle(self, self._count, lambda: budgets.current.lists_ms, rest=_REST)

    def apply_changes(self, changes: Changes) -> None:
        """Take in a flush of the document. O(new and changed messages)."""
        sets = self._found.columns["set"]
        if (
            len(self._found) != self._total
            or bool(sets[changes.start : changes.stop].any())
            or bool(sets[changes.changed].any())
        ):
            self.throttle.request()

    def refresh(self) -> None:
        """Count them now. O(messages), a tenth of a millisecond for a million, and O(problems)."""
        self.throttle.run()

    def stop(self) -> None:
        """Count no more."""
        self.throttle.stop()

    def _count(self) -> None:
        self._total = len(self._found)
        problems = problems_of(self._found)
        if problems != self.problems:
            self.problems = problems
            self.changed.emit(problems)

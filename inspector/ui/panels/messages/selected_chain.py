"""The causal chain of the selected message, found a little after it was selected, and again when it may have grown."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.analysis.chain import may_grow
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.ui import budgets
from inspector.ui.panels.messages.chain import ChainRail


class SelectedChain(QObject):
    """Which messages belong to the chain of the selected one, and how the rail runs through those shown.

    Signals:
        rail_changed(): `rail` is another one.

    Attributes:
        rail: of the chain found last, as far as its messages are shown.
    """

    rail_changed = Signal()

    def __init__(self, document: CaptureDocument, rows: VisibleRows, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._rows = rows
        self._selected: int | None = None
        self._of: int | None = None
        self._members: set[int] = set()
        self.rail = ChainRail()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(budgets.current.repeat_ms)
        self._timer.timeout.connect(self._find)

    def look_for(self, selected: int | None) -> None:
        """Find the chain of a message, soon; None: nothing is selected. One of the same chain keeps its rail so far."""
        self._selected = selected
        self._draw(self.rail.members if selected in self.rail.members else ())
        self._look_soon()

    def place_anew(self) -> None:
        """Rows stand otherwise, or others are shown."""
        self._draw(self.rail.members)
        self._look_soon()

    def _look_soon(self) -> None:
        if self._selected is not None and not self._timer.isActive():
            self._timer.start()

    def take_in(self, changes: Changes) -> None:
        """Find the chain again where a flush may have changed it. O(messages that came or changed)."""
        selected = self._selected
        if selected is None or self._timer.isActive():
            return
        if selected != self._of or may_grow(self._document.analysis, selected, self._members, changes):
            self._timer.start()
        else:
            self._draw_shown()

    def _find(self) -> None:
        selected = self._selected
        if selected is not None:
            self._of, self._members = selected, {step.message for step in self._document.chain(selected)}
            self._draw_shown()

    def _draw_shown(self) -> None:
        """The chain as far as its messages are shown now. O(chain)."""
        shown = {message for message in self._members if self._rows.position(message) is not None}
        if shown != self.rail.members or self._selected != self.rail.selected:
            self._draw(shown)

    def _draw(self, members: Iterable[int]) -> None:
        """Where messages stand is looked up only where that is not said by their numbers."""
        by = self._rows.sorted_by
        if by is None:
            self.rail = ChainRail(self._selected, members)
        else:
            self.rail = ChainRail(self._selected, members, self._rows.position, joined=by.field.name == "no")
        self.rail_changed.emit()

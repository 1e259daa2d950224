"""Dragging over the rows: they are selected as far as the pointer, and move on where it is near an edge."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QTimer, Signal

from inspector.ui.panels.messages.table import MessageTable

_SCROLL_MS = 40
_MOST_ROWS = 40
"""Rows moved at a time where the pointer is far outside."""


class RowDrag(QObject):
    """One drag after another.

    Signals:
        ended(): the pointer was let go after it had been dragged to another row.

    Attributes:
        row: where the button was pressed; -1 while it is not.
    """

    ended = Signal()

    def __init__(self, table: MessageTable, drag_to: Callable[[int], None]) -> None:
        """No drag yet.

        Args:
            table: what is dragged over.
            drag_to: selects as far as a row.
        """
        super().__init__(table)
        self._table = table
        self._drag_to = drag_to
        self.row = -1
        self._at = QPoint()
        self._reached = -1
        self._timer = QTimer(self)
        self._timer.setInterval(_SCROLL_MS)
        self._timer.timeout.connect(self._scroll)

    def begin(self, row: int) -> None:
        """The button was pressed on a row."""
        self.row = row
        self._reached = -1

    def move(self, at: QPoint) -> None:
        """The pointer is at a place of the viewport, or outside of it."""
        self._at = at
        self._reach()
        if self._reached >= 0 and self._beyond() and not self._timer.isActive():
            self._timer.start()

    def end(self) -> None:
        """The button was let go."""
        self._timer.stop()
        dragged, self.row, self._reached = self._reached >= 0, -1, -1
        if dragged:
            self.ended.emit()

    def _reach(self) -> None:
        height = self._table.viewport().height()
        row = self._table.rowAt(min(max(self._at.y(), 0), height - 1))
        if row < 0 or row == self._reached or (self._reached < 0 and row == self.row):
            return
        self._reached = row
        self._drag_to(row)

    def _beyond(self) -> int:
        """Rows to move at a time: below the middle of the last row on screen or above that of the first, and faster."""
        row, y = self._table.paints.metrics.row, self._at.y()
        below = y - (self._table.viewport().height() - row // 2)
        above = row // 2 - y
        far = max(below, above)
        if far <= 0:
            return 0
        rows = min(_MOST_ROWS, 1 + far // row)
        return rows if below > 0 else -rows

    def _scroll(self) -> None:
        rows = self._beyond()
        bar = self._table.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + rows * self._table.paints.metrics.row)
        if not rows or bar.value() == before:
            self._timer.stop()
        self._reach()

"""A QTableView as a plain list: no grid, no editing, single row selection and a text for the empty list."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from inspector.ui.look.empty_text import EmptyText
from inspector.ui.look.theme import ThemeController

_MIN_HEIGHT = 24
"""Minimum height of a list in a low window, pixels. Qt's default reserves room for the arrows of a scroll bar."""


class PlainTable(QTableView):
    """Base of the lists and tables in panels.

    Signals:
        left(): Esc was pressed.
        menu_asked(int, QPoint): show the menu of a row at this position on the screen.
    """

    left = Signal()
    menu_asked = Signal(int, object)

    def __init__(self, themes: ThemeController, parent: QWidget | None, *, name: str, title: str) -> None:
        """Creates the table without the features of a spreadsheet.

        Args:
            themes: give the look.
            parent: owner.
            name: object name.
            title: accessible name.
        """
        super().__init__(parent)
        self._themes = themes
        self._empty = EmptyText()
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.verticalHeader().hide()
        # set before any row: later Qt resizes the rows one by one, which is quadratic
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumHeight(_MIN_HEIGHT)
        self.setShowGrid(False)
        self.setWordWrap(False)
        # Tab leaves the list instead of moving between cells.
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def make_single_column(self) -> None:
        """Makes one column as wide as the view."""
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def visible_rows(self) -> tuple[int, int]:
        """Returns the first and last row on screen, or (0, -1) without rows."""
        if not self.model().rowCount():
            return 0, -1
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        return max(0, first), last if last >= 0 else self.model().rowCount() - 1

    # Empty list

    def set_empty_text(self, text: str) -> None:
        self._empty.set_text(self, text)

    @property
    def empty_text(self) -> str:
        return self._empty.text

    @property
    def empty_top(self) -> int | None:
        """Top of the text for the empty list in pixels, or None while there are rows."""
        return None if self.model().rowCount() else self._themes.theme.metrics.unit

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        top = self.empty_top
        if top is not None:
            self._empty.paint(self, self._themes.theme, top)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            # The menu key has no pointer position, so the menu opens below the current row.
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

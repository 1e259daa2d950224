"""A table of Qt's as a plain list of rows: no grid, no editing, one row selected, words while there is none."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from inspector.ui.look.empty_text import EmptyText
from inspector.ui.look.theme import ThemeController

_LEAST = 24
"""A list in a low window; by itself Qt keeps room for the arrows of a scroll bar."""


class PlainTable(QTableView):
    """What the lists and tables of panels share.

    Signals:
        left(): Esc was pressed.
        menu_asked(int, QPoint): the menu of a row is asked for, at a place on the screen.
    """

    left = Signal()
    menu_asked = Signal(int, object)

    def __init__(self, themes: ThemeController, parent: QWidget | None, *, name: str, title: str) -> None:
        """Leave out what only spreadsheets need.

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
        self.verticalHeader().setMinimumSectionSize(1)  # raised later, it resizes rows one by one: quadratic
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setMinimumHeight(_LEAST)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def make_single_column(self) -> None:
        """One column, as wide as the view."""
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def visible_rows(self) -> tuple[int, int]:
        """First and last row on screen; (0, -1) when there is none."""
        if not self.model().rowCount():
            return 0, -1
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        return max(0, first), last if last >= 0 else self.model().rowCount() - 1

    # While it is empty

    def set_empty_text(self, text: str) -> None:
        """What stands in the list while it is empty."""
        self._empty.say(self, text)

    @property
    def empty_text(self) -> str:
        """What stands in the list while it is empty."""
        return self._empty.text

    @property
    def empty_top(self) -> int | None:
        """Where that begins, in pixels; None while it is not said, for there are rows."""
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
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

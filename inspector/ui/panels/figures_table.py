"""A sortable table of figures, one row per name: painting, keys, pointer and context menu.

The rows are a `FiguresModel`. Subclasses paint cells and fill the context menu. The last column keeps the padding of a
pane. In a narrow view names stay readable, and some columns are hidden; no figure is elided.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.figures_model import FiguresModel
from inspector.ui.panels.plain_table import PlainTable

_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def paddings(theme: Theme, column: enum.IntEnum) -> tuple[int, int]:
    """Returns the space left and right of a column's text in pixels. The outer columns use the padding of a pane."""
    pane, cell = theme.metrics.pane_padding, theme.metrics.cell_padding
    return (cell if column else pane), (pane if column == max(type(column)) else cell)


class _Delegate(QStyledItemDelegate):
    """Paints the background of a cell and lets the table paint its content."""

    def __init__(self, view: FiguresTable, themes: ThemeController) -> None:
        super().__init__(view)
        self._view = view
        self._themes = themes

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, view = self._themes.theme, self._view
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        row = index.row()
        paint_ground(
            painter, theme, rect,
            selected=view.selectionModel().isRowSelected(row), hovered=row == view.hovered_row, active=view.hasFocus(),
            bar=index.column() == 0,
        )  # fmt: skip
        left, right = paddings(theme, view.column_at(index))
        view.paint_cell(painter, rect.adjusted(left, 0, -right, 0), index)


class _HeaderView(QHeaderView):
    """Column heads aligned with their figures, with an arrow at the sort column."""

    def __init__(self, view: FiguresTable, themes: ThemeController, name: str) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view = view
        self._themes = themes
        self.setObjectName(f"{name}Header")
        self.setAccessibleName(f"Columns of the {name} table")
        self.setHighlightSections(False)
        self.setSectionsClickable(True)
        self.setMinimumSectionSize(16)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme = self._themes.theme
        painter.fillRect(rect, theme.color("surface.base"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("line.hair"))
        column = self._view.figures.columns(logicalIndex)
        is_figure = self._view.figures.is_figure(column)
        left, right = paddings(theme, column)
        sorted_here = self.isSortIndicatorShown() and self.sortIndicatorSection() == logicalIndex
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.primary" if sorted_here else "ink.secondary"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        if sorted_here:
            arrow = "↓" if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder else "↑"
            text = f"{arrow} {text}" if is_figure else f"{text} {arrow}"
        painter.drawText(rect.adjusted(left, 0, -right, 0), _RIGHT if is_figure else _LEFT, text)


class FiguresTable(PlainTable):
    """The table.

    Signals:
        filter_requested(str, str): a display filter and its way of joining the active one (filter_menu.FilterMode).

    Attributes:
        figures: its rows.
        hovered_row: the row under the pointer, or -1.
        gives_way: columns that are hidden in this order if the view is too narrow, except the sort column.
        least_name: minimum width of the first column, in pixels at 100 %.
        absent: columns without any value in this document; hidden at every width.
    """

    filter_requested = Signal(str, str)
    gives_way: Sequence[enum.IntEnum] = ()
    least_name = 160

    def __init__(
        self,
        model: FiguresModel[Any],
        themes: ThemeController,
        parent: QWidget | None,
        *,
        name: str,
        widths: Mapping[Any, str | int],
    ) -> None:
        """Creates the table with the sort order of its model.

        Args:
            model: its rows.
            themes: gives the look.
            parent: owner.
            name: name of the table in lower case.
            widths: of each column but the first, as its widest text or in pixels at 100 %. The first column stretches.
        """
        super().__init__(themes, parent, name=f"{name}Table", title=name.capitalize())
        self.figures = model
        self._name = name
        self._widths = widths
        self._pixels: dict[int, int] = {}
        self.absent: set[int] = set()
        self._selected: int | None = None
        self.hovered_row = -1
        self.setModel(model)
        self.setItemDelegate(_Delegate(self, themes))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalHeader(_HeaderView(self, themes, name))
        self.horizontalHeader().sortIndicatorChanged.connect(self._fit_columns)
        sorted_by = model.sorted_by
        self.setSortingEnabled(True)  # Qt sorts by a column of its own choice here
        self.sortByColumn(sorted_by, Qt.SortOrder.DescendingOrder)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        model.modelReset.connect(self._restore_selection)
        # popup() returns at once; exec() would run a nested event loop.
        self.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        themes.changed.connect(self.use_theme)
        self.use_theme()

    def column_at(self, index: QModelIndex | QPersistentModelIndex) -> enum.IntEnum:
        return self.figures.columns(index.column())

    # Supplied by each table

    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        raise NotImplementedError

    def enter_row(self, row: int) -> None:
        """Handles Enter on a row."""
        raise NotImplementedError

    def fill_menu(self, menu: QMenu, row: int) -> None:
        """Adds the actions of a row other than copying."""
        raise NotImplementedError

    # Appearance

    def name_font(self, *, mono: bool) -> QFont:
        """Returns the font of a name. Names from the protocol are monospaced."""
        return self._themes.theme.font("mono-row" if mono else "body")

    def use_theme(self) -> None:
        theme = self._themes.theme
        metrics = theme.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        heads = self.horizontalHeader()
        heads.setFixedHeight(metrics.column_head)
        body, head = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("column"))
        heads.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width in self._widths.items():
            if isinstance(width, str):
                arrow = 4 * metrics.unit  # the arrow of the sort column
                title = head.horizontalAdvance(self.figures.titles[column]) + arrow
                pixels = max(body.horizontalAdvance(width), title) + sum(paddings(theme, column)) + 2
            else:
                pixels = round(width * theme.zoom)
            heads.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            heads.resizeSection(column, pixels)
            self._pixels[column] = pixels
        self._fit_columns()
        self.viewport().update()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def leave_out(self, columns: set[int]) -> None:
        """Hides columns without values and shows the others again."""
        if columns != self.absent:
            for column in self.absent - columns:
                self.setColumnHidden(column, False)
            self.absent = columns
            self._fit_columns()

    def _fit_columns(self, *_sorted: object) -> None:
        """Hides columns of `gives_way` until the rest fits. Does nothing before the view is visible and has a width."""
        wanted = {column: pixels for column, pixels in self._pixels.items() if column not in self.absent}
        room = self.viewport().width() - round(self.least_name * self._themes.theme.zoom)
        # A hidden view has no final width yet.
        over = sum(wanted.values()) - room if self.isVisible() else 0
        for column in self.gives_way:
            goes = over > 0 and column in wanted and column != self.horizontalHeader().sortIndicatorSection()
            self.setColumnHidden(column, goes)
            over -= wanted[column] if goes else 0
        # After the loop above, because it shows columns again.
        for column in self.absent:
            self.setColumnHidden(column, True)

    @property
    @override
    def empty_top(self) -> int | None:
        return None if self.figures.rows else self._themes.theme.metrics.pane_padding

    # Selection

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            self._selected = self.figures.key_of(self.figures.rows[current.row()])

    def _restore_selection(self) -> None:
        """Selects the selected row again after a reset."""
        row = -1 if self._selected is None else self.figures.row_of(self._selected)
        if row >= 0:
            self.selectionModel().setCurrentIndex(self.figures.index(row, 0), _ROW)

    # Keys and pointer

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self.enter_row(row)
        elif event.matches(QKeySequence.StandardKey.Copy) and row >= 0:
            self._copy(row)
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.hover(event.position().toPoint())

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hover(None)

    def hover(self, place: QPoint | None) -> None:
        """Updates the hovered row.

        Args:
            place: the pointer in the viewport; None if it has left.
        """
        row = self.indexAt(place).row() if place is not None else -1
        if row != self.hovered_row:
            self.hovered_row = row
            self.viewport().update()

    # Menu

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName(f"{self._name}Menu")
        menu.setAccessibleName(self._name.capitalize())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_menu(menu, row)
        menu.addSeparator()
        menu.addAction("Copy row").triggered.connect(lambda: self._copy(row))
        return menu

    def _copy(self, row: int) -> None:
        figures = self.figures
        QGuiApplication.clipboard().setText("\t".join(figures.text(figures.rows[row], c) for c in figures.columns))

"""View, delegate and column heads of tables. The rows are a `TableModel`; subclasses fill the context menu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from inspector.ui.look.empty_text import EmptyText
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.cells import CellPainter
from inspector.ui.widgets.rows.table_model import TableModel

Index = QModelIndex | QPersistentModelIndex
_MIN_HEIGHT = 24
"""Minimum height of a list in a low window, pixels. Qt's default reserves room for the arrows of a scroll bar."""
_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class _Delegate(QStyledItemDelegate):
    """Paints the background of a cell, and its content as the model specifies it."""

    def __init__(self, view: TableView, themes: ThemeController) -> None:
        super().__init__(view)
        self._view = view
        self._themes = themes

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view, column = self._view, self._view.column_at(index)
        width = view.cells.natural_width(view.table.cell(view.table.rows[index.row()], column))
        return QSize(width + sum(view.paddings(column)), self._themes.theme.metrics.row)

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, view, cells = self._themes.theme, self._view, self._view.cells
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue] - as above
        row, column = index.row(), view.column_at(index)
        left, right = view.paddings(column)
        paint_ground(
            painter, theme, rect,
            selected=bool(state & QStyle.StateFlag.State_Selected), hovered=row == view.hovered_row,
            active=view.hasFocus(), bar=index.column() == 0 and left > 0,
        )  # fmt: skip
        cells.hovered = row == view.hovered_row and view.hovered_column in (column, None)
        box = rect.adjusted(left, 0, -right, 0)
        cells.paint_cell(
            painter, view.table.cell(view.table.rows[row], column), box, right=view.table.is_figure(column)
        )
        view.paint_over(painter, row, column, box)


class _Heads(QHeaderView):
    """Column heads aligned with their figures, with an arrow at the sort column."""

    def __init__(self, view: TableView, themes: ThemeController, name: str) -> None:
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
        column = self._view.table.column(logicalIndex)
        is_figure = self._view.table.is_figure(column)
        left, right = self._view.paddings(column)
        sorted_here = self.isSortIndicatorShown() and self.sortIndicatorSection() == logicalIndex
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.primary" if sorted_here else "ink.secondary"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        if sorted_here:
            arrow = "↓" if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder else "↑"
            text = f"{arrow} {text}" if is_figure else f"{text} {arrow}"
        room = rect.adjusted(left, 0, -right, 0)
        if not self._view.has_fixed_columns:
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _RIGHT if is_figure else _LEFT, text)


def set_up_rows(table: QTableView) -> None:
    """Leaves out the features of a spreadsheet: grid, editing, selected cells. Call it before there are rows."""
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.verticalHeader().hide()
    # later Qt resizes the rows one by one, which is quadratic
    table.verticalHeader().setMinimumSectionSize(1)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    table.setShowGrid(False)
    table.setWordWrap(False)
    # Tab leaves the list instead of moving between cells.
    table.setTabKeyNavigation(False)
    table.setCornerButtonEnabled(False)
    table.setMouseTracking(True)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


class TableView(QTableView):
    """A table with one row per thing.

    With `widths`, the last column keeps the padding of a pane; in a narrow view names stay readable, some columns are
    hidden, and no figure is elided.

    Signals:
        left(): Esc was pressed.
        menu_asked(int, QPoint): show the menu of a row at this position on the screen.
        filter_requested(str, str): a display filter and its way of joining the active one (filter_menu.FilterMode).

    Attributes:
        table: its rows.
        cells: paints its cells.
        hovered_row: the row under the pointer, or -1.
        hovered_column: the column under the pointer, or -1; None if a click anywhere in a row enters it.
        gives_way: columns that are hidden in this order if the view is too narrow, except the sort column.
        least_name: minimum width of the first column, in pixels at 100 %.
        absent: columns without any value in this document; hidden at every width.
    """

    left = Signal()
    menu_asked = Signal(int, object)
    filter_requested = Signal(str, str)
    gives_way: Sequence[int] = ()
    least_name = 160
    click_enters = False
    """True if a click enters a row."""
    height_name = "row"
    """Height of rows in the theme's grid."""

    def __init__(
        self,
        model: TableModel[Any],
        themes: ThemeController,
        parent: QWidget | None,
        *,
        name: str,
        title: str = "",
        widths: Mapping[Any, str | int] | None = None,
        in_dialog: bool = False,
    ) -> None:
        """Creates the table with the sort order of its model.

        Args:
            model: its rows.
            themes: gives the look.
            parent: owner.
            name: name of the table in lower case.
            title: accessible name; "" for `name`.
            widths: of each column but the first, as its widest text or in pixels at 100 %. The first column stretches.
                None for columns whose widths are set otherwise.
            in_dialog: True if Enter and Esc are keys of the dialog.
        """
        super().__init__(parent)
        self._themes = themes
        self._empty = EmptyText()
        self.setObjectName(f"{name}Table")
        self.setAccessibleName(title or name.capitalize())
        self.table = model
        set_up_rows(self)
        self.setMinimumHeight(_MIN_HEIGHT)
        self.cells = CellPainter(themes)
        self._name, self._in_dialog = name, in_dialog
        self.has_fixed_columns = widths is not None
        self._widths = widths or {}
        self._pixels: dict[int, int] = {}
        self.absent: set[int] = set()
        self._selected: int | None = None
        self.hovered_row = -1
        self.hovered_column: int | None = None if self.click_enters else -1
        self.setModel(model)
        self.setItemDelegate(_Delegate(self, themes))
        self.setHorizontalHeader(_Heads(self, themes, name))
        self.horizontalHeader().sortIndicatorChanged.connect(self._fit_columns)
        sorted_by = model.sorted_by
        if sorted_by is not None:
            self.setSortingEnabled(True)  # Qt sorts by a column of its own choice here
            self.sortByColumn(sorted_by, Qt.SortOrder.DescendingOrder)
        self.horizontalHeader().setSectionsClickable(sorted_by is not None)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        model.modelReset.connect(self._restore_selection)
        # popup() returns at once; exec() would run a nested event loop.
        self.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        themes.changed.connect(self.use_theme)
        self.use_theme()

    def column_at(self, index: Index) -> Any:
        return self.table.column(index.column())

    def paddings(self, column: int) -> tuple[int, int]:
        """Returns the space left and right of a column's text in pixels. The outer columns have that of a pane."""
        pane, cell = self._themes.theme.metrics.pane_padding, self._themes.theme.metrics.cell_padding
        return (cell if column else pane), (pane if column == self.table.columnCount() - 1 else cell)

    # Supplied by each table

    def enter_row(self, row: int) -> None:
        """Handles Enter on a row."""

    def fill_menu(self, menu: QMenu, row: int) -> None:
        """Adds the actions of a row other than copying. Their actions keep the thing, as the row may change."""

    def paint_over(self, painter: QPainter, row: int, column: int, box: QRect) -> None:
        """Paints over the content of a cell."""

    # Appearance

    def use_theme(self) -> None:
        theme = self._themes.theme
        self.cells.use_theme()
        metrics = theme.metrics
        self.verticalHeader().setDefaultSectionSize(getattr(metrics, self.height_name))
        heads = self.horizontalHeader()
        heads.setFixedHeight(metrics.column_head)
        heads.setFont(theme.font("column"))
        body, head = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("column"))
        if self.has_fixed_columns:
            heads.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width in self._widths.items():
            if isinstance(width, str):
                arrow = 4 * metrics.unit  # the arrow of the sort column
                title = head.horizontalAdvance(self.table.titles[column]) + arrow
                pixels = max(body.horizontalAdvance(width), title) + sum(self.paddings(column)) + 2
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

    # Empty list

    def set_empty_text(self, text: str) -> None:
        self._empty.set_text(self, text)

    @property
    def empty_text(self) -> str:
        return self._empty.text

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.table.rowCount():
            self._empty.paint(self, self._themes.theme, self._themes.theme.metrics.pane_padding)

    # Selection

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            self._selected = self.table.key_of(self.table.rows[current.row()])

    def _restore_selection(self) -> None:
        """Selects the selected row again after a reset."""
        row = -1 if self._selected is None else self.table.row_of(self._selected)
        if row >= 0:
            self.selectionModel().setCurrentIndex(self.table.index(row, 0), _ROW)

    # Keys and pointer

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), event.key()
        if self._in_dialog and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            event.ignore()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self.enter_row(row)
        elif event.matches(QKeySequence.StandardKey.Copy) and row >= 0:
            self.copy(row)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and not event.modifiers():
            # Qt moves within the row, which is selected as a whole.
            last = self.table.rowCount() - 1
            self.setCurrentIndex(
                self.table.index(0 if key == Qt.Key.Key_Home else last, max(0, self.currentIndex().column()))
            )
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
        index = self.indexAt(place) if place is not None else QModelIndex()
        column = None if self.click_enters else index.column()
        if (index.row(), column) != (self.hovered_row, self.hovered_column):
            self.hovered_row, self.hovered_column = index.row(), column
            self.viewport().update()

    # Menu

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            # The menu key has no pointer position, so the menu opens below the current row.
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName(f"{self._name}Menu")
        menu.setAccessibleName(self._name.capitalize())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_menu(menu, row)
        menu.addSeparator()
        text = self.table.row_text(row)  # the row may change while the menu is open
        menu.addAction("Copy row").triggered.connect(lambda: QGuiApplication.clipboard().setText(text))
        return menu

    def copy(self, row: int) -> None:
        """Copies a row."""
        QGuiApplication.clipboard().setText(self.table.row_text(row))

"""Header of the message table: sort arrow, progress, sorting by clicks, and the menu of its columns."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QContextMenuEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView, QWidget
from typing_extensions import override

from inspector.engine.requests.fields import FieldType
from inspector.present.message_columns import TIME_MODES, Column
from inspector.ui.look.paint_cache import ELLIPSIS, PaintCache
from inspector.ui.panels.messages.model import MessageTableModel

_ARROW = 12
"""Side of the sort arrow, logical pixels at 100 %."""
_PROGRESS = 2


class MessageHeader(QHeaderView):
    """Paints the column titles itself: a title leaves space for its arrow and is elided like table text.

    Signals:
        menu_requested(int, QPoint): open the menu of a column (-1: none), at a screen position.
        sort_requested(str, bool): sort by a field ("": order of arrival); True for largest first.

    Attributes:
        progress: (column, 0 to 1) of a running sort.
    """

    menu_requested = Signal(int, QPoint)
    sort_requested = Signal(str, bool)

    def __init__(self, model: MessageTableModel, paints: PaintCache, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._model = model
        self._paints = paints
        self._hovered = -1
        self.progress: tuple[int, float] | None = None
        self.setObjectName("messageTableHeader")
        self.setAccessibleName("Columns of the message table")
        self.setMouseTracking(True)
        self.setHighlightSections(False)
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setFirstSectionMovable(False)
        self.setMinimumSectionSize(16)
        self.sectionClicked.connect(self._on_clicked)

    def show_progress(self, progress: tuple[int, float] | None) -> None:
        """Shows the progress of a sort; None hides it."""
        if progress != self.progress:
            self.progress = progress
            self.viewport().update()

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        paints, model = self._paints, self._model
        painter.save()
        painter.fillRect(rect, paints.theme.color("surface.base"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), paints.theme.color("line.hair"))
        painter.setClipRect(rect)
        by = model.rows.sorted_by
        is_sorted = by is not None and logicalIndex == model.columns.sorted_at(by.field)
        arrow = round(_ARROW * paints.theme.zoom) if is_sorted else 0
        pad = paints.metrics.cell_padding
        text = str(model.headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        # The arrow is inside the padding.
        room = rect.width() - pad - (max(pad, arrow + 1) if arrow else pad)
        # The last keys of a path identify it.
        if model.columns.is_path(logicalIndex):
            text = paints.font_metrics("column").elidedText(text, Qt.TextElideMode.ElideLeft, max(0, room))
        else:
            shown = paints.elided("column", text, room)
            text = "" if shown == ELLIPSIS else shown  # a column of icons
        token = "ink.primary" if is_sorted or logicalIndex == self._hovered else "ink.secondary"
        right = model.is_right_aligned(logicalIndex)
        width = paints.width("column", text)
        x = rect.right() + 1 - pad - width if right else rect.x() + pad
        if text:
            paints.draw(painter, "column", token, x, rect, text, width)
        if by is not None and is_sorted:
            name = "ri.arrow-down-line" if by.descending else "ri.arrow-up-line"
            paints.icon(painter, name, "accent.text", x - arrow - 1 if right else x + width + 1, rect, arrow)
        if self.progress is not None and self.progress[0] == logicalIndex:
            done = max(_PROGRESS, round(rect.width() * self.progress[1]))
            line = QRect(rect.x(), rect.bottom() + 1 - _PROGRESS, done, _PROGRESS)
            painter.fillRect(line, paints.theme.color("accent.ring"))
        painter.restore()

    # Pointer

    def _on_clicked(self, column: int) -> None:
        """Cycles a column through both sort directions and the order of arrival; numbers start with the largest."""
        if column == Column.GUTTER:
            return
        by, name = self._model.rows.sorted_by, self._model.columns.sort_name(column)
        first = self._largest_first(column)
        if by is None or by.field != name:
            self.sort_requested.emit(name, first)
        # Ascending numbers are the order of arrival.
        elif by.descending is first and column != Column.NUMBER:
            self.sort_requested.emit(name, not first)
        else:
            self.sort_requested.emit("", False)

    def _largest_first(self, column: int) -> bool:
        """Returns True if the first click sorts the largest first: for numbers and for No."""
        return self._model.columns.sort_type(column) in (FieldType.INTEGER, FieldType.NUMBER)

    @override
    def mouseMoveEvent(self, e: QMouseEvent) -> None:
        super().mouseMoveEvent(e)
        self._hover(self.logicalIndexAt(e.position().toPoint()))

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, column: int) -> None:
        if column != self._hovered:
            self._hovered = column
            self.viewport().update()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        column = self.logicalIndexAt(event.pos())
        self.menu_requested.emit(-1 if column == Column.GUTTER else column, event.globalPos())
        event.accept()


class HeaderMenu(QObject):
    """Builds the menu of a column; receivers of its signals act.

    Signals:
        sort_requested(str, bool): sort by a field ("": order of arrival); True for largest first.
        columns_changed(object): other columns, `list[TableColumn]`.
        time_requested(str): mode of the column Time, an id of `message_columns.TIME_MODES`.
        dialog_requested: open the Columns dialog.
    """

    sort_requested = Signal(str, bool)
    columns_changed = Signal(object)
    time_requested = Signal(str)
    dialog_requested = Signal()

    def __init__(self, model: MessageTableModel, table: QTableView) -> None:
        super().__init__(table)
        self._table = table
        self._model = model

    def popup(self, column: int, at: QPoint) -> QMenu:
        """Opens the menu at a screen position; it deletes itself on close."""
        menu = self.build(column)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)
        return menu

    def build(self, column: int) -> QMenu:
        """Builds the menu of a column; -1 for the area beside the columns."""
        menu = QMenu(self._table)
        menu.setObjectName("columnMenu")
        menu.setAccessibleName("Columns")
        self._add_sorting(menu, column)
        if column in (-1, Column.TIME):
            self._add_times(menu)
        if column >= 0:
            self._add_own(menu, column)
        self._add_columns(menu)
        menu.addSeparator()
        _add(menu, "columns.dialog", "Columns...", self.dialog_requested.emit)
        _add(menu, "columns.default", "Reset columns", lambda: self.columns_changed.emit([]))
        return menu

    def _add_sorting(self, menu: QMenu, column: int) -> None:
        by = self._model.rows.sorted_by
        if column >= 0:
            name = self._model.columns.sort_name(column)
            mine = by is not None and by.field == name
            group = QActionGroup(menu)
            names = _DIRECTION_NAMES.get(self._model.columns.sort_type(column), ("A to Z", "Z to A"))
            for words, descending in zip(names, (False, True), strict=True):
                own = "descending" if descending else "ascending"
                action = _add(menu, f"sort.{own}", words, lambda d=descending: self.sort_requested.emit(name, d))
                action.setCheckable(True)
                action.setChecked(mine and by is not None and by.descending == descending)
                group.addAction(action)
        arrival = _add(menu, "sort.clear", "Unsorted", lambda: self.sort_requested.emit("", False))
        arrival.setEnabled(by is not None)
        menu.addSeparator()

    def _add_times(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for mode, words in TIME_MODES:
            action = _add(menu, f"time.{mode}", words, lambda m=mode: self.time_requested.emit(m))
            action.setCheckable(True)
            action.setChecked(mode == self._model.times.mode)
            group.addAction(action)
        menu.addSeparator()

    def _add_own(self, menu: QMenu, column: int) -> None:
        columns = self._model.columns
        if column != Column.MESSAGE:
            words = "Remove this column" if columns.field(column) is not None else "Hide this column"
            _add(menu, "columns.hide", words, lambda: self.columns_changed.emit(columns.without(column)))
            usual = _add(menu, "columns.width", "Reset width", lambda: self._resize(column))
            usual.setEnabled(column in columns.wanted.widths)
            menu.addSeparator()

    def _resize(self, column: int) -> None:
        self.columns_changed.emit(self._model.columns.changed(widths={column: 0}))

    def _add_columns(self, menu: QMenu) -> None:
        columns = self._model.columns
        for column in columns.order:
            if column in (Column.GUTTER, Column.MESSAGE):
                continue
            shown = not self._table.isColumnHidden(column)
            action = _add(
                menu,
                f"columns.show.{columns.name(column)}",
                columns.words(column).replace("&", "&&"),
                lambda c=column, s=shown: self.columns_changed.emit(columns.changed(shown={c: not s})),
            )
            action.setCheckable(True)
            action.setChecked(shown)


_NUMBER_DIRECTIONS = ("Smallest first", "Largest first")
_DIRECTION_NAMES = {
    FieldType.INTEGER: _NUMBER_DIRECTIONS, FieldType.NUMBER: _NUMBER_DIRECTIONS,
    FieldType.TIME: ("Earliest first", "Latest first"), FieldType.SEVERITY: ("Least severe first", "Most severe first"),
    FieldType.BOOLEAN: ("No first", "Yes first"), FieldType.ANY: ("Smallest or A first", "Largest or Z first"),
}  # fmt: skip
"""Names of sort directions by type; other types sort by letters."""


def _add(menu: QMenu, name: str, words: str, act: Callable[[], object]) -> QAction:
    action = menu.addAction(words)
    action.setObjectName(name)
    action.triggered.connect(lambda *_checked: act())
    return action

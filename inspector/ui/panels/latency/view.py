"""The latency table: what stands in its cells, where a click goes, and its context menu."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.filters.strings import quote
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.figures_table import FiguresTable
from inspector.ui.panels.latency.model import Column, LatencyModel
from inspector.ui.widgets.filter_menu import add_filter_actions

_WIDEST = {
    Column.ANSWERS: "88,888,888", Column.P50: "888.8 s", Column.P95: "888.8 s", Column.P99: "888.8 s",
    Column.LONGEST: "88 min 88 s", Column.SLOWEST: "8888888",
}  # fmt: skip


class LatencyView(FiguresTable):
    """The table.

    Signals:
        message_requested(int): go to the slowest answer of a row.
    """

    message_requested = Signal(int)

    def __init__(self, model: LatencyModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="latency", widths=_WIDEST)
        self._model = model
        self._on_link = False

    @override
    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        column = self.column_at(index)
        font = QFont(self.name_font(mono=column is Column.NAME and self._model.by == "tool"))
        font.setUnderline(column is Column.SLOWEST and index.row() == self.hovered_row and self._on_link)
        text = str(index.data() or "")
        if column is Column.NAME:
            text = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
        painter.setFont(font)
        token = {Column.NAME: "ink.primary", Column.SLOWEST: "accent.text"}.get(column, "ink.secondary")
        painter.setPen(self._themes.theme.color(token))
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        painter.drawText(box, int(side | Qt.AlignmentFlag.AlignVCenter), text)

    # Keys and pointer

    @override
    def enter_row(self, row: int) -> None:
        self.message_requested.emit(self._model.rows[row].slowest)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.isValid() and index.column() == Column.SLOWEST:
            self.message_requested.emit(self._model.rows[index.row()].slowest)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and index.column() != Column.SLOWEST:
            self.filter_requested.emit(self.filter_for(index.row()), "replace")

    @override
    def hover(self, place: QPoint | None) -> None:
        super().hover(place)
        index = self.indexAt(place) if place is not None else QModelIndex()
        on_link = index.isValid() and index.column() == Column.SLOWEST
        if on_link != self._on_link:
            self._on_link = on_link
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on_link else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    # Menu

    def filter_for(self, row: int) -> str:
        """The display filter for the answers of a row."""
        field = "tool" if self._model.by == "tool" else "from"
        return f"{field} == {quote(self._model.rows[row].name)} && latency"

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        one, text = self._model.rows[row], self.filter_for(row)
        go = menu.addAction(f"Go to the slowest answer, No. {one.slowest + 1}")
        go.triggered.connect(lambda: self.message_requested.emit(one.slowest))
        menu.addSeparator()
        add_filter_actions(menu, text, self.filter_requested.emit)
        slower = menu.addAction("Filter by those slower than p95")
        slower.triggered.connect(lambda: self.filter_requested.emit(f"{text} > {one.latency.p95:g}", "replace"))

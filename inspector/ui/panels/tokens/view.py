"""The tokens table: what stands in its cells, with a bar for each share, and its context menu."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.figures_table import FiguresTable
from inspector.ui.panels.tokens.model import Column, TokensModel
from inspector.ui.panels.tokens.rows import FILL_ALPHA, TokenRow
from inspector.ui.widgets.filter_menu import add_filter_actions

_BAR_PX = 96
"""The bar of all tokens, pixels at 100 %."""
_WIDTHS = {
    Column.BAR: _BAR_PX, Column.TOKENS: "888,888,888", Column.SHARE: "88.8 %", Column.MESSAGES: "88,888,888",
}  # fmt: skip
_ELIDED = Qt.TextElideMode.ElideRight


class TokensView(FiguresTable):
    """The table.

    Signals:
        sees_requested(int): what the model of a participant sees; string id of the name.
    """

    sees_requested = Signal(int)

    def __init__(self, model: TokensModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="tokens", widths=_WIDTHS)
        self._model = model

    # Painting

    @override
    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        column, one = self.column_at(index), self._model.rows[index.row()]
        if column is Column.BAR:
            self._paint_bar(painter, box, one)
        elif column is Column.NAME:
            self._paint_name(painter, box, one, self.name_font(mono=one.mono))
        else:
            painter.setFont(self.name_font(mono=False))
            painter.setPen(self._themes.theme.color("ink.primary" if column is Column.TOKENS else "ink.secondary"))
            side = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(box, side, str(index.data() or ""))

    def _paint_name(self, painter: QPainter, box: QRect, one: TokenRow, font: QFont) -> None:
        """The name, which tells it from its neighbours, and where there is room what it lies in."""
        theme, metrics = self._themes.theme, QFontMetrics(font)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(font)
        painter.setPen(theme.color("ink.primary"))
        text = metrics.elidedText(one.name, _ELIDED, box.width())
        painter.drawText(box, flags, text)
        rest = box.adjusted(metrics.horizontalAdvance(text) + 2 * theme.metrics.unit, 0, 0, 0)
        if one.aside and rest.width() >= 12 * theme.metrics.unit:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(rest, flags, metrics.elidedText(f"in {one.aside}", _ELIDED, rest.width()))

    def _paint_bar(self, painter: QPainter, box: QRect, one: TokenRow) -> None:
        theme = self._themes.theme
        high = round(8 * theme.zoom)
        wide = round(box.width() * min(1.0, one.share))  # the track is everything
        top = box.y() + (box.height() - high) // 2
        painter.fillRect(box.x(), top, box.width(), high, theme.color("line.hair"))
        painter.fillRect(box.x(), top, max(wide, 1 if one.tokens else 0), high, _filled(theme, one.color))

    # Keys, pointer and menu

    @override
    def enter_row(self, row: int) -> None:
        text = self._model.rows[row].filter
        if text:
            self.filter_requested.emit(text, "replace")

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.enter_row(index.row())

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        one = self._model.rows[row]
        add_filter_actions(menu, one.filter, self.filter_requested.emit)
        if self._model.way == "participant" and one.key:
            menu.addSeparator()
            action = menu.addAction("Show what its model sees")
            action.setObjectName("modelSees")
            action.triggered.connect(lambda: self.sees_requested.emit(one.key))


def _filled(theme: Theme, token: str) -> QColor:
    """The colour of a bar: large areas are softer than the letters the colour was chosen for."""
    color = QColor(theme.color(token))
    color.setAlphaF(FILL_ALPHA)
    return color

"""Paints a sub-session of the list: state, label, count; what it is about; age and tokens (docs/design.md 16)."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.list_model import SubsessionListModel
from inspector.ui.panels.contexts.dots import draw_state
from inspector.ui.panels.list_delegate import RIGHT, ListDelegate

_MARK_X, _TEXT_X = 20, 34
_INDENT = 14
_LEAST_TEXT = 90
"""Pixels at 100 % a nested row keeps for its words, however deep it is."""


class SubsessionDelegate(ListDelegate):
    """One row of three lines."""

    def __init__(
        self, model: SubsessionListModel, theme_controller: ThemeController, parent: QObject | None = None
    ) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._themes.theme.metrics.sub_session_row)

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, zoom, line = self._themes.theme, self._zoom, self._model.line(row)
        depth = self._model.rows.depths[row]
        right = cell.right() + 1 - theme.metrics.pane_padding
        indent = min(round(depth * _INDENT * zoom), right - round((_TEXT_X + _LEAST_TEXT) * zoom))
        indent = max(0, indent)
        left = cell.left() + indent + round(_TEXT_X * zoom)
        edge = round(6 * zoom)
        third = (cell.height() - 2 * edge) // 3
        lines = [QRect(cell.left(), cell.top() + edge + place * third, cell.width(), third) for place in range(3)]
        is_open = line.mark == "active"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        center = QPointF(cell.left() + indent + _MARK_X * zoom, lines[0].top() + third / 2 + 0.5)
        draw_state(painter, center, line.mark, theme, implicit=False, halo=1.0 if is_open else 0.0)
        end = self._paint_right(painter, line.count, lines[0], right)
        self._draw(painter, "body-medium", "ink.primary", left, lines[0], line.label, end - left)
        self._draw(painter, "small", "ink.secondary", left, lines[1], line.about, right - left)
        end = self._paint_right(painter, line.tokens, lines[2], right)
        self._draw(painter, "small", "ink.tertiary", left, lines[2], line.age, end - left)

    def _paint_right(self, painter: QPainter, text: str, box: QRect, right: int) -> int:
        """Draw a figure at the right end, never cut; gives where what stands before it has to end."""
        theme = self._themes.theme
        wide = self._metrics["small"].horizontalAdvance(text)
        painter.setFont(self._fonts["small"])
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(QRect(right - wide - 2, box.top(), wide + 2, box.height()), RIGHT, text)
        return right - wide - theme.metrics.cell_padding

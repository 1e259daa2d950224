"""Paints a row of the marks panel: icon, comment or text, who and what, context, No."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QPainter
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_delegate import GAP, ICON, ListDelegate
from inspector.ui.panels.marks.model import MarksModel

_ABOUT_FROM, _CONTEXT_FROM, _ROOMY_FROM = 520, 680, 1150
"""Widths at 100 % from which who and what, the context and a longer context are shown: the text goes first."""
_ABOUT, _CONTEXT, _LONG_CONTEXT = 150, 114, 220


class MarkDelegate(ListDelegate):
    """One row."""

    def __init__(self, model: MarksModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        line, zoom, width = self._model.line(row), self._zoom, cell.width()
        gap, hidden = round(GAP * zoom), not self._model.is_shown(row)
        number = self.number_left(cell)
        wide = _LONG_CONTEXT if width >= _ROOMY_FROM * zoom else _CONTEXT
        context = number - (round(wide * zoom) if width >= _CONTEXT_FROM * zoom else 0)
        about = context - (round(_ABOUT * zoom) if width >= _ABOUT_FROM * zoom else 0)
        x = cell.left() + self._themes.theme.metrics.pane_padding
        self._icon(painter, "mark" if line.note.marked else "comment", "accent.text", x, cell, 14)
        x += round(ICON * zoom)
        # One's own words are read first; what the message says stands in where there are none.
        ink = "ink.tertiary" if hidden else "ink.primary" if line.note.comment else "ink.secondary"
        if line.note.marked and line.note.comment:
            self._icon(painter, "comment", "ink.tertiary", x, cell, 12)
            x += round(18 * zoom)
        self._draw(painter, "body", ink, x, cell, line.text, about - gap - x)
        if about < context:
            self._draw(painter, "body", "ink.tertiary", about, cell, line.about, context - gap - about)
        if context < number:
            ink = "ink.tertiary" if hidden else "ink.secondary"
            self._draw(painter, "body", ink, context, cell, line.context, number - gap - context)
        self.draw_number(painter, cell, line.number)

"""Paints a row of the waste panel: tokens, in what way, sentence, tool, No."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QPainter
from typing_extensions import override

from inspector.analysis.waste import WasteKind
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_delegate import GAP, RIGHT, ListDelegate
from inspector.ui.panels.waste.model import PERHAPS, WasteModel

_KIND_FROM, _TOOL_FROM, _ROOMY_FROM = 440, 680, 1150
"""Widths at 100 % from which the way, the tool and a longer tool are shown: tokens and sentence go first."""
_TOOL, _LONG_TOOL = 130, 220
_ADVICE_FROM = 160
"""Width at 100 % that is worth beginning to say what to do."""
_WIDEST = "8,888,888"


class WasteDelegate(ListDelegate):
    """One row."""

    def __init__(self, model: WasteModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        line, zoom, width = self._model.line(row), self._zoom, cell.width()
        gap, hidden = round(GAP * zoom), not self._model.is_shown(row)
        left = cell.left() + self._themes.theme.metrics.pane_padding
        figures = self._metrics["number"].horizontalAdvance(_WIDEST)
        painter.setFont(self._fonts["number"])
        # What is certain stands out; what may have had its reason is said quietly.
        ink = "ink.tertiary" if hidden else "ink.primary" if line.sure else "ink.secondary"
        painter.setPen(self._themes.theme.color(ink))
        painter.drawText(QRect(left, cell.top(), figures, cell.height()), RIGHT, line.tokens)
        number = self.number_left(cell)
        wide = _LONG_TOOL if width >= _ROOMY_FROM * zoom else _TOOL
        tool = number - (round(wide * zoom) if width >= _TOOL_FROM * zoom else 0)
        x = left + figures + 2 * gap
        if width >= _KIND_FROM * zoom:
            self._paint_kind(painter, row, x, cell)
            x += self._kind_width() + 2 * gap
        ink = "ink.tertiary" if hidden else "ink.primary"
        drawn = self._draw(painter, "body", ink, x, cell, line.sentence, tool - gap - x)
        rest = tool - 2 * gap - x - drawn
        if rest >= round(_ADVICE_FROM * zoom):  # where there is no room the tooltip says it
            self._draw(painter, "body", "ink.tertiary", x + drawn + gap, cell, line.advice, rest)
        if tool < number:
            role = "mono-row" if line.mono else "body"
            self._draw(painter, role, "ink.tertiary" if hidden else "ink.secondary", tool, cell, line.about,
                       number - gap - tool)  # fmt: skip
        self.draw_number(painter, cell, line.number)

    def _paint_kind(self, painter: QPainter, row: int, x: int, cell: QRect) -> None:
        line, hidden = self._model.line(row), not self._model.is_shown(row)
        room = self._kind_width()
        x += self._draw(painter, "body", "ink.tertiary" if hidden else "ink.secondary", x, cell, line.kind, room)
        if not line.sure:
            x += round(6 * self._zoom)
            self._draw(
                painter,
                "small",
                "ink.tertiary",
                x,
                cell,
                PERHAPS,
                self._metrics["small"].horizontalAdvance(PERHAPS) + 2,
            )

    def _kind_width(self) -> int:
        words = max(self._metrics["body"].horizontalAdvance(kind.value) for kind in WasteKind)
        return words + round(8 * self._zoom) + self._metrics["small"].horizontalAdvance(PERHAPS)

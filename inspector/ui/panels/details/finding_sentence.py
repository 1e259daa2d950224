"""Sentence of a finding beside its severity icon."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from typing_extensions import override

from inspector.present.facts import Fact
from inspector.present.wire_text import safe_line
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.facts_view import FactsView


class FindingSentence(FactsView):
    """A finding's sentence beside its severity icon, with the code below."""

    def __init__(self, themes: ThemeController, rows: Sequence[Fact], severity: str, *, name: str) -> None:
        super().__init__(themes, rows, name=name, label=f"Finding, {severity}", surface="surface.inset")
        self.severity = severity

    @override
    def row_text(self, row: Fact) -> str:
        word = self.severity.capitalize()
        value = safe_line(row.value, 2_000)
        return f"{word}: {value}" if row is self.rows[0] else " ".join(filter(None, (value, row.right)))

    @override
    def _names_width(self, width: int) -> int:
        metrics = self.themes.theme.metrics
        return metrics.icon_row + 2 * metrics.unit

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        super().paint_row(painter, rect, row, hovered)
        if row == 0:
            metrics, word = self.themes.theme.metrics, self.severity
            side = metrics.icon_row
            pixmap = icons.pixmap(word, f"severity.{word}", side, self.devicePixelRatioF())
            painter.drawPixmap(QRect(rect.left(), rect.top() + (metrics.content_row - side) // 2, side, side), pixmap)

"""Paints rows of the findings panel: severity, sentence, code, context, No.; also group heads (docs/design.md 16)."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QPainter
from typing_extensions import override

from inspector.analysis.findings import Severity
from inspector.present.findings import FindingLine
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.model import FindingsModel, group_title
from inspector.ui.panels.list_delegate import GAP, ICON, ListDelegate

ICON_TOKENS = {
    Severity.ERROR: ("error", "severity.error"),
    Severity.WARNING: ("warning", "severity.warning"),
    Severity.NOTE: ("note", "severity.note"),
}
"""Icon and colour of each severity."""

_CHEVRON = 16
_CODE_FROM, _CONTEXT_FROM, _ROOMY_FROM = 820, 960, 1150
"""Minimum widths at 100 % for the code, the context and a longer context. The sentence has priority."""
_CODE, _CONTEXT, _LONG_CONTEXT = 202, 114, 220


@dataclass(frozen=True, slots=True)
class _Columns:
    """Left edges. A hidden column has zero width."""

    text: int
    code: int
    context: int
    number: int
    right: int


class FindingDelegate(ListDelegate):
    """A finding, or the head of a group."""

    def __init__(self, model: FindingsModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        if self._model.is_head(row):
            self._paint_head(painter, row, cell)
        else:
            line = self._model.line(row)
            if line is not None:
                self._paint_line(painter, row, cell, line)

    def _columns(self, row: int, cell: QRect) -> _Columns:
        zoom, metrics = self._zoom, self._themes.theme.metrics
        rows, width = self._model.rows, cell.width()
        text = cell.left() + metrics.pane_padding
        if rows.any_heads:
            text += round(_CHEVRON * zoom)
            if rows.group_at(row).has_head and not self._model.is_head(row):
                text += metrics.indent
        right = cell.right() + 1 - metrics.pane_padding
        number = self.number_left(cell)
        wide = _LONG_CONTEXT if width >= _ROOMY_FROM * zoom else _CONTEXT
        context = number - (round(wide * zoom) if width >= _CONTEXT_FROM * zoom else 0)
        code = context - (round(_CODE * zoom) if width >= _CODE_FROM * zoom else 0)
        return _Columns(text, code, context, number, right)

    # Rows

    def _paint_head(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, group = self._themes.theme, self._model.group(row)
        columns = self._columns(row, cell)
        chevron = "collapse" if group.is_open else "expand"
        at = columns.text - round(_CHEVRON * self._zoom) - round(3 * self._zoom)
        self._icon(painter, chevron, "ink.secondary", at, cell, _CHEVRON)
        x = self._severity_icon(painter, group.severity, columns.text, cell)
        end = columns.code - round(GAP * self._zoom)
        count = f"{group.count:,}"
        reserved = self._metrics["small"].horizontalAdvance(count) + theme.metrics.cell_padding
        x += self._draw(painter, "body-medium", "ink.primary", x, cell, group_title(group), end - reserved - x)
        x += theme.metrics.cell_padding
        self._draw(painter, "small", "ink.tertiary", x, cell, count, end - x)
        if group.check is not None and columns.code < columns.context:
            room = columns.number - columns.code
            self._draw(painter, "mono-row", "ink.tertiary", columns.code, cell, group.check.code, room)

    def _paint_line(self, painter: QPainter, row: int, cell: QRect, line: FindingLine) -> None:
        columns, gap = self._columns(row, cell), round(GAP * self._zoom)
        hidden = not self._model.is_shown(row)
        x = self._severity_icon(painter, line.check.severity, columns.text, cell)
        number = self._metrics["number"].horizontalAdvance(line.number)
        # A number wider than its column takes width from the column before it; it is never elided.
        edge = min(columns.number, columns.right - number)
        ink = "ink.tertiary" if hidden else "ink.primary"
        self._draw(painter, "body", ink, x, cell, line.sentence, min(columns.code, edge) - gap - x)
        if columns.code < columns.context:
            room = min(columns.context, edge) - gap - columns.code
            self._draw(painter, "mono-row", "ink.tertiary", columns.code, cell, line.check.code, room)
        if columns.context < columns.number:
            ink = "ink.tertiary" if hidden else "ink.secondary"
            self._draw(painter, "body", ink, columns.context, cell, line.context, edge - gap - columns.context)
        self.draw_number(painter, cell, line.number)

    def _severity_icon(self, painter: QPainter, severity: Severity, x: int, cell: QRect) -> int:
        """Draws the icon and returns the left edge of the text."""
        name, token = ICON_TOKENS[severity]
        self._icon(painter, name, token, x, cell, 14)
        return x + round(ICON * self._zoom)

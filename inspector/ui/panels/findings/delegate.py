"""Paints a row of the findings panel: icon, sentence, code in mono, context, No. (look.md 8); heads of groups too."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.analysis.findings import Severity
from inspector.ui import icons
from inspector.ui.panels.findings.lines import FindingLine
from inspector.ui.panels.findings.model import FindingsModel, group_title
from inspector.ui.panels.pane_head import name_font
from inspector.ui.theme import ThemeController

ICON_TOKENS = {
    Severity.ERROR: ("error", "severity.error"),
    Severity.WARNING: ("warning", "severity.warning"),
    Severity.NOTE: ("note", "severity.note"),
}
"""Icon and colour of each severity."""

_CHEVRON = 16
_GAP = 10
_CODE_FROM, _CONTEXT_FROM, _ROOMY_FROM = 520, 680, 1150
"""Widths at 100 % from which the code, the context and a longer context are shown: the sentence goes first."""
_CODE, _CONTEXT, _LONG_CONTEXT = 202, 114, 220

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


@dataclass(frozen=True, slots=True)
class _Columns:
    """Left edges; a column that is not shown is as wide as nothing."""

    text: int
    code: int
    context: int
    number: int
    right: int


class FindingDelegate(QStyledItemDelegate):
    """One row. Where nothing is selected the current one has a ring while the list has the focus."""

    def __init__(self, model: FindingsModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._themes = theme_controller
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self._zoom = theme.zoom
        names = ("body", "body-medium")
        self._fonts = {role: name_font(theme.font(role)) for role in names}
        self._fonts |= {role: theme.font(role) for role in ("small", "mono-row")}
        self._fonts["number"] = theme.font("body-medium")
        self._metrics = {role: QFontMetrics(font) for role, font in self._fonts.items()}

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._themes.theme.metrics.finding_row)

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        cell: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]  PySide's stubs lack it
        row = index.row()
        painter.save()
        self._paint_ground(painter, option, cell)
        if self._model.is_head(row):
            self._paint_head(painter, row, cell)
        else:
            line = self._model.line(row)
            if line is not None:
                self._paint_line(painter, row, cell, line)
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect) -> None:
        theme, state = self._themes.theme, option.state  # pyright: ignore[reportAttributeAccessIssue]
        focused = option.widget.hasFocus() and bool(state & QStyle.StateFlag.State_Active)  # pyright: ignore[reportAttributeAccessIssue]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(cell, theme.color("accent.wash" if focused else "accent.washdim"))
            bar = QRect(cell.left(), cell.top(), theme.metrics.selection_bar, cell.height())
            painter.fillRect(bar, theme.color("accent.ring"))
        elif state & QStyle.StateFlag.State_HasFocus and focused:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            painter.drawRoundedRect(QRectF(cell).adjusted(1.75, 0.75, -0.75, -0.75), 4, 4)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(cell, theme.color("surface.hover"))

    def _columns(self, row: int, cell: QRect) -> _Columns:
        zoom, metrics = self._zoom, self._themes.theme.metrics
        rows, width = self._model.rows, cell.width()
        text = cell.left() + metrics.pane_padding
        if rows.any_heads:
            text += round(_CHEVRON * zoom)
            if rows.group_at(row).has_head and not self._model.is_head(row):
                text += metrics.indent
        right = cell.right() + 1 - metrics.pane_padding
        number = right - self._metrics["number"].horizontalAdvance("No. 00000")
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
        end = columns.code - round(_GAP * self._zoom)
        count = f"{group.count:,}"
        reserved = self._metrics["small"].horizontalAdvance(count) + theme.metrics.cell_padding
        x += self._draw(painter, "body-medium", "ink.primary", x, cell, group_title(group), end - reserved - x)
        x += theme.metrics.cell_padding
        self._draw(painter, "small", "ink.tertiary", x, cell, count, end - x)
        if group.check is not None and columns.code < columns.context:
            room = columns.number - columns.code
            self._draw(painter, "mono-row", "ink.tertiary", columns.code, cell, group.check.code, room)

    def _paint_line(self, painter: QPainter, row: int, cell: QRect, line: FindingLine) -> None:
        columns, gap = self._columns(row, cell), round(_GAP * self._zoom)
        hidden = not self._model.is_shown(row)
        x = self._severity_icon(painter, line.check.severity, columns.text, cell)
        number = self._metrics["number"].horizontalAdvance(line.number)
        # A number that needs more than its column takes it from what stands before it; it is never cut.
        edge = min(columns.number, columns.right - number)
        ink = "ink.tertiary" if hidden else "ink.primary"
        self._draw(painter, "body", ink, x, cell, line.sentence, min(columns.code, edge) - gap - x)
        if columns.code < columns.context:
            room = min(columns.context, edge) - gap - columns.code
            self._draw(painter, "mono-row", "ink.tertiary", columns.code, cell, line.check.code, room)
        if columns.context < columns.number:
            ink = "ink.tertiary" if hidden else "ink.secondary"
            self._draw(painter, "body", ink, columns.context, cell, line.context, edge - gap - columns.context)
        painter.setFont(self._fonts["number"])
        painter.setPen(self._themes.theme.color("accent.text"))
        painter.drawText(cell.adjusted(0, 0, columns.right - cell.right() - 1, 0), _RIGHT, line.number)

    def _severity_icon(self, painter: QPainter, severity: Severity, x: int, cell: QRect) -> int:
        """Draw it; where the text begins."""
        name, token = ICON_TOKENS[severity]
        self._icon(painter, name, token, x, cell, 14)
        return x + round(24 * self._zoom)

    def _icon(self, painter: QPainter, name: str, token: str, x: int, cell: QRect, side: int) -> None:
        side = round(side * self._zoom)
        pixmap = icons.pixmap(name, token, side, painter.device().devicePixelRatioF())
        painter.drawPixmap(x, cell.top() + (cell.height() - side) // 2, pixmap)

    def _draw(self, painter: QPainter, role: str, token: str, x: int, cell: QRect, text: str, width: int) -> int:
        """Draw one line, cut at its right end; the width drawn."""
        if width <= 0:
            return 0
        shown = self._metrics[role].elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.setFont(self._fonts[role])
        painter.setPen(self._themes.theme.color(token))
        painter.drawText(QRect(x, cell.top(), width, cell.height()), _LEFT, shown)
        return self._metrics[role].horizontalAdvance(shown)

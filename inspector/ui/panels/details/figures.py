"""Figures in columns: a name, then numbers aligned at the right, under a head; as long as it has rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.present.wire_text import plain, tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.rows import RowsView
from inspector.ui.widgets.filter_menu import add_filter_actions


@dataclass(frozen=True, slots=True)
class Figures:
    """A row.

    Attributes:
        name: at the left.
        values: one text a column.
        mono: the name is the wire's.
        filter: a display filter the row stands for; "" for none.
    """

    name: str
    values: tuple[str, ...]
    mono: bool = True
    filter: str = ""


class FiguresView(RowsView[Figures]):
    """A small table. Its first row is the head."""

    def __init__(
        self,
        themes: ThemeController,
        head: Figures,
        rows: Sequence[Figures],
        *,
        name: str,
        label: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(themes, [head, *rows], name=name, label=label, parent=parent)

    @override
    def row_text(self, row: Figures) -> str:
        head = self.rows[0]
        if row is head:
            return ", ".join((head.name, *head.values))
        values = ", ".join(f"{title} {value}" for title, value in zip(head.values, row.values, strict=True))
        return f"{plain(row.name, 200)}: {values}"

    @override
    def row_tooltip(self, row: Figures) -> str:
        return "" if row is self.rows[0] else tool_tip(self.row_text(row))

    @override
    def row_height(self, row: int, width: int) -> int:
        return self.themes.theme.metrics.content_row

    def _widths(self) -> list[int]:
        theme = self.themes.theme
        body, head = QFontMetrics(theme.font("body")), QFontMetrics(theme.font("column"))
        columns = range(len(self.rows[0].values))
        return [
            max((head if place == 0 else body).horizontalAdvance(row.values[column])
                for place, row in enumerate(self.rows)) + 3 * theme.metrics.unit
            for column in columns
        ]  # fmt: skip

    @override
    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        theme, figures = self.themes.theme, self.rows[row]
        middle = Qt.AlignmentFlag.AlignVCenter
        if hovered and row:
            painter.fillRect(rect, theme.color("surface.hover"))
        right = rect.right() + 1
        painter.setFont(theme.font("column" if row == 0 else "body"))
        painter.setPen(theme.color("ink.secondary" if row == 0 else "ink.primary"))
        for text, width in reversed(list(zip(figures.values, self._widths(), strict=True))):
            painter.drawText(QRect(right - width, rect.top(), width, rect.height()),
                             int(middle | Qt.AlignmentFlag.AlignRight), text)  # fmt: skip
            right -= width
        font = theme.font("column" if row == 0 else "mono-row" if figures.mono else "body")
        painter.setFont(font)
        room = max(0, right - rect.left() - theme.metrics.unit)
        shown = QFontMetrics(font).elidedText(plain(figures.name, 200), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(rect.left(), rect.top(), room, rect.height()), int(middle), shown)
        if row == 0:
            painter.setPen(theme.color("line.hair"))
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())

    @override
    def activate_row(self, row: int) -> None:
        if self.rows[row].filter:
            self.filter_requested.emit(self.rows[row].filter, "replace")

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        super().fill_menu(menu, row)
        wanted = self.rows[row].filter
        if wanted:
            menu.addSeparator()
            add_filter_actions(menu, wanted, self.filter_requested.emit)

"""Paints the common parts of list rows in panels: background, icons and elided texts."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem
from typing_extensions import override

from inspector.ui.look import icons
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.pane_head import name_font

GAP = 10
"""Between columns, pixels at 100 %."""
ICON = 24
"""From an icon's left edge to the text after it, pixels at 100 %."""

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class ListDelegate(QStyledItemDelegate):
    """One row. Without a selection the current row has a focus ring while the list has the focus.

    Attributes:
        shows_cursor: True if the focus ring is painted; some lists wait for the first key.
    """

    def __init__(self, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.shows_cursor = True
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self._zoom = theme.zoom
        # Names get proportional figures, numbers tabular ones.
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
        cell: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        painter.save()
        self._paint_ground(painter, option, cell)
        self.paint_row(painter, index.row(), cell)
        painter.restore()

    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        """Paints the content of a row over its background."""
        raise NotImplementedError

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect) -> None:
        theme, state = self._themes.theme, option.state  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        selected = bool(state & QStyle.StateFlag.State_Selected)
        focused = option.widget.hasFocus() and bool(state & QStyle.StateFlag.State_Active)  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        paint_ground(
            painter, theme, cell,
            selected=selected,
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
            active=focused,
            cursor=bool(state & QStyle.StateFlag.State_HasFocus) and focused and self.shows_cursor and not selected,
        )  # fmt: skip

    def number_left(self, cell: QRect) -> int:
        """Returns the left edge of the column of numbers."""
        right = cell.right() + 1 - self._themes.theme.metrics.pane_padding
        return right - self._metrics["number"].horizontalAdvance("No. 00000")

    def draw_number(self, painter: QPainter, cell: QRect, words: str) -> None:
        """Draws a link to a message at the right edge."""
        painter.setFont(self._fonts["number"])
        painter.setPen(self._themes.theme.color("accent.text"))
        painter.drawText(cell.adjusted(0, 0, -self._themes.theme.metrics.pane_padding, 0), RIGHT, words)

    def _icon(self, painter: QPainter, name: str, token: str, x: int, cell: QRect, side: int) -> None:
        side = round(side * self._zoom)
        pixmap = icons.pixmap(name, token, side, painter.device().devicePixelRatioF())
        painter.drawPixmap(x, cell.top() + (cell.height() - side) // 2, pixmap)

    def _draw(self, painter: QPainter, role: str, token: str, x: int, cell: QRect, text: str, width: int) -> int:
        """Draws one line, elided at the right, and returns its width."""
        if width <= 0:
            return 0
        shown = self._metrics[role].elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.setFont(self._fonts[role])
        painter.setPen(self._themes.theme.color(token))
        painter.drawText(QRect(x, cell.top(), width, cell.height()), LEFT, shown)
        return self._metrics[role].horizontalAdvance(shown)

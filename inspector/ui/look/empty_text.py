"""Placeholder text of an empty list (docs/design.md 3)."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView

from inspector.ui.look.theme import Theme


class EmptyText:
    """Text of an empty list, also its description for screen readers.

    Attributes:
        text: the text, or "".
    """

    text = ""

    def set_text(self, view: QAbstractItemView, text: str) -> None:
        """Sets the text of a list."""
        if text != self.text:
            self.text = text
            view.setAccessibleDescription(text)
            view.viewport().update()

    def paint(self, view: QAbstractItemView, theme: Theme, top: int) -> None:
        """Paints the text below `top`, in pixels; called in the list's paint event."""
        if not self.text:
            return
        padding, size = theme.metrics.pane_padding, view.viewport().size()
        painter = QPainter(view.viewport())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        box = QRect(padding, top, size.width() - 2 * padding, size.height() - top)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self.text)

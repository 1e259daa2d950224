"""Words in the place of a list's rows while it has none (docs/design.md 3)."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView

from inspector.ui.look.theme import Theme


class EmptyText:
    """What a list says while it is empty; screen readers hear it as its description.

    Attributes:
        text: the words; "" for none.
    """

    text = ""

    def say(self, view: QAbstractItemView, text: str) -> None:
        """Say something else in a list."""
        if text != self.text:
            self.text = text
            view.setAccessibleDescription(text)
            view.viewport().update()

    def paint(self, view: QAbstractItemView, theme: Theme, top: int) -> None:
        """Paint the words from `top` on, in pixels; called while the list paints itself."""
        if not self.text:
            return
        padding, size = theme.metrics.pane_padding, view.viewport().size()
        painter = QPainter(view.viewport())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        box = QRect(padding, top, size.width() - 2 * padding, size.height() - top)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self.text)

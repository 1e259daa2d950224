"""Words in the place of a list's rows while it has none (docs/design.md 3)."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractScrollArea

from inspector.ui.look.theme import Theme


def paint_empty_text(view: QAbstractScrollArea, theme: Theme, text: str, top: int) -> None:
    """Paint them from `top` on, in pixels; called while the view paints itself."""
    padding = theme.metrics.pane_padding
    size = view.viewport().size()
    painter = QPainter(view.viewport())
    painter.setFont(theme.font("body"))
    painter.setPen(theme.color("ink.secondary"))
    box = QRect(padding, top, size.width() - 2 * padding, size.height() - top)
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, text)

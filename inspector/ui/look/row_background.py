"""Paints the background of a row: selected, hovered or focused (docs/design.md 14)."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from inspector.ui.look.theme import Theme

_RING = 1.5


def paint_ground(
    painter: QPainter, theme: Theme, row: QRect, *,
    selected: bool, hovered: bool, active: bool = True, cursor: bool = False, bar: bool = True,
) -> None:  # fmt: skip
    """Paints the background of a row, or of one of its cells.

    Args:
        painter: target.
        theme: source of colours.
        row: rectangle.
        selected: the row is selected.
        hovered: the pointer is over it.
        active: its list has the keyboard focus.
        cursor: draw a ring: the row is current but not selected.
        bar: the rectangle includes the left edge of the row, where selected rows have a bar.
    """
    if selected:
        painter.fillRect(row, theme.color("accent.wash" if active else "accent.washdim"))
        if bar:
            edge = QRect(row.x(), row.y(), theme.metrics.selection_bar, row.height())
            painter.fillRect(edge, theme.color("accent.ring"))
    elif hovered:
        painter.fillRect(row, theme.color("surface.hover"))
    if cursor:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent.ring"), _RING))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # Half a pen inside, so that the outer edge is on whole pixels.
        painter.drawRoundedRect(QRectF(row).adjusted(1.75, 0.75, -0.75, -0.75), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

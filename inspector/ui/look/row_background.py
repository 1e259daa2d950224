"""The ground of a row of a list, tree or table: selected, under the pointer, at the keyboard (docs/design.md 14)."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from inspector.ui.look.theme import Theme

_RING = 1.5


def paint_ground(
    painter: QPainter, theme: Theme, row: QRect, *,
    selected: bool, hovered: bool, active: bool = True, cursor: bool = False, bar: bool = True,
) -> None:  # fmt: skip
    """Paint the ground of a row, or of one of its cells.

    Args:
        painter: paints nothing else meanwhile.
        theme: gives the colours.
        row: where.
        selected: it is the selected one.
        hovered: the pointer is over it.
        active: its list has the keyboard.
        cursor: it has a ring around it: the keyboard is at it, and it is not selected.
        bar: it has the left edge of the row, where a selected one has a bar.
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
        painter.drawRoundedRect(QRectF(row).adjusted(1.75, 0.75, -0.75, -0.75), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

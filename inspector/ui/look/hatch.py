"""Paints diagonal stripes: time of a person, alone or with a tool, that reads without colour."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from inspector.ui.look.theme import Theme


def paint_hatch(painter: QPainter, theme: Theme, box: QRectF, ground: str = "") -> None:
    """Paints diagonal stripes, on the colour of a class."""
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    painter.fillRect(box, theme.color(ground or "accent.washdim"))
    painter.setPen(QPen(theme.color("surface.base" if ground else "line.control"), 2))
    step, high = 5.0, box.height()
    # From a fixed grid, so that stripes of neighbours join and do not move while the axis does not.
    x = box.left() - box.left() % step - high
    end = min(box.right(), box.left() + 20_000)
    while x < end:
        painter.drawLine(QPointF(x, box.bottom()), QPointF(x + high, box.top()))
        x += step
    painter.restore()

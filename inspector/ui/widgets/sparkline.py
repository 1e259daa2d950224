"""A line of the last values, as high as a word."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen


def paint_sparkline(painter: QPainter, box: QRectF, values: Sequence[float], color: QColor, width: float = 1.2) -> None:
    """Paint values from left to right, the highest at the top of the box.

    Args:
        painter: where to; its state is kept.
        box: room for the line.
        values: oldest first; fewer than two give a flat line.
        color: of the line.
        width: of the line, in logical pixels.
    """
    inner = box.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    top = max(values, default=0.0)
    shown = list(values) if len(values) > 1 else [0.0, 0.0]
    step = inner.width() / (len(shown) - 1)
    points = [
        QPointF(inner.left() + step * place, inner.bottom() - (value / top * inner.height() if top > 0 else 0.0))
        for place, value in enumerate(shown)
    ]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, width))
    painter.drawPolyline(points)
    painter.restore()

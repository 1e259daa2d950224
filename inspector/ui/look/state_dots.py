"""Draws the state of a context as one of five shapes that differ without colour (docs/design.md 14)."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from inspector.ui.look.theme import Theme

_HALO_ALPHA = 0.3
_CHECK = ((-4.0, 0.3), (-1.3, 3.0), (4.2, -3.2))
_CROSS = ((-2.9, -2.9), (2.9, 2.9)), ((-2.9, 2.9), (2.9, -2.9))


def draw_state(painter: QPainter, center: QPointF, state: str, theme: Theme, *, implicit: bool, halo: float) -> None:
    """Draws the dot of a context.

    Args:
        painter: antialiased; pen and brush are changed.
        center: centre in logical pixels.
        state: active, idle, concluded or cancelled.
        theme: source of colours and zoom.
        implicit: the context has no message itself; drawn instead of idle and active.
        halo: 0 to 1; for active contexts only.
    """
    zoom = theme.zoom
    if state in ("concluded", "cancelled"):
        _strokes(painter, center, theme.color(f"state.{state}"), zoom, check=state == "concluded")
    elif implicit:
        _ring(painter, center, theme.color("state.idle"), zoom, dashed=True)
    elif state == "active":
        _disc(painter, center, theme.color("state.active"), zoom, halo)
    else:
        _ring(painter, center, theme.color("state.idle"), zoom, dashed=False)


def _disc(painter: QPainter, center: QPointF, color: QColor, zoom: float, halo: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    if halo > 0:
        soft = QColor(color)
        soft.setAlphaF(_HALO_ALPHA * halo)
        painter.setBrush(soft)
        painter.drawEllipse(center, 6.5 * zoom, 6.5 * zoom)
    painter.setBrush(color)
    painter.drawEllipse(center, 3.75 * zoom, 3.75 * zoom)


def _ring(painter: QPainter, center: QPointF, color: QColor, zoom: float, *, dashed: bool) -> None:
    pen = QPen(color, 1.5 * zoom)
    if dashed:
        # Six dashes; lengths are in pen widths.
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([1.45, 0.82])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(center, 3.25 * zoom, 3.25 * zoom)


def _strokes(painter: QPainter, center: QPointF, color: QColor, zoom: float, *, check: bool) -> None:
    painter.setPen(QPen(color, 1.6 * zoom))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for line in (_CHECK,) if check else _CROSS:
        painter.drawPolyline([center + QPointF(x, y) * zoom for x, y in line])

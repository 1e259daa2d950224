"""Paints state pills and their glyphs (docs/design.md 14)."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from inspector.present.states import Glyph, StatePill
from inspector.ui.look.theme import Theme


def pill_width(theme: Theme, state: StatePill) -> int:
    """Returns the width of a state's pill in logical pixels."""
    metrics = theme.metrics
    return QFontMetrics(theme.font("badge")).horizontalAdvance(state.word) + metrics.badge_glyph + 5 * metrics.unit


def paint_pill(painter: QPainter, theme: Theme, rect: QRectF, state: StatePill) -> None:
    """Paints a state's pill into a rectangle of `pill_width`."""
    unit, side = theme.metrics.unit, theme.metrics.badge_glyph
    color = theme.color(state.token)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.pill_fill(state.token))
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    left = rect.left() + 1.75 * unit
    paint_glyph(painter, QRectF(left, rect.center().y() - side / 2, side, side), state.glyph, color)
    painter.setPen(color)
    painter.setFont(theme.font("badge"))
    text = QRectF(left + side + unit, rect.top(), rect.right() - left, rect.height())
    painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), state.word)
    painter.restore()


def paint_glyph(painter: QPainter, rect: QRectF, glyph: Glyph, color: QColor) -> None:
    """Paints a ring, check, dash or cross into a small square."""
    pen = QPen(color, 1.6)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = rect.adjusted(1, 1, -1, -1)
    if glyph == "ring":
        painter.drawEllipse(inner)
    elif glyph == "dash":
        painter.drawLine(QPointF(inner.left(), inner.center().y()), QPointF(inner.right(), inner.center().y()))
    elif glyph == "cross":
        painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.drawLine(inner.topRight(), inner.bottomLeft())
    else:
        low = QPointF(inner.left() + inner.width() * 0.38, inner.bottom() - 0.5)
        points = [QPointF(inner.left(), inner.center().y() + 0.5), low, QPointF(inner.right(), inner.top() + 0.5)]
        painter.drawPolyline(points)

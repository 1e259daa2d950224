"""Shapes of the timeline: marks of kind families cached as pixmaps, counts, wedges, breaks and open ends."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from inspector.engine.requests.timeline import COMPACTION_REACH, half_width, short_count
from inspector.protocol.kinds import Family
from inspector.ui.look.theme import Theme

_SIDE = 13
"""Side of a mark's pixmap, pixels at 100 %."""
_PILL = 14
_HIDDEN = 0.3
_FAINTEST = 0.22
"""Minimum opacity, so that a single message in a density strip is visible."""
_ZIGZAG = 4


class Shapes:
    """Marks in one theme.

    Attributes:
        side: width and height of a mark's pixmap.
        pill: height of a count.
    """

    def __init__(self, theme: Theme, dpr: float) -> None:
        self._theme = theme
        self._dpr = dpr
        # A mark takes 78 µs and a count 210 µs to draw, and 1 µs as a pixmap.
        self._pixmaps: dict[tuple[str, bool], QPixmap] = {}
        self._pills: dict[tuple[str, str, bool], QPixmap] = {}
        self.side = round(_SIDE * theme.zoom)
        self.pill = round(_PILL * theme.zoom)
        self._font = theme.font("badge")

    def _blank(self, width: int, height: int) -> QPixmap:
        pixmap = QPixmap(round(width * self._dpr), round(height * self._dpr))
        pixmap.setDevicePixelRatio(self._dpr)
        pixmap.fill(Qt.GlobalColor.transparent)
        return pixmap

    def draw(self, painter: QPainter, x: float, y: float, family: Family, *, hidden: bool = False) -> None:
        """Draws a message's mark centered at a position."""
        name = family.name.lower()
        pixmap = self._pixmaps.get((name, hidden))
        if pixmap is None:
            pixmap = self._pixmaps[name, hidden] = self._blank(self.side, self.side)
            made = QPainter(pixmap)
            made.setRenderHint(QPainter.RenderHint.Antialiasing)
            made.setOpacity(_HIDDEN if hidden else 1)
            middle = self.side / 2
            draw_mark(made, QPointF(middle, middle), self._theme, name)
            made.end()
        painter.drawPixmap(round(x - self.side / 2), round(y - self.side / 2), pixmap)

    def draw_count(self, painter: QPainter, x: float, y: float, count: int, token: str, *, hidden: bool) -> None:
        """Draws the count of several messages centered at a position."""
        words = short_count(count)
        pixmap = self._pills.get((words, token, hidden))
        if pixmap is None:
            pixmap = self._pills[words, token, hidden] = self._made_pill(words, count, token, hidden=hidden)
        width = pixmap.width() / self._dpr
        painter.drawPixmap(round(x - width / 2), round(y - self.pill / 2), pixmap)

    def _made_pill(self, words: str, count: int, token: str, *, hidden: bool) -> QPixmap:
        theme = self._theme
        room = QFontMetrics(self._font).horizontalAdvance(words) + round(8 * theme.zoom)
        width = max(room, round(2 * half_width(count) * theme.zoom) - 1)
        pixmap = self._blank(width, self.pill)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(_HIDDEN + 0.1 if hidden else 1)
        box = QRectF(0.5, 0.5, width - 1, self.pill - 1)
        radius = box.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("surface.base"))
        painter.drawRoundedRect(box, radius, radius)
        edge = QColor(theme.color(token))
        edge.setAlphaF(0.6)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(theme.pill_fill(token))
        painter.drawRoundedRect(box, radius, radius)
        painter.setFont(self._font)
        painter.setPen(theme.color(token))
        painter.drawText(QRectF(0, 0, width, self.pill), Qt.AlignmentFlag.AlignCenter, words)
        painter.end()
        return pixmap


def draw_mark(painter: QPainter, center: QPointF, theme: Theme, family: str) -> None:
    """Draws the mark of a family (`design_tokens.FAMILIES`). The painter is antialiased; its pen and brush change."""
    color, zoom, x, y = theme.family_color(family), theme.zoom, center.x(), center.y()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    match theme.family_mark(family):
        case "disc":
            painter.drawEllipse(center, 3.5 * zoom, 3.5 * zoom)
        case "square":
            side = 6 * zoom
            painter.drawRect(QRectF(x - side / 2, y - side / 2, side, side))
        case "diamond":
            reach = 4.7 * zoom
            painter.drawPolygon(_polygon(center, (0, -reach), (reach, 0), (0, reach), (-reach, 0)))
        case "triangle":
            painter.drawPolygon(_polygon(center, (0, -4.3 * zoom), (4.2 * zoom, 3.4 * zoom), (-4.2 * zoom, 3.4 * zoom)))
        case "bars":
            for top in (-3, 1):
                painter.drawRect(QRectF(x - 4 * zoom, y + top * zoom, 8 * zoom, 2 * zoom))
        case _:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(color, 1.5 * zoom))
            painter.drawEllipse(center, 2.9 * zoom, 2.9 * zoom)


def _polygon(center: QPointF, *corners: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(center.x() + x, center.y() + y) for x, y in corners])


def draw_wedge(painter: QPainter, center: QPointF, theme: Theme, token: str) -> None:
    """Draws the sign of a problem. The painter is antialiased; its pen and brush change."""
    reach = 3.2 * theme.zoom
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(token))
    painter.drawPolygon(_polygon(center, (-reach, -reach), (reach, -reach), (0, reach * 0.6)))


COMPACTED = "severity.warning"
"""The colour of compactions."""


def draw_compaction(painter: QPainter, center: QPointF, theme: Theme) -> None:
    """Draws two arrows towards each other. The painter is antialiased; its pen and brush change."""
    reach, inner = COMPACTION_REACH * theme.zoom, 0.5 * theme.zoom
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(COMPACTED))
    for side in (-1, 1):
        painter.drawPolygon(_polygon(center, (side * inner, 0), (side * reach, -reach), (side * reach, reach)))


def dense_color(theme: Theme, token: str, share: float, *, hidden: bool = False) -> QColor:
    """Returns the colour of a cell in a density strip.

    Args:
        theme: the look.
        token: its base colour.
        share: number of its messages divided by the maximum of all cells.
        hidden: True if the table shows none of them.
    """
    color = QColor(theme.color(token))
    color.setAlphaF((_FAINTEST + (1 - _FAINTEST) * share**0.5) * (_HIDDEN if hidden else 1))
    return color


def draw_break(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Draws a silence left out, as a stretch between two torn edges."""
    painter.save()
    step = max(2, round(_ZIGZAG * theme.zoom))
    edges: list[list[QPointF]] = []
    for x in (box.left(), box.right()):
        ends = range(round(box.top()), round(box.bottom()) + step, step)
        edges.append([QPointF(x + (step / 2 if n % 2 else -step / 2), y) for n, y in enumerate(ends)])
    path = QPainterPath()
    path.addPolygon(QPolygonF([*edges[0], *reversed(edges[1])]))
    # The torn edges extend beyond the box.
    painter.setClipRect(box.adjusted(-step, 0, step, 0), Qt.ClipOperation.IntersectClip)
    painter.fillPath(path, theme.color("surface.inset"))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("line.control"), 1))
    for edge in edges:
        painter.drawPolyline(QPolygonF(edge))
    painter.restore()


def draw_open_end(painter: QPainter, left: float, box: QRectF, theme: Theme, color: QColor) -> None:
    """Draws the end of an open context, as stripes of decreasing width. The painter is not antialiased."""
    x = round(left)
    for width in (3, 2, 1):
        painter.fillRect(QRectF(x, round(box.top()), round(width * theme.zoom), round(box.height())), color)
        x += round(5 * theme.zoom)

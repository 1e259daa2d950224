"""Draws the parts of cells and measures them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from inspector.present.rows import (
    Bar,
    Cell,
    Check,
    Dot,
    Gauge,
    Icon,
    Part,
    Pill,
    Space,
    Spot,
    Spread,
    Swatch,
    Tag,
    Text,
    Track,
)
from inspector.ui.look.fonts import name_font
from inspector.ui.look.gauge import gauge_color
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import Theme, ThemeController

_TABULAR = {"number": "body-medium", "count": "small", "figure": "body"}
"""Font roles with tabular figures, and the type role of each; names have proportional figures."""
_PRESENCE = ("speaking", "here", "left", "not announced")
_KEY_SIDES = 6
"""Left and right of the word in a tag."""


_LINK = "/link"
"""End of a font role that is underlined."""


def _font_of(theme: Theme, role: str) -> QFont:
    if role.endswith(_LINK):
        underlined = QFont(_font_of(theme, role.removesuffix(_LINK)))
        underlined.setUnderline(True)
        return underlined
    if role in _TABULAR:
        return theme.font(_TABULAR[role])
    return theme.font(role) if role.startswith("mono") else name_font(theme.font(role))


class CellPainter:
    """Draws cells with the fonts, colours and sizes of the theme.

    Attributes:
        hovered: True while a cell under the pointer is drawn; its links are underlined.
    """

    def __init__(self, themes: ThemeController) -> None:
        self._themes = themes
        self._paints = PaintCache(themes.theme, 1.0, _font_of)
        self.hovered = False
        self._drawers: dict[type, Callable[..., int]] = {
            Text: self._draw_text, Icon: self._draw_icon, Dot: self._draw_dot, Tag: self._draw_tag,
            Pill: self._draw_pill, Check: self._draw_check, Swatch: self._draw_swatch, Gauge: self._draw_gauge,
            Bar: self._draw_bar, Space: self._skip, Spot: self._draw_spot, Spread: self._draw_spread,
            Track: self._draw_track,
        }  # fmt: skip

    @property
    def _zoom(self) -> float:
        return self._themes.theme.zoom

    def use_theme(self) -> None:
        """Discards what was measured with the theme before."""
        self._paints.use_theme(self._themes.theme)

    def text_width(self, font: str, text: str) -> int:
        return self._paints.width(font, text)

    # Widths

    def _width(self, part: Part) -> int:
        """Returns the natural width of a part with the space behind it."""
        zoom, paints = self._zoom, self._paints
        if isinstance(part, Text):
            return paints.width(part.font, part.text) + round(part.space * zoom)
        if isinstance(part, Tag):
            wide = part.side * zoom if part.side else paints.width(part.font, part.text) + 2 * _KEY_SIDES * zoom
            return round(wide) + round(part.space * zoom)
        if isinstance(part, Pill):
            return paints.pill_width(part.state.word) + round(part.space * zoom)
        if isinstance(part, Gauge):
            return self._themes.theme.metrics.gauge_width
        if isinstance(part, Bar | Track | Spread):
            return 0
        return round((part.width if isinstance(part, Space) else part.advance) * zoom)

    def natural_width(self, cell: Cell) -> int:
        return sum(map(self._width, cell))

    def _room_for(self, text: Text, behind: Cell, room: int) -> int:
        """Returns the width of a text that may be elided: what others leave, or half of it before another text."""
        fixed = elided = 0
        for part in behind:
            if isinstance(part, Text) and part.elide != "never":
                # Optional texts get only what is left.
                elided += 0 if part.least else self._width(part)
            else:
                fixed += self._width(part)
        room -= fixed + round(text.space * self._zoom)
        return max(room - elided, room // 2) if elided else room

    # Drawing

    def paint_cell(self, painter: QPainter, cell: Cell, box: QRect, *, right: bool = False) -> None:
        """Draws the parts of a cell from the left, or so that they end at the right."""
        self._paints.dpr = painter.device().devicePixelRatioF()
        x, end = box.left(), box.right() + 1
        if right:
            x = max(x, end - self.natural_width(cell))
        for place, part in enumerate(cell):
            x += self._drawers[type(part)](painter, part, x, end, box, cell[place + 1 :])

    def _draw_text(self, painter: QPainter, part: Text, x: int, end: int, box: QRect, behind: Cell) -> int:
        paints, text = self._paints, part.text
        font = part.font + _LINK if part.link and self.hovered else part.font
        room = self._room_for(part, behind, end - x) if part.elide != "never" else paints.width(part.font, text)
        if not text or room <= 0 or room < part.least * self._zoom:
            return 0
        if part.short and paints.is_wider(part.font, text, room):
            text = part.short
        if part.right:
            x = max(x, end - paints.width(part.font, text))
        space = round(part.space * self._zoom)
        for start, stop in part.tinted:
            left = x + paints.width(part.font, text[:start])
            self._paint_tint(painter, part.tint, left, min(end, x + paints.width(part.font, text[:stop])), box)
        if part.lit:
            return self._draw_lit(painter, part, x, box, room) + space
        return paints.draw(painter, font, part.ink, x, box, text, room, middle=part.elide == "middle") + space

    def _paint_tint(self, painter: QPainter, token: str, left: int, right: int, box: QRect) -> None:
        theme, edge = self._themes.theme, round(3 * self._zoom)
        high = box.height() - 2 * edge
        painter.fillRect(left, box.top() + edge, right - left, high, theme.pill_fill(token))
        painter.fillRect(left, box.top() + edge + high - 1, right - left, 1, theme.color(token))

    def _draw_lit(self, painter: QPainter, part: Text, x: int, box: QRect, room: int) -> int:
        """Draws a text with highlighted characters, run by run."""
        used, start, lit = 0, 0, frozenset(part.lit)
        while start < len(part.text) and used < room:
            stop, on = start + 1, start in lit
            while stop < len(part.text) and (stop in lit) is on:
                stop += 1
            font, ink = ("body-strong", "accent.text") if on else (part.font, part.ink)
            used += self._paints.draw(painter, font, ink, x + used, box, part.text[start:stop], room - used)
            start = stop
        return used

    def _draw_icon(self, painter: QPainter, part: Icon, x: int, end: int, box: QRect, behind: Cell) -> int:
        if part.name:
            at = x + round(part.shift * self._zoom)
            self._paints.icon(painter, part.name, part.ink, at, box, round(part.side * self._zoom))
        return round(part.advance * self._zoom)

    def _draw_dot(self, painter: QPainter, part: Dot, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme, zoom = self._themes.theme, self._zoom
        center = QPointF(x + part.center * zoom, box.top() + box.height() / 2 + 0.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if part.state in _PRESENCE:
            paint_presence(painter, theme, center, part.state)
        else:
            halo = part.halo if part.state == "active" else 0.0
            draw_state(painter, center, part.state, theme, implicit=part.implicit, halo=halo)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        return round(part.advance * zoom)

    def _draw_tag(self, painter: QPainter, part: Tag, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme, space = self._themes.theme, round(part.space * self._zoom)
        wide = self._width(part) - space
        high = round(part.side * self._zoom) if part.side else self._paints.font_metrics(part.font).height() + 2
        edge = QRectF(x, box.top() + (box.height() - high) // 2, wide, high).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(edge, theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self._paints.font(part.font))
        painter.setPen(theme.color(part.ink))
        painter.drawText(edge, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, part.text)
        return wide + space

    def _draw_pill(self, painter: QPainter, part: Pill, x: int, end: int, box: QRect, behind: Cell) -> int:
        state = part.state
        if x + self._paints.pill_width(state.word) >= end:
            return 0
        self._paints.pill(painter, state.token, state.glyph, state.word, x, box)
        return self._width(part)

    def _draw_check(self, painter: QPainter, part: Check, x: int, end: int, box: QRect, behind: Cell) -> int:
        """Paints a check box in the look of the style sheet, which applies only to widgets."""
        theme, side = self._themes.theme, round(part.side * self._zoom)
        mark = QRect(x, box.top() + (box.height() - side) // 2, side, side)
        # Half a pixel inwards keeps a line of 1 px sharp.
        edge = QRectF(mark).adjusted(0.5, 0.5, -0.5, -0.5)
        on = part.state == "on"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent.fill" if on else "line.control"), 1))
        painter.setBrush(theme.color("accent.fill" if on else "surface.input"))
        radius = min(theme.metrics.radius_mark, side / 5)
        painter.drawRoundedRect(edge, radius, radius)
        if part.state == "excluded":
            middle = edge.center().y()
            painter.setPen(QPen(theme.color("severity.warning"), 1.5))
            painter.drawLine(QPointF(edge.left() + 3, middle), QPointF(edge.right() - 3, middle))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if on:
            self._paints.icon(painter, "check", "accent.on", x + 1, mark, side - 2)
        return round(part.advance * self._zoom)

    def _draw_swatch(self, painter: QPainter, part: Swatch, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme, wide = self._themes.theme, round(part.width * self._zoom)
        tint = QRect(x, box.y() + 4, wide, box.height() - 8)
        painter.fillRect(tint, theme.pill_fill(part.ink))
        painter.fillRect(QRect(x, tint.y(), round(3 * self._zoom), tint.height()), theme.color(part.ink))
        return round(part.advance * self._zoom)

    def _draw_gauge(self, painter: QPainter, part: Gauge, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme = self._themes.theme
        wide, high = theme.metrics.gauge_width, theme.metrics.gauge_height
        track = QRectF(x, round(box.top() + box.height() / 2 + 2 - high / 2), wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line.strong" if theme.dark else "line.hair"))
        painter.drawRoundedRect(track, high / 2, high / 2)
        if part.share > 0:
            painter.setBrush(gauge_color(theme, part.share))
            track.setWidth(max(high, wide * min(1.0, part.share)))
            painter.drawRoundedRect(track, high / 2, high / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        return wide

    def _draw_bar(self, painter: QPainter, part: Bar, x: int, end: int, box: QRect, behind: Cell) -> int:
        if part.share > 0:
            # Small shares keep a visible bar.
            width = max(1, round(part.share * box.width()))
            bar = QRect(end - width, box.top() + 4, width, box.height() - 8)
            painter.fillRect(bar, self._themes.theme.pill_fill(part.ink))
        return 0

    def _skip(self, painter: QPainter, part: Space, x: int, end: int, box: QRect, behind: Cell) -> int:
        return round(part.width * self._zoom)

    def _draw_spot(self, painter: QPainter, part: Spot, x: int, end: int, box: QRect, behind: Cell) -> int:
        side = round(part.side * self._zoom)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._themes.theme.color(part.ink))
        painter.drawRoundedRect(QRectF(x, box.center().y() - side / 2 + 0.5, side, side), 2, 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        return round(part.advance * self._zoom)

    def _draw_track(self, painter: QPainter, part: Track, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme, high = self._themes.theme, round(8 * self._zoom)
        wide = round(box.width() * min(1.0, part.share))
        top = box.y() + (box.height() - high) // 2
        # Softer than text, because its area is larger.
        fill = QColor(theme.color(part.ink))
        fill.setAlphaF(part.alpha)
        painter.fillRect(box.x(), top, box.width(), high, theme.color("line.hair"))
        painter.fillRect(box.x(), top, max(wide, 1 if part.share else 0), high, fill)
        return box.width()

    def _draw_spread(self, painter: QPainter, part: Spread, x: int, end: int, box: QRect, behind: Cell) -> int:
        theme, most, counts = self._themes.theme, max(part.counts, default=0), part.counts
        if not most:
            return 0
        room = box.adjusted(0, round(4 * self._zoom), 0, -round(4 * self._zoom))
        step = max(2, room.width() // len(counts))
        left = room.right() + 1 - step * len(counts)
        painter.fillRect(left, room.bottom() + 1, step * len(counts) - 1, 1, theme.color("line.strong"))
        for place, count in enumerate(counts):
            high = max(2, round(room.height() * count / most)) if count else 0
            painter.fillRect(left + place * step, room.bottom() + 1 - high, step - 1, high, theme.color("accent.ring"))
        return box.width()


def paint_presence(painter: QPainter, theme: Theme, center: QPointF, presence: str) -> None:
    """Paints the dot of a participant: a ring after it left, green while it speaks, small if never announced."""
    if presence == "left":
        painter.setPen(QPen(theme.color("state.idle"), 1.5 * theme.zoom))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = 3.0
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("state.active" if presence == "speaking" else "state.idle"))
        radius = 2.25 if presence == "not announced" else 3.75
    painter.drawEllipse(center, radius * theme.zoom, radius * theme.zoom)

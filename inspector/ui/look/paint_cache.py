"""Fonts, metrics and colours of rows that paint themselves, made once per theme, with the texts measured and cut.

A repaint asks for some hundred cells, and measuring one text costs as much as drawing it: cached, a window of rows
paints in a few milliseconds.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap

from inspector.present import wire_text
from inspector.present.badges import Badge
from inspector.ui.look import icons
from inspector.ui.look.hit_highlight import HitHighlight
from inspector.ui.look.theme import Theme

_MOST_CACHED = 20_000
"""Texts of which the widths are cached; a table scrolled for an hour shows many more."""
_NARROW, _LEAST = 4, 16
"""A text longer than its room divided by the one and the other is measured only so far at first."""
_ELLIPSIS = "…"
_INKS = frozenset(("ink.primary", "ink.secondary"))
"""What a text is written in that a highlight rule may colour."""


class PaintCache:
    """What painting a row in one theme needs.

    Attributes:
        theme: fonts, colours and grid.
        dpr: device pixels per logical pixel, for pixmaps.
        hits: what is lit of the texts drawn.
        ink: the colour that texts are drawn in instead of their own; icons and what is written small keep theirs.
    """

    def __init__(self, theme: Theme, dpr: float) -> None:
        self.dpr = dpr
        self.hits = HitHighlight()
        self.ink: str | None = None
        self._gathered: dict[tuple[str, str], list[tuple[int, int, str]]] | None = None
        self.use_theme(theme)

    def use_theme(self, theme: Theme) -> None:
        """Paint with other fonts and colours from now on."""
        self.theme = theme
        self.metrics = theme.metrics
        self._metrics: dict[str, QFontMetrics] = {}
        self._widths: dict[tuple[str, str], int] = {}
        self._cut: dict[tuple[str, str, int], str] = {}
        self._baselines: dict[tuple[str, int], int] = {}

    # Text

    def gather(self) -> None:
        """Hold back the texts that are drawn from now on, for `draw_gathered`."""
        self._gathered = {}

    def draw_gathered(self, painter: QPainter) -> None:
        """Draw the texts held back, those of one font and colour together: setting a font costs as much as a word."""
        gathered, self._gathered = self._gathered, None
        for (role, token), texts in (gathered or {}).items():
            painter.setFont(self.theme.font(role))
            painter.setPen(self.theme.color(token))
            for x, y, text in texts:
                painter.drawText(x, y, text)
        self.hits.paint(painter, self.theme)

    def font_metrics(self, role: str) -> QFontMetrics:
        """Metrics of a type role, cached."""
        found = self._metrics.get(role)
        if found is None:
            found = self._metrics[role] = QFontMetrics(self.theme.font(role))
        return found

    def width(self, role: str, text: str) -> int:
        """Width of a text in pixels, cached."""
        key = (role, text)
        found = self._widths.get(key)
        if found is None:
            if len(self._widths) > _MOST_CACHED:
                self._widths.clear()
            found = self._widths[key] = self.font_metrics(role).horizontalAdvance(text)
        return found

    def is_wider(self, role: str, text: str, width: int) -> bool:
        """Whether a text is wider than so many pixels; a long one is not measured to its end."""
        head = text[: width // _NARROW + _LEAST]
        return (len(head) < len(text) and self.width(role, head) > width) or self.width(role, text) > width

    def elided(self, role: str, text: str, width: int) -> str:
        """The text, cut at its right end where it is wider; "" where not even the dots fit."""
        if not self.is_wider(role, text, width):
            return text
        key = (role, text, width)
        found = self._cut.get(key)
        if found is None:
            if len(self._cut) > _MOST_CACHED:
                self._cut.clear()
            head = text[: width // _NARROW + _LEAST]
            if len(head) < len(text) and self.width(role, head) <= width:
                head = text
            found = self.font_metrics(role).elidedText(head, Qt.TextElideMode.ElideRight, width)
            found = self._cut[key] = "" if found == _ELLIPSIS and self.width(role, found) > width else found
        return found

    def draw(self, painter: QPainter, role: str, token: str, x: int, rect: QRect, text: str, width: int) -> int:
        """Draw one line of text from `x`, cut to `width`, centred in the height of `rect`; returns the width drawn."""
        shown = self.elided(role, text, width)
        if not shown:
            return 0
        y = rect.y() + self._baseline(role, rect.height())
        if self.ink is not None and token in _INKS:
            token = self.ink
        if self._gathered is not None:
            self._gathered.setdefault((role, token), []).append((x, y, shown))
        else:
            painter.setFont(self.theme.font(role))
            painter.setPen(self.theme.color(token))
            painter.drawText(x, y, shown)
        if self.hits.locate is not None:
            self._highlight(painter, role, text, shown, x, y)
        return self.width(role, shown)

    def _highlight(self, painter: QPainter, role: str, text: str, shown: str, x: int, y: int) -> None:
        """Light what is looked for in a text that was drawn."""
        metrics = self.font_metrics(role)
        top, height = y - metrics.ascent() - 1, metrics.height() + 2
        for start, stop in self.hits.places(text, shown):
            left, right = self.width(role, shown[:start]), self.width(role, shown[:stop])
            self.hits.add(QRect(x + left - 1, top, right - left + 2, height), role, shown, x, y)
        if self._gathered is None:
            self.hits.paint(painter, self.theme)

    def _baseline(self, role: str, height: int) -> int:
        found = self._baselines.get((role, height))
        if found is None:
            found = self._baselines[role, height] = baseline(QRect(0, 0, 1, height), self.font_metrics(role))
        return found

    def draw_right(self, painter: QPainter, role: str, token: str, right: int, rect: QRect, text: str) -> None:
        """Draw one line of text that ends at `right`, never cut."""
        width = self.width(role, text)
        self.draw(painter, role, token, right - width, rect, text, width)

    def draw_chips(self, painter: QPainter, role: str, token: str, x: int, rect: QRect, text: str, width: int) -> int:
        """As `draw`, with control and bidi characters as outlined amber chips."""
        start, end = x, x + width
        for piece, is_chip in wire_text.pieces(text):
            if end - x < 8:
                break
            if is_chip:
                needed = self.width("mono-row", piece) + 8
                if needed > end - x:
                    self.draw(painter, role, token, x, rect, _ELLIPSIS, end - x)
                    x = end
                    break
                self.chip(painter, QRect(x, rect.center().y() - 7, needed, 16), piece)
                x += needed + 4
            else:
                x += self.draw(painter, role, token, x, rect, piece, end - x) + 2
        return min(x, end) - start

    def chip(self, painter: QPainter, rect: QRect, text: str) -> None:
        """An outlined amber chip for a character that cannot be seen."""
        color = self.theme.color("severity.warning")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setFont(self.theme.font("mono-row"))
        painter.drawText(rect.x() + 4, baseline(rect, self.font_metrics("mono-row")), text)

    # Marks

    def icon(self, painter: QPainter, name: str, token: str, x: int, rect: QRect, size: int | None = None) -> int:
        """Draw an icon from `x`, centred in the height of `rect`; returns its width."""
        side = size or self.metrics.icon_row
        pixmap: QPixmap = icons.pixmap(name, token, side, self.dpr)
        painter.drawPixmap(x, rect.y() + (rect.height() - side) // 2, pixmap)
        return side

    def badge(self, painter: QPainter, badge: Badge, x: int, rect: QRect) -> int:
        """Draw a pill from `x`; returns its width."""
        return self.pill(painter, badge.token, badge.glyph, badge.text, x, rect)

    def pill_width(self, text: str) -> int:
        """Width of a pill that says a text."""
        return self.metrics.badge_glyph + 5 * self.metrics.unit - 1 + self.width("badge", text)

    def pill(self, painter: QPainter, token: str, shape: str, text: str, x: int, rect: QRect) -> int:
        """Draw a pill in a colour, with its mark, from `x`; returns its width."""
        height, glyph, unit = self.metrics.badge, self.metrics.badge_glyph, self.metrics.unit
        pill = QRect(x, rect.y() + (rect.height() - height) // 2, self.pill_width(text), height)
        color = self.theme.color(token)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.pill_fill(token))
        painter.drawRoundedRect(QRectF(pill), height / 2, height / 2)
        mark = QRectF(x + 2 * unit - 1, pill.y() + (height - glyph) / 2, glyph, glyph)
        _draw_glyph(painter, shape, color, mark)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(color)
        painter.setFont(self.theme.font("badge"))
        painter.drawText(x + 3 * unit - 1 + glyph, baseline(pill, self.font_metrics("badge")), text)
        return pill.width()


def baseline(rect: QRect, metrics: QFontMetrics) -> int:
    """Where a line of text stands that is centred in a height."""
    return rect.y() + (rect.height() + metrics.ascent() - metrics.descent() + 1) // 2


def _draw_glyph(painter: QPainter, glyph: str, color: QColor, box: QRectF) -> None:
    """A badge's mark: the ring of what may go, the check of what was used, the dash of what is folded."""
    pen = QPen(color, box.width() * 0.21)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    unit = box.width() / 8
    if glyph == "ring":
        painter.drawEllipse(box.center(), 2.9 * unit, 2.9 * unit)
    elif glyph == "check":
        at = [QPointF(box.x() + dx * unit, box.y() + dy * unit) for dx, dy in ((0.8, 4.4), (3.1, 6.6), (7.2, 1.7))]
        painter.drawPolyline(at)
    elif glyph == "cross":
        near, far = 1.6 * unit, 6.4 * unit
        for start, end in ((near, far), (far, near)):
            painter.drawLine(QPointF(box.x() + near, box.y() + start), QPointF(box.x() + far, box.y() + end))
    else:
        middle = box.center().y()
        painter.drawLine(QPointF(box.x() + 0.6 * unit, middle), QPointF(box.right() - 0.6 * unit, middle))

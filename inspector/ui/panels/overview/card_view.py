"""One card of the overview: lays out its figure, bar, curve and rows, and paints them."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.present.overview.cards import Card, Curve, Part, Section, Sort
from inspector.ui.look.hatch import paint_hatch
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.overview.word_flow import Fragment, flow_of, line_height, paint_fragment
from inspector.ui.panels.overview.word_link import WordLink

PAD = 16
_TITLE_GAP, _ROW_PAD, _SECTION_GAP, _COLUMN_GAP = 10, 3, 12, 16
_BAR_HEIGHT, _BAR_TOP, _SHARE_HEIGHT, _CURVE_HEIGHT = 18, 4, 8, 60
_FIGURE_GAP = 28
_LABEL_SHARE, _WORDS_LEAST = 0.45, 80
_SORT_COLORS: dict[Sort, str] = {
    "model": "accent.fill",
    "tools": "family.tools",
    "allowed": "family.tools",
    "person": "",
    "between": "line.strong",
}


@dataclass
class _Layout:
    """Places of all parts of a card.

    Attributes:
        fragments: words, each with the words of its row.
        lines: (top, left, right) of hairlines.
        shares: (box, share) of bars of rows.
        figure: place of the large figure; empty without one.
        bar: place of the bar of time.
        curve: place of the curve.
        height: height of the card.
    """

    fragments: list[tuple[Fragment, str]] = field(default_factory=list[tuple[Fragment, str]])
    lines: list[QRectF] = field(default_factory=list[QRectF])
    shares: list[tuple[QRectF, float]] = field(default_factory=list[tuple[QRectF, float]])
    headings: list[tuple[QPointF, str]] = field(default_factory=list[tuple[QPointF, str]])
    figure: QPointF | None = None
    bar: QRectF | None = None
    curve: QRectF | None = None
    height: float = 0.0


class CardView(QWidget):
    """A card.

    Signals:
        link_chosen(Link): a link was clicked.

    Attributes:
        card: the shown card.
        links: its links in reading order; hidden ones are spare.
    """

    link_chosen = Signal(object)

    def __init__(self, themes: ThemeController, card: Card, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.card = card
        self.links: list[WordLink] = []
        self._layout = _Layout()
        self._at_width: dict[int, _Layout] = {}  # of the last width, so that a card is laid out once
        self.setObjectName(f"overview-{card.id}")
        self.resize(0, 0)  # the page places it
        self.show_card(card)

    def show_card(self, card: Card) -> None:
        """Shows other contents of the card."""
        self.card = card
        self._at_width.clear()
        self.setAccessibleName(card.title)
        self.setAccessibleDescription("\n".join(card.texts))
        if self.width() > 1:
            self._lay_out()

    def height_for(self, width: int) -> int:
        """Returns the height that the card needs at a width."""
        return round(self._layout_at(width).height)

    def relayout(self) -> None:
        """Lays out the card after a change of the theme."""
        self._at_width.clear()
        self._lay_out()

    @override
    def sizeHint(self) -> QSize:
        return QSize(self.width(), round(self._layout.height))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() not in (0, event.oldSize().width()):
            self._lay_out()

    # Layout

    def _lay_out(self) -> None:
        self._layout = self._layout_at(self.width())
        linked = [one for one in self._layout.fragments if one[0].words.link is not None]
        while len(self.links) < len(linked):
            link = WordLink(self._themes, self)
            link.clicked.connect(self._follow)
            self.links.append(link)
        for link, (fragment, context) in zip(self.links, linked, strict=False):
            link.show_at(fragment, context=context)
        for spare in self.links[len(linked) :]:
            spare.hide()
        self.update()

    def _follow(self) -> None:
        link = self.sender()
        if isinstance(link, WordLink) and link.words.link is not None:
            self.link_chosen.emit(link.words.link)

    def _layout_at(self, width: int) -> _Layout:
        if width not in self._at_width:
            self._at_width = {width: self._made_layout(width)}
        return self._at_width[width]

    def _made_layout(self, width: int) -> _Layout:
        theme, card, found = self._themes.theme, self.card, _Layout()
        zoom = theme.zoom
        pad = round(PAD * zoom)
        inner = max(1, width - 2 * pad)
        y = float(pad)
        found.headings.append((QPointF(pad, y), card.title))
        if card.corner is not None:
            flow = flow_of(theme, (card.corner,), inner)
            found.fragments += [(one, "") for one in flow.moved(width - pad - flow.width, y)]
        y += line_height(theme) + round(_TITLE_GAP * zoom)
        if card.figure or card.bar or card.curve is not None:
            y = self._place_figure(found, theme, pad, y, inner) + round(_SECTION_GAP * zoom)
        for place, section in enumerate(card.sections):
            if place:
                y += round(_SECTION_GAP * zoom)
            y = self._place_section(found, theme, section, pad, y, inner)
        found.height = y + pad - round(_ROW_PAD * zoom)
        return found

    def _place_figure(self, found: _Layout, theme: Theme, x: float, y: float, inner: float) -> float:
        card, zoom = self.card, theme.zoom
        metrics = QFontMetricsF(theme.font("display"))
        figure = metrics.horizontalAdvance(card.figure)
        found.figure = QPointF(x, y)
        beside = card.bar or card.curve is not None
        unit = flow_of(theme, card.unit, max(figure, 150 * zoom) if beside else inner - figure - 12 * zoom)
        if not beside:
            found.fragments += [
                (one, card.figure)
                for one in unit.moved(x + figure + (12 * zoom if figure else 0), y + metrics.height() - unit.height - 2)
            ]
            return y + max(metrics.height() if figure else 0, unit.height)
        found.fragments += [(one, card.figure) for one in unit.moved(x, y + metrics.height())]
        left = max(figure, unit.width) + _FIGURE_GAP * zoom
        bottom = y + metrics.height() + unit.height
        if card.bar:
            top = y + round(_BAR_TOP * zoom)
            found.bar = QRectF(x + left, top, max(20.0, inner - left), round(_BAR_HEIGHT * zoom))
            words = flow_of(theme, card.bar_words, max(20.0, inner - left))
            found.fragments += [(one, "") for one in words.moved(x + left, found.bar.bottom() + 6 * zoom)]
            bottom = max(bottom, found.bar.bottom() + 6 * zoom + words.height)
        if card.curve is not None:
            found.curve = QRectF(x + left, y, max(20.0, inner - left), round(_CURVE_HEIGHT * zoom))
            bottom = max(bottom, found.curve.bottom())
        return bottom

    def _place_section(self, found: _Layout, theme: Theme, section: Section, x: float, y: float, inner: float) -> float:
        zoom = theme.zoom
        pad, gap = round(_ROW_PAD * zoom), round(_COLUMN_GAP * zoom)
        if section.heading:
            found.headings.append((QPointF(x, y), section.heading))
            y += line_height(theme) + round(_TITLE_GAP * zoom) / 2
        labels = [flow_of(theme, row.label, inner * _LABEL_SHARE) for row in section.rows]
        ends = [flow_of(theme, row.end, inner * _LABEL_SHARE) for row in section.rows]
        column = max((one.width for one in labels), default=0.0)
        ending = max(
            (end.width for row, end in zip(section.rows, ends, strict=True) if row.share is not None), default=0.0
        )
        for row, label, end in zip(section.rows, labels, ends, strict=True):
            found.lines += [QRectF(x, y, inner, 1)] if row.label else []
            left = x + (column + gap if row.label else 0)
            right = x + inner - (end.width + gap if row.end else 0)
            words = flow_of(theme, row.words, max(_WORDS_LEAST * zoom, right - left))
            least = row.lines * line_height(theme)
            height = max(label.height, words.height, end.height, least) + 2 * pad
            text = row.text
            for flow, start in ((label, x), (words, left), (end, x + inner - end.width)):
                found.fragments += [(one, text) for one in flow.moved(start, y + pad)]
            if row.share is not None:
                stop = x + inner - ending - gap
                bar = round(_SHARE_HEIGHT * zoom)
                top = y + (height - bar) / 2
                found.shares.append((QRectF(left, round(top), max(10.0, stop - left), bar), row.share))
            y += height
        return y

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, layout = QPainter(self), self._themes.theme, self._layout
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.hair"), 1))
        painter.setBrush(theme.color("surface.base" if not theme.dark else "surface.raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        for line in layout.lines:
            painter.fillRect(line, theme.color("line.hair"))
        painter.setFont(theme.font("body-strong"))
        painter.setPen(theme.color("ink.secondary"))
        metrics = QFontMetricsF(theme.font("body-strong"))
        ascent = (line_height(theme) - metrics.height()) / 2 + metrics.ascent()
        for point, text in layout.headings:
            painter.drawText(point + QPointF(0, ascent), text)
        if layout.figure is not None and self.card.figure:
            painter.setFont(theme.font("display"))
            painter.setPen(theme.color("ink.primary"))
            painter.drawText(
                layout.figure + QPointF(0, QFontMetricsF(theme.font("display")).ascent()), self.card.figure
            )
        if layout.bar is not None:
            _paint_parts(painter, theme, layout.bar, self.card.bar)
        if layout.curve is not None and self.card.curve is not None:
            _paint_curve(painter, theme, layout.curve, self.card.curve)
        for box, share in layout.shares:
            _paint_share(painter, theme, box, share)
        for fragment, _ in layout.fragments:
            if fragment.words.link is None:
                paint_fragment(painter, theme, fragment)


def _paint_parts(painter: QPainter, theme: Theme, box: QRectF, parts: tuple[Part, ...]) -> None:
    total = sum(part.value for part in parts) or 1.0
    path = QPainterPath()
    path.addRoundedRect(box, 4, 4)
    painter.save()
    painter.setClipPath(path)
    x = box.left()
    for part in parts:
        width = box.width() * part.value / total
        piece = QRectF(x, box.top(), width, box.height())
        if part.sort in ("person", "allowed"):
            paint_hatch(painter, theme, piece, _SORT_COLORS[part.sort])
        else:
            painter.fillRect(piece, theme.color(_SORT_COLORS[part.sort]))
        x += width
    painter.restore()


def _paint_share(painter: QPainter, theme: Theme, box: QRectF, share: float) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("line.strong" if theme.dark else "line.hair"))
    painter.drawRoundedRect(box, 2, 2)
    painter.setBrush(theme.color("accent.fill"))
    if share > 0:
        painter.drawRoundedRect(
            QRectF(box.left(), box.top(), max(2.0, box.width() * min(1.0, share)), box.height()), 2, 2
        )


def _paint_curve(painter: QPainter, theme: Theme, box: QRectF, curve: Curve) -> None:
    most = max(curve.tokens) * 1.1 or 1

    def point(place: float, tokens: float) -> QPointF:
        return QPointF(box.left() + place * box.width(), box.bottom() - tokens / most * box.height())

    line = [point(place, tokens) for place, tokens in zip(curve.places, curve.tokens, strict=True)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent.wash"))
    painter.drawPolygon(QPolygonF([box.bottomLeft(), *line, box.bottomRight()]))
    painter.setPen(QPen(theme.color("accent.ring"), 1.5))
    painter.drawPolyline(QPolygonF(line))

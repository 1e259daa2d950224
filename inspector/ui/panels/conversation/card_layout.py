"""A laid out card, and the parts that cards are built of: boxes, head lines, pills, texts and links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter, QPen

from inspector.present.conversation.cards import Picture
from inspector.ui.look import icons
from inspector.ui.look.text_flags import LEFT
from inspector.ui.look.theme import Theme
from inspector.ui.panels.conversation.text_pieces import TextPiece

ImageOf = Callable[[Picture], tuple[QImage | None, str] | None]
"""Returns a picture and its error text; None before it is decoded."""

Shape = Callable[[QPainter], None]
"""Paints a part of a card that is no text to select; the painter is moved to the card."""

READING_CHARACTERS = 80
"""Greatest width of the text column."""


class Zone(NamedTuple):
    """A part of a card that reacts to a click.

    Attributes:
        rect: in the card.
        act: name of the act.
        words: its description.
    """

    rect: QRectF
    act: str
    words: str


class Words(NamedTuple):
    """A word or figure of a head line.

    Attributes:
        text: one line.
        role: type role.
        token: colour.
    """

    text: str
    role: str = "body"
    token: str = "ink.primary"


@dataclass(slots=True)
class CardLayout:
    """A card laid out for a width.

    Attributes:
        height: in pixels, with the gap to the next card.
        texts: its texts, from top to bottom.
        shapes: painted below the texts.
        zones: parts that react to a click.
        frame: rectangle of the focus ring.
        is_bare: the frame has no padding around its text.
        mark: name and colour of the mark in the gutter.
    """

    height: int = 0
    texts: list[TextPiece] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    zones: list[Zone] = field(default_factory=list)
    frame: QRectF = field(default_factory=QRectF)
    is_bare: bool = False
    mark: tuple[str, str] = ("", "ink.tertiary")
    mark_y: float = 0

    def zone_at(self, point: QPointF) -> Zone | None:
        """Returns the part under a point; later ones lie on top."""
        return next((zone for zone in reversed(self.zones) if zone.rect.contains(point)), None)

    def link_at(self, point: QPointF) -> str:
        return next((link for text in self.texts if (link := text.link_at(point))), "")

    def text_at(self, point: QPointF) -> int:
        """Returns the number of the text at or nearest to a height; -1 without texts."""
        best, distance = -1, 0.0
        for place, text in enumerate(self.texts):
            off = max(text.y - point.y(), point.y() - text.bottom, 0.0)
            if best < 0 or off < distance:
                best, distance = place, off
        return best


class CardBuilder:
    """Adds parts to a card from top to bottom.

    Attributes:
        theme: fonts and colours.
        width: of the card.
        layout: the result.
        y: bottom of the parts so far.
        gutter: width of the marks at the left.
        image_of: decoded pictures.
    """

    def __init__(
        self, theme: Theme, width: int, *, indent: int = 0, image_of: ImageOf = lambda _picture: None
    ) -> None:  # fmt: skip
        self.theme = theme
        self.image_of = image_of
        self.layout = CardLayout()
        self.gutter = self.px(34) + indent
        self.left = float(self.gutter)
        self.right = float(width)
        self.width = width
        self.y = 0.0

    def px(self, plain: float) -> int:
        return round(plain * self.theme.zoom)

    def color(self, token: str) -> QColor:
        return self.theme.color(token)

    def metrics(self, role: str) -> QFontMetrics:
        return QFontMetrics(self.theme.font(role))

    def finish(self, gap: float = 10) -> CardLayout:
        """Returns the card with a gap below it."""
        if self.layout.frame.isEmpty():
            self.layout.frame = QRectF(self.left, 0, self.right - self.left, self.y)
            self.layout.is_bare = True
        self.layout.height = round(self.y + 0.5) + self.px(gap)
        return self.layout

    # Parts

    def mark(self, name: str, token: str, y: float = 1) -> None:
        """Sets the mark in the gutter."""
        self.layout.mark, self.layout.mark_y = (name, token), self.px(y)

    def add_text(self, piece: TextPiece) -> TextPiece:
        self.layout.texts.append(piece)
        self.y = max(self.y, piece.bottom)
        return piece

    def box(
        self, rect: QRectF, fill: str | None, edge: str | None = None, *, radius: float | None = None,
        top_only: bool = False,
    ) -> None:  # fmt: skip
        """Adds a rounded rectangle.

        Args:
            rect: in the card.
            fill: token, or None.
            edge: token of its hairline, or None.
            radius: of the corners; that of cards by default.
            top_only: round the upper corners only.
        """
        theme = self.theme
        corner = theme.metrics.radius_card if radius is None else radius

        def paint(painter: QPainter) -> None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color(edge), 1) if edge else Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(fill) if fill else Qt.BrushStyle.NoBrush)
            inside = rect.adjusted(0.5, 0.5, -0.5, -0.5) if edge else rect
            if top_only:
                painter.save()
                painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
                painter.drawRoundedRect(inside.adjusted(0, 0, 0, 2 * corner), corner, corner)
                painter.restore()
            else:
                painter.drawRoundedRect(inside, corner, corner)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

        self.layout.shapes.append(paint)

    def fill(self, rect: QRectF, color: QColor) -> None:
        """Adds a plain filled rectangle."""
        self.layout.shapes.append(lambda painter: painter.fillRect(rect, color))

    def words(self, words: Words, x: float, rect: QRectF, room: float, *, middle: bool = False) -> float:
        """Adds a line of text that cannot be selected. Returns its width, elided to `room`."""
        theme = self.theme
        metrics = self.metrics(words.role)
        mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        # Room for the last pixel of a width that was rounded down.
        shown = metrics.elidedText(words.text, mode, max(0, int(room) + 1))
        box = QRect(round(x), round(rect.top()), max(0, round(room) + 1), round(rect.height()))

        def paint(painter: QPainter) -> None:
            painter.setFont(theme.font(words.role))
            painter.setPen(theme.color(words.token))
            painter.drawText(box, LEFT, shown)

        self.layout.shapes.append(paint)
        return metrics.horizontalAdvance(shown)

    def pill(self, text: str, token: str, right: float, rect: QRectF) -> float:
        """Adds a pill that ends at `right`. Returns its width."""
        theme, font = self.theme, self.theme.font("badge")
        width = QFontMetrics(font).horizontalAdvance(text) + self.px(14)
        height = theme.metrics.badge + self.px(1)
        box = QRectF(right - width, rect.center().y() - height / 2, width, height)

        def paint(painter: QPainter) -> None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.pill_fill(token))
            painter.drawRoundedRect(box, height / 2, height / 2)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setFont(font)
            painter.setPen(theme.color(token))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

        self.layout.shapes.append(paint)
        return width

    def head_line(
        self, rect: QRectF, left: Sequence[Words], right: Sequence[Words], pill: tuple[str, str] | None
    ) -> None:
        """Adds the head of a card: words from the left, facts and a pill at the right.

        Args:
            rect: of the line, with padding at its ends.
            left: the first one is elided in the middle if room is short.
            right: facts before the pill.
            pill: text and token.
        """
        gap = self.px(8)
        end = rect.right()
        if pill is not None:
            end -= self.pill(pill[0], pill[1], end, rect) + gap
        for words in reversed(right):
            width = self.metrics(words.role).horizontalAdvance(words.text)
            if end - width < rect.left() + rect.width() / 3:
                continue
            self.words(words, end - width, rect, width)
            end -= width + gap
        # The subject gives way to the words around it.
        yielding = 1 if len(left) > 1 and left[1].role == "mono" else 0
        widths = [self.metrics(words.role).horizontalAdvance(words.text) + gap + 1 for words in left]
        x = rect.left()
        for place, words in enumerate(left):
            room = end - x
            if place == yielding:
                room = max(room - sum(widths[place + 1 :]), min(room, self.px(60)))
            if end - x < self.px(20):
                break
            x += self.words(words, x, rect, room) + gap

    def image(self, image: QImage, act: str, x: float, room: float, most: float, words: str) -> None:
        """Adds a picture that performs an act: at most `room` wide and `most` high, and never enlarged."""
        size = image.size()
        scale = min(1.0, room / max(1, size.width()), most / max(1, size.height()))
        rect = QRectF(
            round(x), round(self.y), max(1, round(size.width() * scale)), max(1, round(size.height() * scale))
        )
        theme = self.theme

        def paint(painter: QPainter) -> None:
            if image.hasAlphaChannel():
                painter.fillRect(rect, theme.color("surface.inset"))
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(rect, image)
            painter.setPen(theme.color("line.hair"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))

        self.layout.shapes.append(paint)
        self.layout.zones.append(Zone(rect, act, words))
        self.y = rect.bottom() + 1

    def link(self, text: str, act: str, x: float, y: float, *, role: str = "small", words: str = "") -> float:
        """Adds a link that performs an act. Returns the bottom of its line."""
        metrics = self.metrics(role)
        height = metrics.height() + self.px(3)
        rect = QRectF(x, y, self.right - x, height)
        width = self.words(Words(text, role, "accent.text"), x, rect, self.right - x)
        self.layout.zones.append(Zone(QRectF(x, y, width, height), act, words or text))
        self.y = max(self.y, y + height)
        return y + height


def paint_mark(painter: QPainter, theme: Theme, mark: tuple[str, str], x: float, y: float, dpr: float) -> None:
    """Paints the mark of a card in its gutter: a disc, a ring, or an icon."""
    name, token = mark
    side = round(14 * theme.zoom)
    if name in ("disc", "ring"):
        radius = 4.5 * theme.zoom
        center = QPointF(x + side / 2, y + side / 2 + 1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color(token), 1.5))
        painter.setBrush(theme.color(token) if name == "disc" else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, radius, radius)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    elif name:
        painter.drawPixmap(round(x), round(y) + 1, icons.pixmap(name, token, side, dpr))


def column_of(theme: Theme, width: int, font: QFont) -> tuple[int, int]:
    """Returns left edge and width of the text column, with its gutter, centred in a view."""
    zoom = theme.zoom
    left, right = round(10 * zoom), round(18 * zoom)
    most = round(34 * zoom) + READING_CHARACTERS * QFontMetrics(font).averageCharWidth()
    room = max(width - left - right, 120)
    used = min(room, most)
    return left + max(0, (room - used) // 2), used

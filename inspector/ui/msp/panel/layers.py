"""The four layers of a merged context: a stacked bar against the budget, and a row for each (docs/design.md 16)."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import tool_tip
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.list_delegate import LEFT, RIGHT

WARN_FROM = 0.75
"""Share of the budget from which on it is said that little is left (docs/design.md 10)."""
_ALPHAS = (1.0, 0.68, 0.44)
"""Steps of the accent for what is inherited; what is said in the sub-session itself is grey."""
_ROW, _BAR = 50, 10
_STRIPE, _TEXT_X = 4, 14


def layer_color(theme: Theme, place: int) -> QColor:
    """Colour of a layer, by its place from 0."""
    if place >= len(_ALPHAS):
        return theme.color("ink.tertiary")
    color = QColor(theme.color("accent.ring"))
    color.setAlphaF(_ALPHAS[place])
    return color


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """What a row says.

    Attributes:
        number: from 1.
        tokens: None where they are not counted.
        included: whether the policy lets it in.
        share: of everything that is sent, as words.
        words: what is in it; safe to show.
        why: what decided that, for the tooltip.
    """

    number: int
    title: str
    tokens: int | None
    share: str
    words: str
    why: str
    included: bool

    @property
    def spoken(self) -> str:
        """Everything as one text."""
        tokens = "" if self.tokens is None else formats.count_of(self.tokens, "token")
        parts = (f"{self.number} {self.title}", tokens, self.share, self.words)
        return ", ".join(filter(None, parts))


class LayerRow(QWidget):
    """One layer: its colour, number and title with its tokens; what is in it, and its share."""

    def __init__(self, themes: ThemeController, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._place = place
        self.figures: LayerFigures | None = None
        self.setObjectName(f"subsessionLayer{place + 1}")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.updateGeometry)

    def show_figures(self, figures: LayerFigures) -> None:
        """Say something else."""
        if figures != self.figures:
            self.figures = figures
            self.setAccessibleName(figures.spoken)
            self.setToolTip(tool_tip(f"{figures.words}\n\n{figures.why}".strip()))
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, round(_ROW * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        figures, theme = self.figures, self._themes.theme
        if figures is None:
            return
        zoom, painter = theme.zoom, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = round(34 * zoom)
        area = QRect(0, (self.height() - high) // 2, self.width(), high)
        color = layer_color(theme, self._place) if figures.tokens != 0 else theme.color("line.strong")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(QRectF(0, area.top(), round(_STRIPE * zoom), high), 2 * zoom, 2 * zoom)
        left = round(_TEXT_X * zoom)
        upper = QRect(left, area.top(), area.width() - left, high // 2)
        lower = QRect(left, area.top() + high // 2, area.width() - left, high - high // 2)
        ink = "ink.primary" if figures.included else "ink.tertiary"
        tokens = "" if figures.tokens is None else f"{figures.tokens:,}"
        self._line(painter, upper, "body-medium", ink, f"{figures.number}  {figures.title}", tokens)
        self._line(painter, lower, "small", "ink.tertiary", figures.words, figures.share)

    def _line(self, painter: QPainter, box: QRect, role: str, token: str, text: str, right: str) -> None:
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font(role))
        painter.setFont(theme.font(role))
        painter.setPen(theme.color(token))
        painter.drawText(box, RIGHT, right)
        room = box.width() - metrics.horizontalAdvance(right) - (theme.metrics.cell_padding if right else 0)
        painter.drawText(box, LEFT, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))


class LayerBar(QWidget):
    """Tokens of the layers side by side; where they exceed the budget a line says where it ends."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._tokens: tuple[int, ...] = ()
        self._budget = 0
        self.setObjectName("subsessionBar")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.updateGeometry)

    def show_tokens(self, tokens: tuple[int, ...], budget: int) -> None:
        """Show other figures.

        Args:
            tokens: of each layer.
            budget: 0 for none.
        """
        self._tokens, self._budget = tokens, budget
        total = sum(tokens)
        against = f" of a budget of {budget:,}" if budget else ""
        self.setAccessibleName(f"{formats.count_of(total, 'token')}{against}")
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, round(_BAR * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._themes.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect())
        outline = QPainterPath()
        radius = 3 * theme.zoom
        outline.addRoundedRect(whole, radius, radius)
        painter.setClipPath(outline)
        painter.fillRect(whole, theme.color("line.strong" if theme.dark else "line.hair"))
        scale = sum(self._tokens)
        if not scale:
            return
        x, done = 0.0, 0
        for place, tokens in enumerate(self._tokens):
            done += tokens
            end = whole.width() * done / scale
            if end - x >= 0.5:
                piece = QRectF(x, 0, end - x, whole.height())
                painter.fillRect(piece, theme.color("surface.base"))  # a step of the accent is thin colour
                painter.fillRect(piece.adjusted(0, 0, -1.5 if end - x > 3 else 0, 0), layer_color(theme, place))
            x = end
        if sum(self._tokens) > self._budget > 0:
            at = whole.width() * self._budget / scale
            painter.fillRect(QRectF(at - 2, 0, 4, whole.height()), theme.color("surface.base"))
            painter.fillRect(QRectF(at - 1, 0, 2, whole.height()), theme.color("gauge.full"))

"""The legend of a plot: how its lines look, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.look.theme import Theme, ThemeController

_SAMPLE = {"dashed": 18, "line": 18, "area": 16, "diamond": 9, "bar": 9}
"""Widths of the samples."""
_BETWEEN = 14
AREA_ALPHA = {True: 0.22, False: 0.16}
"""Share of an area's own colour in its fill; in the dark and in the light."""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry.

    Attributes:
        words: what it is.
        token: its colour, of the theme.
        look: a dashed line, a line, an area, a diamond or a bar.
        short: what it is where room is short; "" for the same.
    """

    words: str
    token: str
    look: Literal["dashed", "line", "area", "diamond", "bar"]
    short: str = ""


def area_color(theme: Theme, token: str) -> QColor:
    """What an area is filled with."""
    color = QColor(theme.color(token))
    color.setAlphaF(AREA_ALPHA[theme.dark])
    return color


class PlotLegend(QWidget):
    """Entries in one line, at the right."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("plotLegend")
        self._themes = themes
        self.keys: Sequence[Key] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_keys(self, keys: Sequence[Key]) -> None:
        """Say this."""
        if list(keys) != list(self.keys):
            self.keys = tuple(keys)
            self.setAccessibleName("Legend: " + ", ".join(key.words for key in keys))
            self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        font, zoom = theme.font("small"), theme.zoom
        painter.setFont(font)
        metrics = QFontMetrics(font)
        words, widths = self._fitting(metrics)
        x = self.width() + _BETWEEN * zoom - sum(widths)
        for key, label, wide in zip(self.keys, words, widths, strict=False):
            long = _SAMPLE[key.look] * zoom
            self._paint_sample(painter, theme, key, QRectF(x, 0, long, self.height()))
            painter.setPen(theme.color("ink.secondary"))
            text = QRectF(x + long + 5 * zoom, 0, wide, self.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
            x += wide

    def width_of(self, *, short: bool) -> float:
        """How much room all entries take."""
        metrics = QFontMetrics(self._themes.theme.font("small"))
        words = [key.short or key.words if short else key.words for key in self.keys]
        return sum(self._widths(metrics, words)) - _BETWEEN * self._themes.theme.zoom

    def _widths(self, metrics: QFontMetrics, words: Sequence[str]) -> list[float]:
        pairs = zip(self.keys, words, strict=True)
        zoom = self._themes.theme.zoom
        return [metrics.horizontalAdvance(label) + (_SAMPLE[key.look] + 6 + _BETWEEN) * zoom for key, label in pairs]

    def _fitting(self, metrics: QFontMetrics) -> tuple[list[str], list[float]]:
        """What is said, and in how much room: short where the whole does not fit, and less only where that does not."""
        words = [key.words for key in self.keys]
        room = self.width() + _BETWEEN * self._themes.theme.zoom
        widths = self._widths(metrics, words)
        if sum(widths) > room:
            words = [key.short or key.words for key in self.keys]
            widths = self._widths(metrics, words)
        while widths and sum(widths) > room:
            words, widths = words[:-1], widths[:-1]
        return words, widths

    @staticmethod
    def _paint_sample(painter: QPainter, theme: Theme, key: Key, box: QRectF) -> None:
        color, middle = theme.color(key.token), round(box.center().y())
        if key.look in ("line", "dashed"):
            pen = QPen(color, 2)
            if key.look == "dashed":
                pen.setDashPattern([3, 2])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle))
        elif key.look == "diamond":
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            x, reach = box.center().x(), 4.5 * theme.zoom
            corners = ((x, middle - reach), (x + reach, middle), (x, middle + reach), (x - reach, middle))
            painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        elif key.look == "area":
            high = 9 * theme.zoom
            fill = QColor(color)
            fill.setAlphaF(0.45)
            painter.fillRect(QRectF(box.left(), middle - high / 2, box.width(), high), fill)
        else:
            high = 8 * theme.zoom
            painter.fillRect(QRectF(box.left(), round(middle - high / 2), round(box.width()), round(high)), color)

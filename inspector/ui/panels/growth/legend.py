"""The legend of a plot: how its lines look, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.theme import Theme, ThemeController

DASHES = (4.0, 2.0)
AREA_ALPHA = {True: 0.22, False: 0.16}
"""Share of an area's own colour in its fill; in the dark and in the light."""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry.

    Attributes:
        words: what it is.
        token: its colour, of the theme.
        look: a dashed line, a line, an area, a dot or a bar.
    """

    words: str
    token: str
    look: Literal["dashed", "line", "area", "dot", "bar"]


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
        sample = {"dashed": 18, "line": 18, "area": 16, "dot": 8, "bar": 9}
        widths = [metrics.horizontalAdvance(key.words) + (sample[key.look] + 20) * zoom for key in self.keys]
        shown = len(widths)
        while shown and sum(widths[:shown]) > self.width() + 14 * zoom:
            shown -= 1
        x = self.width() + 14 * zoom - sum(widths[:shown])
        for key, wide in zip(self.keys[:shown], widths, strict=False):
            long = sample[key.look] * zoom
            self._paint_sample(painter, theme, key, QRectF(x, 0, long, self.height()))
            painter.setPen(theme.color("ink.secondary"))
            text = QRectF(x + long + 5 * zoom, 0, wide, self.height())
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, key.words)
            x += wide

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
        elif key.look == "dot":
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(box.center().x(), middle), 3.5 * theme.zoom, 3.5 * theme.zoom)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        elif key.look == "area":
            high = 9 * theme.zoom
            fill = QColor(color)
            fill.setAlphaF(0.45)
            painter.fillRect(QRectF(box.left(), middle - high / 2, box.width(), high), fill)
        else:
            high = 8 * theme.zoom
            painter.fillRect(QRectF(box.left(), round(middle - high / 2), round(box.width()), round(high)), color)

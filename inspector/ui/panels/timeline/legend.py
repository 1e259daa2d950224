"""Legend of lanes and plots, on one or several lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.timeline.shapes import (
    dense_color,
    draw_break,
    draw_compaction,
    draw_mark,
    draw_open_end,
    draw_wedge,
)

Look = Literal[
    "dashed", "line", "area", "diamond", "bar", "mark", "count", "dense", "span", "waits", "wedge", "ring", "state",
    "open", "break", "gap", "compaction",
]  # fmt: skip
_SAMPLE: dict[Look, int] = {
    "dashed": 18, "line": 18, "area": 16, "dense": 16, "span": 18, "waits": 18, "count": 14, "break": 13, "open": 11,
}  # fmt: skip
_NARROW = 9
"""Widths of samples, and of the unnamed ones; pixels at 100 %."""
_BETWEEN, _GAP = 14, 5
_LINE = 19
AREA_ALPHA = {True: 0.22, False: 0.16}
"""Opacity of an area's fill, by dark theme."""


@dataclass(frozen=True, slots=True)
class Key:
    """One entry.

    Attributes:
        words: its label.
        token: its colour in the theme, family of a mark or state of a context.
        look: its shape.
        short: a label for a narrow legend; "" for the same.
    """

    words: str
    token: str
    look: Look
    short: str = ""

    @property
    def sample(self) -> int:
        """Width of the sample in pixels at 100 %."""
        return _SAMPLE.get(self.look, _NARROW)


def area_color(theme: Theme, token: str) -> QColor:
    color = QColor(theme.color(token))
    color.setAlphaF(AREA_ALPHA[theme.dark])
    return color


class Legend(QWidget):
    """Entries in a row, right-aligned if one line is enough.

    Attributes:
        keys: the entries.
        one_line: omit entries that do not fit into one line; the tooltip has all.
        label_boxes: boxes of the labels in the last painting.
    """

    def __init__(self, themes: ThemeController, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._themes = themes
        self.keys: tuple[Key, ...] = ()
        self.one_line = False
        self.label_boxes: list[QRectF] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        themes.changed.connect(self._fit)

    def keep_off(self, left: int, right: int) -> None:
        """Sets the side margins in pixels."""
        self.setContentsMargins(left, 0, right, 0)
        self._fit()

    def show_keys(self, keys: Sequence[Key]) -> None:
        if tuple(keys) != self.keys:
            self.keys = tuple(keys)
            self.setAccessibleName("Legend: " + ", ".join(key.words for key in keys))
            self.setToolTip(", ".join(key.words for key in keys) if self.one_line else "")
            self._fit()

    def _fit(self) -> None:
        self.updateGeometry()
        self.update()

    # Positions

    def width_of(self, *, short: bool) -> float:
        """Returns the width of all entries in one line."""
        return sum(self._widths(short=short)) - _BETWEEN * self._themes.theme.zoom

    def _words(self, key: Key, *, short: bool) -> str:
        return key.short or key.words if short else key.words

    def _widths(self, *, short: bool) -> list[float]:
        zoom, metrics = self._themes.theme.zoom, QFontMetrics(self._themes.theme.font("small"))
        return [
            metrics.horizontalAdvance(self._words(key, short=short)) + 1 + (key.sample + _GAP + _BETWEEN) * zoom
            for key in self.keys
        ]

    def _is_short(self, width: float) -> bool:
        return self.width_of(short=False) > width

    def _places(self, width: float) -> list[tuple[float, int]]:
        """Returns the left end and the line of each entry."""
        short = self._is_short(width)
        if self.width_of(short=short) <= width:
            x = width - self.width_of(short=short)
            places: list[tuple[float, int]] = []
            for wide in self._widths(short=short):
                places.append((x, 0))
                x += wide
            return places
        places, x, line = [], 0.0, 0
        for wide in self._widths(short=short):
            if self.one_line and x and x + wide - _BETWEEN * self._themes.theme.zoom > width:
                break
            if x and x + wide - _BETWEEN * self._themes.theme.zoom > width:
                x, line = 0.0, line + 1
            places.append((x, line))
            x += wide
        return places

    @property
    def _line(self) -> int:
        return round(_LINE * self._themes.theme.zoom)

    def height_of(self, width: int) -> int:
        """Returns the height of all entries at a width."""
        places = self._places(self._room(width))
        return (places[-1][1] + 1) * self._line if places else 0

    @override
    def sizeHint(self) -> QSize:
        return QSize(round(self.width_of(short=True)), self.height_of(self.width()))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)  # in a low window lanes and plots have priority

    def _room(self, width: int) -> float:
        margins = self.contentsMargins()
        return max(1, width - margins.left() - margins.right())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, room, left = self._themes.theme, self._room(self.width()), self.contentsMargins().left()
        painter = QPainter(self)
        painter.setFont(theme.font("small"))
        metrics, short = painter.fontMetrics(), self._is_short(room)
        top = max(0, (self.height() - self.height_of(self.width())) // 2)
        self.label_boxes.clear()
        for key, (x, line) in zip(self.keys, self._places(room), strict=False):  # only the entries that fit
            long = key.sample * theme.zoom
            box = QRectF(left + x, top + line * self._line, long, self._line)
            _paint_sample(painter, theme, key, box)
            painter.setPen(theme.color("ink.secondary"))
            words = self._words(key, short=short)
            text = QRectF(box.right() + _GAP * theme.zoom, box.top(), metrics.horizontalAdvance(words) + 1, self._line)
            self.label_boxes.append(text)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


def _paint_sample(painter: QPainter, theme: Theme, key: Key, box: QRectF) -> None:
    middle = QPointF(box.center().x(), round(box.center().y()))
    painter.save()
    painter.setRenderHint(
        QPainter.RenderHint.Antialiasing, key.look in ("mark", "wedge", "ring", "state", "diamond", "compaction")
    )
    match key.look:
        case "line" | "dashed" | "waits" | "gap":
            _paint_line(painter, theme, key, box)
        case "mark":
            draw_mark(painter, middle, theme, key.token)
        case "wedge":
            draw_wedge(painter, middle, theme, key.token)
        case "compaction":
            draw_compaction(painter, middle, theme)
        case "ring":
            painter.setPen(QPen(theme.color(key.token), 1.5 * theme.zoom))
            painter.drawEllipse(middle, 4 * theme.zoom, 4 * theme.zoom)
        case "state":
            draw_state(painter, middle, key.token, theme, implicit=False, halo=0)
        case "open":
            stripes = QRectF(box.left(), middle.y() - 5, box.width(), 10)
            draw_open_end(painter, box.left(), stripes, theme, theme.color(key.token))
        case "break":
            high = 12 * theme.zoom
            draw_break(painter, QRectF(box.left(), middle.y() - high / 2, box.width(), high), theme)
        case "count":
            _paint_count(painter, theme, key, box)
        case "dense":
            for n, share in enumerate((0.15, 0.4, 1.0, 0.6)):
                wide, high = box.width() / 4, 10 * theme.zoom
                place = QRectF(round(box.left() + n * wide), round(middle.y() - high / 2), round(wide), round(high))
                painter.fillRect(place, dense_color(theme, key.token, share))
        case "diamond":
            x, y, reach = middle.x(), middle.y(), 4.5 * theme.zoom
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(key.token))
            corners = ((x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y))
            painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
        case _:
            _paint_block(painter, theme, key, box)
    painter.restore()


def _paint_line(painter: QPainter, theme: Theme, key: Key, box: QRectF) -> None:
    y, x = round(box.center().y()), round(box.center().x())
    if key.look == "gap":
        for top in range(y - 6, y + 6, 6):
            painter.fillRect(x, top, 1, 3, theme.color(key.token))
        return
    pen = QPen(theme.color(key.token), 2)
    if key.look != "line":
        pen.setDashPattern([3, 2] if key.look == "dashed" else [1.5, 1.5])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))


def _paint_count(painter: QPainter, theme: Theme, key: Key, box: QRectF) -> None:
    high = 12 * theme.zoom
    pill = QRectF(box.left(), box.center().y() - high / 2, box.width(), high)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.color(key.token))
    painter.drawRoundedRect(pill, high / 2, high / 2)
    painter.setFont(theme.font("badge"))
    painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, "3")


def _paint_block(painter: QPainter, theme: Theme, key: Key, box: QRectF) -> None:
    """Paints the filled sample of an area, a bar or a span."""
    high = {"area": 9, "span": 4}.get(key.look, 8) * theme.zoom
    fill = QColor(theme.color(key.token))
    if key.look == "area":
        fill.setAlphaF(0.45)
    painter.fillRect(QRectF(box.left(), round(box.center().y() - high / 2), round(box.width()), round(high)), fill)

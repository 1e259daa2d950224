"""Minimap and scroll bar ticks of the message table: problems, marks, gaps, hits; tooltips and clicks.

The cost depends on the height in pixels: long lists are sampled for each pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.engine.requests.views import TableRows
from inspector.present import formats
from inspector.ui.look.theme import ThemeController

_MAX_UNSAMPLED = 2_048
"""Most messages of a lane without sampling."""
# Several for each pixel, since a filter may hide some of them.
_PER_PIXEL = 16
_WIDTH = 14
_TICK_LENGTH, _TICK_HEIGHT = 5, 2
_MIN_DISTANCE = 6
"""Least average distance of marks in pixels; closer ones would run together."""
_CLUSTER_FACTOR = 2
"""Factor over the median count that makes a cluster."""
_PALE_ALPHA = 0.35
_NEAR_PIXELS = 3
"""Pixels around the pointer covered by tooltip and click."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Messages of one category and their look."""

    name: str
    """Singular noun, as in "hit"."""
    token: str
    left: int
    """Left edge of the marks, pixels at 100 %."""
    width: int
    height: int


LANES = (
    Lane("gap", "severity.warning", 1, 12, 1),
    Lane("warning", "severity.warning", 1, 3, 3),
    Lane("error", "severity.error", 1, 3, 3),
    Lane("mark", "ink.primary", 5, 3, 2),
    Lane("hit", "accent.ring", 9, 4, 2),
)
"""From left to right: problems, marks and hits; gaps go across. Later lanes paint over earlier ones."""

MinimapMarks = dict[str, NDArray[Any]]
"""By name of a lane: (n,) integer, message indices, ascending."""


class Minimap(QWidget):
    """Narrow strip of the table's height.

    Signals:
        message_requested(int): a mark was clicked.
        row_requested(int): a position without a mark was clicked.
    """

    message_requested = Signal(int)
    row_requested = Signal(int)

    def __init__(self, rows: TableRows, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._themes = themes
        self._marks: MinimapMarks = {}
        self._pixels: dict[str, NDArray[np.int64]] = {}
        self._counts: dict[str, NDArray[np.int64]] = {}
        self._stale = True
        self._visible_range = (0, 0)
        self.setObjectName("minimap")
        self.setAccessibleName("Minimap")
        self.setAccessibleDescription("Where problems, marks, gaps and hits are in the table")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        themes.changed.connect(self._on_theme_changed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * self._themes.theme.zoom), 0)

    # Content

    def show_marks(self, marks: MinimapMarks) -> None:
        """Shows marks; also call it after changes of rows, because positions depend on them."""
        self._marks = marks
        self._stale = True
        self.update()

    def show_seen(self, first: int, last: int) -> None:
        """Sets the range of rows on screen."""
        if (first, last) != self._visible_range:
            self._visible_range = (first, last)
            self.update()

    @property
    def _top(self) -> int:
        """Top of the rows in pixels: below the header if all rows fit, else at the top of the scroll bar."""
        metrics = self._themes.theme.metrics
        fit = len(self._rows) * metrics.row <= self.height() - metrics.column_head
        return metrics.column_head if fit else 0

    def _scale(self) -> tuple[int, float]:
        """Returns the number of rows and their height here; the table's height if all rows fit."""
        count = len(self._rows)
        room = max(1, self.height() - self._top)
        return count, min(float(self._themes.theme.metrics.row), room / max(1, count))

    def y_of(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the y positions of rows in pixels."""
        _, high = self._scale()
        return (self._top + np.asarray(rows) * high + high / 2).astype(np.int64)

    def row_at(self, y: int) -> int:
        """Returns the nearest row to a y position."""
        count, high = self._scale()
        return min(max(int((y - self._top) / high), 0), count - 1)

    def places(self, name: str) -> list[int]:
        """Returns the y positions of a lane's marks in pixels."""
        self._lay_out()
        return self._pixels.get(name, np.zeros(0, np.int64)).tolist()

    def faint(self, name: str) -> NDArray[np.bool_]:
        """Returns a mask of faint marks: in a crowded lane, all outside of clusters."""
        self._lay_out()
        pixels, counts = self._pixels.get(name), self._counts.get(name)
        if pixels is None or counts is None:
            return np.zeros(0, np.bool_)
        count, high = self._scale()
        # In a sparse lane all marks are distinct.
        if len(pixels) * _MIN_DISTANCE <= count * high:
            return np.zeros(len(pixels), np.bool_)
        return counts < _CLUSTER_FACTOR * np.median(counts)

    def fractions(self, name: str) -> list[float]:
        """Returns the positions of a lane's marks as fractions, 0 for the first row and 1 for the last."""
        count, high = self._scale()
        # One for an empty table, against a division by zero.
        length = max(1.0, count * high)
        return [min(1.0, max(0.0, (y - self._top) / length)) for y in self.places(name)]

    def _lay_out(self) -> None:
        if self._stale:
            self._stale = False
            self._pixels, self._counts = {}, {}
            for name, messages in self._marks.items():
                if len(messages):
                    rows = self._rows.rows_of(self._shown_sample(messages).astype(np.int64))
                    self._pixels[name], self._counts[name] = np.unique(self.y_of(rows), return_counts=True)

    def _shown_sample(self, messages: NDArray[Any]) -> NDArray[np.uint32]:
        """Returns the visible messages, sampled for each pixel if there are many. O(pixels log messages)."""
        visible = self._rows.visible
        if not len(visible):
            return np.zeros(0, np.uint32)
        wanted = messages.astype(np.uint32) if len(messages) <= _MAX_UNSAMPLED else self._sample(messages, visible)
        places = np.minimum(visible.searchsorted(wanted), len(visible) - 1)
        return wanted[visible[places] == wanted]

    def _sample(self, messages: NDArray[Any], visible: NDArray[np.uint32]) -> NDArray[np.uint32]:
        pixels = max(1, self.height() - self._top)
        edges = visible[(np.arange(pixels) * len(visible)) // pixels]
        ranks = np.append(messages.searchsorted(edges.astype(messages.dtype)), len(messages))
        counts = np.diff(ranks)
        some = ranks[:-1, None] + (counts[:, None] * np.arange(_PER_PIXEL)) // _PER_PIXEL
        return np.unique(messages[some[counts > 0].ravel()]).astype(np.uint32)

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self._lay_out()
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(QRect(0, 0, 1, self.height()), theme.color("line.hair"))
        self._paint_seen(painter)
        for lane in LANES:
            self._paint_lane(painter, lane)

    def _paint_seen(self, painter: QPainter) -> None:
        first, last = self._visible_range
        count, high = self._scale()
        if count and last - first + 1 < count:
            top, bottom = self._top + round(first * high), self._top + round((last + 1) * high)
            painter.fillRect(
                QRect(1, top, self.width() - 1, max(4, bottom - top)), self._themes.theme.color("accent.washdim")
            )

    def _paint_lane(self, painter: QPainter, lane: Lane) -> None:
        color, zoom = self._themes.theme.color(lane.token), self._themes.theme.zoom
        left, width, height = (
            round(lane.left * zoom),
            max(1, round(lane.width * zoom)),
            max(1, round(lane.height * zoom)),
        )
        pale = QColor(color)
        pale.setAlphaF(_PALE_ALPHA)
        faint = self.faint(lane.name).tolist()
        for place, y in enumerate(self._pixels.get(lane.name, np.zeros(0, np.int64)).tolist()):
            # Dashed, as in the table.
            if lane.name == "gap":
                for x in range(left, left + width, 4):
                    painter.fillRect(QRect(x, y, 2, 1), color)
            elif faint[place]:
                painter.fillRect(QRect(left, y, width, 1), pale)
            else:
                painter.fillRect(QRect(left, y - height // 2, width, height), color)

    # Pointer

    def near(self, y: int) -> list[tuple[str, int]]:
        """Returns (lane, pixel) of the marks near a y position, nearest first."""
        self._lay_out()
        found = [
            (abs(int(at) - y), lane.name, int(at))
            for lane in reversed(LANES)
            for at in self._pixels.get(lane.name, np.zeros(0, np.int64))
            if abs(int(at) - y) <= _NEAR_PIXELS
        ]
        return [(name, at) for _, name, at in sorted(found, key=lambda one: one[0])]

    def message_at(self, y: int) -> int | None:
        """Returns the message of the nearest mark, or None."""
        for name, at in self.near(y):
            shown = self._shown_sample(self._marks[name])
            rows = self._rows.rows_of(shown.astype(np.int64))
            hit = np.flatnonzero(self.y_of(rows) == at)
            if len(hit):
                return self._rows.row_at(int(rows[hit[0]]))[0]
        return None

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or not len(self._rows):
            return
        y = round(event.position().y())
        message = self.message_at(y)
        if message is not None:
            self.message_requested.emit(message)
        else:
            self.row_requested.emit(self.row_at(y))

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and len(self._rows):
            self.row_requested.emit(self.row_at(round(event.position().y())))

    @override
    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self._show_tool_tip(event.pos(), event.globalPos())
            return True
        return super().event(event)

    def words_at(self, y: int) -> str:
        """Returns the tooltip of a position: "hit, warning near No. 1,190"."""
        if not len(self._rows):
            return ""
        names = list(dict.fromkeys(name for name, _ in self.near(y)))
        message = self.message_at(y) if names else self._rows.row_at(self.row_at(y))[0]
        number = formats.number((message or 0) + 1)
        return f"{', '.join(names)} near No. {number}" if names else f"No. {number}"

    def _show_tool_tip(self, place: QPoint, where: QPoint) -> None:
        QToolTip.showText(where, self.words_at(place.y()), self)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stale = True

    def _on_theme_changed(self) -> None:
        self._stale = True
        self.updateGeometry()
        self.update()


class TickedScrollBar(QScrollBar):
    """Vertical scroll bar with ticks.

    Attributes:
        fractions: returns tick positions, 0 at the top and 1 at the bottom; called at each paint.
    """

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._themes = themes
        self.fractions: Callable[[], list[float]] = list
        self.setObjectName("messageScrollBar")
        self.setAccessibleName("Scroll the messages")

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        fractions = self.fractions()
        if not fractions:
            return
        painter = QPainter(self)
        color, zoom = self._themes.theme.color("accent.ring"), self._themes.theme.zoom
        length, height = round(_TICK_LENGTH * zoom), max(1, round(_TICK_HEIGHT * zoom))
        left, room = (self.width() - length) // 2, self.height() - height
        for y in sorted({round(fraction * room) for fraction in fractions}):
            painter.fillRect(QRect(left, y, length, height), color)

"""The minimap beside the scroll bar, and ticks on it: where in the view problems, marks, gaps and hits are.

It costs by pixels, not by messages: of each pixel's rows only some are asked about, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.ui.look.theme import ThemeController

_MOST_ASKED = 2_048
"""Messages that are all asked about; of more, some for each pixel."""
_PER_PIXEL = 16
_WIDTH = 14
_TICK_LENGTH, _TICK_HEIGHT = 5, 2
_LEAST_APART = 6
"""Marks that are nearer than so many pixels on average would run together."""
_CLUSTER = 2
"""So many times as many as usual are a cluster."""
_PALE = 0.35
_NEAR = 3
"""Pixels around the pointer that a tooltip tells of and a click reaches."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Messages of one kind and how they look."""

    name: str
    """For one of them: "hit"."""
    token: str
    left: int
    """Where its marks begin, in pixels at 100 %."""
    width: int
    height: int


LANES = (
    Lane("gap", "severity.warning", 1, 12, 1),
    Lane("warning", "severity.warning", 1, 3, 3),
    Lane("error", "severity.error", 1, 3, 3),
    Lane("mark", "ink.primary", 5, 3, 2),
    Lane("hit", "accent.ring", 9, 4, 2),
)
"""From left to right problems, marks and hits; gaps lie across. Later ones are painted over earlier ones."""

MinimapMarks = dict[str, NDArray[Any]]
"""By name of a lane: (n,) integer, message indices, ascending."""


class Minimap(QWidget):
    """A narrow strip as high as the table.

    Signals:
        message_requested(int): one of its marks was clicked.
        row_requested(int): a place without one of its marks was clicked.
    """

    message_requested = Signal(int)
    row_requested = Signal(int)

    def __init__(self, rows: VisibleRows, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = rows
        self._themes = themes
        self._marks: MinimapMarks = {}
        self._pixels: dict[str, NDArray[np.int64]] = {}
        self._counts: dict[str, NDArray[np.int64]] = {}
        self._stale = True
        self._seen = (0, 0)
        self.setObjectName("minimap")
        self.setAccessibleName("Minimap")
        self.setAccessibleDescription("Where problems, marks, gaps and hits are in the table")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        themes.changed.connect(self._on_theme_changed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * self._themes.theme.zoom), 0)

    # What it shows

    def show_marks(self, marks: MinimapMarks) -> None:
        """Show these; called after rows changed too, as places go by them."""
        self._marks = marks
        self._stale = True
        self.update()

    def show_seen(self, first: int, last: int) -> None:
        """Say which rows the table shows now."""
        if (first, last) != self._seen:
            self._seen = (first, last)
            self.update()

    @property
    def _top(self) -> int:
        """Where the rows begin: beside the table's where they all have room, else as on the scroll bar."""
        metrics = self._themes.theme.metrics
        fit = len(self._rows) * metrics.row <= self.height() - metrics.column_head
        return metrics.column_head if fit else 0

    def _scale(self) -> tuple[int, float]:
        """How many rows there are, and how high each is here: as in the table where all have room."""
        count = len(self._rows)
        room = max(1, self.height() - self._top)
        return count, min(float(self._themes.theme.metrics.row), room / max(1, count))

    def y_of(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Where rows stand, in pixels from the top."""
        _, high = self._scale()
        return (self._top + np.asarray(rows) * high + high / 2).astype(np.int64)

    def row_at(self, y: int) -> int:
        """The row that stands at a place; the nearest one."""
        count, high = self._scale()
        return min(max(int((y - self._top) / high), 0), count - 1)

    def places(self, name: str) -> list[int]:
        """Where the marks of a lane are painted, in pixels from the top."""
        self._lay_out()
        return self._pixels.get(name, np.zeros(0, np.int64)).tolist()

    def faint(self, name: str) -> NDArray[np.bool_]:
        """Returns which marks of a lane are painted faintly: where marks are nearly everywhere, those of no cluster."""
        self._lay_out()
        pixels, counts = self._pixels.get(name), self._counts.get(name)
        if pixels is None or counts is None:
            return np.zeros(0, np.bool_)
        count, high = self._scale()
        if len(pixels) * _LEAST_APART <= count * high:
            return np.zeros(len(pixels), np.bool_)
        return counts < _CLUSTER * np.median(counts)

    def fractions(self, name: str) -> list[float]:
        """The same from 0, the first row, to 1, the last."""
        count, high = self._scale()
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
        """Those of the messages that are shown, or some for each pixel where they are many. O(pixels log messages)."""
        visible = self._rows.visible
        if not len(visible):
            return np.zeros(0, np.uint32)
        wanted = messages.astype(np.uint32) if len(messages) <= _MOST_ASKED else self._sample(messages, visible)
        wanted = np.unique(self._rows.standing_for(wanted)).astype(np.uint32)  # frames are marked at their streams
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
        first, last = self._seen
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
        pale.setAlphaF(_PALE)
        faint = self.faint(lane.name).tolist()
        for place, y in enumerate(self._pixels.get(lane.name, np.zeros(0, np.int64)).tolist()):
            if lane.name == "gap":  # dashed, as in the table
                for x in range(left, left + width, 4):
                    painter.fillRect(QRect(x, y, 2, 1), color)
            elif faint[place]:
                painter.fillRect(QRect(left, y, width, 1), pale)
            else:
                painter.fillRect(QRect(left, y - height // 2, width, height), color)

    # Pointer

    def near(self, y: int) -> list[tuple[str, int]]:
        """(lane, pixel) of the marks about a place, nearest first."""
        self._lay_out()
        found = [
            (abs(int(at) - y), lane.name, int(at))
            for lane in reversed(LANES)
            for at in self._pixels.get(lane.name, np.zeros(0, np.int64))
            if abs(int(at) - y) <= _NEAR
        ]
        return [(name, at) for _, name, at in sorted(found, key=lambda one: one[0])]

    def message_at(self, y: int) -> int | None:
        """The message of the nearest mark about a place; None where there is none."""
        for name, at in self.near(y):
            shown = self._shown_sample(self._marks[name])
            rows = self._rows.rows_of(shown.astype(np.int64))
            hit = np.flatnonzero(self.y_of(rows) == at)
            if len(hit):
                return self._rows.at(int(rows[hit[0]]))[0]
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
        """What is about a place: "hit, warning near No. 1,190"."""
        if not len(self._rows):
            return ""
        names = list(dict.fromkeys(name for name, _ in self.near(y)))
        message = self.message_at(y) if names else self._rows.at(self.row_at(y))[0]
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
    """A vertical scroll bar.

    Attributes:
        fractions: asked for where ticks are, 0 at the top and 1 at the bottom, whenever it is painted.
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


def ordered(messages: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Messages as a lane takes them."""
    return np.asarray(messages, np.int64)

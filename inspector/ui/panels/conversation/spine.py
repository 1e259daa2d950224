"""The spine at the right of a conversation: reported context, failures, prompts, and a scroll bar in one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.variable_height_view import VariableHeightView

_WIDTH = 16
_NEAR = 3
"""Pixels around a tick in which a click goes to it."""
_MIN_THUMB = 18
_THUMB_ALPHA, _AREA_ALPHA = 0.14, 0.28
_AREA_SHARE = 0.8
"""Share of the strip's width that the largest reported context takes."""
_TICK_ROOM = 4
"""Least distance of ticks of turns on average, in pixels."""


class Spine(QWidget):
    """Narrow strip of the view's height.

    Signals:
        row_requested(int): a tick was clicked.
    """

    row_requested = Signal(int)

    def __init__(self, view: VariableHeightView, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self._themes = themes
        self._failed: NDArray[np.int64] = np.zeros(0, np.int64)
        self._turns: NDArray[np.int64] = np.zeros(0, np.int64)
        self._hits: NDArray[np.int64] = np.zeros(0, np.int64)
        self._contexts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._area: tuple[object, list[QRectF]] = (None, [])
        self._dragged: float | None = None
        self.setObjectName("conversationSpine")
        self.setAccessibleName("Position in the conversation")
        self.setAccessibleDescription(
            "The area is the reported context, a cliff in it a compaction. Red ticks are failures. Drag to scroll."
        )
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        bar = view.verticalScrollBar()
        bar.valueChanged.connect(self.update)
        bar.rangeChanged.connect(self.update)
        themes.changed.connect(self.updateGeometry)

    @override
    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * self._themes.theme.zoom), 0)

    def show_ticks(
        self, failed: NDArray[np.int64], turns: NDArray[np.int64], hits: NDArray[np.int64] | None = None
    ) -> None:
        """Shows rows of failures, of prompts and of search hits, ascending."""
        self._failed, self._turns = failed, turns
        self._hits = np.zeros(0, np.int64) if hits is None else hits
        self.update()

    def show_contexts(self, tokens: NDArray[np.int64]) -> None:
        """Shows the reported context at each row, in tokens; -1 where it is unknown."""
        self._contexts = tokens
        self._area = (None, [])
        self.update()

    def _boxes(self) -> list[QRectF]:
        """Returns the area of the contexts as boxes from top to bottom; kept until a height changes."""
        heights, tokens = self._view.heights, self._contexts
        most = int(tokens.max(initial=-1))
        if most <= 0 or len(heights) != len(tokens):
            return []
        made_of = (heights.total, self.height(), self.width(), most, len(tokens))
        if self._area[0] != made_of:
            # Between two changes, the area is one box.
            rows = np.flatnonzero(np.diff(tokens, prepend=-2) != 0)
            tops = self.places(rows)
            ends = np.append(tops[1:], self.places_end())
            room = (self.width() - 1) * _AREA_SHARE
            boxes = zip(tops.tolist(), ends.tolist(), (np.maximum(tokens[rows], 0) * room / most).tolist(), strict=True)
            found = [QRectF(self.width() - wide, top, wide, end - top) for top, end, wide in boxes if end > top]
            self._area = made_of, found
        return self._area[1]

    def places_end(self) -> int:
        """Returns the bottom of the last row in the strip, in pixels."""
        total = self._view.heights.total
        return round(total * self.height() / max(total, self._view.viewport().height(), 1))

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the heights of rows in the strip, in pixels."""
        total = self._view.heights.total if len(self._view.heights) else 0
        room = max(total, self._view.viewport().height(), 1)
        rows = rows[rows < len(self._view.heights)]
        return (self._view.heights.tops(rows) * self.height() / room).astype(np.int64)

    def _thumb(self) -> QRectF:
        bar = self._view.verticalScrollBar()
        whole = bar.maximum() + bar.pageStep()
        height = max(float(_MIN_THUMB), self.height() * bar.pageStep() / max(1, whole))
        top = (self.height() - height) * bar.value() / max(1, bar.maximum())
        return QRectF(1, top, self.width() - 1, min(height, self.height()))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.inset"))
        painter.fillRect(QRect(0, 0, 1, self.height()), theme.color("line.hair"))
        area = QColor(theme.color("accent.fill"))
        area.setAlphaF(_AREA_ALPHA if not theme.dark else 1.6 * _AREA_ALPHA)
        for box in self._boxes():
            painter.fillRect(box, area)
        if self._view.verticalScrollBar().maximum() > 0:
            fill = QColor(theme.color("accent.fill"))
            fill.setAlphaF(_THUMB_ALPHA if not theme.dark else 2 * _THUMB_ALPHA)
            painter.fillRect(self._thumb(), fill)
        width, two = self.width(), max(2, round(2 * theme.zoom))
        for rows, token, left, high in (
            (self._turns, "line.control", width // 2, 1), (self._hits, "accent.ring", width // 3, two),
            (self._failed, "severity.error", 1, two),
        ):  # fmt: skip
            ticks = np.unique(self.places(rows))
            if rows is self._turns and len(ticks) * _TICK_ROOM > self.height():  # they would fill the strip
                continue
            for y in ticks.tolist():
                painter.fillRect(QRect(left, y, width - left, high), theme.color(token))

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        y = event.position().y()
        thumb = self._thumb()
        row = self._tick_at(y)
        if row >= 0:
            self.row_requested.emit(row)
        elif thumb.contains(event.position()):
            self._dragged = y - thumb.top()
        else:
            self._dragged = thumb.height() / 2
            self._drag_to(y)

    def _tick_at(self, y: float) -> int:
        """Returns the row of the nearest failure or hit at a height, or -1."""
        for rows in (self._failed, self._hits):
            places = self.places(rows)
            if len(places):
                near = int(np.argmin(np.abs(places - y)))
                if abs(int(places[near]) - y) <= _NEAR:
                    return int(rows[near])
        return -1

    def _drag_to(self, y: float) -> None:
        bar, thumb = self._view.verticalScrollBar(), self._thumb()
        room = max(1.0, self.height() - thumb.height())
        bar.setValue(round((y - (self._dragged or 0.0)) / room * bar.maximum()))

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged is not None:
            self._drag_to(event.position().y())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = None

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        QApplication.sendEvent(self._view.verticalScrollBar(), event)

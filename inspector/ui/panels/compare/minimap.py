"""Minimap of both lanes: differences by colour, the visible range, and jumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.engine.requests.run_comparisons import DifferenceClass
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.class_looks import LOOKS

_WIDTH = 22
_LANE = 8
_WEIGHTS = np.zeros(len(DifferenceClass), np.uint8)
# The most telling class of several rows in one line of pixels.
for _rank, _found in enumerate((
    DifferenceClass.WORDS, DifferenceClass.ORDER, DifferenceClass.AGENT, DifferenceClass.MODEL,
    DifferenceClass.DEFINITION, DifferenceClass.PROMPT, DifferenceClass.RESULT, DifferenceClass.ARGUMENTS,
    DifferenceClass.EXTRA, DifferenceClass.MISSING, DifferenceClass.FAILED,
)):  # fmt: skip
    _WEIGHTS[_found] = _rank + 1
_BY_WEIGHT = np.argsort(_WEIGHTS)
_LEAST_MARK, _MOST_MARK = 3, 8
"""Height of a row in pixels."""


class LaneMap(QWidget):
    """Both lanes from their first step to the last.

    Signals:
        row_requested(int): show a row of the comparison.
    """

    row_requested = Signal(int)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("compareMap")
        self.setAccessibleName("Map of both runs")
        self.setToolTip("Both runs: a click goes there")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._classes = np.zeros(0, np.uint8)
        self._there: NDArray[np.bool_] = np.zeros((0, 2), np.bool_)
        self._seen = 0, 0

    @override
    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * self._themes.theme.zoom), 100)

    def show_lanes(self, classes: NDArray[np.uint8], messages: NDArray[np.int64]) -> None:
        """Shows the rows of a comparison; arguments as in `ComparedRuns`."""
        self._classes, self._there = classes, messages >= 0
        self.update()

    def mark_visible(self, first: int, last: int) -> None:
        """Frames the rows in sight."""
        if self._seen != (first, last):
            self._seen = first, last
            self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter, count = self._themes.theme, QPainter(self), len(self._classes)
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, 0, 1, self.height(), theme.color("line.hair"))
        if not count:
            return
        lane = round(_LANE * theme.zoom)
        lefts = 2, self.width() - lane - 1
        edges = np.linspace(0, self.height(), count + 1).astype(np.int64)
        for side, left in enumerate(lefts):
            known = np.flatnonzero(self._there[:, side])
            lines = np.zeros(self.height() + 1, np.uint8)
            same = np.zeros(self.height() + 1, np.bool_)
            same[edges[known]] = True
            np.maximum.at(lines, edges[known], _WEIGHTS[self._classes[known]])
            high = min(max(1, self.height() // count - 1), _MOST_MARK)
            for y in np.flatnonzero(same & (lines == 0)).tolist():
                painter.fillRect(left, y, lane, high, theme.color("line.hair"))
            for y in np.flatnonzero(lines).tolist():
                token = LOOKS[int(_BY_WEIGHT[lines[y]])].token
                painter.fillRect(left, y, lane, max(high, _LEAST_MARK), theme.color(token))
        first, last = self._seen
        painter.setPen(theme.color("accent.ring"))
        top, bottom = int(edges[min(first, count)]), int(edges[min(last + 1, count)])
        painter.drawRect(0, top, self.width() - 1, max(4, bottom - top - 1))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go_to(event)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons():
            self._go_to(event)

    def _go_to(self, event: QMouseEvent) -> None:
        count = len(self._classes)
        if count and event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton):
            row = int(event.position().y() * count / max(1, self.height()))
            self.row_requested.emit(min(max(row, 0), count - 1))

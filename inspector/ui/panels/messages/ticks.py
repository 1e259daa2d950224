"""The table's scroll bar, with a tick for each place where a hit is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController

_LENGTH, _HEIGHT = 5, 2


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
        length, height = round(_LENGTH * zoom), max(1, round(_HEIGHT * zoom))
        left, room = (self.width() - length) // 2, self.height() - height
        for y in sorted({round(fraction * room) for fraction in fractions}):
            painter.fillRect(QRect(left, y, length, height), color)

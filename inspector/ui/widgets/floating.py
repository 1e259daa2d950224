"""Raised frames with a theme edge and any corner radius, for popups and cards.

The sheet's `pill` has one radius, and Qt drops a radius of more than half of the height.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController


class FloatingFrame(QFrame):
    """A raised frame with a thin edge and round corners."""

    def __init__(self, theme_controller: ThemeController, *, name: str, parent: QWidget | None = None) -> None:
        """Makes an empty frame.

        Args:
            theme_controller: source of the look.
            name: object name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)

    def radius(self) -> float:
        """Returns the corner radius in logical pixels."""
        return self._themes.theme.metrics.radius_field

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.setBrush(theme.color("surface.raised"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), self.radius(), self.radius())

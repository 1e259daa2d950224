"""One line above a view, of words and buttons that get shorter where there is little room."""

from __future__ import annotations

from collections.abc import Container

from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController


class LineHead(QWidget):
    """As high as the head of a pane, with a hairline below.

    Attributes:
        row: its layout.
    """

    def __init__(self, themes: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Make it empty; whoever derives from it calls `begin` when all is in it.

        Args:
            themes: gives the look.
            name: object name.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = themes
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.row = QHBoxLayout(self)

    def begin(self) -> None:
        """Follow the theme from now on."""
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def room_beside(self, yielding: Container[QWidget]) -> int:
        """Width that is left for some of its widgets, which can be shorter, beside all others."""
        margins, room = self.row.contentsMargins(), self.width()
        room -= margins.left() + margins.right() + self.row.spacing() * self.row.count()
        for place in range(self.row.count()):
            item = self.row.itemAt(place)
            widget = item.widget() if item is not None else None
            if widget is not None and widget not in yielding:
                room -= widget.sizeHint().width()
        return room

    def fit(self) -> None:
        """Leave words out where they do not all fit."""

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        self.row.setContentsMargins(metrics.pane_padding - 4, 0, metrics.pane_padding - metrics.unit, 1)
        self.row.setSpacing(metrics.unit)
        self.update()

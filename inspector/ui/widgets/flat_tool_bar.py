"""Tool bar without margins, exactly as high as its content."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QHBoxLayout, QToolBar, QWidget
from typing_extensions import override


class FlatToolBar(QToolBar):
    """A tool bar for one widget; resets the margins that the style sets."""

    def __init__(self, title: str, name: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setObjectName(name)
        self.setMovable(False)
        self.toggleViewAction().setEnabled(False)

    def hold(self, widget: QWidget) -> None:
        """Adds the widget with space at its sides."""
        frame = QWidget(self)
        sides = QHBoxLayout(frame)
        sides.setContentsMargins(8, 0, 8, 0)
        sides.addWidget(widget)
        self.addWidget(frame)

    @override
    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        layout = self.layout()
        # Qt applies the style's margins again whenever the style or its sheet changes.
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.Polish) and layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)
        return done

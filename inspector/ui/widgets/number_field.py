"""A field for a number, as settings and forms have it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSpinBox, QWidget
from typing_extensions import override

_MARGIN = 6


class NumberField(QSpinBox):
    """Keys count when they make a number, not each of them; a wheel that scrolls past changes nothing."""

    def __init__(self, name: str, title: str, least: int, most: int, parent: QWidget) -> None:
        """Make the field.

        Args:
            name: object name.
            title: accessible name.
            least: smallest number it takes.
            most: largest.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setRange(least, most)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(_MARGIN, 0, 0, 0)  # the style sheet's padding is not for what is inside

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

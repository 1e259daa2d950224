"""Spin box for numbers in settings and forms."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSpinBox, QWidget
from typing_extensions import override

_MARGIN = 6


class NumberField(QSpinBox):
    """Emits a change only for a complete number, and ignores the wheel without focus."""

    def __init__(self, name: str, title: str, least: int, most: int, parent: QWidget) -> None:
        """Makes the field.

        Args:
            name: object name.
            title: accessible name.
            least: smallest number.
            most: largest number.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setRange(least, most)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # the style sheet's padding does not apply to the inner line edit
        self.lineEdit().setTextMargins(_MARGIN, 0, 0, 0)

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

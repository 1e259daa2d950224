"""Hangs before a part of a window until that is painted for the first time."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.base.slices import Steps

_STEP = 160_000
"""Pixels that are let be seen at once: a table takes 10 ms to paint so many for the first time."""


class Curtain(QWidget):
    """Plain surface in the place of a part, of which nothing is painted meanwhile.

    The part is laid out behind it, and takes keys and clicks.

    Attributes:
        part: what it hangs before.
    """

    def __init__(self, part: QWidget, surface: QColor) -> None:
        """Hang before a part of a window at once.

        Args:
            part: which one.
            surface: its colour.
        """
        super().__init__(part)
        self.part = part
        self._surface = surface
        self._raised = 0  # pixels seen below the top edge of the part
        self.setObjectName("curtain")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that nothing is painted behind it
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        part.installEventFilter(self)
        self._hang()
        self.show()
        self.raise_()

    def _hang(self) -> None:
        self.setGeometry(self.part.rect().adjusted(0, self._raised, 0, 0))

    def lift(self) -> Steps[None]:
        """Let the part be seen, from above, as much in each step as is painted quickly; one that is gone needs none."""
        while isValid(self):
            self._raised += max(1, _STEP // max(1, self.part.width()))
            if self._raised >= self.part.height():
                self.hide()
                self.deleteLater()
                yield
                return
            self._hang()
            yield

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._hang()
        return False

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._surface)

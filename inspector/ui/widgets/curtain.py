"""Covers a slow part of the window and uncovers it in steps, so that its first paint does not freeze the window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.base.slices import SlicedWork

_STEP_PIXELS = 160_000
"""Pixels uncovered in one step: the first paint of so many takes a table 10 ms."""


class Curtain(QWidget):
    """A plain surface over a part that is not painted meanwhile.

    The part is laid out behind it, and gets keys and clicks.

    Attributes:
        part: the covered widget.
    """

    def __init__(self, part: QWidget, surface: QColor) -> None:
        """Covers a part at once.

        Args:
            part: widget to cover.
            surface: colour.
        """
        super().__init__(part)
        self.part = part
        self._surface = surface
        self._raised = 0  # uncovered pixels from the top edge
        self.setObjectName("curtain")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that the part behind it is not painted
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        part.installEventFilter(self)
        self._cover()
        self.show()
        self.raise_()

    def _cover(self) -> None:
        self.setGeometry(self.part.rect().adjusted(0, self._raised, 0, 0))

    def lift(self) -> SlicedWork[None]:
        """Uncovers the part from the top, a quick step at a time; does nothing if the widget was deleted."""
        while isValid(self):
            # Narrow parts uncover more rows in a step, since the cost follows the pixels.
            self._raised += max(1, _STEP_PIXELS // max(1, self.part.width()))
            if self._raised >= self.part.height():
                self.hide()
                self.deleteLater()
                yield
                return
            self._cover()
            yield

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._cover()
        return False

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._surface)

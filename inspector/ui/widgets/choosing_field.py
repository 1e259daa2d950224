"""Search field that forwards arrow keys to the list below it, so that the focus stays in the field."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override

from inspector.ui.widgets.command_list import CommandList

_PAGE = 8


class ChoosingField(QLineEdit):
    """A field where Up, Down and the page keys select a line of a list, and Enter accepts it.

    Signals:
        accepted(): Enter was pressed.
        left(): Esc was pressed.
    """

    accepted = Signal()
    left = Signal()

    def __init__(self, chosen_from: CommandList, *, name: str, label: str, hint: str, parent: QWidget) -> None:
        """Makes an empty field.

        Args:
            chosen_from: the list.
            name: object name.
            label: accessible name.
            hint: placeholder.
            parent: owner.
        """
        super().__init__(parent)
        self._list = chosen_from
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setPlaceholderText(hint)
        self.setProperty("variant", "search")
        self.setMaxLength(500)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE, Qt.Key.Key_PageUp: -_PAGE}
        if key in steps and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._list.step(steps[key], around=abs(steps[key]) == 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.accepted.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

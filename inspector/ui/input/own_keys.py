"""Keys that a focused widget needs itself, so that no window action may take them.

Actions with a single key, such as Space for Pause, work in the table and in widgets without a use for that key.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QWidget

LEAVES_SPACE = "leavesSpace"
"""Property of a list: True leaves Space to the window."""
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def wants(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Returns True if a widget handles a key itself: Space presses buttons, and a letter finds an entry."""
    if event.modifiers() & _COMMANDS:
        return False
    if isinstance(widget, QComboBox):
        return bool(event.text().strip()) or event.key() == Qt.Key.Key_Space
    if event.key() != Qt.Key.Key_Space or not isinstance(widget, QAbstractButton | QAbstractItemView | QAbstractSlider):
        return False
    return not widget.property(LEAVES_SPACE)


def presses(widget: QWidget | None, event: QKeyEvent) -> QAbstractButton | None:
    """Returns the button that Enter should press; outside of dialogs Qt accepts only Space."""
    is_enter = event.key() in _ENTER and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return widget if is_enter and isinstance(widget, QAbstractButton) and widget.isEnabled() else None

"""Keys that mean something to whatever has the keyboard, so that no action of the window may take them from it.

An action with a key alone, such as Space for Pause, is for the table and for what has no use for the key itself.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QAbstractSlider, QComboBox, QWidget

LEAVES_SPACE = "leavesSpace"
"""Property of a list that has no use for Space: True leaves it to the window."""
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def wants(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Whether a widget does something with a key by itself: Space presses buttons, and a letter finds an entry."""
    if event.modifiers() & _COMMANDS:
        return False
    if isinstance(widget, QComboBox):
        return bool(event.text().strip()) or event.key() == Qt.Key.Key_Space
    if event.key() != Qt.Key.Key_Space or not isinstance(widget, QAbstractButton | QAbstractItemView | QAbstractSlider):
        return False
    return not widget.property(LEAVES_SPACE)


def presses(widget: QWidget | None, event: QKeyEvent) -> QAbstractButton | None:
    """The button that Enter presses; Qt lets only Space do so outside of dialogs."""
    is_enter = event.key() in _ENTER and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return widget if is_enter and isinstance(widget, QAbstractButton) and widget.isEnabled() else None

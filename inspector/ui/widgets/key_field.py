"""Field that records a pressed key combination."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget
from typing_extensions import override

from inspector.ui.input.keys import native

_KEYS = Qt.Key
_PASSED_KEYS = (_KEYS.Key_Tab, _KEYS.Key_Backtab, _KEYS.Key_Escape)
_MODIFIER_KEYS = (
    _KEYS.Key_Control, _KEYS.Key_Shift, _KEYS.Key_Alt, _KEYS.Key_AltGr, _KEYS.Key_Meta, _KEYS.Key_CapsLock,
    _KEYS.Key_NumLock, _KEYS.Key_unknown,
)  # fmt: skip


class KeyField(QLineEdit):
    """Shows a key and records another one. Tab and Esc keep their meaning; Backspace removes the key.

    Signals:
        pressed(str): key in portable notation; empty if removed. The owner must call `show_key` to display it.
    """

    pressed = Signal(str)

    def __init__(self, *, name: str, label: str, parent: QWidget | None = None) -> None:
        """Makes an empty field.

        Args:
            name: object name.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setPlaceholderText("None")
        self.setReadOnly(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        # An input method would compose texts instead of passing the keys.
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, on=False)

    def show_key(self, key: str) -> None:
        """Shows a key in portable notation; empty for none."""
        self.setText(native([key]) if key else "")

    @override
    def event(self, event: QEvent) -> bool:
        """Takes shortcuts of the window as keys to record."""
        match event:
            case QKeyEvent() if (
                event.type() is QEvent.Type.ShortcutOverride and Qt.Key(event.key()) not in _PASSED_KEYS
            ):
                event.accept()
                return True
            case _:
                return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _PASSED_KEYS and not modifiers & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        elif key in _MODIFIER_KEYS:
            event.accept()
        elif key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) and not modifiers:
            self.pressed.emit("")
        else:
            combined = QKeySequence(QKeyCombination(modifiers, key))
            self.pressed.emit(combined.toString(QKeySequence.SequenceFormat.PortableText))

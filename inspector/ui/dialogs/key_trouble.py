"""Which keys cannot be given to an action, and why."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from inspector.ui.input.action import MENUS
from inspector.ui.input.keys import Keyed, native, plain_title

_KEYS = Qt.Key
_FIXED = (
    _KEYS.Key_Escape, _KEYS.Key_Tab, _KEYS.Key_Backtab, _KEYS.Key_Return, _KEYS.Key_Enter, _KEYS.Key_Up, _KEYS.Key_Down,
    _KEYS.Key_Left, _KEYS.Key_Right, _KEYS.Key_PageUp, _KEYS.Key_PageDown, _KEYS.Key_Home, _KEYS.Key_End,
    _KEYS.Key_Backspace, _KEYS.Key_Delete, _KEYS.Key_Menu, _KEYS.Key_F10,
)  # fmt: skip
_EDITING = ("Ctrl+C", "Ctrl+X", "Ctrl+A")
"""What every field does with its text."""
_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def trouble_with(key: str, action: Keyed) -> str:
    """Why an action cannot have a key, as a sentence; empty when it can, or when the key is empty.

    Args:
        key: written portably.
        action: what shall have it.
    """
    if not key:
        return ""
    pressed = QKeySequence(key)[0]  # pyright: ignore[reportIndexIssue]  # the stubs do not know it
    if key in _EDITING:
        return f"{native([key])} belongs to the text in fields and to what is selected in lists."
    menu = next((one for one in MENUS if key == f"Alt+{one[one.index('&') + 1].upper()}"), None)
    if menu is not None:
        return f"{native([key])} opens the menu {plain_title(menu)}."
    if pressed.keyboardModifiers() & _MODIFIERS:
        return ""
    if pressed.key() in _FIXED:
        return f"{native([key])} moves in lists and between controls."
    function = _KEYS.Key_F1 <= pressed.key() <= _KEYS.Key_F35
    if not function and not action.in_panes:
        return f"{native([key])} alone is for writing into fields. Press it with Ctrl or Alt."
    return ""

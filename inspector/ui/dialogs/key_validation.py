"""Validates keyboard shortcuts: reasons for refusal, and removal of invalid ones from the settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from inspector.present.secret_settings import short_name
from inspector.settings import Settings
from inspector.ui.input import preset_keys
from inspector.ui.input.action import MENUS
from inspector.ui.input.keys import Keyed, keys_in_force, native, normal, plain_title

_KEYS = Qt.Key
_FIXED_KEYS = (
    _KEYS.Key_Escape, _KEYS.Key_Tab, _KEYS.Key_Backtab, _KEYS.Key_Return, _KEYS.Key_Enter, _KEYS.Key_Up, _KEYS.Key_Down,
    _KEYS.Key_Left, _KEYS.Key_Right, _KEYS.Key_PageUp, _KEYS.Key_PageDown, _KEYS.Key_Home, _KEYS.Key_End,
    _KEYS.Key_Backspace, _KEYS.Key_Delete, _KEYS.Key_Menu, _KEYS.Key_F10,
)  # fmt: skip
_EDITING_KEYS = ("Ctrl+C", "Ctrl+X", "Ctrl+A")
"""Editing keys of every text field."""
_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def trouble_with(key: str, action: Keyed) -> str:
    """Returns the reason why an action cannot have a key, or "". An empty key is allowed.

    Args:
        key: the key in portable form.
        action: the action.
    """
    if not key:
        return ""
    pressed = QKeySequence(key)[0]  # pyright: ignore[reportIndexIssue] - the stubs do not know it
    if key in _EDITING_KEYS:
        return f"{native([key])} is reserved for text fields and lists."
    menu = next((one for one in MENUS if key == f"Alt+{one[one.index('&') + 1].upper()}"), None)
    if menu is not None:
        return f"{native([key])} opens the menu {plain_title(menu)}."
    # With Ctrl, Alt or Meta a key types no text.
    if pressed.keyboardModifiers() & _MODIFIERS:
        return ""
    if pressed.key() in _FIXED_KEYS:
        return f"{native([key])} is reserved for lists and for moving between controls."
    function = _KEYS.Key_F1 <= pressed.key() <= _KEYS.Key_F35
    if not function and not action.in_panes:
        return f"{native([key])} alone types text into fields. Combine it with Ctrl or Alt."
    return ""


def drop_unusable_keys(settings: Settings, actions: Iterable[Keyed]) -> list[str]:
    """Removes keys from the settings that the page of keys would refuse. Returns a sentence for each.

    Args:
        settings: edited in place.
        actions: all actions with keys, except presets.
    """
    known = {keyed.id: keyed for keyed in actions}
    reasons: list[str] = []
    owners: dict[str, str] = {}
    for name in [name for name in settings.keys if name in known]:
        given = settings.keys[name]
        usable = [key for key in given if _is_usable(key, known[name], owners, reasons)]
        if usable == given:
            continue
        if usable:
            settings.keys[name] = usable
        else:  # default keys are better than no key
            del settings.keys[name]
    for name, keys in keys_in_force(list(known.values()), settings.keys).items():
        owners.update((key, known[name].title) for key in keys if key not in owners)
    for preset in settings.presets:
        shown = Keyed("", "", f"the preset {short_name(preset.name)}")
        if preset.key and not _is_usable(preset_keys.normal(preset.key), shown, owners, reasons, preset.key):
            preset.key = None
    return reasons


def _is_usable(key: str, action: Keyed, owners: dict[str, str], reasons: list[str], written: str = "") -> bool:
    """Returns True if an action can have a key, and registers it. Else adds the reason to `reasons`."""
    pressed = normal(key)
    if not pressed or "\0" in key:
        reasons.append(f"“{short_name(written or key)}”, set for {action.title}, is not a valid key.")
        return False
    if pressed in owners:
        reasons.append(f"{native([pressed])} was set for {action.title}, but is the key of {owners[pressed]}.")
        return False
    trouble = "" if pressed in map(normal, action.defaults) else trouble_with(pressed, action)
    if trouble:
        reasons.append(f"{native([pressed])} cannot be the key of {action.title}: {trouble}")
        return False
    owners[pressed] = action.title
    return True


def dropped_keys_words(reasons: Sequence[str]) -> str:
    """Returns the notice about removed keys."""
    more = f" {len(reasons) - 1:,} more were removed as well." if len(reasons) > 1 else ""
    return f"A key in the settings was removed. {reasons[0]}{more} Help > Keys shows and changes them."

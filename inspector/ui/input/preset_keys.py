"""Which key applies which preset: its own, else the one of its place in the bar."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtGui import QKeySequence

from inspector.settings import Preset

BY_PLACE = 9
"""So many presets have the key of their place: Alt+1 to Alt+9."""


def normal(key: str) -> str:
    """A key as Qt writes it everywhere ("Ctrl+Shift+1"); "" for none and for what is no single key."""
    sequence = QKeySequence.fromString(key, QKeySequence.SequenceFormat.PortableText)
    written = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return written if sequence.count() == 1 else ""


def shown(key: str) -> str:
    """A key in the words of the desktop."""
    return QKeySequence.fromString(key, QKeySequence.SequenceFormat.PortableText).toString(
        QKeySequence.SequenceFormat.NativeText
    )


def keys_of(presets: Sequence[Preset], taken: Collection[str] = ()) -> list[str]:
    """The key of each preset.

    Args:
        presets: in the order of the bar.
        taken: keys that mean something else, as `normal` writes them; no preset has one of those.

    Returns:
        A key for each as `normal` writes it, "" for none; never the same one twice. Keys that were chosen go first.
    """
    used = set(taken)
    keys = ["" for _ in presets]
    for place, preset in enumerate(presets):
        key = normal(preset.key) if preset.key else ""
        if key and key not in used:
            keys[place] = key
            used.add(key)
    for place, preset in enumerate(presets[:BY_PLACE]):
        key = f"Alt+{place + 1}"
        if preset.key is None and key not in used:
            keys[place] = key
            used.add(key)
    return keys

"""Which key applies which preset: its own, else the one of its place in the bar."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

from PySide6.QtGui import QKeySequence

from inspector.settings import Preset, Topic, topics_of

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


def keys_in_settings(presets: Sequence[Preset], taken: Collection[str] = ()) -> list[str]:
    """The key of each preset where it is offered first.

    A place differs between bars. A preset for all logs has the key of its place only if every bar agrees.

    Args:
        presets: all of them, in their order.
        taken: as for `keys_of`.
    """
    bars: dict[Topic, dict[int, str]] = {}
    for topic in get_args(Topic):
        offered = [place for place, one in enumerate(presets) if not topics_of(one) or topic in topics_of(one)]
        bars[topic] = dict(zip(offered, keys_of([presets[place] for place in offered], taken), strict=True))
    keys: list[str] = []
    for place, preset in enumerate(presets):
        topics = topics_of(preset)
        found = {bars[topic][place] for topic in topics[:1] or bars}
        keys.append(found.pop() if len(found) == 1 else "")
    return keys

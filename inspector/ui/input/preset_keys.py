"""Assigns keys to presets: their own, else Alt and their place in the bar."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

from PySide6.QtGui import QKeySequence

from inspector.settings import Preset, Topic, topics_of

BY_PLACE = 9
"""Presets with a key by place: Alt+1 to Alt+9."""


def normal(key: str) -> str:
    """Returns a key in portable notation ("Ctrl+Shift+1"), or "" for a sequence."""
    sequence = QKeySequence.fromString(key, QKeySequence.SequenceFormat.PortableText)
    written = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return written if sequence.count() == 1 else ""


def shown(key: str) -> str:
    """Returns a key in native notation."""
    return QKeySequence.fromString(key, QKeySequence.SequenceFormat.PortableText).toString(
        QKeySequence.SequenceFormat.NativeText
    )


def keys_of(presets: Sequence[Preset], taken: Collection[str] = ()) -> list[str]:
    """Returns the key of each preset.

    Args:
        presets: presets in the order of the bar.
        taken: keys of other actions, as returned by `normal`; presets never get them.

    Returns:
        A key for each preset as returned by `normal`, "" for none, without duplicates. Chosen keys take precedence.
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
    """Returns the key of each preset in the settings page.

    A place differs between bars. A preset for all logs has the key of its place only if every bar agrees.

    Args:
        presets: all presets in order.
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

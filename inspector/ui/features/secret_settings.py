"""What of the settings may lie open on disk, and whether the keys in them can be used.

A filter, a name or an address that holds a secret is kept until the program ends and never written to a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from inspector.present.wire_text import plain
from inspector.protocol.secrets.masking import is_secret_key, mask_text
from inspector.protocol.secrets.shapes import names_a_key
from inspector.settings import ConnectionSettings, HighlightRule, Preset, Settings
from inspector.settings.sharing import Shared
from inspector.ui.dialogs.key_trouble import trouble_with
from inspector.ui.input import preset_keys
from inspector.ui.input.keys import Keyed, keys_in_force, native, normal

NOT_WRITTEN = "It holds a secret: it is kept until the program ends and written to no file."
"""Said where a preset or rule is edited."""
_COMPARES = re.compile(r"[=<>~\"'{]|\b(?:like|in|contains|matches)\b", re.IGNORECASE)
_BETWEEN_QUOTES = re.compile(r"[\s\"'^()]+")
_LONGEST_NAME = 40

_Item = TypeVar("_Item", Preset, HighlightRule)


def holds_secret(text: str) -> bool:
    """Whether a filter holds a token, or compares something that is called one with a value."""
    if mask_text(text) != text or any(map(names_a_key, _BETWEEN_QUOTES.split(text))):  # as a pattern, a part of one
        return True
    if _COMPARES.search(text) is None:
        return False
    from inspector.filters import FilterError, compile_filter  # a start page has no filter to look into

    try:
        fields = compile_filter(text, selected_context="context").fields
    except FilterError:
        return False
    return any(is_secret_key(part.strip('"')) for name in fields for part in name.split("."))


def may_be_written(item: Preset | HighlightRule) -> bool:
    """Whether a preset or rule can lie open on disk."""
    return not holds_secret(item.filter) and mask_text(item.name) == item.name


def without_secrets(settings: Settings) -> tuple[Settings, list[str]]:
    """The settings as they may be written, and in words what was left out of them; the settings stay as they are."""
    presets, secret_presets = _parted(settings.presets)
    highlights, secret_rules = _parted(settings.highlights)
    named = [one for one in settings.connections if is_open(one) and mask_text(one.name) == one.name]
    left_out = [f"the preset {_short(item.name)}" for item in secret_presets]
    left_out += [f"the highlight rule {_short(item.name)}" for item in secret_rules]
    left_out += [f"the connection {_short(one.name)}" for one in settings.connections if one not in named]
    written = settings.model_copy(
        update={
            "presets": presets, "highlights": highlights, "connections": named,
            "recent_connections": [one for one in settings.recent_connections if is_open(one)],
            "recent_files": [path for path in settings.recent_files if mask_text(path) == path],
            "filter_history": [text for text in settings.filter_history if not holds_secret(text)],
        }
    )  # fmt: skip
    return written, left_out


def shared_without_secrets(shared: Shared) -> tuple[Shared, int]:
    """What may be given to others, and how many presets and rules were left out of it."""
    presets, some = _parted(shared.presets)
    highlights, more = _parted(shared.highlights)
    return Shared(presets, highlights), len(some) + len(more)


def left_out_words(left_out: Sequence[str]) -> str:
    """What to say of what is not written."""
    what = left_out[0][:1].upper() + left_out[0][1:]
    if len(left_out) == 1:
        return f"{what} holds a secret: it is kept until the program ends and written to no file."
    more = f"{what} and {len(left_out) - 1:,} more hold secrets"
    return f"{more}: they are kept until the program ends and written to no file."


def _parted(items: Iterable[_Item]) -> tuple[list[_Item], list[_Item]]:
    written: list[_Item] = []
    kept: list[_Item] = []
    for item in items:
        (written if may_be_written(item) else kept).append(item)
    return written, kept


def is_open(connection: ConnectionSettings) -> bool:
    """Whether where a connection leads can lie open on disk."""
    told = (connection.url, connection.space, connection.participant)
    return all(mask_text(text) == text for text in told)


# Keys


def drop_unusable_keys(settings: Settings, actions: Iterable[Keyed]) -> list[str]:
    """Take keys out of the settings that the page of keys would not have taken; why, a sentence for each.

    Args:
        settings: edited in place.
        actions: everything that can have keys, but for presets.
    """
    known = {keyed.id: keyed for keyed in actions}
    said: list[str] = []
    owners: dict[str, str] = {}
    for name in [name for name in settings.keys if name in known]:
        given = settings.keys[name]
        usable = [key for key in given if _is_usable(key, known[name], owners, said)]
        if usable == given:
            continue
        if usable:
            settings.keys[name] = usable
        else:  # the usual ones are of more use than none
            del settings.keys[name]
    for name, keys in keys_in_force(list(known.values()), settings.keys).items():
        owners.update((key, known[name].title) for key in keys if key not in owners)
    for preset in settings.presets:
        shown = Keyed("", "", f"the preset {_short(preset.name)}")
        if preset.key and not _is_usable(preset_keys.normal(preset.key), shown, owners, said, preset.key):
            preset.key = None
    return said


def _is_usable(key: str, action: Keyed, owners: dict[str, str], said: list[str], written: str = "") -> bool:
    """Whether an action can have a key; else why not is said. The key is the action's from then on."""
    pressed = normal(key)
    if not pressed or "\0" in key:
        said.append(f"“{_short(written or key)}”, kept for {action.title}, is no key.")
        return False
    if pressed in owners:
        said.append(f"{native([pressed])} was kept for {action.title}, but is the key of {owners[pressed]}.")
        return False
    trouble = "" if pressed in map(normal, action.defaults) else trouble_with(pressed, action)
    if trouble:
        said.append(f"{native([pressed])} cannot be the key of {action.title}: {trouble}")
        return False
    owners[pressed] = action.title
    return True


def dropped_keys_words(said: Sequence[str]) -> str:
    """What to say of keys that were dropped."""
    more = f" {len(said) - 1:,} more were dropped as well." if len(said) > 1 else ""
    return f"A key in the settings was dropped. {said[0]}{more} Help, Keys shows and changes them."


def _short(name: str) -> str:
    words = plain(mask_text(name[:1000]))
    return words if len(words) <= _LONGEST_NAME else f"{words[: _LONGEST_NAME - 1]}…"

"""Removes secrets from settings before they are saved.

A filter, name or address with a secret is kept in memory only, and never written to a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from inspector.present.wire_text import safe_line
from inspector.protocol.secrets.masking import mask_text
from inspector.settings import ConnectionSettings, HighlightRule, KnownRelease, Preset, Settings
from inspector.settings.sharing import SharedPresets

NOT_WRITTEN = "It holds a secret: it is kept until the program ends and written to no file."
"""Notice in the editors of presets and rules."""
_LONGEST_NAME = 40

_Item = TypeVar("_Item", Preset, HighlightRule)


def holds_secret(text: str) -> bool:
    """Returns True if a filter contains a token, or compares a field with a secret's name to a value."""
    from inspector.filters.secrets import filter_holds_secret  # the start page has no filter to check

    return filter_holds_secret(text)


def may_be_written(item: Preset | HighlightRule) -> bool:
    """Returns True if a preset or rule may be saved."""
    return not holds_secret(item.filter) and mask_text(item.name) == item.name


def without_secrets(settings: Settings) -> tuple[Settings, list[str]]:
    """Returns a copy of the settings to save, and descriptions of the omitted parts."""
    presets, secret_presets = _split_secrets(settings.presets)
    highlights, secret_rules = _split_secrets(settings.highlights)
    # Users paste addresses with tokens into any field, also into names.
    named = [one for one in settings.connections if has_no_secret(one) and mask_text(one.name) == one.name]
    left_out = [f"the preset {short_name(item.name)}" for item in secret_presets]
    left_out += [f"the highlight rule {short_name(item.name)}" for item in secret_rules]
    left_out += [f"the connection {short_name(one.name)}" for one in settings.connections if one not in named]
    updates, known_release = settings.updates, settings.known_release
    if mask_text(updates.feed) != updates.feed:
        left_out.append("the release feed")
        updates, known_release = updates.model_copy(update={"feed": ""}), KnownRelease()
    written = settings.model_copy(
        update={
            "updates": updates, "known_release": known_release,
            "presets": presets, "highlights": highlights, "connections": named,
            "recent_connections": [one for one in settings.recent_connections if has_no_secret(one)],
            "recent_files": [path for path in settings.recent_files if mask_text(path) == path],
            "recent_facts": {path: one for path, one in settings.recent_facts.items() if mask_text(path) == path},
            "filter_history": [text for text in settings.filter_history if not holds_secret(text)],
        }
    )  # fmt: skip
    return written, left_out


def shared_without_secrets(shared: SharedPresets) -> tuple[SharedPresets, int]:
    """Returns the shareable settings, and the number of omitted presets and rules."""
    presets, some = _split_secrets(shared.presets)
    highlights, more = _split_secrets(shared.highlights)
    return SharedPresets(presets, highlights), len(some) + len(more)


def left_out_words(left_out: Sequence[str]) -> str:
    """Returns a notice about omitted settings."""
    what = left_out[0][:1].upper() + left_out[0][1:]
    if len(left_out) == 1:
        return f"{what} holds a secret: it is kept until the program ends and written to no file."
    more = f"{what} and {len(left_out) - 1:,} more hold secrets"
    return f"{more}: they are kept until the program ends and written to no file."


def _split_secrets(items: Iterable[_Item]) -> tuple[list[_Item], list[_Item]]:
    written: list[_Item] = []
    secret: list[_Item] = []
    for item in items:
        (written if may_be_written(item) else secret).append(item)
    return written, secret


def has_no_secret(connection: ConnectionSettings) -> bool:
    """Returns True if a connection's address contains no secret."""
    place = (connection.url, connection.space, connection.participant)
    return all(mask_text(text) == text for text in place)


def short_name(name: str) -> str:
    """Returns the name of a preset, rule or key for a sentence, without secrets."""
    words = safe_line(mask_text(name[:1000]))
    return words if len(words) <= _LONGEST_NAME else f"{words[: _LONGEST_NAME - 1]}…"

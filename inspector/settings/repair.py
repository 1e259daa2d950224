"""Repairs settings: drops and reports invalid entries, and keeps the rest.

An entry is a unit the user would set again: a preset, a rule, a connection, a column, the keys of an action, or a
single choice such as the theme. Optional attributes of a preset, rule, connection or column are dropped first: an
invalid key costs no name and no filter.
"""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from inspector.settings.model import (
    ConnectionSettings,
    HighlightRule,
    NamedConnection,
    Preset,
    Settings,
    TableColumn,
)

MAX_TEXT_LENGTH: Final = 100_000
"""Characters a text may have; longer ones are not a user's."""
_MOST_ROUNDS = 4
# Stops the recursion of a file with thousands of brackets before Python's own limit raises.
_MAX_DEPTH = 10
_LONGEST_WORD = 60
_WORDS: Final = {
    "presets": "preset", "highlights": "highlight rule", "connections": "connection",
    "recent_connections": "recent connection", "recent_files": "recent file", "filter_history": "earlier filter",
    "columns": "column", "plugins": "plug-in",
}  # fmt: skip
_ITEMS: Final[dict[str, type[BaseModel]]] = {
    "presets": Preset, "highlights": HighlightRule, "connections": NamedConnection,
    "recent_connections": ConnectionSettings, "columns": TableColumn,
}  # fmt: skip

_Path = tuple[str | int, ...]


def repair_settings(raw: dict[str, object]) -> tuple[Settings, list[str]]:
    """Returns the settings of a decoded file, and the dropped entries in words, each with the reason.

    Args:
        raw: of the present version; not changed.
    """
    content = cast("dict[str, object]", _copied(raw, 0))
    left_out: list[str] = []
    # Deepest first, and later items first, so that the remaining paths stay valid.
    for path in sorted(_too_long(content), key=_deepest_last, reverse=True):
        left_out.append(f"{_entry_in_words(content, path)}: it is too long")
        _remove(content, path)
    # Removing an entry may reveal further errors, so this repeats.
    for _ in range(_MOST_ROUNDS):
        try:
            return Settings.model_validate(content), left_out
        except ValidationError as problem:
            left_out += _without_broken(content, problem)
    return Settings(), [*left_out, "everything else: it is not distinguishable"]


def _without_broken(content: dict[str, object], problem: ValidationError) -> list[str]:
    """Removes the entries that failed validation; returns them in words with the reasons."""
    reasons: dict[_Path, str] = {}
    for error in problem.errors(include_url=False, include_input=False, include_context=False):
        # An error deep inside of an entry removes the entry: a half one could do something else.
        path = _entry(content, tuple(error["loc"]))
        within = ".".join(str(part) for part in error["loc"][len(path) :])
        reason = error["msg"][:1].lower() + error["msg"][1:]
        reasons.setdefault(path, f"{_short(within)}: {reason}" if within else reason)
    removed = [f"{_entry_in_words(content, path)}: {reason}" for path, reason in reasons.items()]
    for path in sorted(reasons, key=_deepest_last, reverse=True):  # later items first, so that indices stay valid
        _remove(content, path)
    return removed


def _deepest_last(path: _Path) -> list[tuple[bool, int, str]]:
    return [(isinstance(part, int), part if isinstance(part, int) else 0, str(part)) for part in path]


def _entry(content: object, loc: _Path) -> _Path:
    """Returns the entry of a validation error: a list item, the keys of an action, or another removable part.

    If the item's attribute is optional, the entry is that attribute alone.
    """
    path: list[str | int] = []
    here = content
    for part in loc:
        if isinstance(here, dict) and part in here:
            here = cast("dict[object, object]", here)[part]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = cast("list[object]", here)[part]
        else:  # a missing key, or a part that only the model has
            break
        path.append(part)
        # A list item, or the keys of one action, is the smallest part that makes sense alone.
        if isinstance(part, int) or path[:-1] == ["keys"]:
            break
    for following in loc[len(path) :][:1]:
        if isinstance(here, dict) and following in here and _can_go_without(path, following):
            path.append(following)
    return tuple(path)


def _can_go_without(path: list[str | int], attribute: object) -> bool:
    """Returns True if an attribute of a list item is optional."""
    if len(path) < 2 or not isinstance(path[-1], int):
        return False
    # Optional attributes get their default, so the item stays.
    model = _ITEMS.get(str(path[-2]))
    known = model.model_fields.get(str(attribute)) if model is not None else None
    return known is not None and not known.is_required()


def _remove(content: object, path: _Path) -> None:
    here = cast("Any", content)
    if not path:
        cast("dict[str, object]", content).clear()
        return
    try:
        for part in path[:-1]:
            here = here[part]
        del here[path[-1]]
    except (KeyError, IndexError, TypeError):  # its parent was removed before
        return


def _entry_in_words(content: object, path: _Path) -> str:
    """Returns an entry in words: "preset 3 (Tools)", "preset 3 (Tools): key", "keys of edit.mark", "display.theme"."""
    last = path[-1] if path else ""
    if len(path) > 1 and isinstance(path[-2], int):
        return f"{_entry_in_words(content, path[:-1])}: {_short(str(last))}"
    if isinstance(last, int):
        here = cast("Any", content)
        for part in path:
            here = here[part]
        word = _WORDS.get(str(path[-2]), str(path[-2])) if len(path) > 1 else "entry"
        name = (here.get("name") or here.get("url")) if isinstance(here, dict) else here
        called = f" ({_short(name)})" if isinstance(name, str) and name.strip() else ""
        return f"{word} {last + 1}{called}"
    if len(path) == 2 and path[0] == "keys":
        return f"keys of {_short(str(last))}"
    return _short(".".join(str(part) for part in path)) or "its content"


def _short(text: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST_WORD]).split())
    return plain if len(plain) <= _LONGEST_WORD else f"{plain[: _LONGEST_WORD - 1]}…"


def _too_long(content: dict[str, object]) -> set[_Path]:
    """Returns the entries with an overlong text."""
    found: set[_Path] = set()
    waiting: list[tuple[_Path, object]] = [((), content)]
    # A loop instead of recursion, since a file may be nested deeply.
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
            found.add(_entry(content, path))
        elif isinstance(value, dict):
            for key, item in cast("dict[str, object]", value).items():
                waiting.append(((*path, key), item if len(key) <= MAX_TEXT_LENGTH else key))
        elif isinstance(value, list):
            waiting += [((*path, place), item) for place, item in enumerate(cast("list[object]", value))]
    return found


def _copied(value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:  # valid settings are not nested so deeply
        return None
    if isinstance(value, dict):
        return {key: _copied(item, depth + 1) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_copied(item, depth + 1) for item in cast("list[object]", value)]
    return value

"""Shared presets and highlight rules: one JSON object in a file, validated strictly.

The key `context-inspector-presets` identifies the file and contains the version of its shape.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from inspector.base.atomic_files import open_replacement
from inspector.settings.model import HighlightRule, Preset

FILE_KEY = "context-inspector-presets"
"""Key that identifies such a file."""
VERSION = 1
"""Version of the file's shape."""
MAX_BYTES = 1_000_000
"""Limit of a file in bytes."""
MAX_ITEMS = 500
"""Limit of presets or rules in one file."""

_Item = TypeVar("_Item", Preset, HighlightRule)


class UnreadableShareError(Exception):
    """A file cannot be imported; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class SharedPresets:
    """Contents of a file."""

    presets: list[Preset] = field(default_factory=list)
    highlights: list[HighlightRule] = field(default_factory=list)


def write_shared(path: Path, shared: SharedPresets) -> None:
    """Writes a file atomically.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    content: dict[str, object] = {FILE_KEY: VERSION}
    if shared.presets:
        content["presets"] = [_plain(preset) for preset in shared.presets]
    if shared.highlights:
        content["highlights"] = [_plain(rule) for rule in shared.highlights]
    # Readable text, since people compare and edit these files.
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    with open_replacement(path) as file:
        file.write(text.encode())


def read_shared(path: Path) -> SharedPresets:
    """Reads a shared file.

    Raises:
        UnreadableShareError: if it is no such file, or any part is invalid; no part is used then.
        OSError: if it cannot be read.
    """
    with path.open("rb") as stream:
        # Reads one byte more than allowed, so that a huge file costs no memory.
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableShareError(f"{path.name} is too large to be a file of presets.")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableShareError(f"{path.name} is not JSON.") from None
    if not isinstance(content, dict) or FILE_KEY not in content:
        raise UnreadableShareError(f"{path.name} is JSON, but holds no presets of this program.")
    if content[FILE_KEY] != VERSION:
        raise UnreadableShareError(f"{path.name} was written by a newer version of this program.")
    return SharedPresets(
        _items(path, content.get("presets", []), Preset, "preset"),
        _items(path, content.get("highlights", []), HighlightRule, "highlight rule"),
    )


def _items(path: Path, found: object, model: type[_Item], word: str) -> list[_Item]:
    if not isinstance(found, list):
        raise UnreadableShareError(f"The {word}s in {path.name} are not a list.")
    if len(found) > MAX_ITEMS:
        raise UnreadableShareError(f"{path.name} holds {len(found):,} {word}s; at most {MAX_ITEMS} are taken.")
    items: list[_Item] = []
    for number, one in enumerate(found, 1):
        try:
            json.dumps(one, ensure_ascii=False).encode()  # the model would repair it silently
            # Strict, since a shared file comes from another person.
            item = model.model_validate(one, strict=True)
        except UnicodeEncodeError:
            raise UnreadableShareError(f"{word.capitalize()} {number} in {path.name} is not valid Unicode.") from None
        # Only the first error is reported, as one sentence.
        except ValidationError as problem:
            first = problem.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "content"
            sentence = f"{word.capitalize()} {number} in {path.name} cannot be used: {place}: {first['msg']}."
            raise UnreadableShareError(sentence) from None
        if not item.name.strip():
            raise UnreadableShareError(f"{word.capitalize()} {number} in {path.name} has no name.")
        items.append(item)
    return items


def new_items(known: Sequence[_Item], found: Sequence[_Item]) -> list[_Item]:
    """Returns new items by name and filter, in order, each once."""
    seen = {(item.name, item.filter) for item in known}
    new: list[_Item] = []
    for item in found:
        if (item.name, item.filter) not in seen:
            seen.add((item.name, item.filter))
            new.append(item)
    return new


def _plain(item: BaseModel) -> dict[str, object]:
    return item.model_dump(exclude_none=True)

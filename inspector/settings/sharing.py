"""Presets and highlight rules as a file that is given to others: one JSON object, read with suspicion.

The file says what it is under `context-inspector-presets`, which holds the version of its shape.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from inspector.base.whole_file import in_place_of
from inspector.settings.model import HighlightRule, Preset

SIGN = "context-inspector-presets"
"""Key by which such a file is known."""
VERSION = 1
"""Shape of the file."""
MOST_BYTES = 1_000_000
"""A larger file was not written by this program."""
MOST = 500
"""More presets or rules than this are not taken from one file."""

_Item = TypeVar("_Item", Preset, HighlightRule)


class UnreadableShareError(Exception):
    """A file cannot be taken over; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What a file holds."""

    presets: list[Preset] = field(default_factory=list)
    highlights: list[HighlightRule] = field(default_factory=list)


def write_shared(path: Path, shared: Shared) -> None:
    """Write a file to be shared, whole or not at all.

    Raises:
        OSError: it cannot be written; an earlier file is untouched.
    """
    content: dict[str, object] = {SIGN: VERSION}
    if shared.presets:
        content["presets"] = [_plain(preset) for preset in shared.presets]
    if shared.highlights:
        content["highlights"] = [_plain(rule) for rule in shared.highlights]
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    with in_place_of(path) as file:
        file.write(text.encode())


def read_shared(path: Path) -> Shared:
    """Read a file that was shared.

    Raises:
        UnreadableShareError: it is not such a file, or something in it is wrong; nothing of it is used then.
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UnreadableShareError(f"{path.name} is too large to be a file of presets.")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableShareError(f"{path.name} is not JSON.") from None
    if not isinstance(content, dict) or SIGN not in content:
        raise UnreadableShareError(f"{path.name} is JSON, but holds no presets of this program.")
    if content[SIGN] != VERSION:
        raise UnreadableShareError(f"{path.name} was written by a newer version of this program.")
    return Shared(
        _items(path, content.get("presets", []), Preset, "preset"),
        _items(path, content.get("highlights", []), HighlightRule, "highlight rule"),
    )


def _items(path: Path, found: object, model: type[_Item], word: str) -> list[_Item]:
    if not isinstance(found, list):
        raise UnreadableShareError(f"The {word}s in {path.name} are not a list.")
    if len(found) > MOST:
        raise UnreadableShareError(f"{path.name} holds {len(found):,} {word}s; at most {MOST} are taken.")
    items: list[_Item] = []
    for number, one in enumerate(found, 1):
        try:
            json.dumps(one, ensure_ascii=False).encode()  # the model would repair it
            item = model.model_validate(one, strict=True)
        except UnicodeEncodeError:
            raise UnreadableShareError(f"{word.capitalize()} {number} in {path.name} is not valid Unicode.") from None
        except ValidationError as problem:
            first = problem.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "content"
            sentence = f"{word.capitalize()} {number} in {path.name} cannot be used: {place}: {first['msg']}."
            raise UnreadableShareError(sentence) from None
        if not item.name.strip():
            raise UnreadableShareError(f"{word.capitalize()} {number} in {path.name} has no name.")
        items.append(item)
    return items


def not_yet_among(known: Sequence[_Item], found: Sequence[_Item]) -> list[_Item]:
    """What is not known yet by both name and filter, in its order, each once."""
    seen = {(item.name, item.filter) for item in known}
    new: list[_Item] = []
    for item in found:
        if (item.name, item.filter) not in seen:
            seen.add((item.name, item.filter))
            new.append(item)
    return new


def _plain(item: BaseModel) -> dict[str, object]:
    return item.model_dump(exclude_none=True)

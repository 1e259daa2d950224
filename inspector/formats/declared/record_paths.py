"""Paths to values in a record: `message.parts.0."odd key"`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from inspector.protocol.header import ABSENT, NotAnObjectError, decode_json

RecordPath = tuple[str, ...]
"""Keys from the record down; digits index arrays."""

MAX_LENGTH, _MAX_STEPS = 500, 32
"""Limits of a path as written, in characters and in steps."""
_STEP = re.compile(r'"((?:[^"\\]|\\.)*)"|([^."\s](?:[^."]*[^."\s])?)')
_ESCAPED = re.compile(r"\\(.)")
_PLAIN = re.compile(r"[^\s.\"]+")


def parse_path(text: str) -> RecordPath:
    """Splits a path at its dots; keys with dots or blanks are quoted.

    Raises:
        ValueError: if it is no path.
    """
    steps: list[str] = []
    place = 0
    while len(text) <= MAX_LENGTH and len(steps) < _MAX_STEPS:
        found = _STEP.match(text, place)
        if found is None:
            break
        steps.append(found[2] if found[1] is None else _ESCAPED.sub(r"\1", found[1]))
        place = found.end()
        if place == len(text):
            return tuple(steps)
        if text[place] != ".":
            break
        place += 1
    if len(text) > MAX_LENGTH or len(steps) == _MAX_STEPS:
        raise ValueError(f"a path has at most {_MAX_STEPS} keys and {MAX_LENGTH} characters")
    raise ValueError('no path: write keys with dots between them, such as message.parts.0 or data."odd key"')


def path_text(path: RecordPath) -> str:
    """Returns a path as it is written."""
    return ".".join(step if _PLAIN.fullmatch(step) else _quoted(step) for step in path)


def _quoted(step: str) -> str:
    return '"' + step.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value_at(value: Any, path: RecordPath) -> Any:
    """Returns the value at a path, or ABSENT. Texts on the way that are JSON are decoded."""
    for step in path:
        if isinstance(value, str):
            value = _opened(value)
        if isinstance(value, Mapping):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step.isascii() and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value


class InnerRecord(dict[str, Any]):
    """An element of an array in a line; it has the line's values too.

    Attributes:
        outer: the line.
    """

    def __init__(self, element: Any, outer: Mapping[str, Any]) -> None:
        super().__init__(element if isinstance(element, Mapping) else {"value": element})
        self.outer = outer


def first_value(record: Mapping[str, Any], paths: Sequence[RecordPath]) -> Any:
    """Returns the value at the first path that has one; ABSENT without any. Null is no value."""
    for path in paths:
        found = value_at(record, path)
        if (found is ABSENT or found is None) and isinstance(record, InnerRecord):
            found = value_at(record.outer, path)
        if found is not ABSENT and found is not None:
            return found
    return ABSENT


def _opened(text: str) -> Any:
    """Returns the JSON object or array in a text; the text itself if it is another one."""
    bare = text.strip()
    try:
        return decode_json(bare.encode("utf-8", "surrogatepass")) if bare[:1] in ("{", "[") else text
    except (NotAnObjectError, UnicodeEncodeError):
        return text

"""Nested JSON as an outline: one line a value, indented by depth, so that arguments read as names and values.

An object or array inside is a line of its own ("3 entries") with what it holds below it; a list of plain values is one
line. JSON written into a string (agents do so with their arguments) is read as what it says. Everything is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from inspector.protocol.header import NotAnObjectError, decode_json
from inspector.protocol.payloads.tables import compact

MAX_DEPTH = 5
"""Levels that become lines; what lies deeper is JSON on one line."""
MAX_DECODED = 1 << 18
"""Characters of a string that are still read as JSON."""
_JOINED = 60
"""Characters of the longest value that may stand beside others on one line."""
_SHORT = 32
"""Characters of an object's JSON that read as well on one line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the outline.

    Attributes:
        depth: 0 for the keys of the object itself.
        name: key, or place in an array counted from 1; "" for an element that needs none.
        text: the value; of a group how much it holds.
        group: whether what it holds follows, deeper.
        copy: the whole value as text, where `text` is not it; None otherwise.
    """

    depth: int
    name: str
    text: str
    group: bool = False
    copy: str | None = None


def outline(values: Mapping[str, object], limit: int = 60) -> tuple[list[Line], int]:
    """The lines of an object, and how many values at its top were left out because `limit` lines are enough."""
    lines: list[Line] = []
    for place, (key, value) in enumerate(values.items()):
        if len(lines) >= limit:
            return lines, len(values) - place
        lines += _lines(str(key), value, 0, limit - len(lines))
    return lines, 0


def _lines(name: str, value: object, depth: int, room: int) -> list[Line]:
    inner = nested_in(value)
    if inner is None or not inner or depth >= MAX_DEPTH:
        return [Line(depth, name, value_text(value))]
    if isinstance(inner, list) and all(nested_in(item) is None for item in inner):
        return [_plain_list(name, inner, depth)]
    if isinstance(value, Mapping) and len(short := compact(value)) <= _SHORT:
        return [Line(depth, name, short)]
    items = [(str(k), v) for k, v in inner.items()] if isinstance(inner, Mapping) else _numbered(inner)
    count = f"{len(items)} {'entry' if len(items) == 1 else 'entries'}"
    lines = [Line(depth, name, count, group=True, copy=value if isinstance(value, str) else compact(inner))]
    for place, (key, item) in enumerate(items):
        if len(lines) >= room:
            lines.append(Line(depth + 1, "", f"{len(items) - place} more, see Tree", group=True, copy=""))
            break
        lines += _lines(key, item, depth + 1, room - len(lines))
    return lines


def _numbered(items: list[object]) -> list[tuple[str, object]]:
    return [(str(place + 1), item) for place, item in enumerate(items)]


def _plain_list(name: str, items: list[object], depth: int) -> Line:
    """Plain values beside each other where none of them could be read as two, else one a line."""
    texts = [value_text(item) for item in items]
    beside = all(len(text) <= _JOINED and "," not in text and "\n" not in text for text in texts)
    return Line(depth, name, (", " if beside else "\n").join(texts), copy=compact(items))


def nested_in(value: object) -> Mapping[str, object] | list[object] | None:
    """The object or array a value is, or is the JSON of; None for plain values."""
    if isinstance(value, Mapping | list):
        return value
    if not isinstance(value, str) or len(value) > MAX_DECODED or value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        decoded = decode_json(value.encode("utf-8", "surrogatepass"))
    except NotAnObjectError:
        return None
    return decoded if isinstance(decoded, dict | list) and decoded else None


def value_text(value: object) -> str:
    """A plain value as text: strings as they are, a last line end as a sign, the rest as JSON."""
    if isinstance(value, str):
        return value if not value.endswith("\n") else value.rstrip("\n") + "⏎"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return compact(value)

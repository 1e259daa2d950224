"""Outline of nested JSON: one line per value, indented by depth.

A nested object or array is a line ("3 entries") with its values below it; a list of plain values is one line. JSON in a
string, as agents write their arguments, is decoded. All sizes are limited.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from inspector.protocol.header import json_or_none
from inspector.protocol.payloads.record_tables import compact_json

MAX_DEPTH = 5
"""Levels with lines of their own; deeper values are JSON on one line."""
MAX_DECODED = 1 << 18
"""Characters of a string decoded as JSON."""
_JOINED = 60
"""Longest value that may share a line with others, in characters."""
_SHORT = 32
"""Longest JSON of an object shown on one line, in characters."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the outline.

    Attributes:
        depth: 0 for the keys of the object itself.
        name: key, or 1-based place in an array; "" if the element needs none.
        text: the value; of a group its size.
        group: its values follow, deeper.
        copy: the whole value as text if it differs from `text`; else None.
    """

    depth: int
    name: str
    text: str
    group: bool = False
    copy: str | None = None


def outline_lines(values: Mapping[str, object], limit: int = 60) -> tuple[list[Line], int]:
    """Returns the lines of an object, and the number of its top values omitted beyond `limit` lines."""
    lines: list[Line] = []
    for place, (key, value) in enumerate(values.items()):
        if len(lines) >= limit:
            return lines, len(values) - place
        lines += _lines(str(key), value, 0, limit - len(lines))
    return lines, 0


def _lines(name: str, value: object, depth: int, room: int) -> list[Line]:
    inner = nested_value(value)
    if inner is None or not inner or depth >= MAX_DEPTH:
        return [Line(depth, name, value_text(value))]
    if isinstance(inner, list) and all(nested_value(item) is None for item in inner):
        return [_plain_list(name, inner, depth)]
    # Short objects take one line, which is easier to read.
    if isinstance(value, Mapping) and len(short := compact_json(value)) <= _SHORT:
        return [Line(depth, name, short)]
    items = [(str(k), v) for k, v in inner.items()] if isinstance(inner, Mapping) else _numbered(inner)
    count = f"{len(items)} {'entry' if len(items) == 1 else 'entries'}"
    lines = [Line(depth, name, count, group=True, copy=value if isinstance(value, str) else compact_json(inner))]
    for place, (key, item) in enumerate(items):
        if len(lines) >= room:
            # Each level shows its rest in words, so the outline has a limit.
            lines.append(Line(depth + 1, "", f"{len(items) - place} more, see Tree", group=True, copy=""))
            break
        lines += _lines(key, item, depth + 1, room - len(lines))
    return lines


def _numbered(items: list[object]) -> list[tuple[str, object]]:
    return [(str(place + 1), item) for place, item in enumerate(items)]


def _plain_list(name: str, items: list[object], depth: int) -> Line:
    """Joins plain values in a line if they are unambiguous, else one a line."""
    texts = [value_text(item) for item in items]
    beside = all(len(text) <= _JOINED and "," not in text and "\n" not in text for text in texts)
    return Line(depth, name, (", " if beside else "\n").join(texts), copy=compact_json(items))


def nested_value(value: object) -> Mapping[str, object] | list[object] | None:
    """Returns a nested object or array, also decoded from JSON, if the value is one."""
    if isinstance(value, Mapping | list):
        return value
    # A text of JSON is shown like the object in it.
    if not isinstance(value, str) or len(value) > MAX_DECODED or value.lstrip()[:1] not in ("{", "["):
        return None
    decoded = json_or_none(value.encode("utf-8", "surrogatepass"))
    return decoded if isinstance(decoded, dict | list) and decoded else None


def value_text(value: object) -> str:
    """Returns a plain value as text: strings unchanged, a final line end as a sign, the rest as JSON."""
    if isinstance(value, str):
        return value if not value.endswith("\n") else value.rstrip("\n") + "⏎"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return compact_json(value)

"""Tables of text from arrays of flat objects near the top of decoded JSON.

mcp-rune's `search_records` answers `{"schema":..., "records":[...], "pagination":...}`; other servers write `data`,
`items`, or a bare array. A table is only a reading aid beside the JSON.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_ROWS = 1_000
"""Limit of rows; `Table.total` is their full number."""
MAX_COLUMNS = 40
MAX_CELL = 500
"""Characters of a cell."""

_NAMES = ("records", "data", "rows", "items", "results", "entries")
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text.

    Attributes:
        columns: keys in order of appearance.
        rows: at most MAX_ROWS, each as long as `columns`; "" if a key is absent or null.
        numeric: per column, True if every value is a number, for right alignment.
        total: full number of rows.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    total: int


def table_in(value: object) -> Table | None:
    """Returns the table in decoded JSON, if there is an array of objects with plain values."""
    found = _array_in(value)
    return table_of(found) if found is not None else None


def _array_in(value: object) -> list[Mapping[str, Any]] | None:
    """Returns the first suitable array, level by level: known names first, then the longest one."""
    if is_tabular(value):
        return value  # pyright: ignore[reportReturnType] - is_tabular has looked at each element
    # Level by level, so that an outer array wins over an inner one.
    level = deque([value]) if isinstance(value, Mapping) else deque[object]()
    for _ in range(_DEPTH):
        below: deque[object] = deque()
        fitting: list[tuple[int, int, list[Any]]] = []
        for item in level:
            if not isinstance(item, Mapping):
                continue
            for key, inner in item.items():
                if is_tabular(inner):
                    rank = _NAMES.index(key) if key in _NAMES else len(_NAMES)
                    fitting.append((rank, -len(inner), inner))  # pyright: ignore[reportArgumentType] - as above
                # mcp-rune describes the columns in `schema`, which looks like a table itself.
                elif isinstance(inner, Mapping) and key != "schema":
                    below.append(inner)
        if fitting:
            return min(fitting, key=lambda f: f[:2])[2]
        level = below
    return None


def is_tabular(value: object) -> bool:
    """Returns True for a non-empty array of objects with mostly plain values."""
    if not isinstance(value, list) or not value:
        return False
    plain = nested = 0
    # The first rows decide; a long array would take too long.
    for item in value[:MAX_ROWS]:
        if not isinstance(item, Mapping) or not item:
            return False
        for inner in item.values():
            if _is_nested(inner):
                nested += 1
            else:
                plain += 1
    return plain > nested


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(i, dict | list) for i in value))


def table_of(items: list[Mapping[str, Any]]) -> Table:
    """Returns objects as rows, with the union of their keys as columns."""
    shown = items[:MAX_ROWS]
    columns = list(dict.fromkeys(str(key) for item in shown for key in item))[:MAX_COLUMNS]
    numeric = tuple(_is_numeric([item.get(column) for item in shown]) for column in columns)
    rows = tuple(tuple(cell_text(item.get(column)) for column in columns) for item in shown)
    return Table(tuple(columns), rows, numeric, len(items))


def _is_numeric(values: list[object]) -> bool:
    present = [v for v in values if v is not None]
    return bool(present) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in present)


def cell_text(value: object) -> str:
    """Returns one value as text: strings unchanged, null empty, the rest as JSON; shortened to MAX_CELL."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(i, str) for i in value):
        text = ", ".join(value)
    else:
        text = value if isinstance(value, str) else compact_json(value)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def compact_json(value: object) -> str:
    """Returns JSON on one line; values without a JSON form are written as in Python."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # JSON of a capture may be nested deeper than the stack of the encoder.
    except (TypeError, ValueError, RecursionError):
        return str(value)

"""Tables of a server's offers: the answers to tools/list, prompts/list, resources/list and the templates'.

A cell shows argument names in place of a JSON schema, optional ones with a question mark. Source: MCP 2025-06-18,
Tools, Prompts, Resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.protocol.payloads.record_tables import MAX_ROWS, Table, cell_text

_COLUMNS = {
    "tools": ("name", "arguments", "description"),
    "prompts": ("name", "arguments", "description"),
    "resources": ("name", "uri", "mimeType", "description"),
    "resourceTemplates": ("name", "uriTemplate", "mimeType", "description"),
}
_MOST_ARGUMENTS = 12


def listing_in(result: object) -> tuple[str, Table] | None:
    """Returns the type of a listing ("tools") and its rows; None for other results, and for an empty listing."""
    if not isinstance(result, Mapping):
        return None
    for key, columns in _COLUMNS.items():
        items = result.get(key)
        if isinstance(items, list) and items and all(isinstance(item, Mapping) for item in items):
            rows = tuple(tuple(_cell(item, column) for column in columns) for item in items[:MAX_ROWS])
            # Columns without any value are left out.
            filled = [place for place in range(len(columns)) if any(row[place] for row in rows)] or [0]
            rows = tuple(tuple(row[place] for place in filled) for row in rows)
            shown = tuple(columns[place] for place in filled)
            return key, Table(shown, rows, (False,) * len(shown), len(items))
    return None


def _cell(item: Mapping[str, Any], column: str) -> str:
    if column == "arguments":
        return ", ".join(arguments_of(item))
    if column == "name":
        return cell_text(item.get("name") or item.get("title"))
    value = item.get(column)
    return " ".join(value.split()) if isinstance(value, str) and column == "description" else cell_text(value)


def arguments_of(item: Mapping[str, Any]) -> list[str]:
    """Returns argument names of a tool or prompt, optional ones with "?"; at most twelve."""
    schema = item.get("inputSchema")
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        required = schema.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set[str]()
        names = [str(name) for name in properties] if isinstance(properties, Mapping) else []
        found = [name if name in needed else f"{name}?" for name in names]
    else:
        listed = item.get("arguments")
        named = [a for a in listed if isinstance(a, Mapping) and a.get("name")] if isinstance(listed, list) else []
        found = [f"{a['name']}{'' if a.get('required') is True else '?'}" for a in named]
    return found if len(found) <= _MOST_ARGUMENTS else [*found[:_MOST_ARGUMENTS], "…"]

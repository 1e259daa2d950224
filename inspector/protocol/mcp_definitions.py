"""Assembles MCP tool definitions from pages, and compares them by meaning.

RULE: two definitions are equal if description, title, schemas, hints and `_meta` are, whatever the order of keys. A
hint with its default value equals a missing one (MCP 2025-03-26, tool annotations). A list is complete if its last page
has no `nextCursor` and its first one was requested without a cursor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from inspector.protocol.header import json_or_none
from inspector.protocol.schema_validation import MAX_SCHEMA_BYTES

_MOST_TOOLS, _MOST_PAGES = 5_000, 500
NEVER = -1
ASPECTS = {
    "description": "description", "inputSchema": "arguments", "outputSchema": "results", "annotations": "hints",
    "title": "title", "_meta": "_meta",
}  # fmt: skip
"""Compared members of a definition, and their names in words."""
_HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""MCP 2025-03-26, tool annotations: defaults of missing hints."""


@dataclass(slots=True, eq=False)
class Definition:
    """A tool as a server lists it.

    Attributes:
        name: of the tool.
        aspects: canonical JSON by member of the definition.
        input_schema, output_schema: as listed; None.
        last_call: the last message that called it in this form; NEVER.
    """

    name: str
    aspects: dict[str, bytes]
    input_schema: Any
    output_schema: Any
    last_call: int = NEVER


class ListPages:
    """A list received in pages."""

    def __init__(self) -> None:
        self._tools: list[dict[str, Any]] = []
        self._next: Any = None
        self._count = 0

    def accepts_cursor(self, cursor: Any) -> bool:
        """Returns True if a page with this cursor begins a list, or continues the present one."""
        return cursor is None or (cursor == self._next and 0 < self._count < _MOST_PAGES)

    def add_page(self, cursor: Any, page: list[dict[str, Any]], next_cursor: Any) -> list[dict[str, Any]] | None:
        """Adds a page; returns the whole list after the last one.

        Args:
            cursor: of the page's request; None for the first.
            page: its tools.
            next_cursor: of the next page; absent on the last.
        """
        # A page that does not continue the last one makes the list incomplete.
        if not self.accepts_cursor(cursor):
            self.discard_pages()
            return None
        # The first page starts a new list.
        if cursor is None:
            self.discard_pages()
        self._tools += page
        self._count += 1
        self._next = next_cursor
        if next_cursor or len(self._tools) > _MOST_TOOLS:
            return None
        found = self._tools
        self.discard_pages()
        return found

    def discard_pages(self) -> None:
        """Discards the pages so far."""
        self._tools, self._next, self._count = [], None, 0


def definitions_of(tools: list[dict[str, Any]]) -> dict[str, Definition]:
    """Returns the definitions of a list by name; skips unnamed ones."""
    return {tool["name"]: _definition(tool) for tool in tools if isinstance(tool.get("name"), str)}


def tools_in(raw: msgspec.Raw) -> list[dict[str, Any]] | None:
    """Returns the tools of a page as listed, without invalid ones, if it has a list."""
    found = json_or_none(b'{"tools":' + bytes(raw) + b"}") if raw else None
    tools = found.get("tools") if isinstance(found, dict) else None
    return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else None


def _definition(tool: dict[str, Any]) -> Definition:
    aspects = {name: _canonical(name, tool[name]) for name in ASPECTS if tool.get(name) is not None}
    # An absent member means the same as an empty one, so both compare equal.
    aspects.setdefault("annotations", _canonical("annotations", {}))
    asked, answered = (
        # A huge schema would take too long to compare.
        tool.get(name) if len(aspects.get(name, b"")) <= MAX_SCHEMA_BYTES else None
        for name in ("inputSchema", "outputSchema")
    )
    return Definition(tool["name"], aspects, asked, answered)


def _canonical(name: str, value: Any) -> bytes:
    """Returns a member as JSON that is equal for equal meanings."""
    if name == "annotations" and isinstance(value, dict):
        value = {**_HINTS, **value}
    try:
        return msgspec.json.encode(_ordered(value, 0), order="sorted")
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError):
        return repr(value).encode("utf-8", "surrogatepass")


def _ordered(value: Any, depth: int) -> Any:
    """Returns a schema with its required members sorted, since they are a set."""
    # Beyond this depth the order is kept.
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        found = {key: _ordered(inner, depth + 1) for key, inner in value.items()}
        required = found.get("required")
        if isinstance(required, list) and all(isinstance(one, str) for one in required):
            found["required"] = sorted(required)
        return found
    return [_ordered(inner, depth + 1) for inner in value] if isinstance(value, list) else value


_DEEPEST = 64


def changed_aspects(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Returns the different aspects of two definitions, in words; compares aspects or their digests."""
    return [word for name, word in ASPECTS.items() if before.get(name) != after.get(name)]

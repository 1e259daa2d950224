"""Reads contexts in object form, as in the k9j and MEUP drafts: names and parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WITHOUT_ID = "(no id)"
"""Name of the context for unnamed objects (docs/protocols.md 7)."""
OPERATIONS = frozenset({"push", "pop", "resume"})
MAX_NESTED_PARENTS = 100
"""Limit of nested parents."""


def operation_of(context: Mapping[str, Any]) -> str | None:
    """Returns the operation of an object without an id; None if it describes a context."""
    found = context.get("operation")
    return found if isinstance(found, str) and found in OPERATIONS and not context.get("id") else None


def object_name(context: Mapping[str, Any]) -> str:
    """Returns the key part of a context object; "" for an operation on its sender's latest context."""
    return object_key(context) or ("" if operation_of(context) is not None else WITHOUT_ID)


def object_key(context: Mapping[str, Any]) -> str | None:
    """Returns the id of a context object; of an operation `correlation_id`, else `topic` (docs/protocols.md 7)."""
    for name in ("id", "correlation_id", "topic"):
        identifier = context.get(name)
        if isinstance(identifier, list) and identifier:
            identifier = identifier[0]
        if identifier:
            return identifier if isinstance(identifier, str) else None
    return None


def context_and_parents(context: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Returns a context and its embedded parents, itself first; each names its parent by key, if any."""
    found: list[dict[str, Any]] = []
    level: Any = context
    # Parents may be nested without end.
    while isinstance(level, dict) and len(found) < MAX_NESTED_PARENTS:
        above = level.get("parent")
        found.append({**level, "parent": object_key(above) if isinstance(above, dict) else above})
        level = above
    return tuple(found)

"""Contexts written as objects, as the k9j and MEUP drafts had them: what names them, what lies above them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WITHOUT_ID = "(no id)"
"""Name of the context for objects that name none (docs/protocols.md 7)."""
OPERATIONS = frozenset({"push", "pop", "resume"})
MOST_NESTED = 100
"""Parents inside parents that are read."""


def operation_of(context: Mapping[str, Any]) -> str | None:
    """The operation that an object without an id stands for; None when it describes a context."""
    found = context.get("operation")
    return found if isinstance(found, str) and found in OPERATIONS and not context.get("id") else None


def object_name(context: Mapping[str, Any]) -> str:
    """What stands in a key for a context in object form; "" for an operation on whatever is its sender's latest."""
    return object_key(context) or ("" if operation_of(context) is not None else WITHOUT_ID)


def object_key(context: Mapping[str, Any]) -> str | None:
    """The id of a context as object; an operation names it by `correlation_id`, else `topic` (docs/protocols.md 7)."""
    for name in ("id", "correlation_id", "topic"):
        identifier = context.get(name)
        if isinstance(identifier, list) and identifier:
            identifier = identifier[0]
        if identifier:
            return identifier if isinstance(identifier, str) else None
    return None


def levels_of(context: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """A context and the parents written into it, itself first; each names the one above by its key, or by None."""
    found: list[dict[str, Any]] = []
    level: Any = context
    while isinstance(level, dict) and len(found) < MOST_NESTED:
        above = level.get("parent")
        found.append({**level, "parent": object_key(above) if isinstance(above, dict) else above})
        level = above
    return tuple(found)

"""Whether a participant may send a message: the JSON patterns of MEW v0.4, as its released gateway matches them.

A real subset of docs/protocols.md 12 (column "v0.4 gateway"): a glob with a trailing ``*`` in ``kind``; in ``payload``,
nested objects, and strings that are equal or match a trailing ``*``. What the released gateway ignores in a pattern
(numbers, booleans) must be equal here: the demo denies what it does not understand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Pattern = Mapping[str, Any]
"""``{"kind": "mcp/*", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}``; ``payload`` is optional."""

IMPLICIT: Pattern = {"id": "mcp-response", "kind": "mcp/response"}
"""Held by every participant of a v0.4 gateway."""

DEFAULTS: tuple[Pattern, ...] = ({"id": "chat", "kind": "chat"}, IMPLICIT)
"""What an unknown participant, or a known one with a wrong token, may do."""


def may_send(capabilities: Sequence[Pattern], envelope: Mapping[str, Any]) -> bool:
    """Return whether any one capability allows ``envelope``."""
    return any(_allows(pattern, envelope) for pattern in capabilities)


def _allows(pattern: Pattern, envelope: Mapping[str, Any]) -> bool:
    kind = pattern.get("kind")
    if kind == "*":
        return True
    if not isinstance(kind, str) or not _glob(kind, envelope.get("kind")):
        return False
    return "payload" not in pattern or _within(pattern["payload"], envelope.get("payload"))


def _within(pattern: object, value: object) -> bool:
    if isinstance(pattern, Mapping):
        return isinstance(value, Mapping) and all(_within(want, value.get(key)) for key, want in pattern.items())
    if isinstance(pattern, str):
        return _glob(pattern, value)
    return type(pattern) is type(value) and pattern == value


def _glob(pattern: str, value: object) -> bool:
    if not isinstance(value, str) or not value:
        return False
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern

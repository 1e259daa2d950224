"""Checks a participant's permission to send: the JSON patterns of MEW v0.4, as its released gateway matches them.

A subset of docs/protocols.md 12 (column "v0.4 gateway"): a glob with a trailing ``*`` in ``kind``; in ``payload``,
nested objects, and strings that are equal or match a trailing ``*``. Numbers and booleans, ignored by the released
gateway, must be equal here: the demo denies unknown patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Pattern = Mapping[str, Any]
"""``{"kind": "mcp/*", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}``; ``payload`` is optional."""

IMPLICIT_CAPABILITY: Pattern = {"id": "mcp-response", "kind": "mcp/response"}
"""Every participant of a v0.4 gateway has it."""

DEFAULT_CAPABILITIES: tuple[Pattern, ...] = ({"id": "chat", "kind": "chat"}, IMPLICIT_CAPABILITY)
"""Permissions of an unknown participant, or of a known one with a wrong token."""


def may_send(capabilities: Sequence[Pattern], envelope: Mapping[str, Any]) -> bool:
    """Returns True if any capability allows ``envelope``."""
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
    # In Python, True equals 1.
    return type(pattern) is type(value) and pattern == value


def _glob(pattern: str, value: object) -> bool:
    if not isinstance(value, str) or not value:
        return False
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern

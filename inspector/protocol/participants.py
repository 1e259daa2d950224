"""Ids of the gateway itself; the participant and capabilities of a welcome, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

GATEWAY_IDS = frozenset({"system:gateway", "system", "gateway"})
"""Senders with trusted presence and welcome; reserved for the gateway."""

_WORDS = (
    ("chat", "chat"),
    ("reasoning/start", "reason"),
    ("mcp/request", "call tools"),
    ("mcp/proposal", "propose"),
    ("capability/grant", "grant"),
    ("stream/request", "stream"),
)


def welcomed_participant(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the participant that a welcome addresses, as described there.

    MCP-X v0.0 named it `participant` or `participant_id`, and participants by their ids alone.
    """
    found = payload.get("you") or payload.get("participant") or payload.get("participant_id")
    return found if isinstance(found, Mapping) else {"id": found} if isinstance(found, str) else None


def capability_lines(capabilities: object) -> list[str]:
    """Returns each capability as one line: its kind pattern, and the bound payload values."""
    lines: list[str] = []
    for item in capabilities if isinstance(capabilities, list) else []:
        if isinstance(item, str):
            lines.append(item)
        elif isinstance(item, Mapping):
            lines.append(_pattern(item))
    return lines


def _pattern(item: Mapping[str, Any]) -> str:
    kind = item.get("kind")
    kind = "|".join(map(str, kind)) if isinstance(kind, list) else str(kind or "?")
    payload = item.get("payload")
    if not isinstance(payload, Mapping):
        return kind
    parts = [str(payload["method"])] if "method" in payload else []
    params = payload.get("params")
    if isinstance(params, Mapping) and "name" in params:
        parts.append(str(params["name"]))
    return ":".join([kind, *parts])


def permissions_in_words(capability_patterns: Iterable[str]) -> str:
    """Returns permissions in words: "may do anything", "chat, reason, propose", "answers tools", "listens only"."""
    listed = list(capability_patterns)
    kinds = [p.partition(":")[0] for p in listed]
    if "*" in kinds:
        return "may do anything"
    words = [word for kind, word in _WORDS if any(_covers(k, kind) for k in kinds)]
    # Every participant of a MEW v0.4 gateway has mcp/response once by default; a second one was granted by its space.
    # One with a method is of MCPX v0.1, which has no default.
    answers = kinds.count("mcp/response") > 1 or any(p.startswith("mcp/response:") for p in listed)
    if words:
        return ", ".join([*words, "answer tools"] if answers else words)
    return "answers tools" if answers else "listens only"


def _covers(pattern: str, kind: str) -> bool:
    return pattern == kind or (pattern.endswith("*") and kind.startswith(pattern[:-1]))

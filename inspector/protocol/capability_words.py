"""Describes a capability in words: "call tools named read_*", "answer requests" (docs/protocols.md 4, 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MAX_KINDS = 8
_BY_KIND = {
    "*": "anything",
    "mcp/response": "answer requests",
    "mcp/reject": "reject proposals",
    "mcp/withdraw": "withdraw proposals",
    "mcp/notification": "send MCP notifications",
    "chat": "chat",
    "chat/acknowledge": "acknowledge chat",
    "chat/cancel": "cancel chat",
    "reasoning/*": "reason",
    "reasoning/start": "start reasoning",
    "reasoning/thought": "think aloud",
    "reasoning/conclusion": "conclude reasoning",
    "reasoning/cancel": "cancel reasoning",
    "capability/*": "grant and revoke capabilities",
    "capability/grant": "grant capabilities",
    "capability/revoke": "revoke capabilities",
    "capability/grant-ack": "acknowledge grants",
    "space/*": "invite and remove others",
    "space/invite": "invite others",
    "space/kick": "remove others",
    "participant/*": "control others, report its status",
    "participant/status": "report its status",
    "participant/request-status": "ask others for their status",
    "participant/pause": "pause others",
    "participant/resume": "resume others",
    "participant/forget": "make others forget",
    "participant/compact": "make others compact their context",
    "participant/compact-done": "say that its context is compacted",
    "participant/clear": "clear the context of others",
    "participant/restart": "restart others",
    "participant/shutdown": "shut others down",
    "stream/*": "do anything with streams",
    "stream/request": "ask for streams",
    "stream/open": "open streams",
    "stream/close": "close streams",
    "mcp/*": "do anything with MCP",
    "chat/*": "acknowledge and cancel chat",
    "system/*": "send system messages",
}
_CALLS = {
    "mcp/request": ("make any request", "call any tool", "call the tool", "call tools named", "request"),
    "mcp/proposal": ("propose anything", "propose any tool call", "propose to call", "propose calls of", "propose"),
}


def capability_in_words(capability: object) -> str:
    """Returns the permission in words. Conditions beyond method and name are only mentioned."""
    if isinstance(capability, str):
        kind, _, call = capability.partition(":")
        method, _, name = call.partition(":")
        return _in_words(kind, method, name)
    if not isinstance(capability, Mapping):
        return "an unreadable capability"
    kinds = capability.get("kind")
    kinds = [str(kind) for kind in kinds[:_MAX_KINDS]] if isinstance(kinds, list) else [str(kinds or "?")]
    if not kinds:
        return "no messages, its list of kinds is empty"
    method, name, more = _payload_conditions(capability.get("payload"))
    words = ", or ".join(_in_words(kind, method, name) for kind in kinds)
    to = capability.get("to")
    if to:
        words += " to " + (", ".join(map(str, to[:_MAX_KINDS])) if isinstance(to, list) else str(to))
    context = capability.get("context")
    if context:
        named = context[:_MAX_KINDS] if isinstance(context, list) else [context]
        words += f" in the context {' or '.join(map(str, named))}"
    return f"{words}, under conditions" if more else words


def _payload_conditions(payload: object) -> tuple[str, str, bool]:
    """Returns method and name in a payload pattern, and True if it has further conditions."""
    if not isinstance(payload, Mapping):
        return "", "", payload is not None
    method, params = payload.get("method"), payload.get("params")
    name = params.get("name") if isinstance(params, Mapping) else None
    plain = {"method"} if method is not None else set[str]()
    if isinstance(params, Mapping) and set(params) <= {"name"}:
        plain.add("params")
    # More conditions than these are only mentioned.
    return _one_of(method), _one_of(name), not set(payload) <= plain


def _one_of(pattern: Any) -> str:
    if isinstance(pattern, list):
        return " or ".join(map(str, pattern[:_MAX_KINDS]))
    return "" if pattern is None else str(pattern)


def _in_words(kind: str, method: str, name: str) -> str:
    if kind.startswith("!"):
        return f"anything but {kind[1:]}"
    if kind in _CALLS:
        anything, any_tool, one, several, other = _CALLS[kind]
        if method in ("", "*") and name in ("", "*"):
            return anything
        if name in ("", "*"):
            if method.startswith("!"):
                return f"{other} anything but {method[1:]}"
            return any_tool if method == "tools/call" else f"{other} {method}"
        if method in ("tools/call", ""):
            if name.startswith("!"):
                return f"{any_tool} but {name[1:]}"
            return f"{several if _is_pattern(name) else one} {name}"
        return f"{other} {method} {name}"
    words = _BY_KIND.get(kind, f"send {kind}")
    return f"{words} {method} {name}".strip() if method or name else words


def _is_pattern(name: str) -> bool:
    return "*" in name or " or " in name or name[:1] == "/"

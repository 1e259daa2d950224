"""The text a message shows in a row: protocols.md 2, "text shown", then what its call or outcome says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.protocol.secrets import is_secret_key, mask_value

TEXT_KEYS = ("text", "message", "thought", "reasoning", "decision", "conclusion", "input", "description")
"""Keys of a payload whose text is what the message says, the first one that is text."""


def text_shown(kind: str, payload: Mapping[str, Any]) -> str | None:
    """The text of a message; None when its payload holds none.

    The rule's keys come first; a tool's answer then shows its content, an error its message, a call its
    arguments, so that no row of a conversation is mute.
    """
    for key in TEXT_KEYS:
        value = payload.get(key)
        if isinstance(value, str):
            return value
    params = payload.get("params")
    if isinstance(params, Mapping) and isinstance(params.get("text"), str):
        return params["text"]
    return _outcome_text(payload) or _call_text(params) or _control_text(kind, payload)


def _outcome_text(payload: Mapping[str, Any]) -> str | None:
    error = payload.get("error")
    if isinstance(error, Mapping):
        return _words(error.get("message")) or compact(error)
    if isinstance(error, str):
        return error
    if "result" not in payload:
        return None
    result = payload["result"]
    if isinstance(result, Mapping):
        return content_text(result) or _list_text(result) or compact(result)
    return _words(result) or compact(result)


def content_text(result: Mapping[str, Any]) -> str | None:
    """The first text of an MCP result's content blocks (MCP 2025-06-18, Tools); None when there is none."""
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return None
    texts = [b["text"] for b in blocks if isinstance(b, Mapping) and isinstance(b.get("text"), str)]
    if texts:
        return texts[0]
    names = [str(b.get("type", "block")) for b in blocks if isinstance(b, Mapping)]
    return ", ".join(names) if names else None


def _list_text(result: Mapping[str, Any]) -> str | None:
    for key in ("tools", "resources", "prompts"):
        items = result.get(key)
        if isinstance(items, list):
            names = [str(i.get("name") or i.get("uri")) for i in items if isinstance(i, Mapping)]
            head = f"{len(items)} {key if len(items) != 1 else key[:-1]}"
            return f"{head}: {', '.join(names)}" if names else head
    return None


def _call_text(params: object) -> str | None:
    if not isinstance(params, Mapping):
        return None
    arguments = params.get("arguments")
    if isinstance(arguments, Mapping):
        shown = ((name, mask_value(name, value) if is_secret_key(name) else value) for name, value in arguments.items())
        return "  ".join(f"{name}={_words(value) or compact(value)}" for name, value in shown) or None
    return _words(params.get("uri"))


def _control_text(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Words for the kinds that carry facts instead of text."""
    participant = payload.get("participant")
    if kind == "system/presence" and isinstance(participant, Mapping):
        return " ".join(filter(None, (_words(participant.get("id")), _words(payload.get("event")))))
    if kind == "system/welcome":
        others = payload.get("participants")
        return f"{len(others)} others present" if isinstance(others, list) else None
    if kind == "participant/status":
        return _status_text(payload)
    facts = (payload.get(key) for key in ("stream_id", "reason", "status", "recipient", "participant_id"))
    return "  ".join(filter(None, map(_words, facts))) or None


def _status_text(payload: Mapping[str, Any]) -> str | None:
    tokens, limit = payload.get("tokens"), payload.get("max_tokens")
    parts = [_words(payload.get("status"))]
    if isinstance(tokens, int | float):
        parts.append(f"{tokens:,} of {limit:,} tokens" if isinstance(limit, int | float) else f"{tokens:,} tokens")
    count = payload.get("messages_in_context")
    if isinstance(count, int | float):
        parts.append(f"{count:,} messages in context")
    return ", ".join(filter(None, parts)) or None


def _words(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def compact(value: object) -> str:
    """A value as JSON on one line."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "..."

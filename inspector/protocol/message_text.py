"""Returns the text of a message for its row, or its call, outcome, status or control as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.protocol import msp
from inspector.protocol.http_words import line_words
from inspector.protocol.mcp_extension_words import app_words, resource_words
from inspector.protocol.mcp_messages import INPUT_REQUIRED
from inspector.protocol.secrets.masking import is_secret_key, mask_value

TEXT_KEYS = ("text", "message", "thought", "reasoning", "decision", "conclusion", "input", "description")
"""Payload keys of a message's text; the first one with a text wins."""


def text_shown(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Returns the text of a message; None if its payload has none.

    The rule's keys come first. Then an answer shows its content, an error its message, a call its arguments, a control
    its request. So no row is empty, or JSON that words could replace.
    """
    told = line_words(kind, payload)
    if told is not None:
        return told
    for key in TEXT_KEYS:
        value = payload.get(key)
        if isinstance(value, str):
            return value
    params = payload.get("params")
    if isinstance(params, dict) and isinstance(params.get("text"), str):
        return params["text"]
    text = _outcome_text(payload) or app_words(payload) or _call_text(params)
    # `content` is the key of one draft (ADR k9j, option 1).
    return text or _words(payload.get("content")) or _control_text(kind, payload)


def _outcome_text(payload: Mapping[str, Any]) -> str | None:
    error = payload.get("error")
    if isinstance(error, dict):
        return _words(error.get("message")) or compact_json(error)
    if isinstance(error, str):
        return error
    if "result" not in payload:
        return None
    result = payload["result"]
    if isinstance(result, dict):
        if result.get("resultType") == INPUT_REQUIRED:
            return _input_text(result.get("inputRequests"))
        # A task may be the result itself, or a member of it.
        task = result["task"] if isinstance(result.get("task"), dict) else result
        if isinstance(task.get("taskId"), str):
            return _task_text(task)
        # Members that carry facts for programs are no text.
        result = {name: value for name, value in result.items() if name not in CARRIED_KEYS}
        text = content_text(result) or _read_text(result) or _list_text(result) or _said_text(result)
        return text or (EMPTY_RESULT if _is_empty(result) else compact_json(result))
    return _words(result) or (EMPTY_RESULT if _is_nothing(result) else compact_json(result))


def _input_text(requests: object) -> str:
    """Returns the input that an answer requests before its result."""
    asked = list(requests.values()) if isinstance(requests, dict) else []
    params = [one.get("params") for one in asked if isinstance(one, dict)]
    texts = [one["message"] for one in params if isinstance(one, dict) and isinstance(one.get("message"), str)]
    return f"asks for input: {'; '.join(texts)}" if texts else "asks for input"


def _task_text(task: Mapping[str, Any]) -> str:
    """Returns a task's state and result."""
    inner = {name: task[name] for name in ("result", "error") if isinstance(task.get(name), dict)}
    words = [f"task {_short_id(task['taskId'])}", _words(task.get("status")), _words(task.get("statusMessage"))]
    outcome = _outcome_text(inner) if inner else None
    told = ", ".join(filter(None, words))
    return f"{told}: {outcome}" if outcome else told


def _short_id(identifier: str) -> str:
    return identifier if len(identifier) <= _LONGEST_ID else f"{identifier[: _LONGEST_ID - 1]}…"


_LONGEST_ID = 12
EMPTY_RESULT = "empty result"
CARRIED_KEYS = frozenset(("_meta", "resultType", "cacheScope", "ttlMs"))
"""Transport members of a result, without content (docs/protocols.md 13)."""


def _is_empty(result: Mapping[str, Any]) -> bool:
    """Returns True if a result is empty: no member, or only empty ones, such as blocks of empty text."""
    blocks = result.get("content")
    mute = isinstance(blocks, list) and all(isinstance(one, dict) and one.get("text") == "" for one in blocks)
    return all(_is_nothing(value) or (mute and value is blocks) for value in result.values())


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def content_text(result: Mapping[str, Any]) -> str | None:
    """Returns the first text of an MCP result's content blocks (MCP 2025-06-18, Tools)."""
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return None
    texts = [b["text"] for b in blocks if isinstance(b, dict) and isinstance(b.get("text"), str)]
    if texts:
        return texts[0]
    # Without a text, the types of the blocks tell what came.
    names = [str(b.get("type", "block")) for b in blocks if isinstance(b, dict)]
    return ", ".join(names) if names else None


def _read_text(result: Mapping[str, Any]) -> str | None:
    """Returns the first text of a read resource, or a completion's values (MCP 2025-06-18)."""
    contents, completion = result.get("contents"), result.get("completion")
    if isinstance(contents, list):
        known = [one for one in contents if isinstance(one, dict)]
        special = next(filter(None, map(resource_words, known)), None)
        return special or next((one["text"] for one in known if isinstance(one.get("text"), str)), None)
    values = completion.get("values") if isinstance(completion, dict) else None
    return ", ".join(v for v in values if isinstance(v, str)) or None if isinstance(values, list) else None


_LISTS = {
    "tools": "tools", "skills": "skills", "resources": "resources", "resourceTemplates": "templates",
    "prompts": "prompts", "roots": "roots",
}  # fmt: skip


def _list_text(result: Mapping[str, Any]) -> str | None:
    for key, word in _LISTS.items():
        items = result.get(key)
        if isinstance(items, list):
            names = [str(i.get("name") or i.get("uri")) for i in items if isinstance(i, dict)]
            head = f"{len(items)} {word if len(items) != 1 else word[:-1]}"
            return f"{head}: {', '.join(names)}" if names else head
    return None


def _said_text(result: Mapping[str, Any]) -> str | None:
    """Returns the text of a client's answer (from a model or a person), or of `prompts/get`."""
    content, messages = result.get("content"), result.get("messages")
    # A person's answer to a form has an action.
    if isinstance(action := result.get("action"), str):
        given = _fields_text(content) if isinstance(content, dict) else None
        return f"{action}: {given}" if given else action
    if isinstance(content, dict):
        return _words(content.get("text"))
    return _messages_text(messages)


def _messages_text(messages: object) -> str | None:
    """Returns the text of the last message."""
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    return content_text({"content": content if isinstance(content, list) else [content]})


def _fields_text(fields: Mapping[str, Any]) -> str | None:
    """Returns values by name; secrets are masked."""
    shown = ((name, mask_value(name, value) if is_secret_key(name) else value) for name, value in fields.items())
    return "  ".join(f"{name}={_words(value) or compact_json(value)}" for name, value in shown) or None


def _call_text(params: object) -> str | None:
    if not isinstance(params, dict):
        return None
    arguments = params.get("arguments")
    if isinstance(arguments, dict):
        return _fields_text(arguments)
    if isinstance(params.get("taskId"), str):
        facts = (_words(params.get("status")), _words(params.get("statusMessage")))
        return ", ".join(filter(None, (f"task {_short_id(params['taskId'])}", *facts)))
    told = (params.get(name) for name in ("message", "level", "uri"))
    return next(filter(None, map(_words, told)), None) or _messages_text(params.get("messages"))


def _control_text(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Returns words for kinds that carry facts instead of text."""
    participant = payload.get("participant")
    if kind == "system/presence" and isinstance(participant, dict):
        return " ".join(filter(None, (_words(participant.get("id")), _words(payload.get("event")))))
    if kind == "system/welcome":
        others = payload.get("participants")
        return f"{len(others)} other{'s' * (len(others) != 1)} present" if isinstance(others, list) else None
    if kind == "system/join":
        return _join_text(payload)
    if kind == "participant/status":
        return _status_text(payload)
    if kind in _ASKS:
        return _asked_text(kind, payload)
    if kind.startswith("msp/"):
        return _session_text(kind, payload)
    facts = (payload.get(key) for key in ("stream_id", "reason", "status", "recipient", "participant_id"))
    return "  ".join(filter(None, map(_words, facts))) or _CONTROLS.get(kind)


def _session_text(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Returns session facts: its intent, an opened sub-session, its outcome."""
    label = _words(payload.get("label"))
    if kind == msp.SUBSESSION_OPENED:
        return f"opens the sub-session {label}" if label else "opens a sub-session"
    if kind == msp.SUBSESSION_CLOSED:
        done = "discards" if payload.get("status") == msp.DISCARDED_STATUS else "closes"
        summary = _words(payload.get("summary"))
        return f"{done} {label or 'a sub-session'}{f': {summary}' if summary else ''}"
    agreed = payload.get("sub_context")
    agreed = agreed if isinstance(agreed, dict) else {}
    parts = [_words(agreed.get("intent")) or (f"session {label}" if label else None)]
    for name in ("constraints", "decisions", "facts"):
        count = len(listed) if isinstance(listed := agreed.get(name), list) else 0
        parts += [f"{count} {name if count != 1 else name[:-1]}"] if count else []
    return ", ".join(filter(None, parts)) or None


_CONTROLS = {
    "participant/pause": "asks to pause",
    "participant/resume": "asks to go on",
    "participant/forget": "asks to forget entries",
    "participant/compact": "asks to compact the context",
    "participant/compact-done": "compacted its context",
    "participant/clear": "asks to forget the whole context",
    "participant/restart": "asks to start again",
    "participant/shutdown": "asks to shut down",
}


def _join_text(payload: Mapping[str, Any]) -> str:
    """Returns the request of a client's hello; drafts named the client by its token alone."""
    who = _words(payload.get("participantId")) or _words(payload.get("participant_id")) or _words(payload.get("id"))
    where = _words(payload.get("space")) or _words(payload.get("topic"))
    return " ".join(filter(None, (who, "asks to join", where)))


_ASKS = {"participant/request-status": "status", "stream/request": "a stream"}


def _asked_text(kind: str, payload: Mapping[str, Any]) -> str:
    """Returns the requested state fields of a participant, or stream type."""
    listed = payload.get("fields" if kind == "participant/request-status" else "modes")
    named = ", ".join(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else ""
    if kind == "stream/request":
        sort = named or _words(payload.get("direction")) or ""
        return f"asks for a stream, {sort}" if sort else "asks for a stream"
    return f"asks for {named or _ASKS[kind]}"


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


def compact_json(value: object) -> str:
    """Returns a value as JSON on one line."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "..."

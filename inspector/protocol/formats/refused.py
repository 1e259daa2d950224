"""Formats that are known and not read: each is refused by its name, and not taken for one that shares a key with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.protocol.formats.entries import decoded_object

_MARKS = (
    b'"requests"',
    b'"kind"',
    b'"log"',
    b'"parts"',
    b'"systemPayload"',
    b'"session"',
)


_FRAMED = b"content-length:"


def refusal(line: bytes) -> str | None:
    """What a line or a document is that is known but not read, as a sentence's end; None for others. Never raises."""
    if line[: len(_FRAMED)].lower() == _FRAMED:
        return "messages framed by Content-Length, as language servers speak, which are not read"
    if not any(mark in line for mark in _MARKS):
        return None
    value = decoded_object(line)
    return _words(value) if value is not None else None


def _words(value: Mapping[str, Any]) -> str | None:
    kind = value.get("kind")
    operation = isinstance(kind, int) and not isinstance(kind, bool) and ("v" in value or "k" in value)
    if (operation and set(value) <= {"kind", "k", "v", "i"}) or ("requests" in value and "responderUsername" in value):
        return "a chat session of VS Code, which is opened as a file of its own, not packed and not from a pipe"
    log = value.get("log")
    if isinstance(log, Mapping) and isinstance(log.get("entries"), list) and "version" in log:
        return "an HTTP archive (HAR), which is opened as a file of its own, not packed and not from a pipe"
    return _session_words(value)


def _session_words(value: Mapping[str, Any]) -> str | None:
    """What a session is of a coding agent that is known and not read."""
    message = value.get("message")
    of_qwen = "systemPayload" in value or (isinstance(message, Mapping) and isinstance(message.get("parts"), list))
    if of_qwen and "parentUuid" in value and "sessionId" in value:
        return "a chat of Qwen Code, which is not read"
    header = {"type", "version", "id", "timestamp", "cwd"}
    if value.get("type") == "session" and header <= set(value) and isinstance(value["version"], int):
        return "a session of Pi, which is not read"
    return None

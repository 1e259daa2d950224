"""Events of AG-UI in lines: alone, as data of an event stream, or inside of a recorder's object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.value_conversions import mapping_or_empty, text_or_none

_RUN = ("threadId", "thread_id", "runId", "run_id")
_TEXT = ("messageId", "message_id", "role", "delta")
_CALL = ("toolCallId", "tool_call_id")
_THOUGHT = ("messageId", "message_id", "delta")

KEYS: dict[str, tuple[str, ...]] = {
    "RUN_STARTED": _RUN, "RUN_FINISHED": _RUN, "RUN_ERROR": ("message", "error"),
    "STEP_STARTED": ("stepName", "step_name"), "STEP_FINISHED": ("stepName", "step_name"),
    "TEXT_MESSAGE_START": (), "TEXT_MESSAGE_CONTENT": (), "TEXT_MESSAGE_END": (), "TEXT_MESSAGE_CHUNK": _TEXT,
    "TOOL_CALL_START": _CALL, "TOOL_CALL_ARGS": _CALL, "TOOL_CALL_END": _CALL, "TOOL_CALL_RESULT": _CALL,
    "TOOL_CALL_CHUNK": (*_CALL, "delta"),
    "THINKING_START": (), "THINKING_END": (), "THINKING_TEXT_MESSAGE_START": (), "THINKING_TEXT_MESSAGE_CONTENT": (),
    "THINKING_TEXT_MESSAGE_END": (), "REASONING_START": _THOUGHT, "REASONING_END": _THOUGHT,
    "REASONING_MESSAGE_START": _THOUGHT, "REASONING_MESSAGE_CONTENT": _THOUGHT, "REASONING_MESSAGE_END": _THOUGHT,
    "REASONING_MESSAGE_CHUNK": _THOUGHT, "REASONING_ENCRYPTED_VALUE": ("encryptedValue",),
    "STATE_SNAPSHOT": ("snapshot",), "STATE_DELTA": ("delta",), "MESSAGES_SNAPSHOT": ("messages",),
    "ACTIVITY_SNAPSHOT": ("activityType",), "ACTIVITY_DELTA": ("activityType",),
    "RAW": ("event",), "CUSTOM": ("name",), "USAGE_METADATA": ("input_tokens",),
}  # fmt: skip
"""Types of events, each with members of which it has one."""
_PREFIXES = ("RUN_", "STEP_", "TEXT_MESSAGE_", "TOOL_CALL_", "THINKING_", "REASONING_", "STATE_", "ACTIVITY_")
_SHORT = ("messageId", "toolCallId", "threadId", "runId")
_DATA = b"data:"


def without_field(line: bytes) -> bytes:
    """Returns the data of an event stream's line; other lines unchanged."""
    return line[len(_DATA) :].strip() if line.startswith(_DATA) else line


def event_in(line: bytes) -> Mapping[str, Any] | None:
    """Returns the event in a line; None for other lines. Never raises."""
    value = decoded_object(without_field(line))
    if value is None:
        return None
    event = unwrapped(value)
    return event if is_event(event) else None


def unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the event in an object of a recorder, which repeats its type, with the recorder's time."""
    for key in ("data", "payload"):
        inner = mapping_or_empty(value.get(key))
        event = mapping_or_empty(inner.get("event")) or inner
        if event and event.get("type") == value.get("type"):
            time = value.get("timestamp")
            return event if time is None else {"timestamp": time, **event}
    return value


def is_event(event: Mapping[str, Any], *, unknown: bool = False) -> bool:
    """Returns True for an event; with `unknown` also for one of a newer type."""
    sort = event.get("type")
    if not isinstance(sort, str):
        return False
    keys = KEYS.get(sort)
    if keys is None:
        return unknown and sort.isupper() and sort.startswith(_PREFIXES) and any(key in event for key in _SHORT)
    return not keys or any(key in event for key in keys)


def name_in(event: Mapping[str, Any], *names: str) -> str | None:
    """Returns the first text among members, which some programs write in snake case."""
    return next((found for name in names if (found := text_or_none(event.get(name)))), None)

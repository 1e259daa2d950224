"""Reads output of `droid exec --output-format stream-json`: an event a line, which names its session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.content_blocks import blocks_in
from inspector.formats.entry_builders import bytes_of, token_count
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

RECORDS = ("system", "completion")
"""Events that the program writes for itself."""
SPAWNING = "Task"
"""Tool that starts a sub-agent."""

_MEMBERS = {
    "message": (("role", "text"),), "reasoning": (("id", "text"),),
    "tool_call": (("toolId", "parameters"), ("toolCallId", "parameters")),
    "tool_result": (("toolId", "isError"), ("toolCallId", "value"), ("toolCallId", "error")),
    "completion": (("finalText",),), "error": (("message", "source"),), "system": (("subtype", "tools"), ("cwd",)),
}  # fmt: skip
"""Types of events, each with sets of its members: one of them is complete."""
_FOREIGN = ("uuid", "mcp_servers", "permissionMode", "apiKeySource")
"""Members of output of similar programs."""


def is_event(value: Mapping[str, Any]) -> bool:
    """Returns True for an event of droid."""
    known = _MEMBERS.get(str(value.get("type")))
    if known is None or not isinstance(value.get("session_id"), str):
        return False
    return any(value.keys() >= {*members} for members in known) and not any(name in value for name in _FOREIGN)


def event_of(voice: Voice, value: Mapping[str, Any]) -> Event:
    """Returns the row of an event."""
    time = value.get("timestamp")
    time_ns = parse_time(time) if isinstance(time, str | int | float) and not isinstance(time, bool) else NO_TIME
    kind, identifier = str(value["type"]), text_or_none(value.get("id"))
    is_call = kind in ("tool_call", "tool_result")
    identifier = text_or_none(value.get("toolCallId")) or identifier if is_call else identifier
    event = _event(voice, kind, identifier, value)
    return place_event(event, time_ns=time_ns, identifier=None if is_call else identifier)


def _event(voice: Voice, kind: str, identifier: str | None, value: Mapping[str, Any]) -> Event:
    text = text_or_none(value.get("text")) or ""
    if kind == "message":
        return voice.answer(text) if value.get("role") == "assistant" else voice.prompt(text)
    if kind == "reasoning":
        return voice.thought(text)
    if kind == "tool_call":
        tool = text_or_none(value.get("toolName")) or text_or_none(value.get("toolId"))
        return call_event(voice, identifier, tool, value.get("parameters"))
    if kind == "tool_result":
        told = value.get("value", value.get("error"))
        content = told if isinstance(told, str) else blocks_in(told) or bytes_of({"value": told}).decode()
        failed = value.get("isError") is True or mapping_or_empty(told).get("exitCode") not in (None, 0)
        return voice.result(identifier, content, failed=failed)
    facts = {key: one for key, one in value.items() if key not in ("type", "session_id", "timestamp", "id")}
    if kind == "error":
        return voice.error(text_or_none(value.get("message")) or "error", **facts)
    if kind == "system":
        return voice.usage(
            voice.bookkeeping(kind, describe_record("session", facts), **facts), model=text_or_none(value.get("model")),
            identifier="",
        )  # fmt: skip
    # The last message has the final text already.
    final = text_or_none(value.get("finalText")) or kind
    event = voice.error(final) if value.get("isError") is True else voice.bookkeeping(kind, final, **facts)
    return set_tokens(voice, event, mapping_or_empty(value.get("usage")), model=None)


def call_event(voice: Voice, identifier: str | None, tool: str | None, given: object) -> Event:
    """Returns a call, which may start a sub-agent."""
    if tool != SPAWNING or not isinstance(given, Mapping):
        return voice.call(identifier, tool, given)
    label, prompt, kind = (text_or_none(given.get(key)) for key in ("description", "prompt", "subagent_type"))
    return voice.agent_started(identifier, label=label, prompt=prompt, type_=kind, tool=SPAWNING, arguments=given)


def set_tokens(voice: Voice, event: Event, usage: Mapping[str, Any], *, model: str | None, call: str = "") -> Event:
    """Sets the tokens of a session up to now, in the words of its output or of its settings."""
    if not usage:
        return event
    return voice.usage(
        event, model=model, identifier=call or None, input=token_count(usage, "input_tokens", "inputTokens"),
        # Thinking is part of the output.
        output=token_count(usage, "output_tokens", "outputTokens"),
        cache_read=token_count(usage, "cache_read_input_tokens", "cacheReadTokens"),
        cache_write=token_count(usage, "cache_creation_input_tokens", "cacheCreationTokens"),
    )  # fmt: skip

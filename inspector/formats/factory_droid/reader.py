"""Reads sessions of Factory's droid: a header, then a message a line, with content blocks.

A session's tokens are in a file beside it, which `conversion` makes one more line of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import block_event, blocks_in
from inspector.formats.entry_builders import text_of
from inspector.formats.factory_droid import exec_output
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_text_time

NAME = "factory-droid"
VOICE = Voice(agent="droid", program="droid-cli", namespace="droid/")
SETTINGS_KEY = "droidSession"
"""Key of the session's id in the line with its settings."""
RECORDS = ("session_start", "session_end", "todo_state", "session_settings", *exec_output.RECORDS)
"""Records that the program writes for itself."""

_FOREIGN = ("timestamp", "provider", "toolCallId", "usage")
"""Members of messages that only similar formats have."""
_REMINDER, _QUERY = "<system-reminder>", re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_FAILURE = "Error: "
"""Beginning of results of failed tools, which older versions mark by nothing else."""


def typed_text(content: object) -> str:
    """Returns the first text that a person typed in a message; "" without one."""
    for block in blocks_in(content):
        text = text_or_none(block.get("text"))
        if text is not None and not text.lstrip().startswith(_REMINDER):
            return _asked_in(text)
    return ""


def _asked_in(text: str) -> str:
    asked = _QUERY.search(text)
    return asked[1] if asked is not None else text


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    kind, message = value.get("type"), value.get("message")
    if "session_id" in value:
        return exec_output.is_event(value)
    if kind == "session_settings":
        return isinstance(value.get(SETTINGS_KEY), str) and isinstance(value.get("settings"), Mapping)
    if kind == "message":
        has_id = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
        if (
            not has_id
            or not isinstance(message, Mapping)
            or message.get("role") not in ("user", "assistant", "system", "tool")
            or set(_FOREIGN) & set(message)
        ):
            return False
        return not any(block.get("type") == "toolCall" for block in blocks_in(message.get("content")))
    if kind == "session_start":
        return isinstance(value.get("id"), str) and ("cwd" in value or "title" in value or "sessionTitle" in value)
    if kind == "compaction_state":
        return "summaryText" in value
    return kind == "todo_state" and "todos" in value and not unknown


def _events(value: Mapping[str, Any]) -> list[Event]:
    if "session_id" in value:
        return [exec_output.event_of(VOICE, value)]
    kind, identifier = str(value["type"]), text_or_none(value.get("id"))
    time_ns = parse_text_time(time) if isinstance(time := value.get("timestamp"), str) else NO_TIME
    if kind == "message":
        events = list(_message(mapping_or_empty(value.get("message"))))
    elif kind == "session_settings":
        return [_settings(mapping_or_empty(value.get("settings")), str(value.get(SETTINGS_KEY)))]
    elif kind == "compaction_state":
        events = [VOICE.compaction(text_or_none(value.get("summaryText")) or "")]
    else:
        facts = {key: one for key, one in value.items() if key not in ("type", "timestamp")}
        title = text_or_none(value.get("title")) or text_or_none(value.get("sessionTitle"))
        text = title or describe_record(kind, facts)
        events, identifier = [VOICE.bookkeeping(kind, text, **{**facts, "title": title})], None
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own)
    return events


def _settings(settings: Mapping[str, Any], session: str) -> Event:
    """Returns the row of a session's settings with its tokens; a later one replaces an earlier one."""
    event = VOICE.bookkeeping("session_settings", describe_record("settings", settings), **settings)
    usage = mapping_or_empty(settings.get("tokenUsage"))
    model = text_or_none(settings.get("model"))
    return place_event(exec_output.set_tokens(VOICE, event, usage, model=model, call=f"settings of {session}"))


def _message(message: Mapping[str, Any]) -> Iterator[Event]:
    by_model, events = message.get("role") == "assistant", list[Event]()
    for block in blocks_in(message.get("content")):
        text, given = text_or_none(block.get("text")), block.get("input")
        if block.get("type") == "text" and text is not None and not by_model:
            is_reminder = text.lstrip().startswith(_REMINDER)
            events.append(VOICE.instructions(text) if is_reminder else VOICE.prompt(_asked_in(text)))
        elif block.get("name") == exec_output.SPAWNING and isinstance(given, Mapping):
            call = text_or_none(block.get("id"))
            events.append(exec_output.call_event(VOICE, call, exec_output.SPAWNING, given))
        else:
            ended_badly = block.get("type") == "tool_result" and text_of(block.get("content")).startswith(_FAILURE)
            given_block = {**block, "is_error": True} if ended_badly else block
            events.append(block_event(VOICE, given_block, by_model=by_model))
    events = events or [VOICE.answer("") if by_model else VOICE.prompt("")]
    model = text_or_none(message.get("model"))
    if by_model and model is not None:
        VOICE.usage(events[-1], model=model)
    yield from events


READER = JsonTranscript(
    name=NAME,
    marks=(
        (b'"message"', b'"role"', b'"timestamp"'), (b'"session_start"',), (b'"compaction_state"',), (b'"todo_state"',),
        (b'"session_id"', b'"type"'), (b'"droidSession"',),
    ),
    is_known=_is_known, events_of=_events,
    session_of=lambda value: value.get("session_id", value.get("id") if value.get("type") == "session_start" else None),
)  # fmt: skip

"""Reads sessions of Hermes Agent: a record `session_meta` with model and tools, then a message a line, without tokens.

Its messages have the form of a model API, so a file is read as one of this program only with such a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import text_of
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.header import json_or_none
from inspector.protocol.timestamps import parse_time

NAME = "hermes"
VOICE = Voice(agent="hermes", program="hermes-agent", namespace="hermes/")
SESSION = "session-meta"
"""Record about the session."""

_META = "session_meta"
_ROLES = ("system", "user", "assistant", "tool")
_THOUGHTS = ("reasoning", "reasoning_content")
_SAID = ("content", "tool_calls")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    role = value.get("role")
    if role == _META:
        return True
    is_other = any(key in value for key in ("type", "parts", "uuid", "payload"))
    return unknown and role in _ROLES and not is_other and any(key in value for key in _SAID)


def _events(value: Mapping[str, Any]) -> list[Event]:
    events = list(_events_of(value))
    for event in events:
        place_event(event, time_ns=parse_time(value.get("timestamp")))
    return events


def _events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    role, content = value.get("role"), value.get("content")
    if role == _META:
        facts = {key: one for key, one in value.items() if key not in ("role", "timestamp")}
        named = {key: one for key, one in facts.items() if not isinstance(one, list)}
        yield VOICE.bookkeeping(SESSION, describe_record(_META, named), **facts)
    elif role == "tool":
        tool = text_or_none(value.get("tool_name", value.get("name")))
        yield VOICE.result(text_or_none(value.get("tool_call_id")), content, tool=tool, failed=_has_failed(content))
    elif role == "assistant":
        yield from _answer(value)
    elif role == "user":
        yield VOICE.prompt(text_of(content))
    else:
        yield VOICE.instructions(text_of(content))


def _answer(message: Mapping[str, Any]) -> Iterator[Event]:
    events: list[Event] = []
    if thought := next((one for key in _THOUGHTS if (one := text_or_none(message.get(key)))), None):
        events.append(VOICE.thought(thought))
    content = message.get("content")
    parts: list[object] = content if isinstance(content, list) else [content] if content else []
    events += [VOICE.answer(text_of(part)) for part in parts]
    for call in mappings_in(message.get("tool_calls")):
        made = mapping_or_empty(call.get("function")) or call
        identifier = text_or_none(call.get("id")) or text_or_none(call.get("call_id"))
        events.append(VOICE.call(identifier, text_or_none(made.get("name")), made.get("arguments")))
    yield from events or [VOICE.answer("")]


def _has_failed(content: object) -> bool:
    """Returns True for a result with an error or another exit code than 0; results are JSON in a text."""
    told = json_or_none(content.encode("utf-8", "replace")) if isinstance(content, str) else None
    facts = mapping_or_empty(told)
    code = facts.get("exit_code")
    return bool(facts.get("error")) or facts.get("success") is False or (type(code) is int and code != 0)


READER = JsonTranscript(
    name=NAME, marks=((b'"role"', b'"session_meta"'), (b'"role"', b'"content"'), (b'"role"', b'"tool_calls"')),
    # The lines of a file do not name its session.
    is_known=_is_known, events_of=_events, session_of=lambda _: NAME,
)  # fmt: skip

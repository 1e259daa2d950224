"""Reads events of AG-UI: runs, steps, texts, thoughts, calls and their results, state, snapshots of messages.

`reassembly` joins the pieces of a text, a thought or a call into one event of the type `..._CHUNK`, and leaves in a
snapshot the messages that were not seen before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.ag_ui.events import KEYS, event_in, is_event, name_in, unwrapped, without_field
from inspector.formats.entry_builders import encrypted_replacement, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Payload
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "ag-ui"
VOICE = Voice(agent="agent", program="ag-ui", namespace="ag-ui/")
_EMPTY = frozenset(
    ("TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END", "TOOL_CALL_ARGS",
     "TOOL_CALL_END", "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_END", "TEXT_MESSAGE_CONTENT",
     "TEXT_MESSAGE_CHUNK", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "THINKING_TEXT_MESSAGE_CONTENT")
)  # fmt: skip
"""Types of events that mean nothing without a piece of a text."""
_ERRORS = "RUN_ERROR"
_LEFT_OUT = ("type", "timestamp", "rawEvent", "usage")


def _record_name(sort: str) -> str:
    return sort.lower().replace("_", "-")


RECORDS = frozenset(
    _record_name(sort) for sort in KEYS if sort != _ERRORS and not sort.startswith(("TEXT_MESSAGE_", "TOOL_CALL_"))
)
"""Records that are no messages."""


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads a line, also a field `data:` of an event stream. Never raises."""
    bare = without_field(line)
    record = READER.read(bare, unknown=unknown)
    if record is not None and len(record.derived_messages) == 1:
        event = event_in(bare)
        if event is not None and event.get("type") in _EMPTY and not text_or_none(event.get("delta")):
            return Record(Shape.NO_MESSAGE, bare, time_ns=record.time_ns, derived_by=NAME)
    return record


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    return is_event(unwrapped(value), unknown=unknown)


def _events(value: Mapping[str, Any]) -> list[Event]:
    event = unwrapped(value)
    time, sort = event.get("timestamp"), str(event.get("type"))
    events = list(_events_of(sort, event)) or [_record(sort, event)]
    identifier = name_in(event, "messageId", "message_id")
    for number, one in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(one, time_ns=NO_TIME if time is None else parse_time(time), identifier=own)
        # A message may be continued after a call, with the same id.
        one.meaning.content = str(one.payload.get("text", "")).encode("utf-8", "replace")
    return events


def _events_of(sort: str, event: Mapping[str, Any]) -> Iterator[Event]:
    text = text_or_none(event.get("delta")) or ""
    if sort.startswith("TEXT_MESSAGE_"):
        yield _text(text_or_none(event.get("role")) or "assistant", text)
    elif sort.startswith(("REASONING_MESSAGE_", "THINKING_TEXT_MESSAGE_")):
        yield VOICE.thought(text)
    elif sort == "TOOL_CALL_RESULT":
        yield _result(event, event.get("content", event.get("result")))
    elif sort.startswith("TOOL_CALL_"):
        called = name_in(event, "toolCallId", "tool_call_id")
        yield VOICE.call(called, name_in(event, "toolCallName", "tool_call_name"), text)
    elif sort == "RUN_STARTED":
        yield _record(sort, {key: one for key, one in event.items() if key != "input"})
        yield from _messages(mapping_or_empty(event.get("input")).get("messages"))
    elif sort == "MESSAGES_SNAPSHOT":
        given = event.get("messages")
        count = len(given) if isinstance(given, list) else 0
        words = f"{count} of {count + token_count(event, 'repeated')} messages are new"
        yield VOICE.bookkeeping(_record_name(sort), words)
        yield from _messages(given)
    elif sort == _ERRORS:
        told = event.get("message") or event.get("error")
        code = {} if event.get("code") is None else {"code": event["code"]}
        yield _with_usage(VOICE.error(text_of(told) or sort, **code), event)
    elif sort == "REASONING_ENCRYPTED_VALUE":
        sealed = encrypted_replacement(str(event.get("encryptedValue")))
        yield _record(sort, {**event, "encryptedValue": sealed})
    elif sort in ("RUN_FINISHED", "USAGE_METADATA"):
        yield _with_usage(_record(sort, event), event)
        for used in mappings_in(event.get("usage"))[1:]:
            yield _used(VOICE.bookkeeping(_record_name("USAGE_METADATA"), describe_record("usage", used)), used)


def _record(sort: str, event: Mapping[str, Any]) -> Event:
    """Returns the row of an event that is no message."""
    facts = {key: one for key, one in event.items() if key not in _LEFT_OUT and not key.startswith("_")}
    name, step = _record_name(sort), text_or_none(event.get("stepName"))
    words = f"{name.replace('-', ' ')}: {step}" if step else describe_record(name, facts)
    if sort == "CUSTOM" and (own := text_or_none(event.get("name"))):
        words = describe_record(own, {key: one for key, one in facts.items() if key != "name"})
    return VOICE.bookkeeping(name, words, **facts)


def _text(role: str, text: str) -> Event:
    if role == "user":
        return VOICE.prompt(text)
    return VOICE.answer(text) if role == "assistant" else VOICE.instructions(text)


def _result(holder: Mapping[str, Any], content: object) -> Event:
    failure = text_or_none(holder.get("error"))
    return VOICE.result(
        name_in(holder, "toolCallId", "tool_call_id"), content or failure, failed=failure is not None
    )  # fmt: skip


def _messages(given: object) -> Iterator[Event]:
    """Yields the rows of messages in a history."""
    for message in mappings_in(given):
        role, content = str(message.get("role")), message.get("content")
        if role == "tool":
            yield _result(message, content)
        elif role == "reasoning":
            yield VOICE.thought(text_of(content))
        elif role != "activity" and (content or role != "assistant"):
            yield _text(role, text_of(content))
        for call in mappings_in(message.get("toolCalls")):
            made = mapping_or_empty(call.get("function"))
            yield VOICE.call(text_or_none(call.get("id")), text_or_none(made.get("name")), made.get("arguments"))


def _with_usage(row: Event, event: Mapping[str, Any]) -> Event:
    """Sets the tokens of the first model that an event names."""
    used = next(iter(mappings_in(event.get("usage"))), event)
    return _used(row, used)


def _used(row: Event, used: Mapping[str, Any]) -> Event:
    names = (("inputTokens", "input_tokens"), ("outputTokens", "output_tokens"))
    if not any(isinstance(used.get(one), int) for pair in names for one in pair):
        return row
    given, made = (token_count(used, *pair) for pair in names)
    cached = min(token_count(used, "cachedInputTokens"), given)
    return VOICE.usage(
        row, model=text_or_none(used.get("model")), input=given - cached, output=made, cache_read=cached
    )  # fmt: skip


def _session(value: Mapping[str, Any]) -> object:
    return name_in(unwrapped(value), "threadId", "thread_id")


def payload(line: bytes, number: int, known: Mapping[str, Any] | None = None) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    del known  # the number of pieces
    return READER.payload(line, number)


READER = JsonTranscript(
    name=NAME,
    marks=((b'"RUN_',), (b'"STEP_',), (b'"TEXT_MESSAGE_',), (b'"TOOL_CALL_',), (b'"REASONING_',), (b'"THINKING_',),
           (b'"STATE_',), (b'"MESSAGES_SNAPSHOT"',), (b'"ACTIVITY_',), (b'"RAW"', b'"event"'), (b'"CUSTOM"', b'"name"'),
           (b'"USAGE_METADATA"',)),
    is_known=_is_known, events_of=_events, session_of=_session,
)  # fmt: skip

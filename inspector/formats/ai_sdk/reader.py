"""Reads what the AI SDK sends to its interface and stores: chunks of a message, and messages with parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.ai_sdk.chunks import chunk_in, is_chunk, unwrapped, without_field
from inspector.formats.entry_builders import decoded_object, media_words, payload_at, record_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Payload
from inspector.protocol.kinds import REQUEST
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "ai-sdk"
VOICE = Voice(agent="assistant", program="ai-sdk", namespace="ai-sdk/")
RECORDS = frozenset(
    ("start", "finish", "start-step", "finish-step", "step-start", "reset-step", "source-url", "source-document",
     "source", "message-metadata", "tool-approval-request", "tool-approval-response", "custom", "conversation", "usage",
     "data")
)  # fmt: skip
"""Records that are no messages."""
_EMPTY = ("text-start", "text-end", "reasoning-start", "reasoning-end", "tool-input-delta")
"""Types of chunks that mean nothing alone."""
_ROLES = ("system", "user", "assistant", "data")
_PARTS = frozenset(
    ("text", "reasoning", "file", "source", "source-url", "source-document", "step-start", "dynamic-tool",
     "tool-invocation", "reasoning-file", "custom")
)  # fmt: skip
_ANSWERED, _FAILED = ("output-available", "result"), ("output-error", "output-denied")
_DENIED = "The user declined this call."
_FOREIGN = ("kind", "messageId", "sessionID", "from", "jsonrpc", "uuid", "contextId")
_USAGES = ("usage", "totalUsage", "cumulativeUsage")
_INPUTS, _OUTPUTS = ("inputTokens", "promptTokens"), ("outputTokens", "completionTokens")
_LEFT_OUT = ("type", "earlier", "providerMetadata")


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads a line. Never raises."""
    bare = without_field(line)
    if bare[1:2] == b":":
        chunk = chunk_in(bare)
        return None if chunk is None else record_of(bare, NAME, _events(chunk), None)
    record = READER.read(bare, unknown=unknown)
    if record is not None and len(record.derived_messages) == 1:
        chunk = unwrapped(decoded_object(bare) or {})
        is_empty = chunk.get("type") in _EMPTY or (chunk.get("type") == "tool-input-start" and "input" not in chunk)
        if is_empty or (chunk.get("type") in ("text-delta", "reasoning-delta") and chunk.get("delta") == ""):
            return Record(Shape.NO_MESSAGE, bare, derived_by=NAME)
    return record


def payload(line: bytes, number: int, known: Mapping[str, Any] | None = None) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    del known  # the number of pieces
    return payload_at(line, number, _events, lambda written: chunk_in(written) or decoded_object(written))


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown
    if is_chunk(unwrapped(value)) or _is_message(value):
        return True
    first = mappings_in(value.get("messages"))[:8]
    return bool(first) and all(map(_is_message, first)) and "model" not in value


def _is_message(value: Mapping[str, Any]) -> bool:
    """Returns True for a message with parts, each of a type that the AI SDK has."""
    parts = value.get("parts")
    if value.get("role") not in _ROLES or not isinstance(parts, list) or not all(map(_is_part, parts)):
        return False
    return "id" in value and bool(parts) and not any(key in value for key in _FOREIGN)


def _is_part(part: object) -> bool:
    sort = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(sort, str) or "messageID" in mapping_or_empty(part):
        return False
    has_call = sort.startswith("tool-") and "toolCallId" in mapping_or_empty(part)
    return sort in _PARTS or has_call or (sort.startswith("data-") and "data" in mapping_or_empty(part))


def _events(value: Mapping[str, Any]) -> list[Event]:
    chunk = unwrapped(value)
    if is_chunk(chunk) or "earlier" in chunk:
        events = list(_chunk(chunk))
        for one in events:
            place_event(one, time_ns=_recorded_time(value), identifier=text_or_none(chunk.get("messageId")))
        return events
    if "parts" in value:
        return _message(value)
    title = {key: one for key, one in value.items() if key != "messages"}
    events = [place_event(VOICE.bookkeeping("conversation", describe_record("conversation", title), **title))]
    return events + [event for one in mappings_in(value.get("messages")) for event in _message(one)]


def _recorded_time(line: Mapping[str, Any]) -> int:
    """Returns the time that a recorder states beside a chunk."""
    times = (line.get(key) for key in ("timestamp", "time", "ts", "at") if "chunk" in line)
    return next((parse_time(one) for one in times if isinstance(one, str | int) and not isinstance(one, bool)), NO_TIME)


# Chunks


def _chunk(chunk: Mapping[str, Any]) -> Iterator[Event]:
    sort, called = str(chunk.get("type")), text_or_none(chunk.get("toolCallId"))
    if sort.startswith("text-"):
        yield VOICE.answer(text_or_none(chunk.get("delta", chunk.get("textDelta"))) or "")
    elif sort.startswith("reasoning-") and sort != "reasoning-file":
        yield VOICE.thought(text_or_none(chunk.get("delta")) or "")
    elif sort.startswith("tool-input-"):
        yield VOICE.call(called, text_or_none(chunk.get("toolName")), chunk.get("input"))
        if sort == "tool-input-error":
            yield VOICE.result(called, chunk.get("errorText"), failed=True)
    elif sort.startswith("tool-output-"):
        yield _result(chunk, "output-" + sort.rpartition("-")[2])
    elif sort == "error":
        yield VOICE.error(text_or_none(chunk.get("errorText")) or sort)
    elif sort == "abort":
        yield VOICE.error(text_or_none(chunk.get("reason")) or "stopped by the user")
    elif sort in ("file", "reasoning-file"):
        yield VOICE.answer(media_words(chunk))
    else:
        metadata = mapping_or_empty(chunk.get("messageMetadata"))
        # A step of the earlier stream repeats in the end of the message, which has the sum.
        holder = {} if chunk.get("earlier") and sort == "finish" else {**chunk, **metadata}
        yield _with_usage(_record(sort, chunk), holder)


def _record(sort: str, value: Mapping[str, Any]) -> Event:
    """Returns the row of a chunk or part that is no message."""
    facts = {key: one for key, one in value.items() if key not in _LEFT_OUT}
    name = "data" if sort.startswith("data-") else sort
    return VOICE.bookkeeping(name, describe_record(sort, facts), **facts)


def _result(value: Mapping[str, Any], state: str) -> Event:
    content = value.get("errorText") or value.get("output", value.get("result"))
    if state == "output-denied":
        content = text_or_none(mapping_or_empty(value.get("approval")).get("reason")) or _DENIED
    event = VOICE.result(text_or_none(value.get("toolCallId")), content, failed=state in _FAILED)
    if state == "output-denied":
        event.meaning.declined, event.meaning.failed = True, False
    event.meaning.is_progress = value.get("preliminary") is True
    return event


# Messages


def _message(message: Mapping[str, Any]) -> list[Event]:
    metadata, role = mapping_or_empty(message.get("metadata")), message.get("role")
    events = [event for part in mappings_in(message.get("parts")) for event in _part(part, role)]
    events = events or [_text("", role)]
    if role == "assistant":
        _with_usage(events[-1], metadata)
    times = (holder.get(key) for holder in (message, metadata) for key in ("createdAt", "created_at", "timestamp"))
    time = next((found for one in times if one is not None and (found := parse_time(one)) != NO_TIME), NO_TIME)
    identifier = text_or_none(message.get("id"))
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time, identifier=own if event.meaning.kind != REQUEST else None)
    return events


def _text(text: str, role: object) -> Event:
    if role == "user":
        return VOICE.prompt(text)
    return VOICE.answer(text) if role == "assistant" else VOICE.instructions(text)


def _part(part: Mapping[str, Any], role: object) -> Iterator[Event]:
    sort = str(part.get("type"))
    if sort == "text":
        yield _text(text_or_none(part.get("text")) or "", role)
    elif sort == "reasoning":
        yield VOICE.thought(text_or_none(part.get("text", part.get("reasoning"))) or "")
    elif sort in ("file", "reasoning-file"):
        yield _text(media_words(part), role)
    elif sort == "tool-invocation":
        yield from _call(mapping_or_empty(part.get("toolInvocation")), "")
    elif sort == "dynamic-tool" or sort.startswith("tool-"):
        yield from _call(part, sort.removeprefix("tool-"))
    else:
        yield _record(sort, part)


def _call(part: Mapping[str, Any], named: str) -> Iterator[Event]:
    name, called = text_or_none(part.get("toolName")) or named, text_or_none(part.get("toolCallId"))
    given, state = part.get("input", part.get("args")), part.get("state")
    yield VOICE.call(called, name, part.get("rawInput") if given is None else given)
    if state in _ANSWERED or state in _FAILED:
        yield _result(part, str(state))


def _with_usage(event: Event, holder: Mapping[str, Any]) -> Event:
    """Sets the tokens that the program stored with a message."""
    used = next((one for key in _USAGES if isinstance(one := holder.get(key), Mapping)), None)
    model = text_or_none(holder.get("model")) or text_or_none(holder.get("modelId"))
    if used is None or not any(isinstance(used.get(key), int) for key in (*_INPUTS, *_OUTPUTS)):
        return event
    details = mapping_or_empty(used.get("inputTokenDetails"))
    given, made = token_count(used, *_INPUTS), token_count(used, *_OUTPUTS)
    read = token_count(used, "cachedInputTokens") or token_count(details, "cacheReadTokens")
    written = token_count(details, "cacheWriteTokens")
    return VOICE.usage(
        event, model=model, input=max(given - read - written, 0), output=made, cache_read=read, cache_write=written
    )


READER = JsonTranscript(
    name=NAME,
    marks=((b'"parts"', b'"role"', b'"id"'), (b'"text-',), (b'"reasoning-',), (b'"tool-',), (b'"start-step"',),
           (b'"finish-step"',), (b'"start"',), (b'"finish"',), (b'"source-', b'"sourceId"'), (b'"abort"',),
           (b'"error"', b'"errorText"'), (b'"message-metadata"',), (b'"data-', b'"data"'), (b'"file"', b'"mediaType"')),
    is_known=_is_known, events_of=_events,
    session_of=lambda value: value.get("id") if "messages" in value else value.get("chatId"),
)  # fmt: skip

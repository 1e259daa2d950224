"""Reads sessions of goose: a header, then a message a line; also the lines that `conversion` makes of a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, media_words, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "goose"
VOICE = Voice(agent="goose", program="goose-cli", namespace="goose/")
SESSION_KEY = "gooseSession"
"""Key of the session's id in a converted line."""
RECORDS = ("session", "model-call")
"""Records that the program writes for itself."""

_CALLS, _THOUGHTS = ("toolRequest", "frontendToolRequest"), ("thinking", "redactedThinking", "reasoning")
_MODEL_KEYS = ("model_name", "modelName", "model")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown  # blocks of newer types are identified by their message
    if isinstance(value.get(SESSION_KEY), str):
        return any(isinstance(value.get(key), Mapping) for key in ("session", "message", "usage"))
    if "working_dir" in value:
        has_facts = "message_count" in value or "accumulated_total_tokens" in value
        return "role" not in value and has_facts and any(key in value for key in ("description", "name", "id"))
    is_message = value.get("role") in ("user", "assistant") and isinstance(value.get("content"), list)
    return is_message and isinstance(value.get("created"), int) and "model" not in value


def _events(value: Mapping[str, Any]) -> list[Event]:
    usage = mapping_or_empty(value.get("usage"))
    if SESSION_KEY in value and usage:
        record = usage
        events = [_count(VOICE.bookkeeping("model-call", describe_record("model call", usage)), usage, "")]
    elif "working_dir" in value or "session" in value:
        record = mapping_or_empty(value.get("session")) or value
        events = [_header(record)]
    else:
        record = mapping_or_empty(value.get("message")) or value
        events = list(_message(record))
    time = record.get("created", record.get("created_timestamp"))
    time_ns = parse_time(time) if isinstance(time, int) and not isinstance(time, bool) else NO_TIME
    identifier = text_or_none(record.get("id")) if "role" in record else None
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own)
    return events


def _header(session: Mapping[str, Any]) -> Event:
    """Returns the row of a session's facts. Its tokens count if its model calls have no records of their own."""
    facts = {key: one for key, one in session.items() if isinstance(one, str | int | float)}
    name = text_or_none(session.get("name")) or text_or_none(session.get("description")) or ""
    event = VOICE.bookkeeping("session", describe_record("session", facts), **{**facts, "name": name})
    if session.get("has_ledger") is True:
        return event
    total = "accumulated_" if "accumulated_input_tokens" in session else ""
    return _count(event, {**session, "cost": session.get("accumulated_cost")}, total)


def _count(event: Event, usage: Mapping[str, Any], prefix: str) -> Event:
    names = [f"{prefix}{one}_tokens" for one in ("input", "output", "cache_read", "cache_write")]
    if not any(isinstance(usage.get(name), int) for name in names):
        return event
    taken, made, read, written = (token_count(usage, name) for name in names)
    cost, config = usage.get("cost"), mapping_or_empty(usage.get("model_config"))
    model = next(
        (one for key in _MODEL_KEYS for holder in (usage, config) if (one := text_or_none(holder.get(key)))), None
    )
    cost = cost if isinstance(cost, int | float) else None
    cached = read + written if read + written <= taken else 0
    return VOICE.usage(
        event, model=model, cost=cost, input=taken - cached, output=made, cache_read=read, cache_write=written
    )


def _message(message: Mapping[str, Any]) -> Iterator[Event]:
    by_model, blocks = message.get("role") == "assistant", mappings_in(message.get("content"))
    for block in blocks:
        yield _block(block, by_model)
    if not blocks:
        yield VOICE.answer("") if by_model else VOICE.prompt("")


def _block(block: Mapping[str, Any], by_model: bool) -> Event:
    kind, identifier = str(block.get("type")), text_or_none(block.get("id"))
    if kind in _CALLS:
        made = mapping_or_empty(block.get("toolCall"))
        call = mapping_or_empty(made.get("value")) or made
        if "error" in made:  # the model's call could not be parsed
            return VOICE.call(identifier, None, {"error": made["error"]})
        return VOICE.call(identifier, text_or_none(call.get("name")), call.get("arguments"))
    if kind == "toolResponse":
        told = mapping_or_empty(block.get("toolResult"))
        value = told.get("value", told.get("error"))
        inner = mapping_or_empty(value)
        failed = told.get("status") == "error" or inner.get("isError") is True
        return VOICE.result(identifier, inner.get("content", value), failed=failed)
    if kind in _THOUGHTS:
        return VOICE.thought(text_or_none(block.get("thinking")) or text_or_none(block.get("text")) or NOT_READABLE)
    if kind in ("text", "image"):
        text = block["text"] if isinstance(block.get("text"), str) else media_words(block)
        return VOICE.answer(text) if by_model else VOICE.prompt(text)
    return VOICE.bookkeeping(kind, describe_record(kind, block), **block)


READER = JsonTranscript(
    name=NAME, marks=((b'"gooseSession"',), (b'"working_dir"',), (b'"role"', b'"created"', b'"content"')),
    # The lines of a file do not name its session.
    is_known=_is_known, events_of=_events, session_of=lambda value: value.get(SESSION_KEY, NAME),
)  # fmt: skip

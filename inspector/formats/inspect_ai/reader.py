"""Reads messages of samples in Inspect's logs, and calls of models outside of their conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import text_of, token_count
from inspector.formats.message_runs import message_events, set_usage
from inspector.formats.run_files import facts_event, number_or_none, run_reader
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

LABEL = "inspect"
VOICE = Voice(agent="assistant", program="harness", namespace="inspect/")


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    value = mapping_or_empty(record)
    if "event" in value:
        return [_of_event(value)]
    if "role" not in value:
        return [facts_event(VOICE, "sample", value)]
    told, error = mapping_or_empty(line.get("told")), mapping_or_empty(value.get("error"))
    message = _usual(value)
    if error and not message.get("content"):
        message["content"] = error.get("message")
    events = message_events(VOICE, {**line, "record": message}, failed=bool(error))
    if value["role"] == "assistant" and value.get("source") == "generate":
        model = told.get("model") or line.get("model")
        set_usage(VOICE, events[0], _usage(line.get("usage") or line.get("totals")), model=model)
    for event in events:
        took = number_or_none(told.get("working_time"))
        if value["role"] == "tool" and took is not None and took >= 0:
            event.meaning.took_ns = int(took * 1e9)
        place_event(event, time_ns=parse_time(told.get("completed") or told.get("timestamp")))
    return events


def _of_event(value: Mapping[str, Any]) -> Event:
    sort = str(value["event"])
    if sort == "error":
        event = VOICE.error(text_or_none(mapping_or_empty(value.get("error")).get("message")) or sort)
    elif sort == "compaction":
        event = VOICE.compaction(text_or_none(value.get("summary")) or sort)
    elif sort == "model":
        output = mapping_or_empty(value.get("output"))
        message = next(iter(mappings_in(output.get("choices"))), {}).get("message")
        answer = text_of(mapping_or_empty(message).get("content"))
        model = text_or_none(value.get("model")) or sort
        event = facts_event(VOICE, sort, value, f"{model}: {answer or 'no text'}")
        set_usage(VOICE, event, _usage(output.get("usage")), model=value.get("model"))
    else:
        event = facts_event(VOICE, sort, value)
    return place_event(event, time_ns=parse_time(value.get("completed") or value.get("timestamp")))


def _usage(usage: object) -> Mapping[str, Any]:
    """Returns a usage with tokens of caches apart: some providers count them as part of the input."""
    told = dict(mapping_or_empty(usage))
    given, made = token_count(told, "input_tokens"), token_count(told, "output_tokens")
    if token_count(told, "total_tokens") == given + made:
        cached = token_count(told, "input_tokens_cache_read") + token_count(told, "input_tokens_cache_write")
        told["input_tokens"] = max(given - cached, 0)
    return told


def _usual(message: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a message in the words of a model's API."""
    calls = [{**one, "name": one.get("function"), "function": None} for one in mappings_in(message.get("tool_calls"))]
    content = message.get("content")
    if isinstance(content, list):
        content = [
            {"type": "thinking", "thinking": one.get("reasoning") or one.get("summary") or ""}
            if isinstance(one, Mapping) and one.get("type") == "reasoning"
            else one
            for one in content
        ]
    return {**message, "tool_calls": calls, "content": content, "name": message.get("function")}


READER = run_reader(LABEL, VOICE, _events)

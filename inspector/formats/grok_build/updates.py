"""Reads updates of a session (`updates.jsonl`): the notifications to an editor with their times, and other ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import media_words
from inspector.formats.grok_build.voice import VOICE, content_words, count_turn, has_failed, output_words
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

METHODS = ("session/update", "_x.ai/session/update", "x.ai/session/update")
_DONE = ("completed", "failed")


def is_update(value: Mapping[str, Any]) -> bool:
    """Returns True for a stored update; one on the wire has an envelope of JSON-RPC, and no time."""
    params = mapping_or_empty(value.get("params"))
    sort = mapping_or_empty(params.get("update")).get("sessionUpdate")
    if value.get("method") not in METHODS or not isinstance(sort, str) or "jsonrpc" in value or "id" in value:
        return False
    return "timestamp" in value or str(value["method"]).endswith("x.ai/session/update")


def update_events(value: Mapping[str, Any]) -> list[Event]:
    """Returns the rows of an update."""
    params = mapping_or_empty(value.get("params"))
    meta = mapping_or_empty(params.get("_meta"))
    time = meta.get("agentTimestampMs", value.get("timestamp"))
    time_ns = parse_time(time) if isinstance(time, str | int | float) and not isinstance(time, bool) else NO_TIME
    events = list(_events_of(mapping_or_empty(params.get("update"))))
    for number, event in enumerate(events):
        identifier = text_or_none(meta.get("eventId"))
        place_event(
            event, time_ns=time_ns, identifier=f"{identifier}#{number}" if number and identifier else identifier
        )
    return events


def _events_of(update: Mapping[str, Any]) -> Iterator[Event]:
    sort, called = str(update.get("sessionUpdate")), text_or_none(update.get("toolCallId"))
    content, status = update.get("content"), update.get("status")
    if sort == "user_message_chunk":
        yield VOICE.prompt(content_words(content))
    elif sort == "agent_message_chunk":
        yield VOICE.answer(content_words(content))
    elif sort == "agent_thought_chunk":
        yield VOICE.thought(content_words(content))
    elif sort == "tool_call":
        yield VOICE.call(called, _tool_of(update), update.get("rawInput"))
        if status in _DONE:
            yield _result(called, update)
    elif sort == "tool_call_update" and status in _DONE:
        yield _result(called, update)
    elif sort == "turn_completed":
        yield _end_of_turn(update)
    else:
        event = VOICE.bookkeeping(sort, describe_record(sort, update), **update)
        event.meaning.correlation = called
        _set_agent(event, sort, update)
        yield event


def _tool_of(update: Mapping[str, Any]) -> str | None:
    """Returns the name of a tool; the title may be a sentence about its use."""
    tool = mapping_or_empty(mapping_or_empty(update.get("_meta")).get("x.ai/tool"))
    return text_or_none(tool.get("name")) or text_or_none(update.get("title")) or text_or_none(update.get("kind"))


def _result(called: str | None, update: Mapping[str, Any]) -> Event:
    output = update.get("rawOutput")
    texts = [_block_words(one) for one in mappings_in(update.get("content"))]
    words = output_words(output) or "\n".join(texts) or str(update.get("status"))
    return VOICE.result(called, words, tool=_tool_of(update), failed=has_failed(update.get("status"), output))


def _block_words(block: Mapping[str, Any]) -> str:
    inner = mapping_or_empty(block.get("content"))
    if block.get("type") == "diff":
        return f"difference of {block.get('path')}"
    return content_words(inner) if inner else media_words(block)


def _end_of_turn(update: Mapping[str, Any]) -> Event:
    usage, stop = update.get("usage"), text_or_none(update.get("stop_reason"))
    event = VOICE.bookkeeping("turn_completed", describe_record("turn completed", {"stop_reason": stop}), **update)
    count_turn(event, usage, cached_in_input=True, stop=stop, cost=None)
    if stop == "error":
        event.meaning.failed = True
    return event


def _set_agent(event: Event, sort: str, update: Mapping[str, Any]) -> None:
    """Names the sub-agent that started or ended. Its messages are in a session of its own."""
    agent = text_or_none(update.get("child_session_id")) or text_or_none(update.get("subagent_id"))
    if agent is None or number_or_none(agent) is not None:
        return
    if sort == "subagent_spawned":
        label, kind = text_or_none(update.get("description")), text_or_none(update.get("subagent_type"))
        event.meaning.spawn = Spawn(None, agent, None, label, kind)
    elif sort == "subagent_finished":
        failed = update.get("status") in ("failed", "error", "cancelled")
        event.meaning.spawn = Spawn(None, agent, has_ended=True, has_failed=failed)

"""Reads messages of claude.ai's export. A message has its calls and their results; older ones have no ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import block_event, blocks_in
from inspector.formats.message_trees import REWIND, rewind_event
from inspector.formats.run_files import facts_event, run_reader
from inspector.formats.value_conversions import mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "claude-ai"
VOICE = Voice(agent="assistant", program="claude.ai", namespace="claude-ai/")
RECORDS = ("conversation", "block")

_KNOWN = ("text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image")


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    if REWIND in line:
        return [rewind_event(VOICE, line[REWIND])]
    message = record if isinstance(record, Mapping) else {}
    if "sender" not in message:
        return [_conversation(message)] if message else []
    identifier, time = text_or_none(message.get("uuid")), parse_time(message.get("created_at"))
    events: list[Event] = []
    for event, time_ns in _message(message, identifier or ""):
        own = f"{identifier}#{len(events)}" if events and identifier else identifier
        events.append(place_event(event, time_ns=time if time_ns is None else time_ns, identifier=own))
    if message["sender"] == "assistant" and (model := text_or_none(message.get("model") or line.get("model"))):
        VOICE.usage(events[-1], model=model, stop=text_or_none(message.get("stop_reason")))
    return events


def _conversation(value: Mapping[str, Any]) -> Event:
    title = text_or_none(value.get("name")) or ""
    event = facts_event(VOICE, "conversation", {**value, "title": title}, title)
    return place_event(event, time_ns=parse_time(value.get("created_at")))


def _message(message: Mapping[str, Any], identifier: str) -> Iterator[tuple[Event, int | None]]:
    """Yields the events of a message, each with its time; None for that of the message."""
    by_model = message.get("sender") == "assistant"
    for attached in (*mappings_in(message.get("attachments")), *mappings_in(message.get("files"))):
        name, text = str(attached.get("file_name") or "a file"), text_or_none(attached.get("extracted_content"))
        yield VOICE.instructions(f"attached {name}:\n\n{text}" if text else f"attached {name}"), None
    blocks = blocks_in(message.get("content")) or blocks_in(message.get("text") or "")
    waiting: list[tuple[str, str | None, int | None]] = []
    for place, block in enumerate(blocks):
        kind, tool = block.get("type"), text_or_none(block.get("name"))
        if kind not in _KNOWN:
            yield facts_event(VOICE, "block", block), None
            continue
        known, time_ns = dict(block), _time_of(block)
        if kind == "tool_use":
            known["id"] = text_or_none(block.get("id")) or f"{identifier}/{place}"
            waiting.append((known["id"], tool, time_ns))
        elif kind == "tool_result":
            called = text_or_none(block.get("tool_use_id"))
            made = next((one for one in waiting if called == one[0] or (called is None and tool == one[1])), None)
            if made is not None:
                waiting.remove(made)
                known["tool_use_id"] = made[0]
                time_ns = made[2] if time_ns is None else time_ns  # the same time means that it is not known
        yield block_event(VOICE, known, by_model=by_model), time_ns


def _time_of(block: Mapping[str, Any]) -> int | None:
    begun = parse_time(block.get("start_timestamp"))
    return None if begun == NO_TIME else begun


READER = run_reader(LABEL, VOICE, _events)

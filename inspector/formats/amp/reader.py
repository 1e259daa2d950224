"""Reads the lines that `conversion` makes of a thread of Amp. Sub-agents leave only their results in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import block_event, blocks_in
from inspector.formats.entry_builders import bytes_of, token_count
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "amp"
VOICE = Voice(agent="amp", program="amp-cli", namespace="amp/")
THREAD_KEY = "ampThread"
"""Key of the thread's id in a line."""

_CONTENT = ("output", "content", "diff")
_REJECTED = ("rejected-by-user", "cancelled", "rejected")


def _events(value: Mapping[str, Any]) -> list[Event]:
    message, thread = mapping_or_empty(value.get("message")), mapping_or_empty(value.get("thread"))
    if thread or not message:
        facts = {key: one for key, one in thread.items() if isinstance(one, str | int | float)}
        return [place_event(VOICE.bookkeeping("thread", describe_record("thread", facts), **facts),
                            time_ns=_time(thread.get("created")))]  # fmt: skip
    usage, number = mapping_or_empty(message.get("usage")), message.get("messageId")
    time_ns = _time(usage.get("timestamp", mapping_or_empty(message.get("meta")).get("sentAt")))
    events = list(_message(message, usage))
    for place, event in enumerate(events):
        own = f"m{number}#{place}" if place else f"m{number}"
        place_event(event, time_ns=time_ns, identifier=own if isinstance(number, int | str) else None)
    return events


def _time(value: object) -> int:
    return parse_time(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else NO_TIME


def _message(message: Mapping[str, Any], usage: Mapping[str, Any]) -> Iterator[Event]:
    by_model = message.get("role") == "assistant"
    events = [_block(block, by_model) for block in blocks_in(message.get("content"))]
    state = mapping_or_empty(message.get("state"))
    if state.get("type") == "error":
        error = mapping_or_empty(state.get("error"))
        events.append(VOICE.error(text_or_none(error.get("message")) or "error"))
    elif state.get("type") == "cancelled":
        events.append(VOICE.bookkeeping("cancelled", "stopped by the user"))
    events = events or [VOICE.answer("") if by_model else VOICE.prompt("")]
    if usage:
        VOICE.usage(
            events[0], model=text_or_none(usage.get("model")), stop=text_or_none(state.get("stopReason")),
            input=token_count(usage, "inputTokens"), output=token_count(usage, "outputTokens"),
            cache_read=token_count(usage, "cacheReadInputTokens"),
            cache_write=token_count(usage, "cacheCreationInputTokens"),
        )  # fmt: skip
    yield from events


def _block(block: Mapping[str, Any], by_model: bool) -> Event:
    kind = block.get("type")
    if kind == "summary":
        summary = block.get("summary")
        return VOICE.compaction(str(mapping_or_empty(summary).get("summary") or summary))
    if kind != "tool_result" or "run" not in block:
        return block_event(VOICE, block, by_model=by_model)
    run, call = mapping_or_empty(block.get("run")), text_or_none(block.get("toolUseID"))
    status, result = run.get("status"), run.get("result")
    held = mapping_or_empty(result)
    failed = status == "error" or held.get("exitCode") not in (None, 0) or held.get("success") is False
    told = next((held[key] for key in _CONTENT if key in held), result)
    told = told if told is not None else mapping_or_empty(run.get("error")).get("message") or status
    told = told if isinstance(told, str) else bytes_of({"result": told}).decode() if told is not None else ""
    event = VOICE.result(call, told, failed=failed)
    if status in _REJECTED:
        event.meaning.declined, event.meaning.failed = True, False
    return event


READER = converted_transcript(NAME, THREAD_KEY, ("thread", "message"), _events)

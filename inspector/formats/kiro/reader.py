"""Reads sessions of Kiro's command line, version 2: a message a line. Only prompts have a time, and none has tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, bytes_of, media_words
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import ApiCall
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "kiro"
VOICE = Voice(agent="kiro", program="kiro-cli", namespace="kiro/")
_PROMPT, _ANSWER, _RESULTS, _COMPACTION = "Prompt", "AssistantMessage", "ToolResults", "Compaction"
_KINDS = (_PROMPT, _ANSWER, _RESULTS, _COMPACTION, "Clear")
_VERSION = re.compile(r"v\d+")
_FAILED_EXIT = re.compile(r"exit (?:status|code): -?[1-9]")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    kind, version, data = value.get("kind"), value.get("version"), value.get("data")
    if not isinstance(version, str) or not _VERSION.fullmatch(version) or not isinstance(kind, str):
        return False
    if kind in _KINDS:
        return kind == "Clear" or isinstance(data, Mapping)
    return unknown and isinstance(data, Mapping) and "message_id" in data


def _events(value: Mapping[str, Any]) -> list[Event]:
    kind, data = str(value.get("kind")), mapping_or_empty(value.get("data"))
    blocks = mappings_in(data.get("content"))
    if kind == _COMPACTION:
        events = [VOICE.compaction(text_or_none(data.get("summary")) or "")]
    elif kind in (_PROMPT, _ANSWER, _RESULTS):
        events = [event for block in blocks for event in _block(block, by_model=kind == _ANSWER)]
        events = events or [VOICE.answer("") if kind == _ANSWER else VOICE.bookkeeping(kind.lower(), "no content")]
    else:
        events = [VOICE.bookkeeping(kind.lower(), describe_record(kind, data), **data)]
    seconds = number_or_none(mapping_or_empty(data.get("meta")).get("timestamp"))
    identifier = text_or_none(data.get("message_id"))
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=NO_TIME if seconds is None else parse_time(seconds), identifier=own)
    return events


def _block(block: Mapping[str, Any], *, by_model: bool) -> Iterator[Event]:
    kind, data = block.get("kind"), block.get("data")
    held = mapping_or_empty(data)
    if kind == "text":
        if isinstance(data, str) and data.strip():
            yield VOICE.answer(data) if by_model else VOICE.prompt(data)
    elif kind == "thinking":
        event = VOICE.thought(text_or_none(held.get("text")) or NOT_READABLE)
        if model := text_or_none(held.get("modelId")):
            event.meaning.call = ApiCall("", model)
        yield event
    elif kind == "toolUse":
        yield VOICE.call(text_or_none(held.get("toolUseId")), text_or_none(held.get("name")), held.get("input"))
    elif kind == "toolResult":
        yield _result(held)
    else:
        numbers = mapping_or_empty(held.get("source")).get("bytes")
        size = len(numbers) if isinstance(numbers, list) else None
        words = f"{kind}, {held.get('format')}, {size:,} B" if size is not None else media_words({"type": kind, **held})
        yield VOICE.answer(words) if by_model else VOICE.prompt(words)


def _result(held: Mapping[str, Any]) -> Event:
    content = held.get("content")
    parts = mappings_in(content)
    failed = held.get("status") == "error" or any(_has_failed(mapping_or_empty(one.get("data"))) for one in parts)
    told = [_words(one) for one in parts] if isinstance(content, list) else content
    return VOICE.result(text_or_none(held.get("toolUseId")), told, failed=failed)


def _has_failed(data: Mapping[str, Any]) -> bool:
    return _FAILED_EXIT.match(str(data.get("exit_status"))) is not None


def _words(part: Mapping[str, Any]) -> str:
    """Returns the text of a part of a result; of a command its output."""
    data = part.get("data")
    if isinstance(data, str):
        return data
    held = mapping_or_empty(data)
    if "stdout" in held or "stderr" in held:
        printed = [one for key in ("stdout", "stderr") if (one := text_or_none(held.get(key)))]
        return "\n".join([*printed, *([str(held["exit_status"])] if _has_failed(held) else [])])
    return bytes_of(dict(held)).decode("utf-8", "replace") if part.get("kind") == "json" else media_words(part)


READER = JsonTranscript(
    name=NAME, marks=((b'"version"', b'"kind"', b'"data"'), (b'"version"', b'"Clear"')), is_known=_is_known,
    # The lines of a file do not name its session.
    events_of=_events, session_of=lambda _: NAME,
)  # fmt: skip

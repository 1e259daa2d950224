"""Reads three kinds of records: updates of a session, its chat history, and output of `--output-format streaming-json`.

The chat history has the messages as the model sees them, without times and tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, payload_at
from inspector.formats.grok_build.updates import is_update, update_events
from inspector.formats.grok_build.voice import (
    NAME,
    VOICE,
    content_words,
    count_turn,
    has_failed,
    output_words,
    with_models,
)
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, place_event
from inspector.protocol.derived_messages import Payload

_QUERY = re.compile(r"\s*<user_query>\s*(.*?)\s*</user_query>\s*", re.DOTALL)
_BY_PROGRAM = ("<system-reminder>", "<user_info>", "<environment_context>")
_SYSTEM = "You are Grok "
_TYPED_LATER = "interjection"
"""Reason of a text that the user typed while the model worked."""
_FOREIGN = ("uuid", "sessionId", "session_id", "message", "from", "parts", "role", "call_id", "parentUuid")
_PIECES = ("text", "thought")
CHUNK_MARKS = (b'"agent_message_chunk"', b'"agent_thought_chunk"')
"""Texts in each update with a piece."""
PIECE_BEGINNINGS = tuple(
    beginning
    for word in (b"text", b"thought")
    for beginning in (b'{"type":"%s","data":' % word, b'{"type": "%s", "data":' % word)
)
"""Beginnings of lines with a piece. Lines of other programs have these words inside."""


def is_piece(value: Mapping[str, Any]) -> bool:
    """Returns True for a piece of a printed text or thought."""
    return len(value) == 2 and value.get("type") in _PIECES and isinstance(value.get("data"), str)


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    if is_update(value):
        return True
    kind = value.get("type")
    if not isinstance(kind, str):
        return _is_answer(value)
    if kind in _PIECES:
        return is_piece(value) and (unknown or kind == "thought")
    if _is_printed(kind, value):
        return True
    return not any(key in value for key in _FOREIGN) and _is_message(kind, value, unknown)


def _is_answer(value: Mapping[str, Any]) -> bool:
    """Returns True for the one object that `--output-format json` prints."""
    texts = all(isinstance(value.get(key), str) for key in ("text", "stopReason", "sessionId", "requestId"))
    return texts and "role" not in value


def _is_printed(kind: str, value: Mapping[str, Any]) -> bool:
    """Returns True for a printed event that is no piece."""
    if kind == "end":
        return isinstance(value.get("stopReason"), str) and ("num_turns" in value or "requestId" in value)
    if kind == "tool_call":
        return all(isinstance(value.get(key), str) for key in ("toolCallId", "toolName"))
    if kind == "available_commands":
        return isinstance(value.get("tools"), list)
    if kind == "tool_call_update":
        return isinstance(value.get("toolCallId"), str) and "status" in value and "update" not in value
    return kind == "usage" and len(value) == 2 and "cache_read_input_tokens" in mapping_or_empty(value.get("usage"))


def _is_message(kind: str, value: Mapping[str, Any], unknown: bool) -> bool:
    """Returns True for a record of a history. Only those with a key of Grok's own make a file a history."""
    if kind == "user":
        return "content" in value and (unknown or "prompt_index" in value or "synthetic_reason" in value)
    if kind == "assistant":
        has_model = "model_id" in value and ("model_fingerprint" in value or "tool_calls" in value)
        return "content" in value and (has_model or (unknown and "tool_calls" in value))
    if kind == "tool_result":
        return unknown and isinstance(value.get("tool_call_id"), str) and "content" in value
    if kind == "reasoning":
        return unknown and isinstance(value.get("summary"), list) and isinstance(value.get("status"), str)
    if kind == "backend_tool_call":
        return "tool_type" in mapping_or_empty(value.get("kind"))
    content = value.get("content")
    return (
        kind == "system" and len(value) == 2 and isinstance(content, str) and (unknown or content.startswith(_SYSTEM))
    )


def _events(value: Mapping[str, Any]) -> list[Event]:
    if "params" in value:
        return update_events(value)
    kind = value.get("type")
    if not isinstance(kind, str):
        return [VOICE.answer(str(value.get("text"))), _end(value)]
    if kind in ("end", "tool_call", "tool_call_update", "usage", "available_commands", *_PIECES):
        return [_printed(kind, value)]
    return [place_event(event, identifier=text_or_none(value.get("id"))) for event in _message(kind, value)]


# Printed events


def _printed(kind: str, value: Mapping[str, Any]) -> Event:
    called, status = text_or_none(value.get("toolCallId")), value.get("status")
    if kind in _PIECES:
        text = str(value.get("data"))
        return VOICE.answer(text) if kind == "text" else VOICE.thought(text)
    if kind == "tool_call":
        return VOICE.call(called, text_or_none(value.get("toolName")), value.get("rawInput"))
    if kind == "end":
        return _end(value)
    if kind == "tool_call_update" and status in ("completed", "failed"):
        output = value.get("rawOutput")
        words = output_words(output) or content_words(value.get("content")) or str(status)
        return VOICE.result(called, words, tool=text_or_none(value.get("toolName")), failed=has_failed(status, output))
    event = VOICE.bookkeeping(kind, describe_record(kind, value), **value)
    event.meaning.correlation = called
    return event


def _end(value: Mapping[str, Any]) -> Event:
    """Returns the end of a run. Its usage is the sum of all calls, so the usage of each call is not counted."""
    stop = text_or_none(value.get("stopReason"))
    told = {key: one for key, one in value.items() if key != "text"}
    event = VOICE.bookkeeping("end", describe_record("end", {"stopReason": stop}), **told)
    usage = with_models(value.get("usage"), value.get("modelUsage"))
    count_turn(event, usage, cached_in_input=False, stop=stop, cost=number_or_none(value.get("total_cost_usd")))
    return event


# Messages of a history


def _message(kind: str, value: Mapping[str, Any]) -> Iterator[Event]:
    content = value.get("content")
    if kind == "user":
        yield _user(content_words(content), value.get("synthetic_reason"))
    elif kind == "system":
        yield VOICE.instructions(content_words(content))
    elif kind == "assistant":
        yield from _assistant(value)
    elif kind == "reasoning":
        texts = [text for one in mappings_in(value.get("summary")) if (text := text_or_none(one.get("text")))]
        yield VOICE.thought("\n\n".join(texts) or NOT_READABLE)
    elif kind == "tool_result":
        words = content_words(content)
        yield VOICE.result(text_or_none(value.get("tool_call_id")), words, failed=value.get("is_error") is True)
    else:
        yield from _by_provider(mapping_or_empty(value.get("kind")))


def _user(text: str, reason: object) -> Event:
    asked = _QUERY.fullmatch(text)
    if asked is not None:
        return VOICE.prompt(asked[1])
    is_added = reason is not None and reason != _TYPED_LATER
    return VOICE.instructions(text) if is_added or text.lstrip().startswith(_BY_PROGRAM) else VOICE.prompt(text)


def _assistant(value: Mapping[str, Any]) -> Iterator[Event]:
    calls = mappings_in(value.get("tool_calls"))
    text = content_words(value.get("content"))
    events = [VOICE.answer(text)] if text or not calls else []
    events += [
        VOICE.call(text_or_none(one.get("id")), text_or_none(one.get("name")), one.get("arguments")) for one in calls
    ]
    if model := text_or_none(value.get("model_id")):
        VOICE.usage(events[0], model=model)
    yield from events


def _by_provider(call: Mapping[str, Any]) -> Iterator[Event]:
    """Yields a call that the model's provider made, as a search, and its sources in place of a result."""
    called = text_or_none(call.get("call_id")) or text_or_none(call.get("id"))
    tool = text_or_none(call.get("name")) or text_or_none(call.get("tool_type"))
    action = mapping_or_empty(call.get("action"))
    given = {key: one for key, one in action.items() if key != "sources"} or call.get("input")
    yield VOICE.call(called, tool, given)
    sources = [url for one in mappings_in(action.get("sources")) if (url := text_or_none(one.get("url")))]
    result = VOICE.result(
        called, "\n".join(sources) or "not recorded", tool=tool, failed=call.get("status") == "failed"
    )
    result.meaning.is_unrecorded = not sources
    yield result


def _session_of(value: Mapping[str, Any]) -> object:
    return mapping_or_empty(value.get("params")).get("sessionId") or value.get("sessionId")


READER = JsonTranscript(
    name=NAME,
    marks=(
        (b'"sessionUpdate"', b'"method"'), (b'"stopReason"', b'"end"'), (b'"stopReason"', b'"requestId"'),
        (b'"toolCallId"', b'"tool_call'), (b'"data"', b'"thought"'), (b'"data"', b'"text"'),
        (b'"cache_read_input_tokens"', b'"usage"'), (b'"available_commands"', b'"tools"'),
        (b'"prompt_index"',), (b'"synthetic_reason"',), (b'"model_id"', b'"tool_calls"'),
        (b'"model_id"', b'"model_fingerprint"'), (b'"backend_tool_call"',), (b'"tool_result"', b'"tool_call_id"'),
        (b'"reasoning"', b'"summary"', b'"status"'), (b'"assistant"', b'"tool_calls"'), (b'"system"', b'"content"'),
        (b'"user"', b'"content"'),
    ),
    is_known=_is_known, events_of=_events, session_of=_session_of,
)  # fmt: skip


def payload(line: bytes, number: int, known: Mapping[str, Any] | None = None) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    del known  # the number of pieces
    return payload_at(line, number, _events)

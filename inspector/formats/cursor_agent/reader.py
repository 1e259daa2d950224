"""Reads what Cursor's agent writes: transcripts, which have no results, and output of `--output-format stream-json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import block_event, blocks_in
from inspector.formats.entry_builders import bytes_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "cursor-agent"
VOICE = Voice(agent="cursor", program="cursor-cli", namespace="cursor/")
RECORDS = ("system", "result", "delta", "thinking", "interaction_query", "connection", "retry")
"""Records that the program writes for itself."""

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_ROLES = ("user", "assistant")
_CONTENT = ("content", "output", "stdout", "interleavedOutput", "message", "error")


def typed_text(content: object) -> str:
    """Returns the first text that a person typed in a message; "" without one."""
    texts = [text for block in blocks_in(content) if (text := text_or_none(block.get("text")))]
    asked = (_QUERY.search(text) for text in texts)
    return next((found[1] for found in asked if found is not None), texts[0] if texts else "")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown  # newer types have no key of their own
    kind, message = value.get("type"), value.get("message")
    has_content = isinstance(message, Mapping) and isinstance(message.get("content"), list)
    if kind is None:
        return len(value) == 2 and value.get("role") in _ROLES and has_content
    if not isinstance(value.get("session_id"), str) or any(key in value for key in ("uuid", "parent_tool_use_id")):
        return False
    if kind in _ROLES:
        return has_content
    if kind == "tool_call":
        return isinstance(value.get("tool_call"), Mapping) and "call_id" in value
    if kind == "result":
        return "duration_ms" in value and "num_turns" not in value
    if kind == "system":
        return value.get("subtype") == "init" and "tools" not in value
    return kind in ("thinking", "interaction_query", "connection", "retry") and "subtype" in value


def _events(value: Mapping[str, Any]) -> list[Event]:
    time = value.get("timestamp_ms")
    time_ns = parse_time(time) if isinstance(time, int | float) and not isinstance(time, bool) else NO_TIME
    return [place_event(event, time_ns=time_ns) for event in _events_of(value)]


def _events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    kind = str(value.get("type", value.get("role")))
    message = mapping_or_empty(value.get("message"))
    # With a time and without a call of the model it is a piece of a text that another line has as a whole.
    is_piece = kind == "assistant" and "timestamp_ms" in value and "model_call_id" not in value
    if message and not is_piece:
        yield from _message(message, by_model=kind == "assistant")
    elif kind == "thinking" and (text := text_or_none(value.get("text"))):
        yield VOICE.thought(text)
    elif kind == "tool_call":
        yield _tool_call(value, mapping_or_empty(value.get("tool_call")))
    elif kind == "result":
        yield _result(value)
    else:
        words = " ".join(str(block.get("text")) for block in blocks_in(message.get("content")))
        record = "delta" if is_piece else kind
        facts = {key: one for key, one in value.items() if key not in ("type", "message", "session_id")}
        yield VOICE.bookkeeping(record, words or describe_record(record, facts), **facts)


def _message(message: Mapping[str, Any], *, by_model: bool) -> Iterator[Event]:
    blocks = blocks_in(message.get("content"))
    for block in blocks:
        asked = None if by_model else _QUERY.search(str(block.get("text")))
        yield VOICE.prompt(asked[1]) if asked is not None else block_event(VOICE, block, by_model=by_model)
    if not blocks:
        yield VOICE.answer("") if by_model else VOICE.prompt("")


def _tool_call(value: Mapping[str, Any], made: Mapping[str, Any]) -> Event:
    identifier = text_or_none(value.get("call_id"))
    key = next((one for one in made if one.endswith("ToolCall")), "")
    tool, call = key.removesuffix("ToolCall") or None, mapping_or_empty(made.get(key))
    given = mapping_or_empty(call.get("args"))
    if tool == "mcp":
        tool = text_or_none(given.get("toolName")) or text_or_none(given.get("name")) or tool
        given = mapping_or_empty(given.get("args")) or given
    if value.get("subtype") != "completed":
        if key != "taskToolCall":
            return VOICE.call(identifier, tool, given)
        label, prompt = text_or_none(given.get("description")), text_or_none(given.get("prompt"))
        return VOICE.agent_started(identifier, label=label, prompt=prompt, tool="task", arguments=given)
    result = mapping_or_empty(call.get("result"))
    outcome = next(iter(result), "success")
    held = result.get(outcome)
    inner = mapping_or_empty(held)
    failed = outcome != "success" or inner.get("exitCode") not in (None, 0) or inner.get("isError") is True
    told = next((one for name in _CONTENT if isinstance(one := inner.get(name), str | list)), None)
    told = told if told is not None else held if isinstance(held, str) else bytes_of(dict(inner)).decode()
    event = VOICE.result(identifier, told, tool=tool, failed=failed)
    if outcome == "rejected":
        event.meaning.declined, event.meaning.failed = True, False
    if key == "taskToolCall":
        agent = text_or_none(inner.get("agentId"))
        event.meaning.spawn = Spawn(identifier, agent, has_ended=True, has_failed=failed)
    return event


def _result(value: Mapping[str, Any]) -> Event:
    text = text_or_none(value.get("result")) or text_or_none(value.get("error")) or str(value.get("subtype"))
    event = VOICE.error(text) if value.get("is_error") is True else VOICE.bookkeeping("result", text)
    usage = mapping_or_empty(value.get("usage"))
    if usage:
        VOICE.usage(
            event, model=None, input=token_count(usage, "inputTokens"), output=token_count(usage, "outputTokens"),
            cache_read=token_count(usage, "cacheReadTokens"), cache_write=token_count(usage, "cacheWriteTokens"),
        )  # fmt: skip
    return event


READER = JsonTranscript(
    name=NAME, marks=((b'"role"', b'"message"', b'"content"'), (b'"session_id"', b'"type"')), is_known=_is_known,
    events_of=_events, session_of=lambda value: value.get("session_id", NAME),
)  # fmt: skip

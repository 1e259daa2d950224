"""Format: sessions of Copilot CLI, an event a line (docs/transcripts.md, Copilot CLI).

A call occurs in its message and again when it starts to run; the first is the call. Events of a sub-agent name the call
that started it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    THOUGHT,
    Entry,
    bytes_of,
    call_entry,
    control_entry,
    media_words,
    result_entry,
    text_entry,
    text_of,
    token_count,
)
from inspector.formats.format import TornRecord
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record
from inspector.protocol.derived_messages import ApiCall, Spawn
from inspector.protocol.timestamps import parse_text_time

LABEL = "copilot-cli"

USER, AGENT, PROGRAM = "user", "copilot", "copilot-cli"
NAMESPACE = "copilot/"
TORN_RECORD = TornRecord(
    mark=b'"data":',
    begins=re.compile(rb'\{"type": ?"[\w.]{1,80}", ?"data": ?'),
    broken=re.compile(rb'(?:^|\n)\{"type": ?"[\w.]{1,80}", ?"data": ?[^\n]*[^}\s][ \t\r]*(?:\n|$)'),
)
"""An event with a text that has unescaped line ends."""
_KNOWN = ("session.", "user.", "assistant.", "tool.", "subagent.", "hook.", "system.", "skill.", "abort")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    sort = value.get("type")
    if not isinstance(value.get("data"), dict) or "parentId" not in value or not isinstance(sort, str):
        return False
    # A message of another protocol may have similar members.
    return (sort.startswith(_KNOWN) or unknown) and "kind" not in value and "jsonrpc" not in value


def _session(value: Mapping[str, Any]) -> object:
    return value["data"].get("sessionId") if value.get("type") == "session.start" else None


def _entries(value: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of an event, at least one."""
    sort, data = str(value.get("type")), value.get("data")
    data = data if isinstance(data, Mapping) else {}
    made = _TYPES.get(sort)
    entries = list(made(data)) if made is not None else []
    entries = entries or [_control(sort, data)]
    identifier, timestamp = value.get("id"), value.get("timestamp")
    context = data.get("parentToolCallId")
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        meaning.time_ns = parse_text_time(timestamp) if isinstance(timestamp, str) else meaning.time_ns
        meaning.size = len(bytes_of(entry.payload))
        if meaning.identifier is None and isinstance(identifier, str):
            meaning.identifier = f"{identifier}#{place}" if place else identifier
        if isinstance(context, str) and context:
            meaning.context = context
            # Inside of a sub-agent, the agent is not the main one.
            meaning.sender = f"agent#{context}" if meaning.sender == AGENT else meaning.sender
    return entries


def _control(sort: str, data: Mapping[str, Any]) -> Entry:
    known = {key: one for key, one in data.items() if isinstance(one, str | int | float | bool) and key != "text"}
    words = next(
        (one for key in ("message", "reason", "newModel", "content") if isinstance(one := data.get(key), str)), ""
    )
    return control_entry(NAMESPACE + sort, PROGRAM, words or describe_record(sort, data), known)


def _told(data: Mapping[str, Any]) -> Iterator[Entry]:
    yield text_entry(CHAT, USER, AGENT, text_of(data.get("content")))
    attachments = data.get("attachments")
    for one in attachments if isinstance(attachments, list) else []:
        if isinstance(one, Mapping):
            name = one.get("path") or one.get("displayName")
            words = f"{one.get('type', 'file')}, {name}" if isinstance(name, str) else media_words(one)
            yield text_entry(CHAT, USER, AGENT, words)


def _instructed(data: Mapping[str, Any]) -> Iterator[Entry]:
    yield text_entry(CHAT, PROGRAM, AGENT, text_of(data.get("content")))


def _thought(data: Mapping[str, Any]) -> Iterator[Entry]:
    yield text_entry(THOUGHT, AGENT, USER, text_of(data.get("content")))


def _answered(data: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the rows of a model message: thoughts, text and calls."""
    requests = data.get("toolRequests")
    calls = [one for one in requests if isinstance(one, Mapping)] if isinstance(requests, list) else []
    entries: list[Entry] = []
    if thought := text_of(data.get("reasoningText")):
        entries.append(text_entry(THOUGHT, AGENT, USER, thought))
    text = text_of(data.get("content"))
    if text or not (calls or entries):
        entries.append(text_entry(CHAT, AGENT, USER, text))
    entries += [call_entry(one.get("toolCallId"), one.get("name"), one.get("arguments"), AGENT) for one in calls]
    # The model call belongs to the last of its messages, so that it is counted once.
    entries[-1].meaning.call = _api_call(data)
    yield from entries


def _api_call(data: Mapping[str, Any]) -> ApiCall:
    """Returns a model call; only its output tokens are recorded."""
    name = next((one for key in ("apiCallId", "messageId") if isinstance(one := data.get(key), str)), "")
    model = data.get("model")
    told = isinstance(data.get("outputTokens"), int)
    return ApiCall(
        name, model if isinstance(model, str) else None, has_usage=told, output=token_count(data, "outputTokens")
    )  # fmt: skip


def _done(data: Mapping[str, Any]) -> Iterator[Entry]:
    outcome, error = data.get("result"), data.get("error")
    content = outcome.get("content") if isinstance(outcome, Mapping) else outcome
    failed = data.get("success") is False
    if content is None and error is not None:
        content = error.get("message") if isinstance(error, Mapping) else error
    yield result_entry(data.get("toolCallId"), content, AGENT, failed=failed)


def _failed(data: Mapping[str, Any]) -> Iterator[Entry]:
    more = {"errorType": data.get("errorType")}
    entry = control_entry("system/error", PROGRAM, str(data.get("message") or "error"), more)
    entry.meaning.failed = True
    yield entry


def _agent(data: Mapping[str, Any], sort: str) -> Iterator[Entry]:
    """Yields the row of a sub-agent's start or end."""
    keys = ("toolCallId", "agentName", "agentDisplayName")
    call, name, label = (one if isinstance(one := data.get(key), str) else None for key in keys)
    words = label or name or "sub-agent"
    entry = control_entry(f"{NAMESPACE}subagent.{sort}", PROGRAM, f"{words} {sort}", dict(data))
    if call is not None:
        ended = sort != "started"
        entry.meaning.spawn = Spawn(call, call, label=label, type=name, has_ended=ended, has_failed=sort == "failed")
        entry.meaning.correlation = call
    yield entry


def _shut_down(data: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the end of a session with the input tokens of all its calls; their output tokens come with each."""
    details = data.get("tokenDetails")
    known = {key: one for key, one in data.items() if isinstance(one, str | int | float | bool)}
    entry = control_entry(
        f"{NAMESPACE}session.shutdown", PROGRAM, "the session ends", {**known, "tokenDetails": details}
    )
    if isinstance(details, Mapping):
        counts = {key: one if isinstance(one, Mapping) else {} for key, one in details.items()}
        taken, read, written = (
            token_count(counts.get(key, {}), "tokenCount") for key in ("input", "cache_read", "cache_write")
        )
        # The start time makes the name unique, as a session may end several times.
        name = f"session begun at {data.get('sessionStartTime')}"
        entry.meaning.call = ApiCall(name, None, has_usage=True, input=taken, cache_read=read, cache_write=written)
    yield entry


def _aborted(data: Mapping[str, Any]) -> Iterator[Entry]:
    yield control_entry("reasoning/cancel", USER, str(data.get("reason") or "aborted"), {})


_TYPES = {
    "user.message": _told, "system.message": _instructed, "assistant.message": _answered,
    "assistant.reasoning": _thought, "tool.execution_complete": _done, "session.error": _failed, "abort": _aborted,
    "session.shutdown": _shut_down,
    "subagent.started": lambda data: _agent(data, "started"),
    "subagent.completed": lambda data: _agent(data, "completed"),
    "subagent.failed": lambda data: _agent(data, "failed"),
}  # fmt: skip


READER = JsonTranscript(
    name=LABEL, marks=((b'"data"', b'"parentId"', b'"timestamp"'),), is_known=_is_known, events_of=_entries,
    session_of=_session,
)  # fmt: skip

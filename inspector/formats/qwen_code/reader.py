"""Reads chats of Qwen Code: a record a line, with content in parts, or with a `systemPayload`.

A foreground sub-agent leaves only telemetry in the session's file: a record of each model call and tool call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, api_call_id, media_words, response_of, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.run_files import number_or_none
from inspector.formats.shell_results import has_failed
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_text_time

NAME = "qwen-code"
VOICE = Voice(agent="qwen", program="qwen-code", namespace="qwen/")
RECORDS = (
    "ui_telemetry", "attribution_snapshot", "custom_title", "slash_command", "at_command", "file_history_snapshot",
    "parent_session", "session_source", "session_execution_engine", "session_model", "session_approval_mode",
    "session_notes", "agent_bootstrap", "agent_launch_prompt", "agent_retry", "agent_session_ready",
    "user_text_elements", "session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot",
    "branch_checkpoint", "goal_state", "goal_turn_end", "turn_result",
)  # fmt: skip
"""Records that the program writes for itself."""

_TYPES = ("user", "assistant", "tool_result", "system")
_BY_PROGRAM = ("notification", "background_task_completed", "cron", "goal_runtime", "agent_bootstrap")
"""Subtypes of user texts that the program wrote."""
_HOOK_TEXT = re.compile(r"\s*<qwen:(?:user-prompt-submit|session-start)-context>")
"""Beginning of texts that hooks add to a prompt or a session."""
_SPAWNING = ("agent", "task")
_SHELL = "run_shell_command"
_CANCELLED = "cancelled"
_DONE = ("completed", "success")
_EVENT = "qwen-code."
_REWIND = "rewind"
_MAX_MS = 1 << 40
_FIRST_ROUND = "#0"
"""End of the id of a sub-agent's first prompt."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    if not all(isinstance(value.get(key), str) for key in ("uuid", "sessionId", "type")):
        return False
    payload, message = value.get("systemPayload"), value.get("message")
    has_content = isinstance(payload, Mapping) or (isinstance(message, Mapping) and "parts" in message)
    return has_content and (value["type"] in _TYPES or unknown)


def _events(value: Mapping[str, Any]) -> list[Event]:
    time_ns = parse_text_time(time) if isinstance(time := value.get("timestamp"), str) else NO_TIME
    identifier, agent = text_or_none(value.get("uuid")), text_or_none(value.get("agentId"))
    events = list(_events_of(value))
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own, agent=agent if value.get("isSidechain") is True else None)
    return events


def _events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    kind, subtype = value.get("type"), text_or_none(value.get("subtype"))
    message, payload = mapping_or_empty(value.get("message")), mapping_or_empty(value.get("systemPayload"))
    event = mapping_or_empty(payload.get("uiEvent"))
    if kind == "system" and event:
        yield from _telemetry(event, text_or_none(value.get("uuid")))
    elif kind == "system" and subtype == "chat_compression":
        history = mappings_in(payload.get("compressedHistory"))
        texts = [text_of(part) for content in history for part in mappings_in(content.get("parts"))]
        yield VOICE.compaction("\n\n".join(texts), **mapping_or_empty(payload.get("info")))
    elif kind == "system" and subtype == _REWIND:
        # The record follows from the last one that is kept.
        kept = {"text": "the user went back to an earlier message", "after": text_or_none(value.get("parentUuid"))}
        yield VOICE.message("participant/forget", VOICE.program, (VOICE.agent,), kept)
    elif kind == "system" or not message:
        yield VOICE.bookkeeping(subtype or str(kind), describe_record(subtype or str(kind), payload), **payload)
    else:
        yield from _content(value, message, subtype)


def _content(value: Mapping[str, Any], message: Mapping[str, Any], subtype: str | None) -> Iterator[Event]:
    by_model = value["type"] == "assistant"
    outcome = mapping_or_empty(value.get("toolCallResult"))
    events = [_part(part, outcome, by_model, subtype) for part in mappings_in(message.get("parts"))]
    events = events or [VOICE.answer("") if by_model else VOICE.prompt("")]
    usage = value.get("usageMetadata")
    if by_model and isinstance(usage, Mapping):
        _count(
            events[-1], text_or_none(value.get("model")), token_count(usage, "promptTokenCount"),
            token_count(usage, "candidatesTokenCount"), token_count(usage, "totalTokenCount"),
            token_count(usage, "cachedContentTokenCount"),
        )  # fmt: skip
    yield from events


def _count(event: Event, model: str | None, taken: int, made: int, total: int, cached: int) -> None:
    """Sets the tokens of a call: cached ones are part of the input, thoughts are outside of the output or inside."""
    VOICE.usage(event, model=model, input=max(taken - cached, 0), output=max(total - taken, made), cache_read=cached)


def _part(part: Mapping[str, Any], outcome: Mapping[str, Any], by_model: bool, subtype: str | None) -> Event:
    call, answer = part.get("functionCall"), part.get("functionResponse")
    if isinstance(call, Mapping):
        return _call(call)
    if isinstance(answer, Mapping):
        return _result(answer, outcome)
    text = part["text"] if isinstance(part.get("text"), str) else media_words(part)
    if part.get("thought") is True:
        return VOICE.thought(text or NOT_READABLE)
    if by_model:
        return VOICE.answer(text)
    by_program = subtype in _BY_PROGRAM or _HOOK_TEXT.match(text) is not None
    return VOICE.instructions(text) if by_program else VOICE.prompt(text)


def _call(call: Mapping[str, Any]) -> Event:
    identifier, tool, given = api_call_id(call), text_or_none(call.get("name")), call.get("args")
    if tool in _SPAWNING and isinstance(given, Mapping) and "prompt" in given:
        label, prompt, kind = (text_or_none(given.get(key)) for key in ("description", "prompt", "subagent_type"))
        return VOICE.agent_started(identifier, label=label, prompt=prompt, type_=kind, tool=tool, arguments=given)
    return VOICE.call(identifier, tool, given)


def _result(answer: Mapping[str, Any], outcome: Mapping[str, Any]) -> Event:
    content, tool, status = response_of(answer), text_or_none(answer.get("name")), outcome.get("status")
    response = mapping_or_empty(answer.get("response"))
    failed = status == "error" or ("error" in response and "output" not in response)
    failed = failed or (tool == _SHELL and isinstance(content, str) and has_failed(content))
    call = api_call_id(answer) or text_or_none(outcome.get("callId"))
    event = VOICE.result(call, content, tool=tool, failed=failed)
    if status == _CANCELLED:
        event.meaning.declined, event.meaning.failed = True, False
    shown = outcome.get("resultDisplay")
    if isinstance(shown, Mapping) and shown.get("type") == "task_execution":
        ended_badly = shown.get("status") not in _DONE
        event.meaning.spawn = Spawn(call, has_ended=shown.get("status") != "background", has_failed=ended_badly)
    return event


def _telemetry(event: Mapping[str, Any], uuid: str | None) -> Iterator[Event]:
    """Yields the rows of a record of telemetry. Calls of the main agent are in other records too."""
    name = str(event.get("event.name")).removeprefix(_EVENT)
    agent = _agent_of(event)
    model = text_or_none(event.get("model"))
    if name == "api_error":
        error = VOICE.error(str(event.get("error_message") or event.get("error") or event.get("status_code")))
        yield place_event(error, agent=agent)
    elif name == "api_response" and agent is not None:
        answer = VOICE.answer(text_or_none(event.get("response_text")) or "")
        counts = ("input_token_count", "output_token_count", "total_token_count", "cached_content_token_count")
        _count(answer, model, *(token_count(event, key) for key in counts))
        if str(event.get("prompt_id")).endswith(_FIRST_ROUND):
            answer.meaning.spawn = Spawn(agent=agent, type=text_or_none(event.get("subagent_name")))
        yield place_event(answer, agent=agent)
    elif name == "tool_call" and agent is not None:
        tool = text_or_none(event.get("function_name"))
        yield place_event(VOICE.call(uuid, tool, event.get("function_args")), agent=agent)
        told = event.get("error") or event.get("status")
        result = VOICE.result(uuid, told, tool=tool, failed=event.get("success") is False)
        result.meaning.is_unrecorded = True
        took = number_or_none(event.get("duration_ms"))
        result.meaning.took_ns = int(took * 1e6) if took is not None and 0 <= took < _MAX_MS else -1
        yield place_event(result, agent=agent)
    else:
        yield VOICE.bookkeeping("ui_telemetry", describe_record(name, event), **event)


def _agent_of(event: Mapping[str, Any]) -> str | None:
    """Returns the sub-agent in the id of a prompt: `SESSION#AGENT#NUMBER`."""
    parts = str(event.get("prompt_id")).split("#")
    return parts[1] if len(parts) == 3 and parts[1] else None


READER = JsonTranscript(
    name=NAME, marks=((b'"uuid"', b'"sessionId"', b'"parts"'), (b'"uuid"', b'"sessionId"', b'"systemPayload"')),
    is_known=_is_known, events_of=_events, session_of=lambda value: value.get("sessionId"),
)  # fmt: skip

"""Reads sessions of Kimi CLI and Kimi Code: three kinds of files.

- `context.jsonl` of Kimi CLI: messages with a role, without times, among records whose role begins with `_`.
- `wire.jsonl` of Kimi CLI: events in `message`, each with a time. Sub-agents' events lie in `SubagentEvent`.
- `agents/<agent>/wire.jsonl` of Kimi Code: records with a dotted type, one file an agent.

Messages of `context.jsonl` look like messages of any model API. They are read only
in a file with a record of this program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, media_words, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "kimi"
VOICE = Voice(agent="kimi", program="kimi-cli", namespace="kimi/")
RECORDS = (
    "metadata", "checkpoint", "usage", "turn-end", "step-begin", "step-end", "status-update", "compaction-begin",
    "hook-triggered", "hook-resolved", "hook-request", "mcp-loading-begin", "mcp-loading-end", "approval-request",
    "approval-response", "approval-request-resolved", "question-request", "tool-call-part", "plan-display",
    "btw-begin", "btw-end", "turn-prompt", "turn-steer", "turn-ended", "config-update", "profile-bind",
    "tools-set-active-tools", "tools-update-store", "tools-register-user-tool", "tools-reset-active-tools",
    "permission-set-mode", "permission-record-approval-result", "full-compaction-begin", "full-compaction-complete",
    "micro-compaction-apply", "usage-record", "llm-request", "llm-tools-snapshot", "mcp-tools-discovered",
    "plan-mode-enter", "plan-mode-exit", "plan-revision", "prompt-accepted", "runtime-set-binding", "task-started",
    "task-terminated", "token-counting-measured", "token-counting-turn-recorded", "stale-guard-recorded",
    "goal-create", "goal-update", "goal-clear", "interaction-request", "interaction-resolved", "agent-started",
)  # fmt: skip
"""Records that the program writes for itself."""
STOPS = ("step-interrupted", "turn-cancel")
"""Records that end a turn early."""

_MAIN = "main"
_ROLES = frozenset(("system", "user", "assistant", "tool"))
_OWN_ROLES = frozenset(("_system_prompt", "_checkpoint", "_usage"))
_MESSAGE_KEYS = frozenset(("role", "name", "content", "tool_calls", "tool_call_id", "partial"))
_EVENTS = frozenset(
    (
        "TurnBegin", "SteerInput", "TurnEnd", "StepBegin", "StepInterrupted", "StepRetry", "CompactionBegin",
        "CompactionEnd", "HookTriggered", "HookResolved", "HookRequest", "MCPLoadingBegin", "MCPLoadingEnd",
        "StatusUpdate", "Notification", "PlanDisplay", "BtwBegin", "BtwEnd", "SubagentEvent", "ApprovalRequest",
        "ApprovalResponse", "ApprovalRequestResolved", "QuestionRequest", "ToolCallRequest", "ContentPart", "ToolCall",
        "ToolCallPart", "ToolResult",
    )
)  # fmt: skip
_DOTTED = re.compile(
    r"(?:turn|config|profile|context|permission|full_compaction|micro_compaction|plan_mode|plan|swarm_mode|tower_mode"
    r"|tools|usage|goal|llm|mcp|interaction|task|token_counting|prompt|runtime|cron|plugin|staleGuard"
    r"|interruptionReminder)\.[a-zA-Z_]+"
)
"""Types of Kimi Code's records."""
_WORD_STARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[._]+")
_SPAWNING = ("Agent", "Task")
_AGENT_ID = re.compile(r"(?m)^agent_id: (\S+)$")
_STATUS = re.compile(r"(?m)^status: (\w+)$")
_HEAD = 400
"""Characters of a result that may name a sub-agent."""
_FAILED = "<system>ERROR:"
"""Beginning of the result of a failed call in the model's context."""
_BY_PROGRAM = re.compile(r"\s*<(?:system|system-reminder|notification)>")
_TYPED = ("user", "skill_activation", "plugin_command", "shell_command")
"""Origins of texts that the user sent."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    role, kind, message = value.get("role"), value.get("type"), value.get("message")
    if isinstance(role, str):
        return _is_message(value, role) if unknown else role in _OWN_ROLES
    if isinstance(kind, str):
        if kind == "metadata":
            return isinstance(value.get("protocol_version"), str)
        return _DOTTED.fullmatch(kind) is not None and (unknown or _has_time(value, "time"))
    if not isinstance(message, Mapping) or not _has_time(value, "timestamp"):
        return False
    name = message.get("type")
    return isinstance(message.get("payload"), Mapping) and isinstance(name, str) and (name in _EVENTS or unknown)


def _is_message(value: Mapping[str, Any], role: str) -> bool:
    """Returns True for a message of a context."""
    if role in _OWN_ROLES:
        return True
    return role in _ROLES and isinstance(value.get("content"), str | list) and value.keys() <= _MESSAGE_KEYS


def _has_time(value: Mapping[str, Any], key: str) -> bool:
    return number_or_none(value.get(key)) is not None


def _events(value: Mapping[str, Any]) -> list[Event]:
    time_ns, identifier, agent = NO_TIME, None, None
    if isinstance(value.get("role"), str):
        events = list(_context(value))
    elif isinstance(value.get("type"), str):
        events = list(_record(value))
        time_ns = _milliseconds(value.get("time", value.get("created_at")))
        inner = mapping_or_empty(value.get("event", value.get("message")))
        identifier = text_or_none(inner.get("uuid", inner.get("id")))
        named = text_or_none(value.get("agentId"))
        agent = named if named != _MAIN else None
    else:
        message = mapping_or_empty(value.get("message"))
        events = list(_event(str(message.get("type")), mapping_or_empty(message.get("payload"))))
        seconds = number_or_none(value.get("timestamp"))
        time_ns = NO_TIME if seconds is None else parse_time(seconds)
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own, agent=agent)
    return events


def _milliseconds(value: object) -> int:
    number = number_or_none(value)
    return NO_TIME if number is None else parse_time(number / 1000)


def _kebab(name: str) -> str:
    return _WORD_STARTS.sub("-", name).strip("-").lower()


def _noted(name: str, values: Mapping[str, Any]) -> Event:
    """Returns the row of a record that is no part of the conversation."""
    return VOICE.bookkeeping(_kebab(name), describe_record(name, values), **values)


# Files context.jsonl


def _context(value: Mapping[str, Any]) -> Iterator[Event]:
    role, content = value["role"], value.get("content")
    if role in ("_system_prompt", "system"):
        yield VOICE.instructions(text_of(content))
    elif role in _OWN_ROLES:
        yield _noted(role, {key: one for key, one in value.items() if key != "role"})
    elif role == "tool":
        yield _result(text_or_none(value.get("tool_call_id")), content, failed=False)
    else:
        yield from _message(value, "tool_calls")


def _message(message: Mapping[str, Any], calls: str, *, typed: bool = True) -> Iterator[Event]:
    """Yields the rows of a message: its parts, then its calls.

    Args:
        message: with its role and content.
        calls: its member with calls.
        typed: a text of the user is a prompt, unless it begins as one of the program.
    """
    by_model = message.get("role") == "assistant"
    content = message.get("content")
    parts = content if isinstance(content, list) else [content] if content else []
    events = [_part(part, by_model=by_model, typed=typed) for part in parts]
    events += [_call(one) for one in mappings_in(message.get(calls))]
    yield from events or [VOICE.answer("") if by_model else VOICE.instructions("")]


def _part(part: object, *, by_model: bool = True, typed: bool = True) -> Event:
    held = mapping_or_empty(part)
    if held.get("type") == "think":
        return VOICE.thought(text_or_none(held.get("think")) or NOT_READABLE)
    text = part if isinstance(part, str) else text_or_none(held.get("text"))
    text = text if text is not None else media_words(held) if held else str(part)
    if by_model:
        return VOICE.answer(text)
    return VOICE.prompt(text) if typed and _BY_PROGRAM.match(text) is None else VOICE.instructions(text)


def _call(call: Mapping[str, Any]) -> Event:
    """Returns a call; its name lies in `function`, or in the call itself."""
    made = mapping_or_empty(call.get("function")) or call
    identifier = text_or_none(call.get("id", call.get("toolCallId")))
    return _called(identifier, text_or_none(made.get("name")), made.get("arguments", made.get("args")))


def _called(identifier: str | None, tool: str | None, given: object) -> Event:
    event = VOICE.call(identifier, tool, given)
    arguments = mapping_or_empty(mapping_or_empty(event.payload.get("params")).get("arguments"))
    if tool in _SPAWNING:
        label, prompt, kind = (text_or_none(arguments.get(key)) for key in ("description", "prompt", "subagent_type"))
        event.meaning.spawn = Spawn(identifier, None, None, label, kind, prompt)
    return event


def _result(call: str | None, content: object, *, failed: bool) -> Event:
    head = text_of(content)[:_HEAD]
    event = VOICE.result(call, content, failed=failed or head.lstrip().startswith(_FAILED))
    named, status = _AGENT_ID.search(head), _STATUS.search(head)
    if named is not None and status is not None:
        ended_badly = status[1] == "failed"
        event.meaning.spawn = Spawn(
            call, named[1], has_ended=status[1] != "running", has_failed=ended_badly
        )  # fmt: skip
        event.meaning.failed = event.meaning.failed or ended_badly
    return event


# Events of Kimi CLI


def _event(name: str, payload: Mapping[str, Any]) -> Iterator[Event]:
    if name in ("TurnBegin", "SteerInput"):
        yield from _message({"role": "user", "content": payload.get("user_input")}, "")
    elif name == "ContentPart":
        yield _part(payload)
    elif name == "ToolCall":
        yield _call(payload)
    elif name == "ToolResult":
        yield _returned(text_or_none(payload.get("tool_call_id")), mapping_or_empty(payload.get("return_value")))
    elif name == "StatusUpdate":
        yield _counted(name, payload, mapping_or_empty(payload.get("token_usage")), None)
    elif name == "StepRetry":
        yield VOICE.error(describe_record(name, payload), **payload)
    elif name == "CompactionEnd":
        yield VOICE.compaction("")
    elif name == "SubagentEvent":
        yield from _of_agent(payload)
    else:
        yield _noted(name, payload)


def _returned(call: str | None, value: Mapping[str, Any]) -> Event:
    output, note = value.get("output"), text_or_none(value.get("message"))
    parts: list[Any] = output if isinstance(output, list) else [output] if output else []
    failed = value.get("is_error", value.get("isError")) is True
    # A failure is told in the message, and the output may be empty.
    told = [*([note] if note and (failed or not parts) else []), *parts]
    return _result(call, told[0] if len(told) == 1 else told, failed=failed)


def _counted(name: str, values: Mapping[str, Any], usage: Mapping[str, Any], model: str | None) -> Event:
    event = _noted(name, values)
    if not usage:
        return event
    return VOICE.usage(
        event, model=model, identifier=text_or_none(values.get("message_id")),
        input=token_count(usage, "inputOther", "input_other"), output=token_count(usage, "output"),
        cache_read=token_count(usage, "inputCacheRead", "input_cache_read"),
        cache_write=token_count(usage, "inputCacheCreation", "input_cache_creation"),
    )  # fmt: skip


def _of_agent(payload: Mapping[str, Any]) -> Iterator[Event]:
    """Yields the rows of a sub-agent's event; older events name the call in another member."""
    call = text_or_none(payload.get("parent_tool_call_id", payload.get("task_tool_call_id")))
    agent = text_or_none(payload.get("agent_id")) or call
    inner = mapping_or_empty(payload.get("event"))
    name, held = str(inner.get("type")), mapping_or_empty(inner.get("payload"))
    if name == "SubagentEvent":  # of a sub-agent's sub-agent
        yield from _of_agent(held)
        return
    if name == "TurnBegin":
        kind = text_or_none(payload.get("subagent_type"))
        yield VOICE.agent_linked(call, agent=agent, prompt=text_of(held.get("user_input")), type_=kind)
    for event in _event(name, held):
        yield place_event(event, agent=agent)


# Records of Kimi Code


def _record(value: Mapping[str, Any]) -> Iterator[Event]:
    kind = value["type"]
    facts = {key: one for key, one in value.items() if key not in ("type", "time")}
    if kind == "context.append_message":
        message = mapping_or_empty(value.get("message"))
        if message.get("role") == "tool":
            call = text_or_none(message.get("toolCallId"))
            yield _result(call, message.get("content"), failed=message.get("isError") is True)
        else:
            origin = mapping_or_empty(message.get("origin")).get("kind", message.get("origin"))
            yield from _message(message, "toolCalls", typed=origin is None or origin in _TYPED)
    elif kind == "context.append_loop_event":
        yield _looped(mapping_or_empty(value.get("event")))
    elif kind == "context.apply_compaction":
        summary = value.get("contextSummary") or value.get("summary")
        told = summary.get("content") if isinstance(summary, Mapping) else summary
        yield VOICE.compaction(text_of(told), **facts)
    elif kind == "context.undo":
        gone = {"text": "the user took turns back", "turns": value.get("count")}
        yield VOICE.message("participant/forget", VOICE.program, (VOICE.agent,), gone)
    elif kind == "context.clear":
        yield VOICE.message("participant/clear", VOICE.program, (VOICE.agent,), {"text": "the context was cleared"})
    elif kind == "usage.record":
        yield _counted(kind, facts, mapping_or_empty(value.get("usage")), text_or_none(value.get("model")))
    elif kind in ("config.update", "profile.bind") and text_or_none(value.get("systemPrompt")):
        yield VOICE.instructions(str(value["systemPrompt"]))
    elif kind == "turn.ended" and isinstance(value.get("error"), Mapping):
        yield VOICE.error(str(value["error"].get("message")), **facts)
    else:
        yield _noted(kind, facts)


def _looped(event: Mapping[str, Any]) -> Event:
    kind = event.get("type")
    if kind == "content.part":
        return _part(event.get("part"))
    if kind == "tool.call":
        return _call(event)
    if kind == "tool.result":
        return _returned(text_or_none(event.get("toolCallId")), mapping_or_empty(event.get("result")))
    return _noted(str(kind), {key: one for key, one in event.items() if key not in ("type", "uuid")})


READER = JsonTranscript(
    name=NAME,
    marks=(
        (b'"role"', b'"_'), (b'"metadata"', b'"protocol_version"'), (b'"timestamp"', b'"payload"', b'"message"'),
        (b'"time"', b'"type"'), (b'"role"', b'"content"'), (b'"type"', b'"agentId"'),
    ),
    # The lines of a file do not name its session.
    is_known=_is_known, events_of=_events, session_of=lambda _: NAME,
)  # fmt: skip

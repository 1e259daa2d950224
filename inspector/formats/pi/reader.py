"""Reads sessions of Pi, versions 1 to 3: a header, then an entry a line, most of them with a `message`.

Extensions may store the messages of sub-agents in the details of a tool's result (`details.results[].messages`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_text_time, parse_time

NAME = "pi"
VOICE = Voice(agent="pi", program="pi-cli", namespace="pi/")

RECORDS: dict[str, str] = {
    "session": "cwd", "title": "title", "model_change": "", "thinking_level_change": "thinkingLevel", "label": "label",
    "custom": "customType", "session_info": "name", "title_change": "title", "mode_change": "mode",
    "ttsr_injection": "injectedRules", "session_init": "task", "credential_pin": "provider", "reset_boundary": "",
    "service_tier_change": "serviceTier", "agent-started": "", "delivery": "",
}  # fmt: skip
"""Records that the program writes for itself, each with a member that it has; "" for any."""
TITLE_KINDS = {"pi/title": "title", "pi/title_change": "title", "pi/session_info": "name", "pi/session": "title"}
_SUMMARIES = ("compaction", "branch_summary")
_SPAWNING = "sessions_spawn"
"""Tool of OpenClaw that starts an agent in the background."""
_ACCEPTED = "accepted"
DELIVERY = "openclaw"
"""Provider of copies of answers that OpenClaw notes when it delivers them."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    kind, message = value.get("type"), value.get("message")
    if kind == "title":
        return isinstance(value.get("title"), str) and "updatedAt" in value
    if not isinstance(kind, str) or not isinstance(value.get("timestamp"), str):
        return False
    if kind == "message":
        return isinstance(message, Mapping) and _is_message(message)
    if kind in _SUMMARIES:
        return isinstance(value.get("summary"), str)
    if kind == "custom_message":
        return "customType" in value
    if kind == "model_change":
        return "modelId" in value or "model" in value
    if kind == "session":
        return isinstance(value.get("cwd"), str) and isinstance(value.get("id"), str)
    if kind in RECORDS:
        return RECORDS[kind] in value if RECORDS[kind] else "parentId" in value
    return unknown and "parentId" in value and isinstance(value.get("id"), str) and "data" not in value


def _is_message(message: Mapping[str, Any]) -> bool:
    """Returns True for a message of Pi: it has a time, facts of a model call, or a call in a block of its own."""
    if not isinstance(message.get("role"), str):
        return False
    has_call = any(block.get("type") == "toolCall" for block in mappings_in(message.get("content")))
    return has_call or any(
        key in message for key in ("timestamp", "provider", "toolCallId", "usage", "customType")
    )  # fmt: skip


def _events(value: Mapping[str, Any]) -> list[Event]:
    events = list(_events_of(value))
    message, identifier = mapping_or_empty(value.get("message")), text_or_none(value.get("id"))
    time_ns = parse_text_time(time) if isinstance(time := value.get("timestamp"), str) else _milliseconds(message)
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        is_placed = event.meaning.time_ns != NO_TIME
        place_event(
            event, time_ns=NO_TIME if is_placed else time_ns, identifier=own if value["type"] != "session" else None
        )
    return events


def _milliseconds(message: Mapping[str, Any]) -> int:
    time = message.get("timestamp")
    return parse_time(time) if isinstance(time, int | float) and not isinstance(time, bool) else NO_TIME


def _events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    kind, message = str(value["type"]), value.get("message")
    summary = text_or_none(value.get("summary")) or ""
    if kind == "message" and isinstance(message, Mapping):
        yield from _message(message)
    elif kind == "compaction":
        yield VOICE.compaction(summary, tokensBefore=value.get("tokensBefore"))
    elif kind == "branch_summary":
        yield VOICE.instructions(summary)
    elif kind == "custom_message":
        yield VOICE.instructions(text_of(value.get("content")))
    else:
        facts = {key: one for key, one in value.items() if key not in ("type", "id", "parentId", "timestamp", "pad")}
        yield VOICE.bookkeeping(kind, describe_record(kind, facts), **facts)


def _message(message: Mapping[str, Any]) -> Iterator[Event]:
    role, text = message.get("role"), text_of(message.get("content"))
    if role == "user":
        yield VOICE.prompt(text)
    elif message.get("provider") == DELIVERY:
        yield VOICE.bookkeeping("delivery", text)
    elif role == "assistant":
        yield from _answer(message)
    elif message.get("toolCallId") is not None:
        yield from _result(message)
    elif role == "bashExecution":
        command = f"! {message.get('command')}\n\n{message.get('output')}"
        hidden = message.get("excludeFromContext") is True
        yield VOICE.bookkeeping("bash", command) if hidden else VOICE.prompt(command)
    elif role == "compactionSummary":
        yield VOICE.compaction(text_or_none(message.get("summary")) or text)
    else:
        yield VOICE.instructions(text or text_or_none(message.get("summary")) or "")


def _answer(message: Mapping[str, Any]) -> Iterator[Event]:
    content, stop = message.get("content"), text_or_none(message.get("stopReason"))
    blocks = mappings_in(content) if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]
    events = [event for block in blocks for event in _block(block)]
    failure = message.get("errorMessage") or mapping_or_empty(message.get("error")).get("message")
    if stop == "aborted":
        events.append(VOICE.bookkeeping("aborted", str(failure or "stopped by the user")))
    elif stop == "error" or failure:
        events.append(VOICE.error(str(failure or "error")))
    events = events or [VOICE.answer("")]
    usage, model = message.get("usage"), text_or_none(message.get("model"))
    if isinstance(usage, Mapping):
        cost = mapping_or_empty(usage.get("cost")).get("total")
        written = token_count(usage, "cacheWrite", "cacheCreation")
        VOICE.usage(
            events[-1], model=model, stop=stop,
            cost=cost if isinstance(cost, int | float) else None, input=token_count(usage, "input"),
            output=token_count(usage, "output"), cache_read=token_count(usage, "cacheRead"), cache_write=written,
        )  # fmt: skip
    yield from events


def _block(block: Mapping[str, Any]) -> Iterator[Event]:
    kind = block.get("type")
    if kind == "thinking":
        yield VOICE.thought(text_or_none(block.get("thinking")) or NOT_READABLE)
    elif kind == "toolCall":
        identifier, tool, given = text_or_none(block.get("id")), text_or_none(block.get("name")), block.get("arguments")
        if tool == _SPAWNING and isinstance(given, Mapping):
            label, task, agent = (text_or_none(given.get(key)) for key in ("label", "task", "agentId"))
            yield VOICE.agent_started(identifier, label=label, prompt=task, type_=agent, tool=tool, arguments=given)
        else:
            yield VOICE.call(identifier, tool, given)
    elif text := text_of([block]).strip():
        yield VOICE.answer(text)


def _result(message: Mapping[str, Any]) -> Iterator[Event]:
    call, tool = text_or_none(message.get("toolCallId")), text_or_none(message.get("toolName"))
    details, failed = mapping_or_empty(message.get("details")), message.get("isError") is True
    event = VOICE.result(call, message.get("content"), tool=tool, failed=failed)
    if tool == _SPAWNING:
        begun = details.get("status") == _ACCEPTED
        agent = text_or_none(details.get("childSessionKey"))
        event.meaning.spawn = Spawn(call, agent, has_ended=not begun, has_failed=not begun)
        event.meaning.failed = event.meaning.failed or not begun
    for number, run in enumerate(mappings_in(details.get("results"))):
        messages = mappings_in(run.get("messages"))
        if not messages or call is None:
            continue
        agent, kind, task = f"{call}:{number}", text_or_none(run.get("agent")), text_or_none(run.get("task"))
        yield VOICE.agent_linked(call, agent=agent, label=kind, prompt=task, type_=kind)
        for one in messages:
            for inner in _message(one):
                yield place_event(inner, time_ns=_milliseconds(one), agent=agent)
        has_failed = run.get("exitCode") not in (0, None)
        ended = Spawn(call, agent, has_ended=True, has_failed=has_failed, next_spawn=event.meaning.spawn)
        event.meaning.spawn = ended
    yield event


def _session(value: Mapping[str, Any]) -> object:
    return value.get("id") if value.get("type") == "session" else None


READER = JsonTranscript(
    name=NAME,
    marks=(
        (b'"message"', b'"role"', b'"timestamp"'), (b'"session"', b'"cwd"'), (b'"title"', b'"updatedAt"'),
        (b'"model_change"',), (b'"thinking_level_change"', b'"thinkingLevel"'), (b'"compaction"', b'"tokensBefore"'),
        (b'"parentId"',),
    ),
    is_known=_is_known, events_of=_events, session_of=_session,
)  # fmt: skip

"""Reads AutoGen from version 0.4: messages of AgentChat, results of tasks, saved states, events of its runtime.

A stream of messages ends in the result of the task, which repeats them as copies. The log of events has them in its
model calls, which another format reads.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import bytes_of, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME, NAMESPACE = "autogen", "autogen/"
_USER = "user"
_CONTEXT_TYPES = ("SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage")
"""Messages in a model's context; they have no id."""
_LOGGED = {
    "Message": "delivery_stage", "MessageDropped": "receiver", "MessageHandlerException": "exception",
    "AgentConstructionException": "exception", "ToolCall": "tool_name", "LLMStreamStart": "messages",
}  # fmt: skip
"""Events of the runtime, each with a member that it has."""
_FAILURES = ("MessageHandlerException", "AgentConstructionException", "MessageDropped")
_STATES = ("agent_states", "message_thread", "llm_context", "llm_messages", "inner_team_state", "agent_state")
_TOLD = ("task", "facts", "plan", "current_turn", "next_speaker_index", "n_rounds", "n_stalls", "previous_speaker")
_MOST_LEVELS = 8
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
RECORDS = frozenset(
    ("result", "state", "message", "tool-call", "llm-stream-start", "memory-query", "user-input-requested",
     "model-client-streaming-chunk", "select-speaker", "selector", "code-generation", "code-execution")
)  # fmt: skip
"""Records that are no messages."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown  # types of messages are the user's own
    sort = value.get("type")
    if _is_message(value) or _result_in(value) is not None:
        return True
    if isinstance(sort, str) and sort in _LOGGED:
        others = {"agent_id"} if sort in ("ToolCall", "LLMStreamStart") else {"payload", "agent_id"}
        return _LOGGED[sort] in value and not others.isdisjoint(value)
    if isinstance(sort, str) and sort.endswith("State") and isinstance(value.get("version"), str):
        return any(isinstance(value.get(key), dict | list) for key in _STATES)
    messages = mappings_in(value.get("messages"))[:_MOST_LEVELS]
    return bool(messages) and all("content" in one and one.get("type") in _CONTEXT_TYPES for one in messages)


def _is_message(value: Mapping[str, Any]) -> bool:
    """Returns True for a message of AgentChat."""
    return isinstance(value.get("source"), str) and isinstance(value.get("type"), str) and "models_usage" in value


def _result_in(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the result of a task, which other programs may store in an object of theirs."""
    held = value.get("task_result")
    result = held if isinstance(held, Mapping) else value
    messages = mappings_in(result.get("messages"))
    return result if "stop_reason" in result and messages and _is_message(messages[0]) else None


def _events(value: Mapping[str, Any]) -> list[Event]:
    if _is_message(value):
        return _message(value)
    if (result := _result_in(value)) is not None:
        stop = text_or_none(result.get("stop_reason"))
        messages = [event for one in mappings_in(result.get("messages")) for event in _message(one)]
        return [*messages, _record("result", stop or "no reason to stop", {"stop_reason": stop})]
    if value.get("type") in _LOGGED:
        return [_logged(str(value["type"]), value)]
    return list(_state(value, _owner(value), 0)) or [_record("state", "no messages", {})]


# Messages of AgentChat


def _message(message: Mapping[str, Any]) -> list[Event]:
    time = message.get("created_at")
    time_ns = NO_TIME if time is None else parse_time(time)
    identifier = text_or_none(message.get("id"))
    known = identifier or {key: message.get(key) for key in ("source", "type", "content", "models_usage")}
    mark = hashlib.blake2b(bytes_of({"": known}), digest_size=8).digest()
    events = list(_parts(message, text_or_none(message.get("source")) or "", str(message.get("type"))))
    used = message.get("models_usage")
    if isinstance(used, Mapping):
        given, made = token_count(used, "prompt_tokens"), token_count(used, "completion_tokens")
        _voice("").usage(events[-1], model=None, identifier=identifier or mark.hex(), input=given, output=made)
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own)
        event.meaning.identity = mark + str(number).encode()
    return events


def _parts(message: Mapping[str, Any], source: str, sort: str) -> Iterator[Event]:
    voice, content = _voice(source), message.get("content")
    # Fields of a model's context are the same.
    calls = [one for one in mappings_in(content) if "arguments" in one]
    results = [one for one in mappings_in(content) if "call_id" in one]
    if calls or results:
        for one in calls:
            yield voice.call(text_or_none(one.get("id")), text_or_none(one.get("name")), one.get("arguments"))
        for one in results:
            failed, name = one.get("is_error") is True, text_or_none(one.get("name"))
            yield voice.result(text_or_none(one.get("call_id")), one.get("content"), tool=name, failed=failed)
    elif sort == "ThoughtEvent":
        yield voice.thought(text_of(content))
    elif sort.endswith("Event"):
        event = _record(_record_name(sort.removesuffix("Event")), _words(content), {"source": source})
        whole = text_or_none(message.get("full_message_id"))
        event.meaning.is_progress, event.meaning.correlation = whole is not None, whole
        yield event
    else:
        event = voice.prompt(_words(content)) if source == _USER else voice.answer(_words(content))
        event.meaning.to = None if source == _USER else event.meaning.to  # of all agents
        yield event


def _words(content: object) -> str:
    return text_of(content) if isinstance(content, str | list) else describe_record("", mapping_or_empty(content))


def _voice(source: str) -> Voice:
    return Voice(agent=source or "assistant", program=NAME, namespace=NAMESPACE)


def _record(name: str, text: str, facts: Mapping[str, Any]) -> Event:
    return place_event(_voice("").bookkeeping(name, text, **facts))


def _record_name(sort: str) -> str:
    return _WORDS.sub("-", sort.replace("LLM", "Llm")).lower()


# Saved states


def _owner(state: Mapping[str, Any]) -> str:
    """Returns the agent whose context a state is, by its own messages."""
    context = mapping_or_empty(state.get("llm_context")).get("messages") or state.get("llm_messages")
    named = (text_or_none(one.get("source")) for one in mappings_in(context) if one.get("type") == "AssistantMessage")
    return next((one for one in named if one), "assistant")


def _state(state: Mapping[str, Any], owner: str, level: int) -> Iterator[Event]:
    """Yields the messages of a state: of a team its common thread, else the model's context."""
    if level > _MOST_LEVELS:
        return
    told = {key: state[key] for key in _TOLD if state.get(key) not in (None, "")}
    if told:
        yield _record("state", describe_record(_record_name(str(state.get("type"))), told), told)
    for message in mappings_in(state.get("message_thread")):
        yield from _message(message) if _is_message(message) else _context_message(message, owner)
    parts = mapping_or_empty(state.get("agent_states"))
    has_thread = any(mappings_in(mapping_or_empty(one).get("message_thread")) for one in parts.values())
    for name, part in parts.items():
        inner = mapping_or_empty(part)
        if has_thread and not inner.get("message_thread"):
            yield _record("state", f"{name}: its messages are in those of the team", {"agent": name})
        else:
            yield from _state(inner, name.partition("/")[0], level + 1)
    for key in ("agent_state", "inner_team_state"):
        if isinstance(inner := state.get(key), Mapping):
            yield from _state(inner, owner, level + 1)
    context = state.get("llm_messages") or mapping_or_empty(state.get("llm_context")).get("messages")
    for message in mappings_in(context or state.get("messages")):
        yield from _context_message(message, owner)


def _context_message(message: Mapping[str, Any], owner: str) -> Iterator[Event]:
    sort, source, content = str(message.get("type")), text_or_none(message.get("source")), message.get("content")
    if thought := text_or_none(message.get("thought")):
        yield place_event(_voice(source or owner).thought(thought))
    if sort == "SystemMessage":
        yield place_event(_voice(owner).instructions(_words(content)))
    elif sort == "UserMessage" and source and source.lower() != _USER:
        yield place_event(_voice(owner).message("chat", source, (owner,), {"text": _words(content)}))
    else:
        of_user = sort == "UserMessage"
        for event in _parts(message, _USER if of_user else source or owner, sort):
            yield place_event(event)


# Events of the runtime


def _logged(sort: str, value: Mapping[str, Any]) -> Event:
    facts = {key: one for key, one in value.items() if key not in ("type", "payload", "messages")}
    if sort in _FAILURES:
        words = text_or_none(value.get("exception")) or "a message was dropped"
        return place_event(_voice("").error(words, **facts))
    if sort == "ToolCall":
        told = f"{value.get('tool_name')}: {_words(value.get('result'))}"
        return _record(_record_name(sort), told, facts)
    return _record(_record_name(sort), describe_record(_record_name(sort), facts), facts)


READER = JsonTranscript(
    name=NAME,
    marks=((b'"source"', b'"models_usage"'), (b'"stop_reason"', b'"messages"'), (b'State"', b'"version"'),
           (b'"Message', b'"payload"'), (b'"AgentConstructionException"',), (b'"ToolCall"', b'"tool_name"'),
           (b'"LLMStreamStart"',), (b'"UserMessage"', b'"messages"')),
    is_known=_is_known, events_of=_events,
)  # fmt: skip

"""Reads events of Claude Managed Agents, as their API lists and streams them.

A session's events have no id of the session. A sub-agent's thread has a list of its own. The coordinator's stream
has its start, its messages, and requests for permission of its calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.content_blocks import blocks_in
from inspector.formats.entry_builders import NOT_READABLE, text_of, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Spawn
from inspector.protocol.timestamps import NO_TIME, parse_text_time

NAME = "managed-agents"
VOICE = Voice(agent="managed-agent", program="managed-agents", namespace="managed/")
REQUEST_END = "span.model_request_end"
STOPS = ("user.interrupt", "session.status_terminated", "session.deleted")
"""Events that end the work of the agent."""
RECORDS = (
    "session.status_running", "session.status_idle", "session.status_rescheduled", "session.usage", "session.updated",
    "session.thread_created", "session.thread_status_running", "session.thread_status_idle",
    "session.thread_status_rescheduled", "session.thread_status_terminated", "span.model_request_start", REQUEST_END,
    "span.outcome_evaluation_start", "span.outcome_evaluation_ongoing", "span.outcome_evaluation_end",
    "user.tool_confirmation", "user.define_outcome", "workflow_run.created", "workflow_run.phase_started",
    "workflow_run.phase_ended", "workflow_run.status_running", "workflow_run.status_idle", "workflow_run.status_ended",
    "event_start", "event_delta",
)  # fmt: skip
"""Events that the service makes for itself, or previews of others."""

_DOMAINS = ("user.", "agent.", "session.", "span.", "system.", "workflow_run.")
_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = {
    "agent.tool_result": "tool_use_id", "user.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id", "user.custom_tool_result": "custom_tool_use_id",
}  # fmt: skip
"""Events of results, each with the member that names the call."""
_SUB_AGENT = "agent"
"""Sender of a sub-agent's messages, which gets the name of the sub-agent."""
_ERRORS = ("session.error", "workflow_run.error")
_ENDED = ("session.thread_status_idle", "session.thread_status_terminated")
_NO_SUMMARY = "the summary is not recorded"
_PLACED = ("id", "type", "processed_at")


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown  # types of newer versions belong to the same domains
    kind = value.get("type")
    if kind == "event_delta":
        return isinstance(value.get("event_id"), str) and isinstance(value.get("delta"), Mapping)
    if kind == "event_start":
        return str(mapping_or_empty(value.get("event")).get("type")).startswith(_DOMAINS)
    is_event = isinstance(kind, str) and kind.startswith(_DOMAINS)
    return is_event and "processed_at" in value and isinstance(value.get("id"), str)


def _events(value: Mapping[str, Any]) -> list[Event]:
    events = list(_events_of(str(value["type"]), value))
    time = value.get("processed_at")
    time_ns = parse_text_time(time) if isinstance(time, str) else NO_TIME  # not processed yet
    identifier = text_or_none(value.get("id"))
    thread = text_or_none(value.get("session_thread_id")) if value["type"] in (*_CALLS, *_RESULTS) else None
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=time_ns, identifier=own)
        if thread is not None:
            _in_thread(event, thread, VOICE.user)
    return events


def _events_of(kind: str, value: Mapping[str, Any]) -> Iterator[Event]:
    text, identifier = text_of(value.get("content")), text_or_none(value.get("id"))
    facts = {key: one for key, one in value.items() if key not in _PLACED}
    if kind == "user.message":
        yield VOICE.prompt(text)
    elif kind == "agent.message":
        yield VOICE.answer(text)
    elif kind == "agent.thinking":
        yield VOICE.thought(_thinking(value) or NOT_READABLE)
    elif kind == "system.message":
        yield VOICE.instructions(text)
    elif kind in _CALLS:
        tool, server = text_or_none(value.get("name")), text_or_none(value.get("mcp_server_name"))
        yield VOICE.call(identifier, f"mcp__{server}__{tool}" if server else tool, value.get("input"))
    elif kind in _RESULTS:
        called, failed = text_or_none(value.get(_RESULTS[kind])), value.get("is_error") is True
        yield VOICE.result(called, value.get("content"), failed=failed)
    elif kind.startswith("agent.thread_message_"):
        yield _thread_message(value, text)
    elif kind == "agent.thread_context_compacted":
        yield VOICE.compaction(text or _NO_SUMMARY)
    elif kind in _ERRORS:
        error = mapping_or_empty(value.get("error"))
        yield VOICE.error(text_or_none(error.get("message")) or str(error.get("type") or kind), **facts)
    elif kind == "session.thread_created":
        name, thread = text_or_none(value.get("agent_name")), text_or_none(value.get("session_thread_id"))
        yield VOICE.agent_linked(None, agent=thread, label=name, type_=name, record=kind)
    else:
        yield _record(kind, value, facts)


def _thinking(value: Mapping[str, Any]) -> str:
    """Returns the text of a thought; the service sends no text."""
    return "\n".join(str(one["thinking"]) for one in blocks_in(value.get("content")) if "thinking" in one)


def _thread_message(value: Mapping[str, Any], text: str) -> Event:
    """Returns a message between threads; the names of the primary agent are absent."""
    sent = str(value["type"]).endswith("sent")
    other = text_or_none(value.get("to_session_thread_id" if sent else "from_session_thread_id"))
    with_sub_agent = isinstance(value.get("to_agent_name" if sent else "from_agent_name"), str)
    event = VOICE.prompt(text) if sent == with_sub_agent else VOICE.answer(text)
    return _in_thread(event, other, VOICE.agent) if with_sub_agent else event


def _in_thread(event: Event, thread: str | None, other: str) -> Event:
    """Places an event in the thread of a sub-agent, which talks to another."""
    meaning = event.meaning
    names = {VOICE.agent: _SUB_AGENT, VOICE.user: other}
    meaning.sender = names.get(str(meaning.sender), meaning.sender)
    meaning.to = tuple(names.get(name, name) for name in meaning.to or ())
    return place_event(event, agent=thread)


def _record(kind: str, value: Mapping[str, Any], facts: Mapping[str, Any]) -> Event:
    told = value.get("description") or value.get("explanation") or value.get("deny_message") or value.get("title")
    has_failed = kind == REQUEST_END and value.get("is_error") is True
    words = "a request to the model failed" if has_failed else describe_record(kind, facts)
    event = VOICE.bookkeeping(kind, text_or_none(told) or words, **facts)
    usage = value.get("usage" if kind == "span.outcome_evaluation_end" else "model_usage")
    if isinstance(usage, Mapping) and "output_tokens" in usage:
        VOICE.usage(
            event, model=text_or_none(value.get("model")), input=token_count(usage, "input_tokens"),
            output=token_count(usage, "output_tokens"), cache_read=token_count(usage, "cache_read_input_tokens"),
            cache_write=token_count(usage, "cache_creation_input_tokens"),
        )  # fmt: skip
    event.meaning.failed = has_failed
    stop = mapping_or_empty(value.get("stop_reason")).get("type")
    if kind in _ENDED and stop in (None, "end_turn", "retries_exhausted"):
        thread = text_or_none(value.get("session_thread_id"))
        event.meaning.spawn = Spawn(None, thread, has_ended=True, has_failed=stop == "retries_exhausted")
    return event


READER = JsonTranscript(
    name=NAME,
    marks=((b'"processed_at"', b'"type"', b'"id"'), (b'"event_delta"', b'"event_id"'), (b'"event_start"', b'"event"')),
    # The events do not name their session.
    is_known=_is_known, events_of=_events, session_of=lambda _: NAME,
)  # fmt: skip

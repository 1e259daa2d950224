"""Reads the lines that `conversion` makes of a database of Crush."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, media_words
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import ApiCall, Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "crush"
VOICE = Voice(agent="crush", program="crush-cli", namespace="crush/")
SESSION_KEY, AGENT_KEY, CHILDREN_KEY = "crushSession", "agent", "agents"
"""Keys of a line: ids of the session and of a sub-agent's session, and sub-agents by the calls in the line."""
_UNNAMED = "New Agent Session"
CHILD = "$$"
"""In the id of a sub-agent's session, before the id of the call that started it; older ids are that of the call."""
RECORDS = ("session", "agent-session", "message")
"""Records that the program writes for itself."""
_DECLINED = ("permission denied", "user denied permission", "tool execution canceled by user")
"""Whole results of calls that the user declined or stopped."""


def _events(value: Mapping[str, Any]) -> list[Event]:
    message, session = mapping_or_empty(value.get("message")), mapping_or_empty(value.get("session"))
    agent = text_or_none(value.get(AGENT_KEY))
    if message:
        asked = VOICE.prompt if agent is None else VOICE.instructions  # another agent asks a sub-agent
        events = list(_message(message, asked, mapping_or_empty(value.get(CHILDREN_KEY))))
        events = events or [VOICE.bookkeeping("message", f"a message of {message.get('role')} without parts")]
    else:
        events = [_session(session, agent)]
        agent = None  # a session of a sub-agent is told by the session that started it
    time_ns, identifier = _time((message or session).get("created_at")), text_or_none(message.get("id"))
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        is_placed = event.meaning.time_ns != NO_TIME
        place_event(event, time_ns=NO_TIME if is_placed else time_ns, identifier=own, agent=agent)
    return events


def _time(value: object) -> int:
    return (
        parse_time(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else NO_TIME
    )


def _session(session: Mapping[str, Any], agent: str | None) -> Event:
    """Returns the row of a session, or of that of a sub-agent.

    Its tokens are of its last model call alone, and its cost includes its sub-agents.
    """
    facts = {key: one for key, one in session.items() if key not in ("place", "id")}
    event = VOICE.bookkeeping(
        "session" if agent is None else "agent-session", describe_record("session", facts), **facts
    )
    if agent is None:
        event.meaning.cost = number_or_none(session.get("cost")) or None
    else:
        event.meaning.spawn = Spawn(agent.rpartition(CHILD)[2], agent)
    return event


def _message(
    message: Mapping[str, Any], asked: Callable[[str], Event], agents: Mapping[str, Any]
) -> Iterator[Event]:  # fmt: skip
    role, parts = message.get("role"), mappings_in(message.get("parts"))
    is_summary = message.get("is_summary_message") in (1, True)
    said = {"assistant": VOICE.answer, "user": asked}.get(str(role), VOICE.instructions)
    events = [event for part in parts for event in _part(part, VOICE.compaction if is_summary else said, agents)]
    if role == "assistant":
        finish = next((mapping_or_empty(part.get("data")) for part in parts if part.get("type") == "finish"), {})
        for number, event in enumerate(events):
            # The tokens of a call are not recorded.
            stop = text_or_none(finish.get("reason")) if number == len(events) - 1 else None
            event.meaning.call = ApiCall("", text_or_none(message.get("model")), stop=stop)
    yield from events


def _part(part: Mapping[str, Any], said: Callable[[str], Event], agents: Mapping[str, Any]) -> Iterator[Event]:
    kind, data = part.get("type"), mapping_or_empty(part.get("data"))
    if kind == "text":
        if (text := text_or_none(data.get("text")) or "").strip():
            yield said(text)
    elif kind == "reasoning":
        thought = VOICE.thought(text_or_none(data.get("thinking")) or NOT_READABLE)
        yield place_event(thought, time_ns=_time(data.get("started_at")))
    elif kind == "tool_call":
        yield _call(data, agents)
    elif kind == "tool_result":
        yield _result(data, agents)
    elif kind == "finish":
        yield from _finish(data)
    elif kind == "shell_command":
        yield said(f"! {data.get('command')}\n\n{data.get('output')}")
    else:
        sealed, name = data.get("Data"), text_or_none(data.get("Path")) or kind
        url = data.get("url") if sealed is None else f"data:{data.get('MIMEType') or ''};base64,{sealed}"
        yield said(media_words({"type": name} if url is None else {"type": name, "url": url}))


def _call(data: Mapping[str, Any], agents: Mapping[str, Any]) -> Event:
    call, tool, given = text_or_none(data.get("id")), text_or_none(data.get("name")), data.get("input")
    child = mapping_or_empty(agents.get(call or ""))
    if not child:
        return VOICE.call(call, tool, given)
    agent, label = text_or_none(child.get("session")), text_or_none(child.get("title"))
    label = label if label != _UNNAMED else None
    event = VOICE.agent_started(call, agent=agent, label=label, type_=tool, tool=tool or "agent", arguments=given)
    arguments = mapping_or_empty(mapping_or_empty(event.payload.get("params")).get("arguments"))
    if event.meaning.spawn is not None:
        event.meaning.spawn.prompt = text_or_none(arguments.get("prompt"))
    return event


def _result(data: Mapping[str, Any], agents: Mapping[str, Any]) -> Event:
    call, tool = text_or_none(data.get("tool_call_id")), text_or_none(data.get("name")) or None
    content, failed = data.get("content"), data.get("is_error") is True
    if isinstance(data.get("data"), str) and data["data"]:
        content = [content, {"type": "image", "data": data["data"], "mimeType": data.get("mime_type")}]
    agent = text_or_none(mapping_or_empty(agents.get(call or "")).get("session"))
    if agent is not None:
        return VOICE.agent_ended(agent, content, call=call, failed=failed)
    event = VOICE.result(call, content, tool=tool, failed=failed)
    if failed and isinstance(content, str) and content.strip().lower() in _DECLINED:
        event.meaning.declined, event.meaning.failed = True, False
    return event


def _finish(data: Mapping[str, Any]) -> Iterator[Event]:
    """Yields a failure or a stop; other ends of a model call are known by its content."""
    reason, words = data.get("reason"), ": ".join(str(data[key]) for key in ("message", "details") if data.get(key))
    if reason == "error":
        yield place_event(VOICE.error(words or "error"), time_ns=_time(data.get("time")))
    elif reason == "canceled":
        yield place_event(
            VOICE.bookkeeping("canceled", words or "stopped by the user"), time_ns=_time(data.get("time"))
        )


READER = converted_transcript(NAME, SESSION_KEY, ("session", "message"), _events)

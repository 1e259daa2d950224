"""Reads logs of an invented robot: a JSON object a line, with `robot`, `at` and `event`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

NAME = "robot"
VOICE = Voice(agent="robot", program="robot-program", namespace="robot/")
"""Names that the rows have: of the model, of its program, and the prefix of kinds that only this log has."""

_SEND_HELPER = "send-helper"
"""Tool that starts a sub-agent."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    """Returns True for a line of this log; with `unknown` also for an event of a newer version."""
    event = value.get("event")
    return isinstance(value.get("robot"), str) and isinstance(event, str) and (event in _EVENTS or unknown)


def _events(value: Mapping[str, Any]) -> list[Event]:
    """Returns the rows of a line, at least one. A value may have any type: the log may be damaged."""
    name, identifier = str(value.get("event")), text_or_none(value.get("id"))
    make = _EVENTS.get(name, _other)
    events = list(make(value))
    for number, event in enumerate(events):
        own = f"{identifier}#{number}" if number and identifier else identifier
        place_event(event, time_ns=parse_time(value.get("at")), identifier=own, agent=text_or_none(value.get("helper")))
    return events


def _asked(value: Mapping[str, Any]) -> Iterator[Event]:
    yield VOICE.prompt(_text(value))


def _said(value: Mapping[str, Any]) -> Iterator[Event]:
    """Yields the rows of a model's message: its thought, its text and its calls, as far as they are there."""
    events: list[Event] = []
    if thought := text_or_none(value.get("thought")):
        events.append(VOICE.thought(thought))
    if _text(value):
        events.append(VOICE.answer(_text(value)))
    calls = value.get("calls")
    events += [_call(one) for one in calls if isinstance(one, Mapping)] if isinstance(calls, list) else []
    events = events or [VOICE.answer("")]
    tokens = value.get("tokens")
    if isinstance(tokens, Mapping):
        # The tokens of a model call are set once, on the last of its rows.
        model, taken, made = text_or_none(value.get("model")), token_count(tokens, "in"), token_count(tokens, "out")
        VOICE.usage(events[-1], model=model, input=taken, output=made)
    yield from events


def _call(value: Mapping[str, Any]) -> Event:
    identifier, tool, given = text_or_none(value.get("id")), text_or_none(value.get("tool")), value.get("with")
    if tool == _SEND_HELPER:
        task = text_or_none(given.get("task")) if isinstance(given, Mapping) else None
        return VOICE.agent_started(identifier, label=task, prompt=task, tool=tool, arguments=given)
    return VOICE.call(identifier, tool, given)


def _did(value: Mapping[str, Any]) -> Iterator[Event]:
    yield VOICE.result(text_or_none(value.get("call")), value.get("result"), failed=value.get("ok") is False)


def _helper_began(value: Mapping[str, Any]) -> Iterator[Event]:
    agent, task = text_or_none(value.get("started")), text_or_none(value.get("task"))
    # The call is a row already; this record tells the sub-agent's id.
    yield VOICE.agent_linked(text_or_none(value.get("call")), agent=agent, label=task, prompt=task)


def _helper_ended(value: Mapping[str, Any]) -> Iterator[Event]:
    agent, call = text_or_none(value.get("ended")), text_or_none(value.get("call"))
    yield VOICE.agent_ended(agent, value.get("result"), call=call, failed=value.get("ok") is False)


def _shortened(value: Mapping[str, Any]) -> Iterator[Event]:
    yield VOICE.compaction(_text(value))


def _status(value: Mapping[str, Any]) -> Iterator[Event]:
    yield VOICE.message("participant/status", VOICE.agent, None, {"status": _text(value)})


def _other(value: Mapping[str, Any]) -> Iterator[Event]:
    """Yields the row of any other record: it is shown, and no part of the conversation."""
    facts = {key: one for key, one in value.items() if key not in ("robot", "at", "event", "text")}
    yield VOICE.bookkeeping(str(value.get("event")), _text(value), **facts)


def _text(value: Mapping[str, Any]) -> str:
    return text_or_none(value.get("text")) or ""


_EVENTS: dict[str, Callable[[Mapping[str, Any]], Iterator[Event]]] = {
    "asked": _asked, "said": _said, "did": _did, "helper-began": _helper_began, "helper-ended": _helper_ended,
    "shortened": _shortened, "status": _status, "started": _other, "battery": _other,
}  # fmt: skip

READER = JsonTranscript(
    name=NAME, marks=((b'"robot"', b'"event"', b'"at"'),), is_known=_is_known, events_of=_events,
    session_of=lambda value: value.get("robot"),
)  # fmt: skip

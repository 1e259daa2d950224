"""Format: debug logs of the chat in VS Code, a span or event a line (docs/transcripts.md, VS Code debug log).

A span is written when it ends, with its start (`ts`) and duration (`dur`) in milliseconds. Its attributes are cut at a
length, texts of JSON among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.formats.vscode_chat.reader import AGENT, PROGRAM
from inspector.protocol.header import json_or_none
from inspector.protocol.timestamps import NO_TIME, parse_time
from inspector.protocol.truncated_json import complete_json

NAME = "vscode-debug-log"
VOICE = Voice(agent=AGENT, program=PROGRAM, namespace="vscode-debug/")

_Line = Mapping[str, Any]
_ANSWER = "agent-msg-"
"""Prefix of the id of a model's answer, before the id of its request."""
_SUB_AGENT = "runSubagent"
"""Tool that starts a sub-agent."""
_CUT = "[truncated]"
"""End of a cut attribute."""
_REPEATED = ("inputMessages", "userRequest")
"""Attributes of a model call that repeat earlier messages; Raw shows them."""
_LONGEST_MS = 1e9


def _is_known(value: _Line, unknown: bool) -> bool:
    texts = all(isinstance(value.get(key), str) for key in ("sid", "spanId", "type", "name"))
    return texts and isinstance(value.get("attrs"), Mapping) and (unknown or value["type"] in _RECORDS)


def _events(value: _Line) -> list[Event]:
    """Returns the rows of a line, at least one."""
    record, name = str(value.get("type")), text_or_none(value.get("spanId"))
    events = list(_RECORDS.get(record, _other)(value, mapping_or_empty(value.get("attrs"))))
    began, parent = _time(value.get("ts")), text_or_none(value.get("parentSpanId"))
    for number, event in enumerate(events):
        own = f"{name}#{number}" if number and name else name
        place_event(event, time_ns=max(began, event.meaning.time_ns), identifier=own, parent=parent)
    return events


def _asked(_value: _Line, attributes: _Line) -> Iterator[Event]:
    yield VOICE.prompt(text_or_none(attributes.get("content")) or "")


def _model_call(value: _Line, attributes: _Line) -> Iterator[Event]:
    """Yields a request to a model with its tokens; its answer has a line of its own."""
    name, model = text_or_none(value.get("name")) or "", text_or_none(attributes.get("model"))
    facts = {"dur": value.get("dur"), **{key: one for key, one in attributes.items() if key not in _REPEATED}}
    failure = text_or_none(attributes.get("error")) or ("model call failed" if value.get("status") == "error" else None)
    event = VOICE.error(failure, **facts) if failure else VOICE.bookkeeping("llm_request", name, **facts)
    if any(isinstance(attributes.get(key), int) for key in ("inputTokens", "outputTokens")):
        cached = token_count(attributes, "cachedTokens")
        taken, made = token_count(attributes, "inputTokens"), token_count(attributes, "outputTokens")
        VOICE.usage(
            event, model=model, identifier=text_or_none(value.get("spanId")),
            input=max(taken - cached, 0), output=made, cache_read=cached,
        )  # fmt: skip
    else:
        VOICE.usage(event, model=model, identifier=text_or_none(value.get("spanId")))
    first = _duration_ns(attributes.get("ttft"))
    if event.meaning.call is not None and first is not None:
        event.meaning.call.first_token_ns = first
    yield event


def _answered(value: _Line, attributes: _Line) -> Iterator[Event]:
    """Yields thought and text of an answer. Calls of tools in it have lines of their own."""
    events: list[Event] = []
    if thought := text_or_none(attributes.get("reasoning")):
        events.append(VOICE.thought(thought))
    written = text_or_none(attributes.get("response")) or ""
    messages = _messages(written)
    if messages is None:
        said, asked = written, []
    else:
        parts = [part for message in messages for part in mappings_in(message.get("parts"))]
        texts = (part.get("content") for part in parts if part.get("type") == "text")
        said = "\n".join(one for one in texts if isinstance(one, str) and one)
        asked = [str(part.get("name")) for part in parts if part.get("type") == "tool_call"]
    if said:
        events.append(VOICE.answer(said))
    request = text_or_none(value.get("spanId")) or ""
    for event in events:
        VOICE.usage(event, model=None, identifier=request.removeprefix(_ANSWER) or None)
    yield from events or [VOICE.bookkeeping("agent_response", ", ".join(asked))]


def _messages(written: str) -> list[Mapping[str, Any]] | None:
    """Returns the messages of an answer; None if they are no JSON."""
    found = json_or_none(written.encode("utf-8", "replace"))
    if not isinstance(found, list) and written.endswith(_CUT):
        whole = complete_json(written.removesuffix(_CUT).encode("utf-8", "replace"))
        found = json_or_none(whole) if whole is not None else None
    return mappings_in(found) if isinstance(found, list) else None


def _called(value: _Line, attributes: _Line) -> Iterator[Event]:
    """Yields a call and its result."""
    identifier, tool = text_or_none(value.get("spanId")), text_or_none(value.get("name"))
    failed, given = value.get("status") == "error", attributes.get("args")
    result, error = text_or_none(attributes.get("result")), text_or_none(attributes.get("error"))
    if failed and error and error not in (result or ""):
        result = f"{result}\n{error}" if result else error
    if tool == _SUB_AGENT:
        task = json_or_none(given.encode("utf-8", "replace")) if isinstance(given, str) else given
        label, prompt, sort = (
            text_or_none(mapping_or_empty(task).get(key)) for key in ("description", "prompt", "agentName")
        )
        yield VOICE.agent_started(
            identifier, agent=identifier, label=label, prompt=prompt, type_=sort, tool=tool, arguments=given
        )
        ended = VOICE.agent_ended(identifier, result, call=identifier, failed=failed)
    else:
        yield VOICE.call(identifier, tool, given)
        ended = VOICE.result(identifier, result, tool=tool, failed=failed)
    began, took = _time(value.get("ts")), _duration_ns(value.get("dur"))
    if took is not None:
        ended.meaning.time_ns, ended.meaning.took_ns = began + took if began != NO_TIME else NO_TIME, took
    yield ended


def _other(value: _Line, attributes: _Line) -> Iterator[Event]:
    """Yields the row of any other record, with its attributes."""
    record, name = str(value.get("type")), text_or_none(value.get("name")) or ""
    told = next((one for key in ("error", "details") if (one := text_or_none(attributes.get(key)))), None)
    event = VOICE.bookkeeping(record, ": ".join(filter(None, (name, told))), **{
        key: one for key, one in attributes.items() if key not in ("text", "record")
    })  # fmt: skip
    event.meaning.failed = value.get("status") == "error"
    yield event


def _failure(value: _Line, attributes: _Line) -> Iterator[Event]:
    told = (attributes.get(key) for key in ("error", "details", "message"))
    yield VOICE.error(next((one for one in told if isinstance(one, str)), text_or_none(value.get("name")) or "error"))


def _time(value: object) -> int:
    return parse_time(value) if isinstance(value, int | float) else NO_TIME


def _duration_ns(value: object) -> int | None:
    """Returns milliseconds as nanoseconds; None for an implausible duration."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _LONGEST_MS:
        return None
    return round(value * 1_000_000)


_RECORDS: dict[str, Callable[[_Line, _Line], Iterator[Event]]] = {
    "user_message": _asked, "llm_request": _model_call, "agent_response": _answered, "tool_call": _called,
    "error": _failure,
    "session_start": _other, "turn_start": _other, "turn_end": _other, "subagent": _other, "hook": _other,
    "child_session_ref": _other, "discovery": _other, "generic": _other,
}  # fmt: skip

READER = JsonTranscript(
    name=NAME, marks=((b'"sid"', b'"spanId"', b'"attrs"'),), is_known=_is_known, events_of=_events,
    session_of=lambda value: value.get("sid"),
)  # fmt: skip

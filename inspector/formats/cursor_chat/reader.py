"""Reads the lines that `database` makes of Cursor's chats. A message (`bubble`) has a text, a thought or a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object, token_count
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import NO_TIME, parse_time

NAME = "cursor-chat"
VOICE = Voice(agent="cursor", program="cursor-app", namespace="cursor-chat/")
RECORDS = ("composer", "bubble")
"""Records that the program writes for itself."""
COMPOSER_KEY = "cursorComposer"
"""Key of the chat's id in a line."""
USER, MODEL = 1, 2
"""Types of messages."""

_TOLD = ("output", "contents", "content", "text")
_ENDED = ("completed", "error", "cancelled")
_ERRORS = ("modelVisibleErrorMessage", "clientVisibleErrorMessage", "message")
_UNNAMED = ("default", "")
"""Names of the model that the program chooses."""


def _events(value: Mapping[str, Any]) -> list[Event]:
    bubble, composer = mapping_or_empty(value.get("bubble")), mapping_or_empty(value.get("composer"))
    if not bubble:
        return [_composer(composer)]
    events = list(_bubble(bubble)) or [_empty(bubble)]
    _set_usage(events[-1], bubble)
    identifier, time_ns = text_or_none(bubble.get("bubbleId")), time_of(bubble)
    for number, event in enumerate(events):
        place_event(event, time_ns=time_ns, identifier=f"{identifier}#{number}" if number else identifier)
    return events


def _empty(bubble: Mapping[str, Any]) -> Event:
    facts = {key: one for key, one in bubble.items() if key != "text"}
    return VOICE.bookkeeping("bubble", describe_record("message", facts), **facts)


def time_of(bubble: Mapping[str, Any]) -> int:
    """Returns the time of a message; older ones have only that of the request."""
    sent = mapping_or_empty(bubble.get("timingInfo")).get("clientRpcSendTime")
    time = bubble.get("createdAt") or sent
    return parse_time(time) if isinstance(time, str | int | float) and not isinstance(time, bool) else NO_TIME


def _composer(composer: Mapping[str, Any]) -> Event:
    facts = {key: one for key, one in composer.items() if isinstance(one, str | int | float)}
    name = text_or_none(composer.get("name")) or ""
    event = VOICE.bookkeeping("composer", name or describe_record("chat", facts), **{**facts, "name": name})
    used = mapping_or_empty(composer.get("usageData")).values()
    cents = [number_or_none(mapping_or_empty(one).get("costInCents")) for one in used]
    if any(cents):
        event.meaning.cost, event.meaning.is_total = sum(one or 0 for one in cents) / 100, True
    return place_event(event, time_ns=time_of(composer))


def _bubble(bubble: Mapping[str, Any]) -> Iterator[Event]:
    text = text_or_none(bubble.get("text")) or ""
    if bubble.get("type") == USER:
        yield VOICE.prompt(text)
        return
    if thought := text_or_none(mapping_or_empty(bubble.get("thinking")).get("text")):
        yield VOICE.thought(thought)
    if text:
        yield VOICE.answer(text)
    made = mapping_or_empty(bubble.get("toolFormerData"))
    if isinstance(made.get("name"), str):
        yield from _call(made, text_or_none(bubble.get("bubbleId")))
    if error := text_or_none(mapping_or_empty(bubble.get("errorDetails")).get("message")):
        yield VOICE.error(error)


def _call(made: Mapping[str, Any], bubble: str | None) -> Iterator[Event]:
    identifier, tool = text_or_none(made.get("toolCallId")) or bubble, text_or_none(made.get("name"))
    yield VOICE.call(identifier, tool, made.get("rawArgs") or made.get("params"))
    status, result = made.get("status"), _object_in(made.get("result"))
    if status not in _ENDED and not result:  # still at work, or never ended
        return
    error = _object_in(made.get("error"))
    told = next((error[key] for key in _ERRORS if key in error), None)
    told = told or next((result[key] for key in _TOLD if isinstance(result.get(key), str)), None)
    told = told if isinstance(told, str) else text_or_none(made.get("result")) or str(status)
    failed = status == "error" or (number_or_none(result.get("exitCode", result.get("exitCodeV2"))) or 0) != 0
    event = VOICE.result(identifier, told, tool=tool, failed=failed)
    if made.get("userDecision") == "rejected" or result.get("rejected") is True or status == "cancelled":
        event.meaning.declined, event.meaning.failed = True, False
    yield event


def _object_in(text: object) -> Mapping[str, Any]:
    """Returns the object that a text holds, or an empty one."""
    return (decoded_object(text.encode("utf-8", "replace")) or {}) if isinstance(text, str) else mapping_or_empty(text)


def _set_usage(event: Event, bubble: Mapping[str, Any]) -> None:
    """Sets the tokens of the model call that a message ends, if they are written."""
    tokens = mapping_or_empty(bubble.get("tokenCount"))
    taken, made = token_count(tokens, "inputTokens"), token_count(tokens, "outputTokens")
    name = text_or_none(mapping_or_empty(bubble.get("modelInfo")).get("modelName"))
    model = None if name in _UNNAMED else name
    if taken or made:
        VOICE.usage(event, model=model, input=taken, output=made)
    elif model is not None and bubble.get("type") == MODEL:
        VOICE.usage(event, model=model)


READER = converted_transcript(NAME, COMPOSER_KEY, RECORDS, _events)

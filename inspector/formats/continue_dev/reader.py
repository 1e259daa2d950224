"""Reads the lines that `conversion` makes of a session of Continue, of its extension or its command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, text_of, token_count
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import ApiCall

NAME = "continue"
VOICE = Voice(agent="continue", program="continue-app", namespace="continue/")
SESSION_KEY, RESULTS_KEY, USAGE_KEY = "continueSession", "results", "itemsHaveUsage"
"""Keys of a line: the session's id, the states of calls whose results are messages, and whether items report usage."""
_ENDED = ("done", "errored", "canceled")
_CENTS = 100.0


def _events(value: Mapping[str, Any]) -> list[Event]:
    item, states = mapping_or_empty(value.get("item")), mapping_or_empty(value.get(RESULTS_KEY))
    if not item:
        return [place_event(_session(mapping_or_empty(value.get("session")), value.get(USAGE_KEY) is True))]
    events = list(_item(item, states)) or [VOICE.answer("")]
    if summary := text_or_none(item.get("conversationSummary")):
        events.append(VOICE.compaction(summary))
    identifier = text_or_none(mapping_or_empty(item.get("message")).get("id"))
    for number, event in enumerate(events):
        place_event(event, identifier=f"{identifier}#{number}" if number and identifier else identifier)
    return events


def _session(session: Mapping[str, Any], has_usage: bool) -> Event:
    """Returns the row of a session's facts. Its tokens count if its messages report none."""
    facts = {key: one for key, one in session.items() if isinstance(one, str | int | float)}
    usage = mapping_or_empty(session.get("usage"))
    told = {**facts, **({"totalCost": usage.get("totalCost")} if usage else {})}
    event = VOICE.bookkeeping("session", describe_record("session", told), **told)
    if not has_usage and token_count(usage, "promptTokens"):
        details = mapping_or_empty(usage.get("promptTokensDetails"))
        read, written = token_count(details, "cachedTokens"), token_count(details, "cacheWriteTokens")
        taken, made = token_count(usage, "promptTokens"), token_count(usage, "completionTokens")
        cost, model = number_or_none(usage.get("totalCost")), text_or_none(session.get("chatModelTitle"))
        _count(event, model, taken, made, read, written, cost)
        event.meaning.is_total = True
    return event


def _count(
    event: Event, model: str | None, taken: int, made: int, read: int, written: int, cost: float | None
) -> None:  # fmt: skip
    cached = read + written if read + written <= taken else 0
    VOICE.usage(event, model=model, cost=cost, input=taken - cached, output=made, cache_read=read, cache_write=written)


def _item(item: Mapping[str, Any], states: Mapping[str, Any]) -> Iterator[Event]:
    message = mapping_or_empty(item.get("message"))
    role, text = message.get("role"), text_of(message.get("content"))
    if role == "assistant":
        yield from _answer(item, message, text, states)
    elif role == "tool" or message.get("toolCallId") is not None:
        call = text_or_none(message.get("toolCallId"))
        yield _result(call, message.get("content"), states.get(call or ""), None)
    elif role == "thinking":
        yield VOICE.thought(text or NOT_READABLE)
    elif role == "user":
        for added in mappings_in(item.get("contextItems")):
            yield VOICE.instructions(
                "\n".join(filter(None, (text_of(added.get("name")), text_of(added.get("content")))))
            )
        yield VOICE.prompt(text)
    else:
        yield VOICE.instructions(text)


def _answer(
    item: Mapping[str, Any], message: Mapping[str, Any], text: str, states: Mapping[str, Any]
) -> Iterator[Event]:  # fmt: skip
    events: list[Event] = []
    if thought := text_of(mapping_or_empty(item.get("reasoning")).get("text")):
        events.append(VOICE.thought(thought))
    if text.strip():
        events.append(VOICE.answer(text))
    for call in mappings_in(message.get("toolCalls")):
        made = mapping_or_empty(call.get("function"))
        events.append(VOICE.call(text_or_none(call.get("id")), text_or_none(made.get("name")), made.get("arguments")))
    events = events or [VOICE.answer(text)]
    usage, logs = mapping_or_empty(message.get("usage")), mappings_in(item.get("promptLogs"))
    if usage:
        taken, total = token_count(usage, "prompt_tokens"), token_count(usage, "total_tokens")
        details, cents = mapping_or_empty(usage.get("prompt_tokens_details")), number_or_none(usage.get("cost_cents"))
        read, written = token_count(details, "cached_tokens"), token_count(details, "cache_write_tokens")
        # Some providers report reasoning in the total alone.
        made = max(token_count(usage, "completion_tokens"), total - taken)
        cost = None if cents is None else cents / _CENTS
        _count(events[0], text_or_none(usage.get("model")), taken, made, read, written, cost)
    elif logs and (model := text_or_none(logs[-1].get("modelTitle"))):
        events[0].meaning.call = ApiCall("", model)
    yield from events
    for state in mappings_in(item.get("toolCallStates")):
        call, status = text_or_none(state.get("toolCallId")), state.get("status")
        if call not in states and status in _ENDED:
            made = mapping_or_empty(mapping_or_empty(state.get("toolCall")).get("function"))
            told = "\n".join(text_of(one.get("content")) for one in mappings_in(state.get("output")))
            yield _result(call, told or str(status), status, text_or_none(made.get("name")))


def _result(call: str | None, content: object, status: object, tool: str | None) -> Event:
    event = VOICE.result(call, content, tool=tool, failed=status == "errored")
    if status == "canceled":
        event.meaning.declined, event.meaning.failed = True, False
    return event


READER = converted_transcript(NAME, SESSION_KEY, ("session", "item"), _events)

"""Reads runs that the OpenAI Agents SDK saved to continue them later: the input, its items, model calls, approvals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import set_matched_text, token_count
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.message_entries import entries_of_message
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event

NAME = "agents-run"
VOICE = Voice(agent="assistant", program="agents-sdk", namespace="agents-run/")
RECORDS = frozenset(("run", "model-call", "approval"))
"""Records that are no messages."""
_APPROVAL = "tool_approval_item"


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown
    return isinstance(value.get("$schemaVersion"), str) and "original_input" in value and "current_agent" in value


def _events(value: Mapping[str, Any]) -> list[Event]:
    agent = mapping_or_empty(value.get("current_agent")).get("name")
    told = {"agent": agent, "turn": value.get("current_turn"), "max_turns": value.get("max_turns"),
            "version": value.get("$schemaVersion"),
            "workflow": mapping_or_empty(value.get("trace")).get("workflow_name")}  # fmt: skip
    events = [VOICE.bookkeeping("run", describe_record("run", told), **told)]
    given = value.get("original_input")
    for message in given if isinstance(given, list) else [{"role": "user", "content": given}]:
        events += _messages(message, None)
    events += _new_items(value)
    return [place_event(event) for event in (*events, *_model_calls(value))]


def _new_items(value: Mapping[str, Any]) -> Iterator[Event]:
    """Yields the rows of the items of a run. A list for sessions has all of them; the other one may be shortened."""
    given = value.get("original_input")
    owned = {
        one.get("index")
        for one in mappings_in(value.get("nested_history_owned_session_item_refs"))
        if isinstance(given, list)
    }
    items = mappings_in(value.get("session_items")) or mappings_in(value.get("generated_items"))
    for number, item in enumerate(items):
        if number in owned:  # the input repeats it
            continue
        raw, sort = mapping_or_empty(item.get("raw_item")), item.get("type")
        agent = mapping_or_empty(item.get("agent", item.get("source_agent"))).get("name")
        if sort == _APPROVAL:
            words = f"{raw.get('name') or item.get('tool_name')} waits for an approval"
            event = VOICE.bookkeeping("approval", words, call=raw.get("call_id"))
            event.meaning.correlation = text_or_none(raw.get("call_id"))
            yield event
        else:
            yield from _messages(raw, text_or_none(agent))


def _messages(message: Any, agent: str | None) -> Iterator[Event]:
    for event in entries_of_message(message):
        meaning = event.meaning
        if agent is not None:
            meaning.sender = agent if meaning.sender == VOICE.agent else meaning.sender
            meaning.to = tuple(agent if one == VOICE.agent else one for one in meaning.to or ()) or None
        set_matched_text(event)
        yield event


def _model_calls(value: Mapping[str, Any]) -> Iterator[Event]:
    """Yields a row with the tokens of each model call; one of all calls if the calls are not there."""
    responses = mappings_in(value.get("model_responses"))
    for number, response in enumerate(responses, 1):
        output = mappings_in(response.get("output"))
        models = (text_or_none(mapping_or_empty(one.get("provider_data")).get("model")) for one in output)
        model = next((one for one in models if one), None)
        event = VOICE.bookkeeping("model-call", f"model call {number}", model=model, id=response.get("response_id"))
        yield _used(event, response.get("usage"), model)
    total = mapping_or_empty(mapping_or_empty(value.get("context")).get("usage"))
    if not responses and token_count(total, "requests"):
        words = f"{token_count(total, 'requests')} model calls"
        yield _used(VOICE.bookkeeping("model-call", words), total, None)


def _used(event: Event, usage: object, model: str | None) -> Event:
    told = mapping_or_empty(usage)
    held = told.get("input_tokens_details")
    details = mapping_or_empty(held[0] if isinstance(held, list) and held else held)
    read, written = token_count(details, "cached_tokens"), token_count(details, "cache_write_tokens")
    if "input_tokens" not in told:
        return VOICE.usage(event, model=model)
    given = max(token_count(told, "input_tokens") - read - written, 0)
    made = token_count(told, "output_tokens")
    return VOICE.usage(event, model=model, input=given, output=made, cache_read=read, cache_write=written)


READER = JsonTranscript(
    name=NAME, marks=((b'"$schemaVersion"', b'"original_input"', b'"current_agent"'),), is_known=_is_known,
    events_of=_events, session_of=lambda value: value.get("conversation_id"),
)  # fmt: skip

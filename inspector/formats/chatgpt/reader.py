"""Reads messages of ChatGPT's export. A message of the model to a recipient other than `all` is a call of a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import NOT_READABLE, media_words
from inspector.formats.message_trees import REWIND, rewind_event
from inspector.formats.run_files import facts_event, run_reader
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_time

LABEL = "chatgpt"
VOICE = Voice(agent="chatgpt", program="chatgpt-app", namespace="chatgpt/")
RECORDS = ("conversation", "system", "tool", "reasoning_recap")

_EVERYONE = ("all", None, "")
_FAILURES = ("failed", "error", "timeout")


def called_tool(message: Mapping[str, Any]) -> str | None:
    """Returns the tool that a message calls, if it is a call."""
    by_model = mapping_or_empty(message.get("author")).get("role") == "assistant"
    recipient = message.get("recipient")
    return recipient if by_model and isinstance(recipient, str) and recipient not in _EVERYONE else None


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    message = mapping_or_empty(record)
    if REWIND in line:
        return [rewind_event(VOICE, line[REWIND])]
    if "author" not in message:
        return [_conversation(message)] if message else []
    events = list(_message(message, text_or_none(line.get("answers"))))
    identifier, time_ns = text_or_none(message.get("id")), parse_time(message.get("create_time"))
    for number, event in enumerate(events):
        place_event(event, time_ns=time_ns, identifier=f"{identifier}#{number}" if number else identifier)
    return events


def _conversation(value: Mapping[str, Any]) -> Event:
    event = facts_event(VOICE, "conversation", value, text_or_none(value.get("title")))
    return place_event(event, time_ns=parse_time(value.get("create_time")))


def _message(message: Mapping[str, Any], answers: str | None) -> Iterator[Event]:
    author, content = mapping_or_empty(message.get("author")), mapping_or_empty(message.get("content"))
    role, kind, text = author.get("role"), content.get("content_type"), _text_of(content)
    if role == "tool":
        yield _tool_message(message, text_or_none(author.get("name")), text, answers)
    elif role == "user":
        # The user's settings, which are part of each conversation.
        yield VOICE.instructions(text) if kind == "user_editable_context" else VOICE.prompt(text)
    elif role != "assistant":
        yield VOICE.instructions(text) if text else facts_event(VOICE, "system", message, "system")
    elif kind == "thoughts":
        thoughts = mappings_in(content.get("thoughts"))
        yield VOICE.thought("\n\n".join(str(one.get("content") or one.get("summary")) for one in thoughts)
                            or NOT_READABLE)  # fmt: skip
    elif kind == "reasoning_recap":
        yield facts_event(VOICE, "reasoning_recap", message, text)
    else:
        tool = called_tool(message)
        event = VOICE.answer(text) if tool is None else VOICE.call(text_or_none(message.get("id")), tool, text)
        model = text_or_none(mapping_or_empty(message.get("metadata")).get("model_slug"))
        yield VOICE.usage(event, model=model) if model is not None else event


def _tool_message(message: Mapping[str, Any], tool: str | None, text: str, answers: str | None) -> Event:
    if answers is None:  # a step of reasoning, or another part of a result
        return VOICE.instructions(text) if text else facts_event(VOICE, "tool", message, tool)
    outcome = mapping_or_empty(mapping_or_empty(message.get("metadata")).get("aggregate_result")).get("status")
    failed = mapping_or_empty(message.get("content")).get("content_type") == "system_error"
    return VOICE.result(answers, text, tool=tool, failed=failed or str(outcome).startswith(_FAILURES))


def _text_of(content: Mapping[str, Any]) -> str:
    """Returns the text of a content of any type."""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(one if isinstance(one, str) else _part_words(mapping_or_empty(one)) for one in parts).strip()
    names = ("text", "result", "content", "user_profile", "user_instructions")
    return "\n".join(one for name in names if isinstance(one := content.get(name), str))


def _part_words(part: Mapping[str, Any]) -> str:
    if isinstance(part.get("text"), str):
        return part["text"]
    kind, place = part.get("content_type"), part.get("asset_pointer")
    words = str(kind).removesuffix("_asset_pointer").replace("_", " ")
    return f"{words}, {place}" if isinstance(place, str) else media_words(part)


READER = run_reader(LABEL, VOICE, _events)

"""Runs that are lists of chat messages: events of a message, and commands that a model writes into its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import set_matched_text, text_of, token_count
from inspector.formats.message_entries import entries_of_message
from inspector.formats.run_files import number_or_none
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none
from inspector.formats.vocabulary import Event, Voice
from inspector.protocol.kinds import REQUEST

_ANSWERS, _COMMAND, _MADE, _LAST, _IDS = "answers", "command", "call", "last", "ids"
_SHELL = "shell"
"""Tool of commands that name none."""


def message_lines(
    messages: list[Any], *, model: str | None, totals: Mapping[str, Any] | None = None,
    command_of: Callable[[Mapping[str, Any]], str | None] = lambda _: None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yields the line of each message.

    Args:
        messages: of one conversation.
        model: its model.
        totals: usage of all its model calls, as for `set_usage`; if its messages have none.
        command_of: returns the command in the text of a model's message; the next message is its result.
    """
    above = {"model": model} if model else {}
    own = [place for place, one in enumerate(messages) if mapping_or_empty(one).get("role") == "assistant"]
    waiting: str | None = None
    ids = _CallIds()
    for place, message in enumerate(messages):
        line: dict[str, Any] = {**above, "record": message}
        known = mapping_or_empty(message)
        if own and place == own[-1] and totals:
            line["totals"] = dict(totals)
        if renamed := ids.renamed_in(known):
            line[_IDS] = renamed
        if place == len(messages) - 1:
            line[_LAST] = True
        if waiting is not None and known.get("role") == "user":
            line[_ANSWERS] = waiting
        waiting = None
        if known.get("role") == "assistant" and (command := command_of(known)) is not None:
            waiting = f"command-{place}"
            line |= {_MADE: waiting, _COMMAND: command}
        yield line


class _CallIds:
    """Distinguishes calls with equal ids in one conversation, as replayed ones have."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def renamed_in(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Returns other ids for the ones in a message that an earlier call had."""
        called = [one for call in mappings_in(message.get("tool_calls")) if isinstance(one := call.get("id"), str)]
        self._counts.update(called)
        written = message.get("tool_call_ids")
        answered = [message.get("tool_call_id"), message.get("id"), *(written if isinstance(written, list) else ())]
        named = [*called, *(one for one in answered if isinstance(one, str))]
        return {one: f"{one}~{count}" for one in named if (count := self._counts[one]) > 1}


def message_events(voice: Voice, line: Mapping[str, Any], *, failed: bool = False) -> list[Event]:
    """Returns the events of a line with a message.

    Args:
        voice: makes events.
        line: as `message_lines` makes it.
        failed: a result is a failure.
    """
    message = mapping_or_empty(line.get("record"))
    if isinstance(called := line.get(_ANSWERS), str):
        return [voice.result(called, message.get("content"), failed=failed)]
    events = list(entries_of_message(message))
    ids = mapping_or_empty(line.get(_IDS))
    for event in events:
        set_matched_text(event)
        meaning = event.meaning
        meaning.failed |= failed
        meaning.identifier = _renamed(ids, meaning.identifier)
        meaning.correlation = _renamed(ids, meaning.correlation)
    if isinstance(command := line.get(_COMMAND), str):
        # The text before the command is the answer, with the command in it.
        events.append(voice.call(text_or_none(line.get(_MADE)), _tool_of(command), {"command": command}))
    if message.get("role") == "assistant" and not events:
        events = [voice.answer(text_of(message.get("content")))]
    if line.get(_LAST) is True:  # a call that ends the run has no result
        made = [event.meaning for event in events if event.meaning.kind == REQUEST]
        events += [voice.result(one.identifier, None, tool=one.target) for one in made]
    return events


def _renamed(ids: Mapping[str, Any], name: str | None) -> str | None:
    return name if name is None else text_or_none(ids.get(name)) or name


def _tool_of(command: str) -> str:
    """Returns the first word of a command, if it is a name."""
    words = command.split(None, 1)
    return words[0] if words and words[0].replace("_", "").isalnum() and len(words[0]) < _LONGEST else _SHELL


_LONGEST = 40


def set_usage(
    voice: Voice, event: Event, usage: object, *, model: object, cost: object = None, identifier: str | None = None
) -> Event:
    """Sets the usage of a model call, in the words of any API.

    Args:
        voice: makes events.
        event: an event of the call.
        usage: OpenAI's words count cached tokens as part of the prompt; others count them apart.
        model: its name, if it is a text.
        cost: in dollars, if it is a number.
        identifier: common to all events of the call; None if each is another call.
    """
    told = mapping_or_empty(usage)
    details = mapping_or_empty(told.get("prompt_tokens_details") or told.get("input_tokens_details"))
    read, write = token_count(details, "cached_tokens"), 0
    given = token_count(told, "prompt_tokens", "input_tokens", "tokens_sent")
    if not {"input_tokens_cache_read", "cache_read_input_tokens", "cache_read_tokens"}.isdisjoint(told):
        read = token_count(told, "input_tokens_cache_read", "cache_read_input_tokens", "cache_read_tokens")
        write = token_count(told, "input_tokens_cache_write", "cache_creation_input_tokens", "cache_write_tokens")
        given += 0 if "prompt_tokens" not in told else -read - write
    else:
        given -= read
    name, dollars = text_or_none(model), number_or_none(cost)
    if not told:
        return voice.usage(event, model=name, identifier=identifier, cost=dollars)
    made = token_count(told, "completion_tokens", "output_tokens", "tokens_received")
    return voice.usage(
        event,
        model=name,
        identifier=identifier,
        cost=dollars,
        input=max(given, 0),
        output=made,
        cache_read=read,
        cache_write=write,
    )

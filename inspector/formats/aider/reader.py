"""Reads the lines that `conversion` makes of a chat of Aider: prompts, answers, and the program's output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import token_count
from inspector.formats.run_files import facts_event, number_or_none, run_reader
from inspector.formats.value_conversions import mapping_or_empty, text_or_none
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.timestamps import parse_text_time

LABEL = "aider"
VOICE = Voice(agent="aider", program="aider-cli", namespace="aider/")
RECORDS = ("session", "command", "output", "commit")
"""Records that the program writes for itself."""

_COMMAND = re.compile(r"/[a-z][a-z-]*(?:\s|$)|!\S")
"""Beginning of a command. A text in it for the model is repeated as a prompt."""
_HELP = "# Question: "
"""Beginning of a question about the program, with its documentation."""
_FAILURE = re.compile(
    r"litellm\.[\w.]*(?:Error|Exception|Timeout)\b|The LLM did not conform to the edit format|Error: "
    r"|Model \S+ has hit a token limit"
)
_RECORDS = (
    ("edit", re.compile(r"Applied edit to ")), ("commit", re.compile(r"Commit [0-9a-f]{6,} ")),
    ("interrupted", re.compile(r"\^C KeyboardInterrupt")),
)  # fmt: skip


def _events(record: Any, line: Mapping[str, Any]) -> list[Event]:
    known = mapping_or_empty(record)
    kind, text = known.get("type"), text_or_none(known.get("text")) or ""
    if kind == "session":
        event = facts_event(VOICE, "session", {key: one for key, one in known.items() if key != "type"})
        return [place_event(event, time_ns=parse_text_time(known.get("started")))]
    if kind == "prompt":
        by_program = known.get("handed_over") is True or text.startswith(_HELP)
        is_command = _COMMAND.match(text) is not None
        events = [VOICE.bookkeeping("command", text) if is_command else
                  VOICE.instructions(text) if by_program else VOICE.prompt(text)]  # fmt: skip
    elif kind == "answer":
        events = [VOICE.answer(text)]
    else:
        messages = known.get("messages")
        events = list(_output([one for one in messages if isinstance(one, str)] if isinstance(messages, list) else []))
    if events and (usage := mapping_or_empty(line.get("usage"))):
        _set_usage(events[-1], usage, text_or_none(line.get("model")))
    return [place_event(event) for event in events]


def _output(messages: list[str]) -> Iterator[Event]:
    """Yields failures, edits, commits and interruptions as rows of their own, the messages between them together."""
    held: list[str] = []
    for message in messages:
        kind = next((name for name, pattern in _RECORDS if pattern.match(message)), None)
        if kind is None and _FAILURE.match(message) is None:
            held.append(message)
            continue
        if held:
            yield VOICE.bookkeeping("output", "\n".join(held))
            held = []
        yield VOICE.error(message) if kind is None else VOICE.bookkeeping(kind, message)
    if held:
        yield VOICE.bookkeeping("output", "\n".join(held))


def _set_usage(event: Event, usage: Mapping[str, Any], model: str | None) -> None:
    """Sets the tokens and the cost of a model call; both are rounded in the file."""
    sent, read, written = (token_count(usage, key) for key in ("sent", "cache_hit", "cache_write"))
    taken = max(sent - written, 0)
    VOICE.usage(
        event, model=model, cost=number_or_none(usage.get("cost")), output=token_count(usage, "received"),
        # Some providers report cached tokens apart.
        input=taken - read if read <= taken else taken, cache_read=read, cache_write=written,
    )  # fmt: skip


READER = run_reader(LABEL, VOICE, _events)

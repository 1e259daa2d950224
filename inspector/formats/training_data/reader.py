"""Reads rows of training data: conversations in the form of ShareGPT, instructions, and preferences.

Each row is a conversation in a space of its own. Of a preference, the answers are in the contexts `chosen` and
`rejected`, after the prompt that they share.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from inspector.formats.entry_builders import bytes_of, decoded_object
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.message_entries import entries_of_message
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.formats.vocabulary import Event, Voice, place_event
from inspector.protocol.derived_messages import Payload
from inspector.protocol.kinds import REQUEST, RESPONSE

NAME = "training-data"
VOICE = Voice(agent="assistant", program="system-prompt", namespace="training-data/")

_CONVERSATIONS = ("conversations", "conversation")
_PROMPTS = ("system", "history", "instruction", "input", "prompt", "question")
_PREFERENCES = (
    ("chosen", "rejected"), ("preferred_output", "non_preferred_output"), ("completion", "label"),
    ("chosen_messages", "rejected_messages"),
)  # fmt: skip
"""Members with the better and the worse answer; or with an answer and whether it is good."""
_ROLES = {
    "human": "user", "user": "user", "prompter": "user", "system": "system", "developer": "system",
    "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "model": "assistant",
    "assistant": "assistant", "function_call": "call", "tool_call": "call", "observation": "tool", "tool": "tool",
    "function": "tool", "function_response": "tool", "tool_response": "tool",
}  # fmt: skip
"""Roles by the names that data sets have for them."""
_IDS = ("id", "conversation_id", "conversation_hash", "prompt_id", "uuid", "idx", "custom_id")
ID_OF_COPY = "idx"
"""Member with the id of a row that is equal to an earlier one."""
_SPOKEN = re.compile(r"\n\n(Human|Assistant): ?")
"""Speakers in a conversation that is one text."""


class _Turn(NamedTuple):
    role: str
    message: Mapping[str, Any]


def _turn_of(message: Mapping[str, Any]) -> _Turn | None:
    """Returns a message with its role; None if it has no known role or no content."""
    for role_key, content_key in (("from", "value"), ("role", "content"), ("role", "value"), ("from", "content")):
        role = message.get(role_key)
        if isinstance(role, str) and content_key in message and role.lower() in _ROLES:
            return _Turn(_ROLES[role.lower()], {**message, "content": message[content_key]})
    return None


def _turns_of(held: object, role: str) -> list[_Turn] | None:
    """Returns the turns of a conversation, a message, or a text of a role; None for other values."""
    if isinstance(held, str):
        parts = _SPOKEN.split(held)
        if len(parts) < 3 or parts[0].strip():
            return [_Turn(role, {"content": held})]
        spoken = zip(parts[1::2], parts[2::2], strict=True)
        return [_Turn("user" if name == "Human" else "assistant", {"content": text}) for name, text in spoken]
    given = [held] if isinstance(held, Mapping) else held
    if not isinstance(given, list):
        return None
    turns = [_turn_of(one) for one in mappings_in(given)]
    found = [one for one in turns if one is not None]
    return found if len(found) == len(given) else None


def _prompt_of(row: Mapping[str, Any]) -> list[_Turn] | None:
    """Returns the turns before the answers."""
    turns: list[_Turn] = []
    for key in (*_PROMPTS, *_CONVERSATIONS):
        held = row.get(key)
        if key == "history" and isinstance(held, list):  # pairs of a prompt and its answer
            pairs = [one for one in held if isinstance(one, list) and len(one) == 2]
            turns += [_Turn(role, {"content": text}) for one in pairs for role, text in zip(_PAIR, one, strict=True)]
            continue
        held = held.get("messages") if isinstance(held, Mapping) and "messages" in held else held
        if not held:
            continue
        found = _turns_of(held, "system" if key == "system" else "user")
        if found is None:
            return None
        turns += found
    return turns


_PAIR = ("user", "assistant")


class _Parts(NamedTuple):
    """The turns of a row.

    Attributes:
        shared: before the answers, or the whole conversation.
        answers: the context and the turns of each answer.
    """

    shared: list[_Turn]
    answers: list[tuple[str | None, list[_Turn]]]


def _parts_of(row: Mapping[str, Any]) -> _Parts | None:
    """Returns the parts of a row; None if it is of another format."""
    for better, worse in _PREFERENCES:
        if better in row and worse in row:
            return _preference(row, better, worse)
    for key in _CONVERSATIONS:
        turns = _turns_of(held, "user") if isinstance(held := row.get(key), list) and held else None
        if turns is not None and any("value" in one.message for one in turns):
            system = row.get("system")
            above = [_Turn("system", {"content": system})] if isinstance(system, str) and system else []
            return _Parts([*above, *turns], [])
    instruction = row.get("instruction")
    # A table of a processor has instructions of one word.
    is_told = isinstance(instruction, str) and (not instruction.isascii() or len(instruction.split()) != 1)
    if is_told and isinstance(row.get("output"), str):
        prompt = _prompt_of(row)
        if not prompt:
            return None
        return _Parts(prompt, [(None, [_Turn("assistant", {"content": row["output"]})])])
    return None


def _preference(row: Mapping[str, Any], better: str, worse: str) -> _Parts | None:
    prompt = _prompt_of(row)
    if isinstance(good := row.get(worse), bool):
        answers = {("chosen" if good else "rejected"): _turns_of(row[better], "assistant")}
    else:
        answers = {"chosen": _turns_of(row[better], "assistant"), "rejected": _turns_of(row[worse], "assistant")}
    known = {name: turns for name, turns in answers.items() if turns}
    if prompt is None or len(known) < len(answers) or not (prompt or all(len(one) > 1 for one in known.values())):
        return None
    shared = prompt or _common(list(known.values()))
    return _Parts(shared, [(name, _without(shared, turns)) for name, turns in known.items()])


def _common(conversations: list[list[_Turn]]) -> list[_Turn]:
    """Returns the turns that all conversations begin with, without their last ones."""
    shared: list[_Turn] = []
    for turns in zip(*(one[:-1] for one in conversations), strict=False):
        if any(not _is_same(one, turns[0]) for one in turns):
            break
        shared.append(turns[0])
    return shared


def _without(shared: list[_Turn], turns: list[_Turn]) -> list[_Turn]:
    """Returns the turns of an answer; it may repeat its prompt."""
    repeats = len(turns) > len(shared) and all(map(_is_same, shared, turns))
    return turns[len(shared) :] if repeats else turns


def _is_same(one: _Turn, other: _Turn) -> bool:
    return one.role == other.role and one.message["content"] == other.message["content"]


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown
    return _parts_of(value) is not None


def conversation_of(row: Mapping[str, Any]) -> str:
    """Returns the id of a row, or one made of its content."""
    found = next((row[key] for key in _IDS if _is_id(row.get(key))), None)
    return str(found) if found is not None else f"row-{hashlib.blake2b(bytes_of(dict(row)), digest_size=4).hexdigest()}"


def has_id(row: Mapping[str, Any]) -> bool:
    """Returns True if a row has an id of its own."""
    return any(_is_id(row.get(key)) for key in _IDS)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def payload(line: bytes, number: int, known: Mapping[str, Any] | None = None) -> Payload:
    """Returns the payload of message `number` of a row, from 0. Never raises."""
    del known  # the number of the copy
    return READER.payload(line, number)


def _events_of(row: Mapping[str, Any]) -> list[Event]:
    parts = _parts_of(row)
    if parts is None:
        return [VOICE.bookkeeping("row")]
    calls = _Calls(conversation_of(row))
    events = list(_events_in(parts.shared, None, calls))
    for context, turns in parts.answers:
        events += _events_in(turns, context, calls)
    facts = {key: one for key, one in row.items() if isinstance(one, str | int | float) and key not in _TAKEN}
    return [*events, VOICE.bookkeeping("row", _words(facts), **facts)] if facts or not events else events


def _words(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {one}" for key, one in facts.items())


_TAKEN = {*_IDS, *_PROMPTS, *_CONVERSATIONS, "output", "rejected", *(better for better, _ in _PREFERENCES)}


class _Calls:
    """Ids for calls and results, which follow each other without ids in most data sets."""

    def __init__(self, conversation: str) -> None:
        self._conversation = conversation
        self._made = self._answered = 0

    def next_call(self) -> str:
        self._made += 1
        return f"{self._conversation}-call-{self._made}"

    def next_result(self) -> str:
        self._answered = min(self._answered + 1, max(self._made, 1))
        return f"{self._conversation}-call-{self._answered}"


def _events_in(turns: list[_Turn], context: str | None, calls: _Calls) -> Iterator[Event]:
    for turn in turns:
        for event in _events_of_turn(turn, calls):
            yield place_event(event, agent=context)


def _events_of_turn(turn: _Turn, calls: _Calls) -> list[Event]:
    content = turn.message["content"]
    if turn.role == "call":
        made = decoded_object(content.encode()) if isinstance(content, str) else mapping_or_empty(content)
        known = made or {"arguments": content}
        given = known.get("arguments", known.get("parameters"))
        return [VOICE.call(calls.next_call(), _text(known.get("name")), given)]
    called = turn.message.get("tool_call_id")
    if turn.role == "tool" and not isinstance(called, str):
        return [VOICE.result(calls.next_result(), content, tool=_text(turn.message.get("name")))]
    found = list(entries_of_message({**turn.message, "role": turn.role}))
    for event in found:
        meaning = event.meaning
        if meaning.kind == REQUEST and not isinstance(turn.message.get("tool_calls"), list):
            meaning.identifier = calls.next_call()
        elif meaning.kind == RESPONSE and meaning.correlation is None:
            meaning.correlation = calls.next_result()
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


READER = JsonTranscript(
    name=NAME,
    marks=(
        (b'"conversations"', b'"value"'), (b'"conversation"', b'"value"'), (b'"chosen"', b'"rejected"'),
        (b'"preferred_output"', b'"non_preferred_output"'),
        (b'"chosen_messages"', b'"rejected_messages"'), (b'"prompt"', b'"completion"', b'"label"'),
        (b'"instruction"', b'"output"'),
    ),
    is_known=_is_known,
    events_of=_events_of,
    session_of=conversation_of,
)  # fmt: skip

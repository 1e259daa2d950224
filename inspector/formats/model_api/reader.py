"""Format: messages of model APIs, as requests, answers, or lists of either (docs/transcripts.md, Message arrays).

OpenAI's chat completions and responses, Anthropic's messages and Gemini's contents, as documents or one a line. A
document is one record with its messages. Times are a logger's; senders are `system-prompt`, `user`, `assistant`, and
`tools` or `mcp:<server>`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    Entry,
    bytes_of,
    decoded_object,
    payload_at,
)  # fmt: skip
from inspector.formats.message_entries import (
    ADDITIONAL_TOOLS,
    SENDERS,
    entries_of_message,
    list_or_empty,
    speaker_entry,
)
from inspector.formats.model_api import bedrock, cohere, interactions
from inspector.formats.model_api.operations import asked_model, error_in, stop_reason
from inspector.formats.model_api.streams import AnswerStream, is_of_ollama, stream_of
from inspector.formats.model_api.usage import answer_name, api_call, stated_cost
from inspector.formats.model_vocabulary import AGENT, USER
from inspector.formats.value_conversions import mappings_in
from inspector.protocol import kinds
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, DerivedMessage, Payload, ThreadMark
from inspector.protocol.header import json_or_none
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "messages"

_ROLES = frozenset({*SENDERS, "tool", "function"})
_ITEMS = frozenset(
    {
        "reasoning", "item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction",
        "compaction_summary", "agent_message", ADDITIONAL_TOOLS,
    }
)  # fmt: skip
_ITEM_ENDS = ("_call", "_call_output")
"""Suffixes of further items: calls, also of new tools, and their results."""
_FOREIGN = ("kind", "from", "protocol", "jsonrpc", "envelope", "uuid", "sessionId", "parts_of")
_MARKS = (
    b'"role"', b'"parts"', b'"call_id"', b'"candidates"', b'"promptFeedback"', b'"error"', b'"output"',
    b'"interaction"', b'"text_completion"', b'\\"role\\"',
)  # fmt: skip
_HOLDERS = (
    "request", "request_body", "requestBody", "response", "response_body", "responseBody", "body", "result", "message",
    "error",
)  # fmt: skip
"""Keys of the bodies of a request and its answer in logs and batches, in this order."""
_MOST_HELD = 3
_TIMES = ("timestamp", "time", "ts", "startTime", "start_time", "@timestamp")
"""Keys of a logger's time."""


def read(line: bytes, *, unknown: bool = False) -> Record | None:
    """Reads a line if it is a document, or one message. Never raises.

    Args:
        line: without its end.
        unknown: accept single items of the Responses API too, which also occur in other logs.
    """
    # Byte searches refuse most lines of other formats before decoding.
    if not any(mark in line for mark in _MARKS):
        return Record(Shape.NO_MESSAGE, line, derived_by=LABEL) if event_in(line) is not None else None
    value = json_or_none(line)
    if not isinstance(value, dict) or any(key in value for key in _FOREIGN):
        return None
    # A line of Ollama is one part of a stream, not a document.
    bodies = [] if is_of_ollama(value) else _bodies(value, items=unknown)
    entries = _entries(bodies, items=unknown)
    if not entries:
        return Record(Shape.NO_MESSAGE, line, derived_by=LABEL) if event_in(line) is not None else None
    means = tuple(entry.meaning for entry in entries[:MAX_DERIVED_MESSAGES])
    call = next(filter(None, map(api_call, reversed(bodies))), None)
    if call is not None:
        call.stop = next(filter(None, map(stop_reason, reversed(bodies))), None)
        # Answers of Bedrock and Cohere do not name their model.
        call.model = call.model or next(filter(None, (asked_model(None, body) for body in bodies)), None)
        means[-1].call = call
        means[-1].cost = next((cost for body in reversed(bodies) if (cost := stated_cost(body)) is not None), None)
    time_ns = next((found for key in _TIMES if (found := parse_time(value.get(key))) != NO_TIME), NO_TIME)
    # The log has one time for all messages of a document.
    for meaning in means:
        meaning.time_ns = time_ns
    space = _conversation(bodies[0], entries)
    return Record(Shape.DERIVED, line, time_ns=time_ns, space=space, derived_messages=means, derived_by=LABEL)


EVENT_MARKS = (
    b'"message_start"', b'"chat.completion.chunk"', b'"delta":{', b'"delta": {', b'"prompt_filter_results"',
    b'"response.created"', b'"candidates"', b'"done":', b'"text_completion"', b'"message-start"',
    *(f'"{name}"'.encode() for name in (*bedrock.FIRST_EVENTS, *interactions.FIRST_EVENTS)),
)  # fmt: skip
"""Substrings of a streamed answer's first event; text deltas occur in envelopes as well."""
_EVENTS = ("content_block_", "message_", "response.", *cohere.EVENTS)
"""Prefixes of later events of Anthropic's API, OpenAI's responses and Cohere's API."""


def event_in(line: bytes, *, goes_on: bool = False) -> dict[str, Any] | None:
    """Returns the streamed answer's event in a line, with or without `data:`; None for any other line.

    Args:
        line: without its end.
        goes_on: an answer has begun: accept any event.
    """
    held = line.removeprefix(b"data:").strip()
    if held[:1] != b"{" or not (goes_on or any(mark in held for mark in EVENT_MARKS)):
        return None
    value = decoded_object(held)
    if value is None or any(key in value for key in _FOREIGN):
        return None
    if (
        is_of_ollama(value)
        or bedrock.converse_event(value, goes_on=goes_on)
        or interactions.is_event(value, goes_on=goes_on)
    ):
        return value
    sort = value.get("type")
    if isinstance(sort, str):
        if sort in _STARTS:
            return value if isinstance(value.get(_STARTS[sort]), Mapping) else None
        return value if goes_on and (sort.startswith(_EVENTS) or sort in ("ping", "error")) else None
    if _is_chunk(value, goes_on=goes_on):
        return value
    candidates = value.get("candidates")
    if not isinstance(candidates, list):
        return None
    if (
        not goes_on
        and not any(_CANDIDATE_KEYS & set(one) for one in mappings_in(candidates))
        and "usageMetadata" not in value
    ):
        return None  # of an election
    # A single chunk of Gemini has the shape of an answer, except for the missing end.
    return value if goes_on or line[:1] != b"{" or not _has_ended(candidates) else None


_CANDIDATE_KEYS = frozenset(("content", "finishReason", "safetyRatings", "index", "groundingMetadata"))
_STARTS = {"message_start": "message", "response.created": "response", cohere.FIRST_EVENT: "delta"}
"""First events of answers, each with its member."""


def _has_ended(candidates: list[Any]) -> bool:
    return not candidates or any(isinstance(one, Mapping) and "finishReason" in one for one in candidates)


TEXT_COMPLETION = "text_completion"
"""Type of an answer of the API before chats."""
_FILTERED = "prompt_filter_results"
"""Replaces a choice in Azure's first chunk."""


def _is_chunk(value: Mapping[str, Any], *, goes_on: bool) -> bool:
    """Returns True for a chunk of a chat completion; some servers omit the type, others a choice."""
    choices, sort = value.get("choices"), value.get("object")
    if not isinstance(choices, list):
        return False
    first = choices[0] if choices else None
    if sort in (TEXT_COMPLETION, "chat.completion.done"):
        # A text completion has the name of its chunks, and an end.
        return goes_on or (isinstance(first, Mapping) and "text" in first and first.get("finish_reason") is None)
    if sort not in (None, "", "chat.completion.chunk"):
        return False
    says_so = value.get("object") == "chat.completion.chunk" or (not choices and (goes_on or _FILTERED in value))
    return says_so or (isinstance(first, Mapping) and isinstance(first.get("delta"), Mapping))


def payload(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a record, from 0. Never raises."""
    return payload_at(line, number, _entries_of_line, json_or_none)


def _entries_of_line(value: object) -> list[Entry]:
    return _entries(_bodies(value, items=True), items=True) if isinstance(value, dict) else []


def _bodies(value: Mapping[str, Any], *, items: bool, depth: int = 0) -> list[Mapping[str, Any]]:
    """Returns the bodies of a request or answer in a document: itself, or members, as in a log line.

    A request that was logged with its answer has both.
    """
    is_row = not depth and isinstance(value.get("input"), str) and _ASKS.isdisjoint(value)  # of an evaluation's results
    spoken = not is_row and bool(entries_of_body(value, items=items) or _failure(value) or _empty_answer_entry(value))
    found = [value] if spoken else []
    is_whole = _is_message(value) or cohere.answer_message(value) is not None
    for key in _HOLDERS if depth < _MOST_HELD and not is_whole else ():
        held = decode_body(value.get(key))
        if isinstance(held, Mapping):
            found += _bodies(held, items=False, depth=depth + 1)
    certain = depth or _BATCH in value or any(one is value or not _is_ambiguous(one) for one in found)
    return found if certain else []


def decode_body(value: object) -> object:
    """Returns a body, also decoded from JSON text, from events in a text, or from a list of events."""
    if isinstance(value, list):
        lines = [b"data: " + bytes_of(dict(one)) for one in value if isinstance(one, Mapping)]
    elif not isinstance(value, str):
        return value
    elif value[:1] == "{":
        return decoded_object(value.encode("utf-8", "replace"))
    else:
        # A stored stream: its events are joined to one answer.
        events = value.splitlines() if value.startswith(("event:", "data:")) else ()
        lines = [line.encode("utf-8", "replace") for line in events]
    stream: AnswerStream | None = None
    for line in lines:
        event = event_in(line, goes_on=stream is not None)
        stream = stream_of(event) if stream is None and event is not None else stream
        if stream is not None and event is not None:
            stream.add_event(event)
    return stream.body() if stream is not None else None


_ASKS = frozenset(
    ("messages", "contents", "instructions", "stream", "store", "tools", "reasoning", "max_output_tokens")
)
"""Keys of a request with a text as `input`."""
_BATCH = "custom_id"
"""Key of a request's name in a batch line."""


def _is_ambiguous(body: Mapping[str, Any]) -> bool:
    """Returns True if a body is no sign of a model as a mere member: a single message, or an error of any server."""
    return "usage" not in body and (_is_message(body) or "error" in body)


def _entries(bodies: Sequence[Mapping[str, Any]], *, items: bool) -> list[Entry]:
    """Returns the messages in bodies, with ids; empty for other content."""
    spoken: list[Entry] = []
    for body in bodies:
        said = entries_of_body(body, items=items) + _failure(body) or _empty_answer_entry(body)
        if _HISTORIES.isdisjoint(body):
            _mark_new(said, body)
        spoken += said
    if spoken:
        _identify(spoken)
    return spoken


_HISTORIES = frozenset(("messages", "contents", "input"))
"""Keys of bodies with earlier messages."""


def _mark_new(entries: Sequence[Entry], body: Mapping[str, Any]) -> None:
    """Marks messages without a history as new; they can only copy the same answer, if it has an id.

    Of an answer without an id, calls keep their own.
    """
    name = answer_name(body)
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        meaning.is_new = bool(name) or not meaning.has_call_id
        meaning.origin = f"{name} {place}" if name else ""


def _failure(body: Mapping[str, Any]) -> list[Entry]:
    """Returns the message of an answer body's error; empty without an error."""
    whole = body.get("object") == "response" or body.get("type") in ("message", "error") or body.keys() <= _OF_ERRORS
    written = body.get("error")
    error = error_in(body) if whole and isinstance(written, Mapping) and "message" in written else None
    if error is None:
        return []
    return [
        Entry(DerivedMessage("system/error", AGENT, (USER,), failed=True), {"text": error["message"], "error": error})
    ]


def _empty_answer_entry(body: Mapping[str, Any]) -> list[Entry]:
    """Returns the message of an answer without content, with its reason; empty for any other body."""
    feedback = body.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
    reported = api_call(body) is not None
    reason = reason or (stop_reason(body) if reported or "candidates" in body or "choices" in body else None)
    if reported and reason is None and body.get("role") == AGENT and body.get("content") == []:
        reason = "cut off"
    return [speaker_entry(CHAT, AGENT, f"nothing was said: {reason}")] if isinstance(reason, str) and reason else []


_OF_ERRORS = {"error", "type", "request_id"}
"""Keys of an answer body with a failure; logs of programs have more."""


def entries_of_body(value: Mapping[str, Any], *, items: bool = False, certain: bool = False) -> list[Entry]:
    """Returns the messages in the body of a request or answer, before they are linked.

    Args:
        value: the body.
        items: accept a single item of the Responses API.
        certain: the body is a model API's in any case.
    """
    return [
        entry for message in _messages(value, items=items, certain=certain) for entry in entries_of_message(message)
    ]


def tools_in(value: Mapping[str, Any]) -> list[Any] | None:
    """Returns a request's tool definitions one by one, if there is a list of them.

    Namespaces, function declarations (Gemini) and items within the messages are expanded.
    """
    given = value.get("tools")
    if isinstance(configured := value.get("toolConfig"), Mapping):  # of Bedrock
        given = [one.get("toolSpec", one) for one in mappings_in(configured.get("tools")) if "cachePoint" not in one]
    found = [one for tool in list_or_empty(given) for one in _single_tools(tool)]
    items = (one for one in list_or_empty(value.get("input")) if isinstance(one, Mapping))
    for item in items:
        if item.get("type") == ADDITIONAL_TOOLS:
            found += [one for tool in list_or_empty(item.get("tools")) for one in _single_tools(tool)]
    return found if found or isinstance(given, list) else None


def _single_tools(tool: Any) -> Iterator[Any]:
    if not isinstance(tool, Mapping):
        yield tool
        return
    inside = tool.get("tools") if tool.get("type") == "namespace" else None
    if isinstance(inside, list):
        name = tool.get("name")
        yield from ({**one, "namespace": name} if isinstance(one, Mapping) else one for one in inside)
        return
    declared = False
    for key in ("functionDeclarations", "function_declarations"):
        # One tool object of Gemini may declare many functions, in either spelling.
        if isinstance(held := tool.get(key), list):
            declared = True
            yield from held
    rest = {key: one for key, one in tool.items() if key not in ("functionDeclarations", "function_declarations")}
    if rest or not declared:
        yield rest if declared else tool


def instructions_in(value: Mapping[str, Any]) -> list[Entry]:
    """Returns the system prompt beside the messages, which comes first."""
    return [entry for message in _instructions(value) for entry in entries_of_message(message)]


# Containers of messages


def _messages(value: Mapping[str, Any], *, items: bool, certain: bool) -> Iterator[Any]:
    """Yields the messages in order, a separate system prompt first."""
    # Each API has its own name for the history.
    for key in ("messages", "contents", "input"):
        given = _turns(value[key]) if key == "contents" and key in value else value.get(key)
        is_history = isinstance(given, list) and bool(given) if certain else _is_history(given)
        if is_history or (key == "input" and isinstance(given, str) and "model" in value):
            yield from _instructions(value)
            if key == "input":
                given = [{"role": "user", "content": given}] if isinstance(given, str) else given
                yield from interactions.messages_of(given, "user")
            else:
                yield from (one for one in given if not _is_note(one)) if isinstance(given, list) else ()
            yield from _answers(value)
            return
    if certain and "prompt" in value and "choices" not in value:  # of Ollama, and of text completions
        yield from _instructions(value)
        prompts = value["prompt"] if isinstance(value["prompt"], list) else [value["prompt"]]
        yield from ({"role": "user", "content": one} for one in prompts if isinstance(one, str))
        return
    answers = list(_answers(value))
    if answers:
        yield from answers
    elif _is_message(value) or (items and _is_item(value)):
        yield value


def _is_history(given: object) -> bool:
    """Returns True for a list of messages: its first objects have a role or a type, and one is known.

    New clients bring new items; an unknown one does not hide its neighbours.
    """
    if not isinstance(given, list):
        return False
    looked_at = [one for one in given[:_LOOKED_AT] if not _is_note(one)]
    if not all(isinstance(one, dict) and (_is_message(one) or _is_typed(one)) for one in looked_at):
        return False
    return any(_is_message(one) or _is_item(one) or interactions.is_step(one) for one in looked_at)


_LOOKED_AT = 8


def _is_note(value: object) -> bool:
    """Returns True for an entry that a program adds to a history for itself: an unknown role, and no content."""
    if not isinstance(value, dict):
        return False
    role = value.get("role")
    return isinstance(role, str) and role not in _ROLES and not any(key in value for key in _SAID)


_SAID = ("content", "tool_calls", "function_call", "parts", "refusal", "type")


def _is_typed(value: Mapping[str, Any]) -> bool:
    role = value.get("role")
    return isinstance(value.get("type"), str) or (isinstance(role, str) and role in _ROLES)


def _turns(given: object) -> object:
    """Returns Gemini's `contents` as a list with roles: a single one needs no list, and the user's no role."""
    contents = given if isinstance(given, list) else [given]
    return [
        {"role": "user", **one} if isinstance(one, dict) and isinstance(one.get("parts"), list) else one
        for one in contents
    ]


def _is_message(value: Mapping[str, Any]) -> bool:
    role, sort = value.get("role"), value.get("type")
    said = any(key in value for key in ("content", "tool_calls", "function_call", "parts", "refusal"))
    return isinstance(role, str) and role in _ROLES and said and sort in (None, "message")


def _is_item(value: Mapping[str, Any]) -> bool:
    """Returns True for an item of the Responses API that is no message."""
    sort = value.get("type")
    if not isinstance(sort, str) or not (sort in _ITEMS or sort.endswith(_ITEM_ENDS)):
        return False
    return any(key in value for key in _OF_ITEMS)


_OF_ITEMS = ("call_id", "id", "summary", "tools", "encrypted_content", "approval_request_id", "author")


def _instructions(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the system prompt beside the messages."""
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        given = value.get(key)
        if isinstance(given, Mapping) and isinstance(given.get("parts"), list):
            yield {"role": "system", "parts": given["parts"]}
        elif isinstance(given, str | list) and given:
            yield {"role": "system", "content": given}


def _answers(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the model's messages in an answer's body."""
    choices, output, candidates = (value.get(key) for key in ("choices", "output", "candidates"))
    for choice in mappings_in(choices):
        message = choice.get("message")
        if isinstance(message, Mapping) and message.get("role", AGENT) == AGENT:
            yield {"role": AGENT, **message}
        elif isinstance(text := choice.get("text"), str) and value.get("object") == TEXT_COMPLETION:
            yield {"role": AGENT, "content": text}
    whole = bedrock.answer_message(value) or cohere.answer_message(value)
    if whole is not None:
        yield {"role": AGENT, **whole}
    if value.get("object") == interactions.OBJECT:
        yield from interactions.messages_of(value.get("steps", value.get("outputs")), "model")
    # Other APIs have an `output` too, so a sign of this API is required.
    if isinstance(output, list) and (value.get("object") == "response" or ("usage" in value and _is_history(output))):
        yield from (one for one in output if isinstance(one, Mapping) and isinstance(one.get("type"), str))
    for candidate in candidates if isinstance(candidates, list) else ():
        content = candidate.get("content") if isinstance(candidate, Mapping) else None
        if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
            yield {"role": "model", **content}


def _conversation(value: Mapping[str, Any], entries: list[Entry]) -> str | None:
    """Returns a name for the conversation, equal for a request and its continuation; None for a fragment."""
    if not any(isinstance(value.get(key), str | list) for key in ("messages", "contents", "input")):
        return None
    first = next((place for place, one in enumerate(entries) if one.meaning.sender == USER), 0)
    return f"conversation-{entries[first].meaning.identifier}"


# Links between messages


def _identify(entries: list[Entry]) -> None:
    """Assigns ids to messages by all earlier content, so that a resent history has the same ids.

    Another conversation shares them only if the user began it with the same text.

    Calls have their own ids. If these are names, as in the first form of function calls and often with Gemini, results
    follow the order of the calls.
    """
    digest = hashlib.blake2b(digest_size=8)
    opening = next((entry for entry in entries if entry.meaning.sender == USER), None)
    if opening is not None:
        # The first text of the user separates conversations with one system prompt.
        digest.update(bytes_of(opening.payload))
    calls = OpenCalls()
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        digest.update(f"\0{meaning.kind}\0{meaning.sender}\0".encode("utf-8", "replace"))
        said = bytes_of(entry.payload)
        # All content so far: the same text at another place is another message.
        digest.update(said + (meaning.identifier or "").encode("utf-8", "replace"))
        mark = digest.hexdigest()
        meaning.size = len(said)
        if meaning.identifier is not None and meaning.has_call_id:
            calls.add_call(meaning, meaning.identifier)
            meaning.content = said + meaning.identifier.encode(
                "utf-8", "replace"
            )  # first in an answer, and in each request after it
            meaning.thread = ThreadMark(channel=meaning.identifier)
            continue
        meaning.identity = mark.encode("utf-8", "surrogatepass")
        own = f"{mark}#{place + 1}" if meaning.kind == kinds.REQUEST else mark
        if meaning.identifier is not None:
            calls.add_call(meaning, own)
        meaning.identifier = own
        if meaning.correlation is not None:
            meaning.correlation = calls.call_of(meaning.correlation)


class OpenCalls:
    """Calls in one history, found by id or, in APIs without ids, by the tool that a result names."""

    def __init__(self) -> None:
        self._by_id: dict[str, str] = {}
        self._open: dict[str, list[str]] = {}
        self._last: dict[str, str] = {}  # answered call by tool
        self._by_tool: set[str] = set()

    def add_call(self, call: DerivedMessage, identifier: str) -> None:
        """Records a call, or another message with its own id, under its id in this history."""
        if call.identifier is not None and call.identifier != call.target:
            self._by_id[call.identifier] = identifier
        elif call.target is not None:
            self._by_tool.add(call.target)
        if call.kind == kinds.REQUEST and call.target is not None:
            self._open.setdefault(call.target, []).append(identifier)

    def have_no_ids(self, tool: str) -> bool:
        """Returns True if calls of the tool are identified by its name alone."""
        return tool in self._by_tool

    def call_of(self, named: str) -> str:
        """Returns the call with that id, else the first of the tool without a result, else its last, else the name."""
        call = self._by_id.get(named)
        if call is not None:
            for waiting in self._open.values():
                if call in waiting:
                    waiting.remove(call)
            return call
        waiting = self._open.get(named)
        if waiting:
            self._last[named] = waiting.pop(0)
        return self._last.get(named, named)

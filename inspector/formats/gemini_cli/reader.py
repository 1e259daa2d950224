"""Format: sessions of Gemini CLI, a document of messages, or since 0.40 a message a line (docs/transcripts.md).

A message is rewritten as a whole when its tokens or its tools' results are known. Its id, and the ids of its calls,
identify the copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    NOT_READABLE,
    THOUGHT,
    Entry,
    api_call_id,
    bytes_of,
    call_entry,
    control_entry,
    response_of,
    result_entry,
    set_matched_text,
    text_entry,
    text_of,
    token_count,
)
from inspector.formats.gemini_cli import tools
from inspector.formats.json_transcript import JsonTranscript
from inspector.formats.shell_results import has_failed
from inspector.formats.value_conversions import describe_record
from inspector.protocol.derived_messages import ApiCall, History, Spawn
from inspector.protocol.timestamps import NO_TIME, parse_text_time

LABEL = "gemini-cli"

USER, AGENT, PROGRAM = "user", "gemini", "gemini-cli"
NAMESPACE = "gemini/"
_TYPES = ("user", "gemini", "info", "error", "warning")
_MARKS = ((b'"projectHash"',), (b'"$set"',), (b'"$rewindTo"',), (b'"timestamp"', b'"content"'))
_SESSION_KEYS = frozenset(
    (
        "lastUpdated",
        "messages",
        "summary",
        "startTime",
        "sessionId",
        "projectHash",
        "directories",
        "kind",
        "memoryScratchpad",
    )
)  # fmt: skip
"""Members of a session that a later line sets."""
_FAILED = ("error", "cancelled")
_CANCELLED = "cancelled"
_ADDED = tools.TOOLS.program_texts
"""Beginnings of user texts that the program wrote."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    if "projectHash" in value and "sessionId" in value:
        return True
    if isinstance(value.get("$set"), Mapping) or isinstance(value.get("$rewindTo"), str):
        return len(value) == 1 and ("$set" not in value or bool(_SESSION_KEYS & set(value["$set"])))
    if not all(isinstance(value.get(key), str) for key in ("id", "timestamp", "type")) or "content" not in value:
        return False
    if any(key in value for key in ("parentId", "parentUuid", "payload", "data", "uuid", "kind")):
        return False
    return value["type"] in _TYPES or (unknown and "model" in value)


def _entries(value: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a line or a document, at least one."""
    messages = value.get("messages")
    if isinstance(messages, list):
        found = [entry for one in messages if isinstance(one, Mapping) for entry in _said(one)]
        return found or [_control(value, "session")]
    if "$set" in value:
        rewritten = value["$set"].get("messages")
        return [_rewritten(rewritten) if isinstance(rewritten, list) else _control(value, "set")]
    if "$rewindTo" in value:
        return [_rewound(value["$rewindTo"])]
    return list(_said(value)) if "content" in value else [_control(value, "session")]


def _rewritten(messages: list[Any]) -> Entry:
    """Returns the row of a rewritten history: the complete context from here on.

    If it has as many messages as before, it was not compressed (`inspector.store.messages.transcripts`).
    """
    known = [one for one in messages if isinstance(one, Mapping)]
    words = (f"{one.get('type')}: {text_of(one.get('content')) or NOT_READABLE}" for one in known)
    entry = control_entry("participant/compact-done", AGENT, "\n\n".join(words), {"messages": len(known)})
    entry.meaning.history = History(None, tuple(str(one.get("id")) for one in known))
    entry.meaning.content = bytes_of(entry.payload)
    return entry


def _rewound(identifier: str) -> Entry:
    """Returns the row of a rewind: a message and all after it have left the context."""
    entry = control_entry(
        "participant/forget", PROGRAM, "the user went back to an earlier message", {"from": identifier}
    )
    entry.meaning.to = (AGENT,)
    return entry


def _control(value: Mapping[str, Any], name: str) -> Entry:
    known = {key: one for key, one in value.items() if isinstance(one, str | int | float | bool) or key == "$set"}
    entry = control_entry(NAMESPACE + name, PROGRAM, describe_record(name, known), known)
    entry.meaning.time_ns = _time(value.get("startTime", value.get("timestamp")))
    return entry


def _time(value: object) -> int:
    return parse_text_time(value) if isinstance(value, str) else NO_TIME


def _said(message: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the rows of a message, in an order that is stable when it is rewritten with more."""
    time_ns, sort = _time(message.get("timestamp")), message.get("type")
    identifier = message.get("id") if isinstance(message.get("id"), str) else None
    entries = list(_parts(message, str(sort)))
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        set_matched_text(entry)
        if meaning.time_ns == NO_TIME:
            meaning.time_ns = time_ns
        if meaning.identifier is None and identifier is not None:
            meaning.identifier = f"{identifier}#{place}" if place else identifier
        meaning.size = len(meaning.content or b"") or 1
        if meaning.identifier is not None and meaning.content:  # repeated anywhere, also in one document
            # The program rewrites a message with more content, so the mark includes the text.
            head = f"gemini\0{meaning.identifier}\0{meaning.kind}\0"
            meaning.identity = head.encode("utf-8", "surrogatepass") + bytes(meaning.content)
    if sort in ("user", "gemini") and identifier is not None:
        entries[0].meaning.history = History(identifier)
    if sort == "gemini":
        # The first row: later rows appear only when the message is rewritten.
        entries[0].meaning.call = _api_call(message, identifier)
    yield from entries


def asked_in(content: object) -> str:
    """Returns a person's typed text; "" for results, and for texts of the program."""
    if isinstance(content, list):
        content = [one for one in content if not (isinstance(one, Mapping) and "functionResponse" in one)]
    text = text_of(content)
    return "" if text.startswith(_ADDED) else text


def _parts(message: Mapping[str, Any], sort: str) -> Iterator[Entry]:
    content = message.get("displayContent") or message.get("content")
    # Results of tools come back in a user message.
    if sort == "user" and isinstance(content, list):
        answers = [one for one in content if isinstance(one, Mapping) and "functionResponse" in one]
        content = [one for one in content if one not in answers]
        yield from map(_told_back, answers)
        if answers and not content:
            return
    text = text_of(content)
    if sort not in ("user", "gemini"):
        yield _with_bytes(_note(sort, text))
        return
    asks = PROGRAM if text.startswith(_ADDED) else USER
    sender, to = (asks, AGENT) if sort == "user" else (AGENT, USER)
    thoughts, made = (
        [one for one in given if isinstance(one, Mapping)] if isinstance(given := message.get(key), list) else []
        for key in ("thoughts", "toolCalls")
    )
    for thought in thoughts:
        words = [one for key in ("subject", "description") if isinstance(one := thought.get(key), str) and one]
        entry = text_entry(THOUGHT, AGENT, USER, ": ".join(words) or NOT_READABLE)
        entry.meaning.time_ns = _time(thought.get("timestamp"))
        yield _with_bytes(entry)
    if text or not (thoughts or made):
        yield _with_bytes(text_entry(CHAT, sender, to, text))
    for one in made:
        call = call_entry(api_call_id(one), one.get("name"), one.get("args"), AGENT)
        call.meaning.spawn = _spawned(one)
        yield _with_bytes(call)
    # Results after all calls, in the order in which a model sees them.
    for one in made:
        status = one.get("status")
        if one.get("result") is not None or status in _FAILED:
            yield _answer(one, failed=status in _FAILED)


def _spawned(made: Mapping[str, Any], *, failed: bool | None = None) -> Spawn | None:
    """Returns the sub-agent of a call, or its outcome, if it starts one."""
    called, agent = api_call_id(made), made.get("agentId")
    if called is None or not isinstance(agent, str):
        return None
    if failed is not None:
        return Spawn(agent=agent, has_ended=True, has_failed=failed)
    label, name = (one if isinstance(one := made.get(key), str) else None for key in ("description", "name"))
    return Spawn(call=called, agent=agent, label=label, type=name)


def _note(sort: str, text: str) -> Entry:
    entry = control_entry("system/error" if sort == "error" else NAMESPACE + sort, PROGRAM, text, {})
    entry.meaning.failed = sort == "error"
    return entry


def _told_back(part: Mapping[str, Any]) -> Entry:
    """Returns a result as sent to the model: a copy of the one in its call."""
    answer = part["functionResponse"]
    answer = answer if isinstance(answer, Mapping) else {}
    response = answer.get("response")
    failed = isinstance(response, Mapping) and "error" in response and "output" not in response
    return _result(api_call_id(answer), [_response(part)], answer.get("name"), failed=failed)


def _result(called: str | None, said: list[object], name: object, *, failed: bool) -> Entry:
    words = [one for one in said if isinstance(one, str)]
    failed = failed or (name in _SHELLS and any(map(has_failed, words)))
    entry = result_entry(called, said, AGENT, name=name, failed=failed)
    entry.meaning.identifier = f"{called}/result" if called is not None else None
    return _with_bytes(entry)


_SHELLS = ("run_shell_command", "ShellTool")


def _answer(made: Mapping[str, Any], *, failed: bool) -> Entry:
    """Returns the result within a call."""
    given = made.get("result")
    parts = given if isinstance(given, list) else [given]
    said = [_response(part) for part in parts if part is not None] or [
        str(made.get("resultDisplay") or made.get("status"))
    ]
    entry = _result(api_call_id(made), said, made.get("name"), failed=failed)
    if made.get("status") == _CANCELLED:
        # Declined by the user is not failed.
        entry.meaning.declined, entry.meaning.failed = True, False
    entry.meaning.spawn = _spawned(made, failed=failed)
    entry.meaning.time_ns = _time(made.get("timestamp"))
    return entry


def _response(part: object) -> object:
    answer = part.get("functionResponse") if isinstance(part, Mapping) else None
    return response_of(answer) if isinstance(answer, Mapping) else part


def _with_bytes(entry: Entry) -> Entry:
    entry.meaning.content = bytes_of(entry.payload)
    return entry


def _api_call(message: Mapping[str, Any], identifier: str | None) -> ApiCall:
    """Returns a message's model call: cached tokens are part of the input, thoughts and tools' tokens are separate."""
    model, tokens = message.get("model"), message.get("tokens")
    model = model if isinstance(model, str) else None
    if not isinstance(tokens, Mapping):
        return ApiCall(identifier or "", model)
    read = token_count(tokens, "cached")
    return ApiCall(
        identifier or "", model, has_usage=True,
        input=max(token_count(tokens, "input") - read, 0) + token_count(tokens, "tool"),
        output=token_count(tokens, "output") + token_count(tokens, "thoughts"), cache_read=read,
    )  # fmt: skip


def _session(value: Mapping[str, Any]) -> object:
    return value.get("sessionId")


READER = JsonTranscript(name=LABEL, marks=_MARKS, is_known=_is_known, events_of=_entries, session_of=_session)

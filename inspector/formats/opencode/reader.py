"""Format: sessions of OpenCode, an export, or a message a line with its parts (docs/transcripts.md, OpenCode).

OpenCode keeps sessions in a database, earlier in a folder of small files: `conversion` converts both to lines in its
export form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    NOT_READABLE,
    THOUGHT,
    Entry,
    bytes_of,
    call_entry,
    control_entry,
    media_words,
    result_entry,
    text_entry,
    token_count,
)
from inspector.formats.json_transcript import JsonTranscript
from inspector.protocol.derived_messages import ApiCall, Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "opencode"

USER, AGENT, PROGRAM = "user", "opencode", "opencode-cli"
NAMESPACE = "opencode/"
UNDONE_KEY = "undone_from"
"""Key of a rewind in a line: this message or part, and all after it, are undone."""
ROOT_KEY = "root"
"""Key of the root session in a line of another session."""
_OF_SESSIONS = ("projectID", "directory", "slug", "version", "title")
_NO_CALL = "invalid"
"""Tool name of an invalid call: it is completed, and has failed all the same."""


def _is_known(value: Mapping[str, Any], unknown: bool) -> bool:
    del unknown  # parts of newer types are identified by their message
    info = value.get("info")
    if not isinstance(info, Mapping) or not isinstance(info.get("id"), str):
        return False
    if isinstance(value.get("parts"), list):
        return info.get("role") in ("user", "assistant") and isinstance(info.get("sessionID"), str)
    return isinstance(value.get("messages"), list) and any(key in info for key in _OF_SESSIONS)


def _entries(value: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a line or an export, at least one."""
    info = value.get("info")
    info = info if isinstance(info, Mapping) else {}
    if "parts" in value:
        # A session below the root is a sub-agent.
        return _message(
            value, str(info.get("sessionID")) if value.get(ROOT_KEY) not in (None, info.get("sessionID")) else None
        )
    if isinstance(value.get(UNDONE_KEY), str):
        return [_undone(info, value[UNDONE_KEY])]
    found = [_session(info)]
    messages = value.get("messages")
    messages = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []
    told = [one for one in messages if isinstance(one.get("info"), Mapping)]
    for one in told:
        found += _message(one, None)
    if (first := first_undone_part(info, {one["info"].get("id"): one.get("parts") for one in told})) is not None:
        found.append(_undone(info, first))
    return found


def first_undone_part(info: Mapping[str, Any], parts: Mapping[Any, Any]) -> str | None:
    """Returns the first part that the user has undone, with all after it.

    Args:
        info: of the session.
        parts: by message.
    """
    revert = info.get("revert")
    message = revert.get("messageID") if isinstance(revert, Mapping) else None
    if not isinstance(revert, Mapping) or not isinstance(message, str) or message not in parts:
        return None
    of_message = parts[message]
    listed = [one for one in of_message if isinstance(one, Mapping)] if isinstance(of_message, list) else []
    named = [revert.get("partID"), *(one.get("id") for one in listed), revert["messageID"]]
    return next((one for one in named if isinstance(one, str)), None)


def _undone(info: Mapping[str, Any], first: str) -> Entry:
    """Returns the row of a rewind; the undone part can be restored until the next prompt."""
    entry = control_entry("participant/forget", PROGRAM, "the user went back to an earlier message", {"from": first})
    entry.meaning.to, entry.meaning.time_ns = (AGENT,), _time(info, "updated")
    return _with_content(entry)


def _session(info: Mapping[str, Any]) -> Entry:
    known = {key: one for key, one in info.items() if isinstance(one, str | int | float | bool)}
    title = info.get("title")
    entry = control_entry(NAMESPACE + "session", PROGRAM, title if isinstance(title, str) else "session", known)
    entry.meaning.time_ns = _time(info, "created")
    if isinstance(revert := info.get("revert"), Mapping):
        entry.payload["reverted_to"] = revert.get("messageID")
    return _with_content(entry)


# Messages


def _message(value: Mapping[str, Any], context: str | None) -> list[Entry]:
    """Returns the derived rows of a message.

    Args:
        value: the message with its parts.
        context: the session, if another one started it.
    """
    info, parts = value["info"], value.get("parts")
    began = _time(info, "created")
    mine = f"agent#{context}" if context is not None else AGENT
    above = AGENT if context is not None else USER
    entries: list[Entry] = []
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            entries += _part(part, info, mine, above)
    if isinstance(error := info.get("error"), Mapping):
        entries.append(_stopped() if error.get("name") == _ABORTED else _failure(error))
    if not entries:
        entries = [control_entry(NAMESPACE + "message", PROGRAM, f"a message of {info.get('role')} without parts", {})]
    for place, entry in enumerate(entries):
        meaning = entry.meaning
        meaning.time_ns = began if meaning.time_ns == NO_TIME else meaning.time_ns
        meaning.context = context
        if meaning.identifier is None and isinstance(info.get("id"), str):
            meaning.identifier = f"{info['id']}#{place}" if place else info["id"]
        _with_content(entry)
    if info.get("role") == "assistant":
        call = _api_call(info, parts if isinstance(parts, list) else [])
        # Rows of the agent name the model; only the last one reports the tokens.
        for entry in entries:
            if entry.meaning.sender == mine:
                entry.meaning.call = ApiCall(call.identifier, call.model)
        entries[-1].meaning.call = call
        cost = info.get("cost")
        if isinstance(cost, int | float) and not isinstance(cost, bool) and cost > 0:
            entries[-1].meaning.cost = float(cost)
    return entries


def _part(part: Mapping[str, Any], info: Mapping[str, Any], mine: str, above: str) -> Iterator[Entry]:
    sort, text = part.get("type"), part.get("text")
    is_mine = info.get("role") == "assistant"
    sender, to = (mine, above) if is_mine else (above, mine)
    if sort == "text" and isinstance(text, str):
        yield _said(part, info, text, (PROGRAM, mine) if part.get("synthetic") is True else (sender, to))
    elif sort == "reasoning":
        yield _with_id_and_time(
            text_entry(THOUGHT, mine, above, text if isinstance(text, str) and text else NOT_READABLE), part
        )
    elif sort == "tool":
        yield from _tool(part, mine)
    elif sort == "file":
        url = part.get("url")
        name = part.get("filename") or part.get("mime") or "file"
        words = media_words(part) if isinstance(url, str) and url.startswith("data:") else f"file, {name}, {url}"
        yield _with_id_and_time(text_entry(CHAT, sender, to, words), part)
    elif sort == "compaction":
        # Compaction is a part of a message in this program.
        how = "automatically" if part.get("auto") is True else "by the user"
        yield _with_id_and_time(
            control_entry("participant/compact", mine, f"to be compacted, {how}", _plain(part)), part
        )
    elif sort == "retry":
        error = part.get("error")
        yield _with_id_and_time(_failure(error if isinstance(error, Mapping) else {}, part.get("attempt")), part)
    else:
        words = next(
            (one for key in ("reason", "description", "name", "hash") if isinstance(one := part.get(key), str)), ""
        )
        row = control_entry(NAMESPACE + str(sort), PROGRAM, f"{sort} {words}".strip(), _plain(part))
        yield _with_id_and_time(row, part)


def _said(part: Mapping[str, Any], info: Mapping[str, Any], text: str, ends: tuple[str, str]) -> Entry:
    """Returns a text; also a compaction's summary, or a text hidden from the model."""
    if part.get("ignored") is True:
        return _with_id_and_time(control_entry(NAMESPACE + "ignored", PROGRAM, text, {}), part)
    if info.get("summary") is True:
        return _with_id_and_time(control_entry("participant/compact-done", ends[0], text, {}), part)
    return _with_id_and_time(text_entry(CHAT, *ends, text), part)


def _tool(part: Mapping[str, Any], mine: str) -> Iterator[Entry]:
    """Yields a call and its result, which share one part with two times."""
    state = part.get("state")
    state = state if isinstance(state, Mapping) else {}
    name, called = part.get("tool"), part.get("callID") or part.get("id")
    told = state.get("metadata")
    told = told if isinstance(told, Mapping) else {}
    given = state.get("input")
    request = call_entry(called, name, given if given is not None else {}, mine)
    request.meaning.time_ns = _time(state, "start")
    agent = told.get("sessionId")
    if isinstance(agent, str) and isinstance(called, str):
        asked = given if isinstance(given, Mapping) else {}
        labels = (one if isinstance(one := asked.get(key), str) else None for key in ("description", "subagent_type"))
        label, sort = labels
        request.meaning.spawn = Spawn(call=called, agent=agent, label=label, type=sort)
    yield request
    status = state.get("status")
    if status not in ("completed", "error"):
        return
    exit_code = told.get("exit")
    # A command may fail although the tool itself has worked.
    failed = status == "error" or name == _NO_CALL or (isinstance(exit_code, int) and exit_code != 0)
    output = state.get("error") if status == "error" else state.get("output")
    blocks: list[Any] = [output if isinstance(output, str) else bytes_of({"output": output}).decode("utf-8", "replace")]
    attachments = state.get("attachments")
    blocks += [one for one in attachments if isinstance(one, Mapping)] if isinstance(attachments, list) else []
    result = result_entry(called, blocks, mine, name=name, failed=failed)
    result.meaning.identifier = f"{called}/result" if isinstance(called, str) else None
    result.meaning.time_ns = _time(state, "end")
    if isinstance(agent, str):
        result.meaning.spawn = Spawn(agent=agent, has_ended=True, has_failed=failed)
    yield result
    # The result was removed from the context at a later time than its end.
    times = state.get("time")
    if isinstance(times, Mapping) and times.get("compacted") is not None:
        forgotten = control_entry(
            "participant/forget", PROGRAM, f"the result of {name} left the context", {"message_ids": [called]}
        )
        forgotten.meaning.to = (mine,)
        forgotten.meaning.time_ns = _time(state, "compacted")
        yield forgotten


_ABORTED = "MessageAbortedError"


def _stopped() -> Entry:
    """Returns the row of a stop by the user: no failure."""
    return control_entry(NAMESPACE + "aborted", PROGRAM, "stopped by the user", {})


def _failure(error: Mapping[str, Any], attempt: object = None) -> Entry:
    data = error.get("data")
    said = data.get("message") if isinstance(data, Mapping) else error.get("message")
    words = ": ".join(str(one) for one in (error.get("name"), said) if one)
    more = {"attempt": attempt} if attempt is not None else {}
    entry = control_entry("system/error", PROGRAM, words or "error", more)
    entry.meaning.failed = True
    return entry


def _api_call(info: Mapping[str, Any], parts: list[Any]) -> ApiCall:
    """Returns the model call: the message's report, else the sum of its steps."""
    identifier, model = info.get("id"), info.get("modelID")
    tokens = info.get("tokens")
    steps = [one["tokens"] for one in parts if isinstance(one, Mapping) and isinstance(one.get("tokens"), Mapping)]
    # The report covers all steps, so both are never added.
    given = [tokens] if isinstance(tokens, Mapping) else steps
    call = ApiCall(
        identifier if isinstance(identifier, str) else "", model if isinstance(model, str) else None, bool(given)
    )
    for one in given:
        cache = one.get("cache")
        cache = cache if isinstance(cache, Mapping) else {}
        call.input += token_count(one, "input")
        call.output += token_count(one, "output") + token_count(one, "reasoning")
        call.cache_read += token_count(cache, "read")
        call.cache_write += token_count(cache, "write")
    call.stop = finish if isinstance(finish := info.get("finish"), str) and finish else None
    return call


def _with_id_and_time(entry: Entry, part: Mapping[str, Any]) -> Entry:
    """Sets a part's id and time."""
    entry.meaning.time_ns = _time(part, "start")
    if isinstance(part.get("id"), str):
        entry.meaning.identifier = part["id"]
    return entry


def _with_content(entry: Entry) -> Entry:
    entry.meaning.content = bytes_of(entry.payload)
    entry.meaning.size = len(entry.meaning.content)
    return entry


def _plain(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in part.items() if key not in ("id", "sessionID", "messageID", "text", "type")}


def _time(holder: Mapping[str, Any], name: str) -> int:
    times = holder.get("time")
    value = times.get(name) if isinstance(times, Mapping) else None
    return parse_time(value) if isinstance(value, int | float) and not isinstance(value, bool) else NO_TIME


def _space(value: Mapping[str, Any]) -> object:
    info = value["info"]
    return value.get(ROOT_KEY) or (info.get("sessionID") if "parts" in value else info.get("id"))


READER = JsonTranscript(
    name=LABEL, marks=((b'"info"', b'"parts"'), (b'"info"', b'"messages"')), is_known=_is_known, events_of=_entries,
    session_of=_space,
)  # fmt: skip

"""Format: chat sessions of VS Code, a request with its answer a line (docs/transcripts.md, VS Code chat).

VS Code keeps a session as one document, or as a log of its changes: `conversion` converts both to lines. An answer
is a list of pieces: consecutive texts and references become one text here, up to the next call or thought.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from inspector.formats.entry_builders import (
    CHAT,
    NOT_READABLE,
    THOUGHT,
    Entry,
    bytes_of,
    call_entry,
    control_entry,
    result_entry,
    text_entry,
    token_count,
)
from inspector.formats.json_transcript import converted_transcript
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.derived_messages import ApiCall, Spawn
from inspector.protocol.timestamps import NO_TIME, parse_time

LABEL = "vscode-chat"

SESSION_KEY = "vscodeChat"
"""Key of the session's id in a line."""
USER, AGENT, PROGRAM = "user", "copilot", "vscode"
NAMESPACE = "vscode/"
_CALL = "toolInvocationSerialized"
_OF_AGENT = "subAgentInvocationId"
"""Key of a sub-agent's call: the id of the call that started the sub-agent."""
_SILENT = ("undoStop", "codeblockUri", "prepareToolInvocation")
"""Pieces without content: marks between others."""
_FENCE = "```"
"""Code fence, alone before and after an edit that is displayed inside it."""
_DEEPEST = 40
_ID_SUFFIX = "__vscode-"
_PREFIX = "copilot_"
_MODEL_NAMES = {
    "findFiles": "file_search", "findTextInFiles": "grep_search", "searchCodebase": "semantic_search",
    "listDirectory": "list_dir", "fetchWebPage": "fetch_webpage", "replaceString": "replace_string_in_file",
    "multiReplaceString": "multi_replace_string_in_file", "insertEdit": "insert_edit_into_file",
    "editNotebook": "edit_notebook_file", "getVSCodeAPI": "get_vscode_api",
}  # fmt: skip
"""Names that a model has for Copilot's tools; all others are the tool's id in snake case."""
_CAPITAL = re.compile(r"(?<=[a-z])[A-Z]")
_INVALID = "ERROR: Your input to the tool was invalid"
_FAILURES = (_INVALID, "ERROR while calling tool:")
"""Starts of the results that Copilot gives to a model for calls that failed."""
_ANY_MODEL = "copilot/auto"
"""Model that VS Code chooses for each request."""
_CANCELED = 2
"""State of a stopped request, in place of `isCanceled` since version 1.107 of VS Code."""


def is_later_change(value: Mapping[str, Any]) -> bool:
    """Returns True for a line of a log of changes after its first line."""
    kind = value.get("kind")
    return (
        isinstance(kind, int) and kind > 0 and ("v" in value or "k" in value) and set(value) <= {"kind", "k", "v", "i"}
    )


def _entries(value: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a line, at least one."""
    session = value.get("session")
    if isinstance(session, Mapping):
        known = {key: one for key, one in session.items() if isinstance(one, str | int | float | bool)}
        title = session.get("customTitle")
        found = [
            control_entry(NAMESPACE + "session", PROGRAM, title if isinstance(title, str) else "chat session", known)
        ]
        found[0].meaning.time_ns = _time(session.get("creationDate"))
    else:
        found = _request(mapping_or_empty(value.get("request")))
    for entry in found:
        entry.meaning.content = bytes_of(entry.payload)
        entry.meaning.size = len(entry.meaning.content)
    return found


def _request(request: Mapping[str, Any]) -> list[Entry]:
    """Returns the rows of a request and its answer."""
    result = mapping_or_empty(request.get("result"))
    metadata, timings = mapping_or_empty(result.get("metadata")), mapping_or_empty(result.get("timings"))
    asked = _time(request.get("timestamp"))
    entries = [_asked(request, metadata), *_answered(request, metadata)]
    error = mapping_or_empty(result.get("errorDetails"))
    canceled = (
        request.get("isCanceled") is True or mapping_or_empty(request.get("modelState")).get("value") == _CANCELED
    )
    if error and not canceled:
        entries.append(control_entry("system/error", PROGRAM, str(error.get("message") or "error"), {}))
        entries[-1].meaning.failed = True
    if canceled:
        entries.append(control_entry(NAMESPACE + "canceled", USER, "stopped by the user", {}))
    name = request.get("requestId")
    # Rows are counted, since a line has one id.
    for place, entry in enumerate(entries):
        entry.meaning.time_ns = asked
        if entry.meaning.identifier is None and isinstance(name, str):
            entry.meaning.identifier = f"{name}#{place}" if place else name
    own = [entry for entry in entries if entry.meaning.sender == AGENT]
    # The answer's time: the request's, and the measured duration.
    took = _duration_ns(timings.get("totalElapsed"))
    if own and asked != NO_TIME and took is not None:
        own[-1].meaning.time_ns = asked + took
    call = _api_call(request, result, metadata)
    for entry in own:
        entry.meaning.call = ApiCall(call.identifier, call.model)
    if own:
        own[-1].meaning.call = call
    return entries


_LONGEST_MS = 1e9


def _asked(request: Mapping[str, Any], metadata: Mapping[str, Any]) -> Entry:
    message = mapping_or_empty(request.get("message"))
    asker = PROGRAM if request.get("isSystemInitiated") is True else USER
    entry = text_entry(CHAT, asker, AGENT, text if isinstance(text := message.get("text"), str) else "")
    sent = [one["text"] for one in mappings_in(metadata.get("renderedUserMessage")) if isinstance(one.get("text"), str)]
    if sent:
        entry.payload["sent"] = "\n".join(sent)
    names = [one.get("name") for one in mappings_in(mapping_or_empty(request.get("variableData")).get("variables"))]
    if attached := [name for name in names if isinstance(name, str)]:
        entry.payload["attached"] = attached
    return entry


def _answered(request: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the pieces of an answer: runs of text, thoughts, calls."""
    pieces = mappings_in(request.get("response"))
    calls = _calls(pieces, metadata)
    text: list[str] = []
    # A closing piece without content flushes the last text.
    for piece in (*pieces, {"kind": None, "value": None}):
        kind, value = piece.get("kind"), piece.get("value")
        if kind is None and isinstance(value, str):
            text += [value] if value.strip() != _FENCE else []
            continue
        if kind == "inlineReference":
            text.append(f"`{_reference(piece.get('inlineReference'))}`")
            continue
        if kind in _SILENT:
            continue
        words, text = "".join(text).strip(), []
        if words:
            yield text_entry(CHAT, AGENT, USER, words)
        if kind == "thinking":
            parts = value if isinstance(value, list) else [value]
            said = "\n".join(one for one in parts if isinstance(one, str) and one)
            yield text_entry(THOUGHT, AGENT, USER, said or NOT_READABLE)
        elif kind == _CALL:
            agent = piece.get(_OF_AGENT)
            if isinstance(agent, str):
                yield from _of_agent(_tool(piece, {}, metadata, f"agent#{agent}"), agent)
            else:
                *hidden, made = next(calls, [{}])
                for one in hidden:
                    yield from _tool({"isComplete": True}, one, metadata, AGENT)
                yield from _started(_tool(piece, made, metadata, AGENT), piece, pieces)
        elif isinstance(kind, str):
            yield control_entry(NAMESPACE + kind, PROGRAM, _piece_words(kind, piece), {})
    for one in next(calls, []):
        yield from _tool({"isComplete": True}, one, metadata, AGENT)


def _piece_words(kind: str, piece: Mapping[str, Any]) -> str:
    if kind == "textEditGroup":
        groups = piece.get("edits")
        edits = sum(len(one) for one in groups if isinstance(one, list)) if isinstance(groups, list) else 0
        return f"{edits} edit{'s' * (edits != 1)} of {_reference(piece.get('uri'))}"
    for key in ("content", "message", "title"):
        if (words := _markdown(piece.get(key))) is not None:
            return words
    return kind


def _calls(pieces: list[Mapping[str, Any]], metadata: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """Yields the model's call for each displayed one, by id, else by place, else by the order of names; {} if unknown.

    Finished calls that VS Code does not display come before the next displayed one; the last list has only such calls.
    """
    made = [call for one in mappings_in(metadata.get("toolCallRounds")) for call in mappings_in(one.get("toolCalls"))]
    shown = [piece for piece in pieces if piece.get("kind") == _CALL and not isinstance(piece.get(_OF_AGENT), str)]
    places = {name: place for place, call in enumerate(made) if (name := _bare_id(call))}
    found = [places.get(_bare_id(piece)) for piece in shown]
    # Calls with invalid arguments are never displayed.
    rest = [
        place
        for place, call in enumerate(made)
        if place not in found and not (_said(call, metadata) or "").startswith(_INVALID)
    ]
    unknown = [number for number, place in enumerate(found) if place is None]
    pairs = list(zip(unknown, rest, strict=False))
    if len(rest) != len(unknown):
        names = [_model_name(shown[number].get("toolId")) for number in unknown]
        matcher = SequenceMatcher(None, names, [made[place].get("name") for place in rest], autojunk=False)
        blocks = matcher.get_matching_blocks()
        pairs = [(unknown[one + more], rest[two + more]) for one, two, size in blocks for more in range(size)]
    for number, place in pairs:
        found[number] = place
    hidden = [place for place, call in enumerate(made) if place not in found and _said(call, metadata) is not None]
    for place in found:
        before = [one for one in hidden if place is not None and one < place]
        hidden = hidden[len(before) :]
        yield [*(made[one] for one in before), {} if place is None else made[place]]
    yield [made[one] for one in hidden]


def _model_name(tool: object) -> object:
    """Returns the name that a model has for a tool of Copilot; other ids unchanged."""
    if not isinstance(tool, str) or not tool.startswith(_PREFIX):
        return tool
    name = tool.removeprefix(_PREFIX)
    return _MODEL_NAMES.get(name) or _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def _said(call: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    """Returns the result that the model received for its call; None without one."""
    called = call.get("id")
    told = mapping_or_empty(metadata.get("toolCallResults")).get(called) if isinstance(called, str) else None
    if not isinstance(told, Mapping):
        return None
    return "".join(_texts_in_tree(one.get("value")) for one in mappings_in(told.get("content")))


def _bare_id(call: Mapping[str, Any]) -> str:
    """Returns the id of a call without the suffix that VS Code adds; "" without an id."""
    identifier = call.get("toolCallId", call.get("id"))
    return identifier.partition(_ID_SUFFIX)[0] if isinstance(identifier, str) else ""


def _of_agent(entries: Iterator[Entry], agent: str) -> Iterator[Entry]:
    """Moves a sub-agent's rows into its context."""
    for entry in entries:
        entry.meaning.context = agent
        yield entry


def _started(
    entries: Iterator[Entry], piece: Mapping[str, Any], pieces: list[Mapping[str, Any]]
) -> Iterator[Entry]:  # fmt: skip
    """Yields a call and its result, with the sub-agent that it started, if any."""
    data = mapping_or_empty(piece.get("toolSpecificData"))
    if data.get("kind") != "subagent" and piece.get("toolId") != "runSubagent":
        yield from entries
        return
    # A sub-agent's pieces name the call that started it, in one of two members.
    agents = {one.get(_OF_AGENT) for one in pieces}
    request, *results = entries
    called = request.meaning.identifier
    agent = next((one for one in (piece.get("toolCallId"), called) if one in agents), piece.get("toolCallId"))
    if isinstance(agent, str):
        label, sort, prompt = (
            one if isinstance(one := data.get(key), str) else None for key in ("description", "agentName", "prompt")
        )
        request.meaning.spawn = Spawn(called, agent, label=label, type=sort, prompt=prompt)
        for result in results:
            result.meaning.spawn = Spawn(agent=agent, has_ended=True, has_failed=result.meaning.failed)
    yield from (request, *results)


def _tool(
    piece: Mapping[str, Any], made: Mapping[str, Any], metadata: Mapping[str, Any], caller: str
) -> Iterator[Entry]:
    """Yields a call, with the model's arguments if recorded; and its result."""
    called = made.get("id") or piece.get("toolCallId")
    name = made.get("name") or _model_name(piece.get("toolId"))
    words = _markdown(piece.get("invocationMessage"))
    given = made.get("arguments")
    data = mapping_or_empty(piece.get("toolSpecificData"))
    # Without the arguments of the model, the words shown to the user have to do.
    if given is None:
        given = {key: one for key, one in data.items() if key != "kind"} or ({"message": words} if words else {})
    yield call_entry(called, name, given, caller)
    if piece.get("isComplete") is not True:
        return
    told = _said({"id": called}, metadata)
    said = told or _markdown(piece.get("pastTenseMessage")) or words or "done"
    exit_code = mapping_or_empty(data.get("terminalCommandState")).get("exitCode")
    details = mapping_or_empty(piece.get("resultDetails"))
    failed = details.get("isError") is True or (isinstance(exit_code, int) and exit_code != 0)
    failed = failed or said.startswith(_FAILURES)
    result = result_entry(called, said, caller, name=name, failed=failed)
    result.meaning.identifier = f"{called}/result" if isinstance(called, str) else None
    yield result


def _texts_in_tree(value: object) -> str:
    """Returns the texts in a tree of elements, in order; a plain text unchanged."""
    found: list[str] = []
    # A list instead of recursion, since a tree may be nested deeply.
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, Mapping) and depth < _DEEPEST:
            inner = one.get("text") if isinstance(one.get("text"), str) else one.get("node", one.get("children"))
            waiting.append((inner, depth + 1))
        elif isinstance(one, list) and depth < _DEEPEST:
            waiting += [(item, depth + 1) for item in reversed(one)]
    return "".join(found)


def _api_call(request: Mapping[str, Any], result: Mapping[str, Any], metadata: Mapping[str, Any]) -> ApiCall:
    """Returns the model calls of a request as one: reported tokens, without caches."""
    identifier, model = request.get("responseId") or request.get("requestId"), request.get("modelId")
    if model == _ANY_MODEL:
        model = metadata.get("resolvedModel") or result.get("resolvedModel") or model
    holders = [one for holder in (result, metadata) if (one := mapping_or_empty(holder.get("usage")))]
    usage = next((one for one in (*holders, request, metadata) if "promptTokens" in one or one in holders), {})
    call = ApiCall(
        identifier if isinstance(identifier, str) else "", model if isinstance(model, str) else None, bool(usage),
        input=token_count(usage, "promptTokens", "prompt_tokens"),
        output=token_count(usage, "completionTokens", "completion_tokens", "outputTokens"),
    )  # fmt: skip
    first = _duration_ns(mapping_or_empty(result.get("timings")).get("firstProgress"))
    call.first_token_ns = first if first is not None else -1
    return call


# Values of any type


def _reference(value: object) -> str:
    held = mapping_or_empty(value)
    held = mapping_or_empty(held.get("location")) or held
    held = mapping_or_empty(held.get("uri")) or held
    path = next((one for key in ("fsPath", "path", "name") if isinstance(one := held.get(key), str)), "")
    return path.replace("\\", "/").rpartition("/")[2] or path or "a reference"


def _markdown(value: object) -> str | None:
    text = value if isinstance(value, str) else mapping_or_empty(value).get("value")
    return text if isinstance(text, str) and text else None


def _time(value: object) -> int:
    return parse_time(value) if isinstance(value, int | float) else NO_TIME


def _duration_ns(value: object) -> int | None:
    """Returns milliseconds as nanoseconds; None for an implausible duration."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _LONGEST_MS:
        return None
    return round(value * 1_000_000)


READER = converted_transcript(LABEL, SESSION_KEY, ("request", "session"), _entries)

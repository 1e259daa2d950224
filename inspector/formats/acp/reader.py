"""Format: the Agent Client Protocol, versions 1 and 2: JSON-RPC between an editor and an agent (docs/protocols.md 18).

Both sides send requests, and both number from 0; the method identifies the sender. An agent reports its actions in
`session/update`, one row per update. `reading.reassembly.agent_protocol_lines` joins streamed texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.formats import agent_rpc
from inspector.formats.agent_rpc import (
    AGENT,
    CLIENT,
    answer_entry,
    control_row,
    request_entry,
    text_or_none,
)
from inspector.formats.entry_builders import (
    CHAT,
    THOUGHT,
    Entry,
    bytes_of,
    call_entry,
    decoded_object,
    has_text,
    media_words,
    result_entry,
    text_entry,
    text_of,
)
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in
from inspector.protocol import kinds
from inspector.protocol.header import Header

LABEL = "acp"
NAMESPACE = "acp/"
CANCEL_KIND = NAMESPACE + "cancel"
"""Kind of a message that stops the agent of a session, which goes on."""

CLIENT_METHODS = frozenset(
    ("initialize", "authenticate", "auth/login", "auth/logout", "logout", "session/new", "session/load",
     "session/resume", "session/list", "session/fork", "session/close", "session/delete", "session/prompt",
     "session/set_mode", "session/set_model", "session/set_config_option", "session/cancel")
)  # fmt: skip
"""Methods of the editor."""
AGENT_METHODS = frozenset(
    ("session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file", "terminal/create",
     "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release", "elicitation/create",
     "elicitation/complete", "mcp/connect", "mcp/message", "mcp/disconnect")
)  # fmt: skip
"""Methods of the agent."""
NUMBERED_VERSIONS = (
    b'"clientCapabilities"', b'"protocolVersion":1', b'"protocolVersion": 1', b'"protocolVersion":2',
    b'"protocolVersion": 2',
)  # fmt: skip
"""Bytes of an `initialize` of this protocol alone: MCP has a date there."""
_OWN = frozenset(
    name for name in CLIENT_METHODS | AGENT_METHODS if name.startswith(("session/", "fs/", "terminal/", "auth/"))
)
"""Methods of no other protocol."""
PERMISSION, ELICITATION, PROMPT, UPDATE = (
    "session/request_permission", "elicitation/create", "session/prompt", "session/update",
)  # fmt: skip
REPLAYING = ("session/load", "session/resume")
_DONE = ("completed", "failed", "cancelled", "canceled")
_FAILED = ("failed", "cancelled", "canceled")
CHUNKS = {
    "agent_message_chunk": CHAT, "agent_thought_chunk": THOUGHT, "user_message_chunk": CHAT,
}  # fmt: skip
"""Updates with a piece of a text, and the kind of the text."""
_NAMED_BY = ("currentModeId", "title", "message", "status", "terminalId")
"""Members that describe an update of any other type, best first."""
_WHOLE = {"agent_message": CHAT, "agent_thought": THOUGHT, "user_message": CHAT}


def is_own(header: Header) -> bool:
    """Returns True if a message alone identifies this protocol."""
    method = header.method
    if not isinstance(method, str):
        return False
    if method == "initialize":  # MCP has a date there
        version = mapping_or_empty(decoded_object(bytes(header.params))).get("protocolVersion")
        return isinstance(version, int) and not isinstance(version, bool)
    return method in _OWN


def sender_of_method(method: str) -> str:
    return AGENT if method in AGENT_METHODS else CLIENT


def derive_entries(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a message, at least one."""
    params = mapping_or_empty(message.get("params"))
    method = text_or_none(message.get("method"))
    if method is None:
        found = _answer_entries(message, known)
    elif method == UPDATE:
        found = _update_entries(params, known)
    else:
        found = _request_entries(message, method, params, known)
    session = text_or_none(params.get("sessionId")) or text_or_none(known.get("session"))
    for entry in found:
        entry.meaning.context = session
    return found


# Requests


def _request_entries(
    message: Mapping[str, Any], method: str, params: Mapping[str, Any], known: Mapping[str, Any]
) -> list[Entry]:
    # Lines without a known direction are attributed by their method.
    sender = text_or_none(known.get("side")) or sender_of_method(method)
    if method in (PERMISSION, ELICITATION):
        return [_decision(message, method, params, known)]
    # Without an id it is a notification, so no answer follows.
    if "id" not in message:
        words = "the turn is to end" if method == "session/cancel" else describe_record(method, params)
        if method == "$/cancel_request":
            method, words = "cancel_request", f"request {params.get('requestId')} is cancelled"
        return [control_row(NAMESPACE + method.removeprefix("session/"), sender, words, params=dict(params))]
    row = request_entry(message, sender, words=_request_words(method, params))
    if method.startswith(("fs/", "terminal/")):
        row.meaning.target = (
            text_or_none(params.get("path"))
            or text_or_none(params.get("command"))
            or text_or_none(params.get("terminalId"))
        )
    said = [_spoken(block, CHAT, CLIENT) for block in mappings_in(params.get("prompt"))] if method == PROMPT else []
    _mark(said, params, {}, new=True)
    return [row, *said]


def _request_words(method: str, params: Mapping[str, Any]) -> str:
    if method == "initialize":
        info = mapping_or_empty(params.get("clientInfo", params.get("info")))
        return f"{info.get('name') or 'a client'} speaks version {params.get('protocolVersion')}"
    if method == PROMPT:
        blocks = len(mappings_in(params.get("prompt")))
        return f"a prompt of {blocks} part{'s' * (blocks != 1)}"
    for key in ("path", "command", "cwd", "modeId", "modelId", "methodId", "terminalId", "sessionId"):
        if (value := text_or_none(params.get(key))) is not None:
            return value
    return method


def _decision(
    message: Mapping[str, Any], method: str, params: Mapping[str, Any], known: Mapping[str, Any]
) -> Entry:  # fmt: skip
    """Returns the row of a decision that the agent requests from the person and waits for."""
    subject = mapping_or_empty(mapping_or_empty(params.get("subject")).get("toolCall")) or mapping_or_empty(
        params.get("toolCall")
    )
    named = (
        text_or_none(params.get("title")) or text_or_none(params.get("message")) or text_or_none(subject.get("title"))
    )
    names = [name for one in mappings_in(params.get("options")) if (name := text_or_none(one.get("name"))) is not None]
    words = named or text_or_none(known.get("title")) or text_or_none(subject.get("toolCallId")) or method
    row = request_entry(message, AGENT, kind=kinds.PROPOSAL, words=f"{words} ({', '.join(names)})" if names else words)
    called = text_or_none(subject.get("toolCallId"))
    # The decision refers to the call that waits for it.
    row.meaning.correlation = _tool_id(params.get("sessionId"), called)
    return row


# Answers


# The method is known from the request, since an answer does not name it.
def _answer_entries(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    method = text_or_none(known.get("method"))
    sender = (
        CLIENT if (method is not None and sender_of_method(method) == AGENT) or known.get("side") == CLIENT else AGENT
    )
    result = message.get("result")
    if method in (PERMISSION, ELICITATION) and "error" not in message:
        return [_decision_entry(message, known, mapping_or_empty(result))]
    if method == PROMPT and text_or_none(mapping_or_empty(result).get("stopReason")):
        stop = str(mapping_or_empty(result)["stopReason"])
        return [answer_entry(message, known, sender, words=stop.replace("_", " "))]
    if method == "initialize" or "protocolVersion" in mapping_or_empty(result):
        info = mapping_or_empty(mapping_or_empty(result).get("agentInfo", mapping_or_empty(result).get("info")))
        words = f"{info.get('name') or 'an agent'} speaks version {mapping_or_empty(result).get('protocolVersion')}"
        return [answer_entry(message, known, sender, words=words)]
    # Each method has its own name for its content.
    content = mapping_or_empty(result).get("content", mapping_or_empty(result).get("output"))
    words = content if isinstance(content, str) else None
    return [answer_entry(message, known, sender, words="done" if result in ({}, None) else words)]


def _decision_entry(message: Mapping[str, Any], known: Mapping[str, Any], result: Mapping[str, Any]) -> Entry:
    """Returns the row of a decision: fulfilled, rejected, or unanswered in a cancelled turn."""
    outcome = mapping_or_empty(result.get("outcome"))
    chosen = text_or_none(outcome.get("optionId")) or text_or_none(result.get("action"))
    how = text_or_none(outcome.get("outcome")) or chosen or "answered"
    option = mapping_or_empty(mapping_or_empty(known.get("options")).get(chosen or ""))
    kind = text_or_none(option.get("kind")) or how
    words = text_or_none(option.get("name")) or how
    entry = answer_entry(message, known, CLIENT, words=words)
    # Names of options are free text, so only their kind decides.
    if kind.startswith(("reject", "decline", "cancel", "deny")):
        entry.meaning.kind = kinds.REJECT
        entry.payload["reason"] = words
    return entry


# Updates


def _update_entries(params: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    update = mapping_or_empty(params.get("update"))
    sort = text_or_none(update.get("sessionUpdate")) or "update"
    made: list[Entry] = []
    if sort in CHUNKS:
        made = [
            _spoken(mapping_or_empty(update.get("content")), CHUNKS[sort], CLIENT if sort.startswith("user") else AGENT)
        ]
        if isinstance(pieces := known.get("pieces"), int):
            made[0].payload["pieces"] = pieces
    elif sort in _WHOLE:
        sender = CLIENT if sort.startswith("user") else AGENT
        made = [_spoken(block, _WHOLE[sort], sender) for block in mappings_in(update.get("content"))]
    elif sort in ("tool_call", "tool_call_update"):
        made = _tool(params, update, known, sort)
    elif sort == "tool_call_content_chunk":
        made = [_output_piece(params, update)]
    elif sort == "state_update":
        stop = text_or_none(update.get("stopReason"))
        words = ", ".join(one.replace("_", " ") for one in (text_or_none(update.get("state")), stop) if one)
        made = [control_row(NAMESPACE + sort, AGENT, f"the turn is {words}" if words else sort, update=dict(update))]
    elif sort in ("plan", "plan_update"):
        made = [text_entry(THOUGHT, AGENT, CLIENT, _plan_words(update))]
    elif sort == "usage_update":
        words = f"{update.get('used')} tokens of {update.get('size')} in use"
        made = [
            control_row(
                "participant/status", AGENT, words, status="usage", used=update.get("used"), size=update.get("size")
            )
        ]
    elif sort == "compaction_update":
        done = update.get("status") in _DONE
        made = [
            control_row(
                f"participant/compact{'-done' * done}", AGENT, text_or_none(update.get("summary")) or "compacted"
            )
        ]
    if not made:
        named = (text_or_none(update.get(key)) for key in _NAMED_BY)
        words = next(filter(None, named), "")
        made = [control_row(NAMESPACE + sort, AGENT, f"{sort.replace('_', ' ')} {words}".strip(), update=dict(update))]
    # A replayed update is history, not news.
    _mark(made, params, update, new=known.get("replay") is not True and sort != "user_message")
    return made


def _mark(made: list[Entry], params: Mapping[str, Any], update: Mapping[str, Any], *, new: bool) -> None:
    """Marks repetitions as copies: a loaded session, a prompt echoed by the agent."""
    for entry in made:
        if entry.meaning.kind in (CHAT, THOUGHT, kinds.REQUEST, kinds.RESPONSE):
            told = (params.get("sessionId"), entry.meaning.kind, entry.meaning.sender, update.get("toolCallId"))
            entry.meaning.identity = repr(told).encode("utf-8", "replace") + bytes_of({**entry.payload, "pieces": None})
            entry.meaning.is_new = new


def _spoken(block: Mapping[str, Any], kind: str, sender: str) -> Entry:
    resource = mapping_or_empty(block.get("resource"))
    words = block["text"] if has_text(block) else resource["text"] if has_text(resource) else None
    if words is None and isinstance(uri := block.get("uri", resource.get("uri")), str):
        words = f"{block.get('type', 'resource')}, {uri}"
    to = CLIENT if sender == AGENT else AGENT
    return text_entry(kind, sender, to, words if words is not None else media_words(block))


def _plan_words(update: Mapping[str, Any]) -> str:
    plan = mapping_or_empty(update.get("plan")) or update
    steps = [f"{one.get('content')} ({one.get('status')})" for one in mappings_in(plan.get("entries"))]
    return f"plan: {'; '.join(steps)}" if steps else f"plan: {text_of(plan.get('content')) or 'empty'}"


def _tool(params: Mapping[str, Any], update: Mapping[str, Any], known: Mapping[str, Any], sort: str) -> list[Entry]:
    """Returns the rows of a reported tool call, or of its result."""
    identifier = _tool_id(params.get("sessionId"), update.get("toolCallId"))
    name = text_or_none(update.get("title")) or text_or_none(update.get("kind")) or text_or_none(known.get("title"))
    status = text_or_none(update.get("status"))
    made: list[Entry] = []
    # A call whose beginning was not recorded appears with its first update.
    if sort == "tool_call" or known.get("first") is True:
        given = update.get("rawInput")
        made.append(call_entry(identifier, name or "tool", given if given is not None else {}, AGENT))
    if status in _DONE:
        content = [_output_text(one) for one in mappings_in(update.get("content"))]
        raw = update.get("rawOutput")
        if not content and raw is not None:
            content = [
                raw if isinstance(raw, str) else bytes_of(raw if isinstance(raw, dict) else {"output": raw}).decode()
            ]
        made.append(result_entry(identifier, content or [status], AGENT, name=name, failed=status in _FAILED))
    if not made:
        words = " ".join(filter(None, (name or text_or_none(update.get("toolCallId")), status or "goes on")))
        row = control_row(NAMESPACE + sort, AGENT, words, update=dict(update))
        row.meaning.correlation = identifier
        made = [row]
    return made


def _output_piece(params: Mapping[str, Any], update: Mapping[str, Any]) -> Entry:
    """Returns the row of a piece of a call's output (version 2)."""
    content = mapping_or_empty(update.get("content"))
    row = control_row(NAMESPACE + "tool_call_content_chunk", AGENT, _output_text(content), update=dict(update))
    row.meaning.correlation = _tool_id(params.get("sessionId"), update.get("toolCallId"))
    return row


def _output_text(block: Mapping[str, Any]) -> str:
    """Returns a tool's output: a text, a diff, or the terminal it runs in."""
    if block.get("type") == "diff":
        return f"difference of {block.get('path')}"
    if block.get("type") == "terminal":
        return f"terminal {block.get('terminalId')}"
    inner = mapping_or_empty(block.get("content")) or block
    return text_of([inner])


def _tool_id(session: object, called: object) -> str | None:
    return f"{session}/{called}" if isinstance(called, str) and called else None


READER = agent_rpc.RpcReader(LABEL, is_own, derive_entries)

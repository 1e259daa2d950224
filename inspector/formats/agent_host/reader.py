"""Reads the Agent Host Protocol: JSON-RPC between an editor and a process that hosts agents.

A host reports what happens in actions; a client sends some of them first, and the host repeats these. A line of a log
has its time in a member `_ahpLog`. `reading.reassembly.agent_protocol_lines` joins streamed texts.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from inspector.formats import agent_rpc
from inspector.formats.agent_rpc import AGENT, CLIENT, answer_entry, control_row, request_entry, text_or_none
from inspector.formats.entry_builders import (
    CHAT,
    THOUGHT,
    Entry,
    bytes_of,
    call_entry,
    result_entry,
    text_entry,
    text_of,
    token_count,
)
from inspector.formats.value_conversions import describe_record, mapping_or_empty
from inspector.protocol import kinds
from inspector.protocol.derived_messages import ApiCall, DerivedMessage
from inspector.protocol.header import Header
from inspector.protocol.timestamps import NO_TIME, parse_text_time

LABEL = "agent-host"
NAMESPACE = "agent-host/"
CANCEL_KIND = NAMESPACE + "turnCancelled"
"""Kind of a message that stops the agent of a chat, which goes on."""
ACTION, DISPATCH = "action", "dispatchAction"
OTHER_METHODS = frozenset(
    ("initialize", "subscribe", "unsubscribe", "createSession", "disposeSession", "listSessions", "notification",
     "resourceRead", "resourceList", "resourceWrite", "fetchTurns", "turnFetch", "authenticate", "reconnect", "log",
     "createChat", "createTerminal", "ping")
)  # fmt: skip
"""Methods that occur in other protocols too."""
PIECES = {"delta": CHAT, "reasoning": THOUGHT}
"""Actions with a piece of a text, and the kind of the text."""
_PART_KINDS = {"markdown": CHAT, "reasoning": THOUGHT}
_SUB_AGENT = "subagent/"


def action_in(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the action of a message; empty for others."""
    if message.get("method") not in (ACTION, DISPATCH):
        return {}
    return mapping_or_empty(mapping_or_empty(message.get("params")).get("action"))


def action_name(action: Mapping[str, Any]) -> str:
    """Returns the type of an action without its channel, as `turnStarted`."""
    return str(action.get("type")).rpartition("/")[2]


def is_own(header: Header) -> bool:
    """Returns True if a message alone identifies this protocol."""
    params = bytes(header.params)
    if header.method in (ACTION, DISPATCH):
        return b'"action"' in params and b'"type"' in params
    return header.method == "initialize" and b'"initialSubscriptions"' in params


def channel_of(message: Mapping[str, Any]) -> str | None:
    """Returns the context of a message: the name of its session or chat, then the call of a sub-agent."""
    params, action = mapping_or_empty(message.get("params")), action_in(message)
    named = (params.get("channel"), action.get("session"), params.get("sessionId"), params.get("session"))
    channel = next(filter(None, map(text_or_none, named)), None)
    if channel is None or _SUB_AGENT not in channel:
        return channel.rpartition("/")[2] or channel if channel is not None else None
    # The session is encoded, since it is an address itself.
    encoded, _, call = channel.partition(_SUB_AGENT)[2].partition("/")
    try:
        session = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        session = encoded
    return f"{session.rpartition('/')[2]}/{call}"


def derive_entries(message: Mapping[str, Any], known: Mapping[str, Any]) -> list[Entry]:
    """Returns the derived rows of a message, at least one."""
    method, params, action = (
        text_or_none(message.get("method")),
        mapping_or_empty(message.get("params")),
        action_in(message),
    )
    if method is None:
        found = [answer_entry(message, known, AGENT if known.get("side") != CLIENT else CLIENT)]
    elif action:
        found = _action_entries(action, known, CLIENT if method == DISPATCH else AGENT)
    elif "id" in message:
        found = [request_entry(message, CLIENT, words=describe_record(method, params))]
    else:
        inner = mapping_or_empty(params.get("notification")) or params
        found = [control_row(NAMESPACE + method, AGENT, describe_record(method, inner), params=dict(params))]
    context = channel_of(message) or text_or_none(known.get("session"))
    time = mapping_or_empty(message.get("_ahpLog")).get("ts")
    for entry in found:
        entry.meaning.context = context
        entry.meaning.time_ns = parse_text_time(time) if isinstance(time, str) else NO_TIME
    return found


def _action_entries(action: Mapping[str, Any], known: Mapping[str, Any], sender: str) -> list[Entry]:
    name, call = action_name(action), text_or_none(action.get("toolCallId"))
    tool = text_or_none(action.get("toolName")) or text_or_none(known.get("tool"))
    part = mapping_or_empty(action.get("part"))
    found: list[Entry] = []
    if name == "turnStarted":
        asked = mapping_or_empty(action.get("message")) or mapping_or_empty(action.get("userMessage"))
        found = [text_entry(CHAT, CLIENT, AGENT, text_or_none(asked.get("text")) or text_of(asked.get("content")))]
    elif name in PIECES and action.get("content"):
        found = [text_entry(PIECES[name], AGENT, CLIENT, str(action["content"]))]
    elif name == "responsePart" and part.get("content"):
        kind = _PART_KINDS.get(str(part.get("kind") or part.get("type")))
        found = [text_entry(kind, AGENT, CLIENT, text_of(part["content"]))] if kind is not None else []
    elif name == "toolCallReady" and known.get("again") is not True:
        found = [call_entry(call, tool, action.get("toolInput"), AGENT)]
    elif name == "toolCallComplete":
        found = [_result(action, call, tool)]
    elif name == "toolCallConfirmed":
        found = _confirmed(action, call, tool)
    elif name in ("error", "creationFailed"):
        error = mapping_or_empty(action.get("error"))
        found = [control_row("system/error", AGENT, text_or_none(error.get("message")) or "error", error=dict(error))]
        found[0].meaning.failed = True
    if name == "toolCallReady" and "confirmed" not in action:
        words = _plain(action.get("confirmationTitle")) or _plain(action.get("invocationMessage")) or tool or name
        asked_for = DerivedMessage(kinds.PROPOSAL, AGENT, (CLIENT,), method=name, identifier=f"confirm {call}")
        asked_for.correlation = call
        found.append(Entry(asked_for, {"text": words, "params": dict(action)}))
    found = found or [control_row(NAMESPACE + name, sender, describe_record(name, action), action=dict(action))]
    if name == "usage":
        found[0].meaning.call = _usage(action)
    _mark(found, action, name)
    return found


def _plain(words: object) -> str | None:
    """Returns a text that may be Markdown."""
    return text_or_none(words) or text_or_none(mapping_or_empty(words).get("markdown"))


def _result(action: Mapping[str, Any], call: str | None, tool: str | None) -> Entry:
    result = mapping_or_empty(action.get("result"))
    error, content = mapping_or_empty(result.get("error")), result.get("content")
    told = content or text_or_none(error.get("message")) or _plain(result.get("pastTenseMessage")) or "done"
    return result_entry(call, told, AGENT, name=tool, failed=result.get("success") is False)


def _confirmed(action: Mapping[str, Any], call: str | None, tool: str | None) -> list[Entry]:
    """Returns the row of a person's decision; a call that is denied has no other result."""
    approved = action.get("approved") is True
    words = (
        "approved"
        if approved
        else _plain(action.get("reasonMessage")) or text_or_none(action.get("reason")) or "denied"
    )
    meaning = DerivedMessage(kinds.RESPONSE if approved else kinds.REJECT, CLIENT, (AGENT,))
    meaning.correlation = f"confirm {call}"
    found = [Entry(meaning, {"text": words, "reason": words})]
    if not approved:
        found.append(result_entry(call, words, AGENT, name=tool))
        found[-1].meaning.declined = True
    return found


def _usage(action: Mapping[str, Any]) -> ApiCall:
    """Returns the tokens of a turn so far: later reports replace earlier ones."""
    usage = mapping_or_empty(action.get("usage"))
    given, read = token_count(usage, "inputTokens"), token_count(usage, "cacheReadTokens", "cachedInputTokens")
    return ApiCall(
        f"turn {action.get('turnId')}", text_or_none(usage.get("model")), has_usage=True,
        input=given - read if read <= given else given, output=token_count(usage, "outputTokens"), cache_read=read,
    )  # fmt: skip


def _mark(found: list[Entry], action: Mapping[str, Any], name: str) -> None:
    """Marks an action of a client and its repetition by the host as copies."""
    if name in PIECES:
        return
    for entry in found:
        told = (name, action.get("turnId"), action.get("toolCallId"), entry.meaning.kind)
        entry.meaning.identity = repr(told).encode("utf-8", "replace") + bytes_of(entry.payload)


READER = agent_rpc.RpcReader(LABEL, is_own, derive_entries)

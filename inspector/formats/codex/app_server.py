"""Reads logs of `codex app-server`: JSON-RPC between Codex and its user interface, mostly without `jsonrpc`.

A started item is a call, a completed one its result; texts count when they are complete. An approval is a proposal, and
the answer with its decision is told by that member alone. The shapes are from `codex-rs/app-server-protocol` of
openai/codex.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.formats.codex.exec_events import AGENT, NAMESPACE, PROGRAM, USER, error_entry, item_entries
from inspector.formats.entry_builders import (
    CHAT,
    Entry,
    control_entry,
    decoded_object,
    payload_at,
    record_of,
    text_entry,
    token_count,
)
from inspector.formats.value_conversions import describe_record, mapping_or_empty, mappings_in, text_or_none
from inspector.protocol import kinds
from inspector.protocol.calls import rpc_id
from inspector.protocol.derived_messages import ApiCall, DerivedMessage, Payload, Spawn, ThreadMark
from inspector.protocol.record import Record
from inspector.protocol.timestamps import NO_TIME, parse_time

_BEGINS = re.compile(rb'\s*\{\s*"(?:emittedAtMs|id|jsonrpc|method|params|result)"')
_METHOD = re.compile(rb'"method"\s*:\s*"(?:thread|turn|item)/')
_BEGINNINGS = (
    "thread/", "turn/", "item/", "account/", "mcpServer/", "model/", "skills/", "config/", "remoteControl/",
    "rawResponseItem/", "hook/", "serverRequest/",
)  # fmt: skip
_LONE_METHODS = (
    "initialize", "initialized", "error", "warning", "guardianWarning", "deprecationNotice", "configWarning",
)  # fmt: skip
_RESULTS = ("thread", "turn", "turnId", "decision", "userAgent")
"""Members of results; an answer does not name its method."""
_APPROVAL = "/requestApproval"
_DELTAS = ("/delta", "Delta", "/progress")
_DENIED = ("decline", "cancel", "denied", "abort")
_ASKED_FOR = {
    "commandExecution": "Asks to run", "fileChange": "Asks to change files", "permissions": "Asks for permissions",
}  # fmt: skip
"""Words of an approval, by the second part of its method."""
_DECISIONS = {
    "accept": "allowed", "acceptForSession": "allowed for the session", "decline": "not allowed",
    "cancel": "not allowed, and the turn ends",
}  # fmt: skip
_TEXTS = ("agentMessage", "reasoning", "plan", "userMessage")
_RENAMED = {"collabAgentToolCall": "collab_tool_call", "dynamicToolCall": "mcp_tool_call"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def read(line: bytes, label: str) -> Record | None:
    """Reads one line without its end, if it is of this protocol. Never raises."""
    value = _message(line)
    if value is None:
        return None
    return record_of(line, label, _entries(value), _thread(value))


def payload_of(line: bytes, number: int) -> Payload:
    """Returns the payload of message `number` of a line, from 0. Never raises."""
    return payload_at(line, number, _entries, _message)


def is_message(line: bytes) -> bool:
    """Returns True if a line is of this protocol."""
    return _message(line) is not None


def _message(line: bytes) -> dict[str, Any] | None:
    if _BEGINS.match(line) is None:
        return None
    has_method = _METHOD.search(line[:400]) is not None
    if not has_method and (b'"jsonrpc"' in line or not (b'"method"' in line or b'"result"' in line)):
        return None
    value = decoded_object(line)
    if value is None or "type" in value or "kind" in value:
        return None
    method, result = value.get("method"), value.get("result")
    if isinstance(method, str):
        params = value.get("params", {})
        is_own = method.startswith(_BEGINNINGS) or method in _LONE_METHODS
        # Other protocols name a version.
        return value if is_own and isinstance(params, Mapping) and "protocolVersion" not in params else None
    is_answer = "method" not in value and "id" in value and set(value) <= {"id", "result", "emittedAtMs"}
    return value if is_answer and isinstance(result, Mapping) and any(key in result for key in _RESULTS) else None


def _thread(value: Mapping[str, Any]) -> str | None:
    params, result = mapping_or_empty(value.get("params")), mapping_or_empty(value.get("result"))
    thread = mapping_or_empty(params.get("thread")) or mapping_or_empty(result.get("thread"))
    return text_or_none(params.get("threadId")) or text_or_none(thread.get("id"))


def _entries(value: Mapping[str, Any]) -> list[Entry]:
    params, found = mapping_or_empty(value.get("params")), list(_rows(value))
    times = (value.get("emittedAtMs"), params.get("startedAtMs"), params.get("completedAtMs"))
    time = next((one for one in times if isinstance(one, int) and not isinstance(one, bool)), None)
    thread = _thread(value)
    for entry in found:
        entry.meaning.time_ns = parse_time(time) if time is not None else NO_TIME
        # A connection has several threads, and the first one is its main context.
        entry.meaning.context = thread
    return found


def _rows(value: Mapping[str, Any]) -> Iterator[Entry]:
    method, params = text_or_none(value.get("method")), mapping_or_empty(value.get("params"))
    item, result = mapping_or_empty(params.get("item")), mapping_or_empty(value.get("result"))
    if method is None:
        yield _decision(value, result) if "decision" in result else _with_model(_control("answer", result), result)
    elif method.endswith(_APPROVAL):
        yield _approval(value, method, params)
    elif method == "item/completed" or (method == "item/started" and item.get("type") not in _TEXTS):
        yield from _item(method.replace("/", "."), item)
    elif method == "thread/tokenUsage/updated":
        yield _usage(params)
    elif method == "error" or mapping_or_empty(params.get("turn")).get("status") == "failed":
        error = mapping_or_empty(params.get("error")) or mapping_or_empty(
            mapping_or_empty(params.get("turn")).get("error")
        )
        yield error_entry(text_or_none(error.get("message")) or "error")
    elif method == "thread/name/updated":
        yield control_entry(NAMESPACE + "thread_name_updated", PROGRAM, str(params.get("threadName")), params)
    elif method.endswith(_DELTAS):
        yield control_entry(NAMESPACE + "delta", PROGRAM, text_or_none(params.get("delta")) or "", params)
    else:
        found = _with_model(_control(method, params), params if method == "turn/start" else {})
        if method == "thread/started":
            found.meaning.spawn = _spawn(mapping_or_empty(params.get("thread")))
        yield found


def _with_model(entry: Entry, facts: Mapping[str, Any]) -> Entry:
    """Marks the model of the calls from here on, if a thread or a turn names it."""
    model = text_or_none(facts.get("model"))
    entry.meaning.thread = ThreadMark(model=model) if model is not None else None
    return entry


def _spawn(thread: Mapping[str, Any]) -> Spawn | None:
    """Returns the facts of a thread that an agent started; None for other threads."""
    identifier, parent = text_or_none(thread.get("id")), text_or_none(thread.get("parentThreadId"))
    if identifier is None or parent is None:
        return None
    role, name = text_or_none(thread.get("agentRole")), text_or_none(thread.get("agentNickname"))
    return Spawn(agent=identifier, label=name, type=role or "agent")


def _control(name: str, facts: Mapping[str, Any]) -> Entry:
    return control_entry(NAMESPACE + name, PROGRAM, describe_record(name, facts), facts)


def _item(event: str, item: Mapping[str, Any]) -> Iterator[Entry]:
    """Yields the rows of an item, by the members that `codex exec --json` prints."""
    kind = str(item.get("type"))
    if kind == "userMessage":
        texts = [str(one.get("text") or one.get("type")) for one in mappings_in(item.get("content"))]
        yield text_entry(CHAT, USER, AGENT, "\n".join(texts))
    elif kind == "contextCompaction":
        if event == "item.completed":
            yield control_entry("participant/compact-done", AGENT, "", {})
        else:
            yield _control("contextCompaction", item)
    else:
        plain = {_CAMEL.sub("_", key).lower(): one for key, one in item.items()}
        plain["type"] = _RENAMED.get(kind, _CAMEL.sub("_", kind).lower())
        texts = [
            one
            for part in (plain.get("summary"), plain.get("content"))
            if isinstance(part, list)
            for one in part
            if isinstance(one, str)
        ]
        if kind == "reasoning" and texts:
            plain["text"] = "\n".join(texts)
        if isinstance(tool := plain.get("tool"), str):
            plain["tool"] = _CAMEL.sub("_", tool).lower() if kind.startswith("collab") else tool
        if isinstance(parts := plain.get("content_items"), list):
            plain["result"] = {"content": [{"type": "text", "text": one.get("text")} for one in mappings_in(parts)]}
        if kind == "dynamicToolCall" and plain.get("success") is False:
            plain["status"] = "failed"
        for entry in item_entries(event, plain):
            # The call has a row since its start.
            if entry.meaning.kind == kinds.REQUEST and event == "item.completed":
                continue
            took = plain.get("duration_ms")
            if entry.meaning.kind == kinds.RESPONSE and isinstance(took, int):
                entry.meaning.took_ns = max(took, 0) * 1_000_000
            yield entry


def _usage(params: Mapping[str, Any]) -> Entry:
    """Returns the row of a call's tokens. Cached ones are part of the input, and a resumed thread repeats the last."""
    told = mapping_or_empty(params.get("tokenUsage"))
    last, total = mapping_or_empty(told.get("last")), mapping_or_empty(told.get("total"))
    entry = _control("thread/tokenUsage/updated", told)
    given, read, written, made = (
        token_count(last, name)
        for name in ("inputTokens", "cachedInputTokens", "cacheWriteInputTokens", "outputTokens")
    )
    if last:
        name = f"{params.get('threadId')} {token_count(total, 'totalTokens')}"
        entry.meaning.call = ApiCall(
            name, None, has_usage=True, input=max(given - read - written, 0), output=made, cache_read=read,
            cache_write=written,
        )  # fmt: skip
    return entry


def _approval(value: Mapping[str, Any], method: str, params: Mapping[str, Any]) -> Entry:
    subject = method.removesuffix(_APPROVAL).rpartition("/")[2]
    asks = _ASKED_FOR.get(subject, f"Asks for {_CAMEL.sub(' ', subject).lower()}")
    told = ", ".join(one for key in ("command", "reason") if (one := text_or_none(params.get(key))))
    words = f"{asks}: {told}" if told else asks
    meaning = DerivedMessage(kinds.PROPOSAL, AGENT, (USER,), identifier=_approval_id(value))
    meaning.correlation = text_or_none(params.get("itemId"))
    return Entry(meaning, {"text": words, "params": dict(params)})


def _approval_id(value: Mapping[str, Any]) -> str | None:
    identifier = rpc_id(value.get("id"))
    return f"approval {identifier}" if identifier is not None else None


def _decision(value: Mapping[str, Any], result: Mapping[str, Any]) -> Entry:
    decision = result.get("decision")
    words = decision if isinstance(decision, str) else next(iter(mapping_or_empty(decision)), "answered")
    kind = kinds.REJECT if words in _DENIED else kinds.RESPONSE
    meaning = DerivedMessage(kind, USER, (AGENT,), correlation=_approval_id(value))
    told = _DECISIONS.get(words, words)
    return Entry(meaning, {"text": told, "result": dict(result), "reason": told})

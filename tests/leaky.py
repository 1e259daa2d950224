"""A log with secrets in every place, for whatever must show none of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from inspector.document.document import CaptureDocument
from tests.builders import delivered, document_of, envelope, lines_of, received, tool_call, tool_result

SECRET = "Zq7secretvalue"
BEARER = f"Authorization: Bearer {SECRET}"
QUERY = f"token={SECRET}"
ADDRESS = f"http://user:{SECRET}@host/?{QUERY}"
KEYED: dict[str, Any] = {"token": SECRET, "api_key": SECRET, "note": BEARER, "deep": [{"password": SECRET}],
                         "args": ["-u", f"me:{SECRET}"]}  # fmt: skip

SPLIT_KINDS = (
    f"token:{SECRET}", f"shop/x:password:{SECRET}", f"mcp/request:tools/call:token:{SECRET}",
    f"mcp/request:token:{SECRET}",
    f"mcp/response:tools/call:token:{SECRET}", f"mcp/proposal:tools/call:token:{SECRET}", f"http://me:{SECRET}@host/x",
    f"mcp/notification:token:{SECRET}", f"reasoning/thought:token:{SECRET}",
)  # fmt: skip
"""Kinds in which a colon stands between a secret and what tells it."""


def _split() -> list[dict[str, Any]]:
    """Messages of such kinds, what answers them, contexts and reasoning of them."""
    said: list[dict[str, Any]] = []
    for number, kind in enumerate(SPLIT_KINDS):
        one = envelope(kind, {"text": "hi", "args": ["-u", f"me:{SECRET}"]}, id=f"k-{number}", context=f"c-{number}",
                       to=["files"])  # fmt: skip
        said += [one, envelope("mcp/response", {"result": {"text": "done"}}, sender="files", to=["lead"],
                               correlation_id=[f"k-{number}"]),
                 envelope("chat", {"text": "about it"}, correlation_id=[f"k-{number}"])]  # fmt: skip
    return said


def _requests() -> list[dict[str, Any]]:
    """Calls, their answers, resources, prompts and completions."""
    grep = tool_call("grep", arguments=KEYED, id="q-grep", context={"id": "c-1", "type": QUERY, "metadata": KEYED})
    blocks = [
        {"type": "text", "text": json.dumps(KEYED)},
        {"type": "resource_link", "uri": ADDRESS, "name": BEARER, "description": BEARER, "mimeType": QUERY},
        {"type": "image", "data": "AAAA", "mimeType": QUERY, "annotations": {"audience": [QUERY]}},
        {"type": "resource", "resource": {"uri": ADDRESS, "text": BEARER, "mimeType": "text/plain"}},
    ]
    context = {"lifecycle": "transient", "summary": BEARER, "consumedBy": ADDRESS}
    meta = {"context": context, "contextHints": [
        {"tool": QUERY, "lifecycle": "transient", "consumedBy": ADDRESS}]}  # fmt: skip
    named = tool_call(ADDRESS, id="q-named")
    hinted = tool_call("search", id="q-search")
    store = tool_call(QUERY, id="q-store")
    read = envelope("mcp/request", {"method": "resources/read", "params": {"uri": ADDRESS}}, id="q-read", to=["files"])
    prompt = {"method": "prompts/get", "params": {"name": QUERY, "arguments": KEYED}}
    ask = envelope("mcp/request", prompt, id="q-ask", to=["files"])
    lists = envelope("mcp/request", {"method": "tools/list"}, id="q-list", to=["files"])
    tool = {"name": QUERY, "description": BEARER, "inputSchema": {"properties": {"q": {"description": BEARER}}}}
    elicit = {"method": "elicitation/create", "params": {"message": BEARER, "requestedSchema": KEYED}}
    argument = {"name": "token", "value": BEARER}
    complete = {"method": "completion/complete", "params": {"ref": KEYED, "argument": argument}}
    odd = {"method": QUERY, "params": KEYED}
    return [
        grep, tool_result(grep, result={"content": blocks, "structuredContent": KEYED}, meta=meta),
        named, tool_result(named, BEARER), tool_call(ADDRESS),
        hinted, tool_result(hinted, "\n".join(f"{BEARER} {n}" for n in range(12)), meta=meta),
        store, tool_result(store, "stored", meta={"context": {"consumed": True}}),
        read, envelope("mcp/response", {"result": {"contents": [{"uri": ADDRESS, "text": BEARER}]}}, sender="files",
                       to=["lead"], correlation_id=["q-read"]),
        ask, envelope("mcp/response", {"error": {"code": KEYED, "message": BEARER, "data": KEYED}}, sender="files",
                      to=["lead"], correlation_id=["q-ask"]),
        lists, envelope("mcp/response", {"result": {"tools": [tool]}}, sender="files", to=["lead"],
                        correlation_id=["q-list"]),
        envelope("mcp/request", elicit, to=["files"]), envelope("mcp/request", complete, to=["files"]),
        envelope("mcp/request", odd, to=["files"]),
        envelope("mcp/notification", {"method": "notifications/message", "params": {"level": QUERY, "logger": QUERY,
                                                                                    "data": KEYED}}),
        envelope("mcp/proposal", {"method": "tools/call", "params": {"name": ADDRESS, "arguments": KEYED}}, id="p-1"),
        envelope("mcp/reject", {"reason": BEARER}, correlation_id=["p-1"], sender="files"),
        envelope("mcp/proposal", {"method": "resources/read", "params": {"uri": ADDRESS}}, id="p-2"),
        envelope("mcp/withdraw", {"reason": BEARER}, correlation_id=["p-2"]),
    ]  # fmt: skip


def _gateway() -> list[dict[str, Any]]:
    """What a gateway says: who is there, what they may do, errors, invitations, streams."""
    may = [{"kind": "mcp/*", "payload": KEYED}, BEARER]
    known = [{"id": "files", "capabilities": [{"kind": "mcp/*", "token": SECRET}, QUERY], "name": BEARER}]
    gateway = {"sender": "system:gateway", "to": ["lead"]}
    error = {"attempted_kind": KEYED, "your_capabilities": [KEYED, QUERY], "message": BEARER}
    return [
        envelope("system/welcome", {"you": {"id": "lead", "capabilities": may}, "participants": known}, **gateway),
        envelope("system/presence", {"event": QUERY, "participant": {"id": QUERY}}, **gateway),
        envelope("system/error", {"error": KEYED, **error}, correlation_id=["q-grep"], **gateway),
        envelope("system/error", {"error": "capability_violation", **error}, correlation_id=["q-grep"], **gateway),
        envelope("system/error", {"error": BEARER, **error, "attempted_kind": QUERY}, **gateway),
        envelope("capability/grant", {"recipient": QUERY, "capabilities": may, "reason": BEARER}, id="g-1"),
        envelope("capability/grant", {"recipient": "lead", "capabilities": may, "reason": BEARER}, id="g-2"),
        envelope("capability/revoke", {"recipient": "lead", "capabilities": may, "grant_id": QUERY, "reason": QUERY}),
        envelope("space/invite-ack", {"participant_id": QUERY, "token": SECRET, "connection_url": ADDRESS}, **gateway),
        envelope("space/invite", {"participant_id": QUERY, "email": QUERY, "initial_capabilities": [KEYED]}),
        envelope("stream/request", {"direction": QUERY, "description": BEARER, "metadata": KEYED}, id="s-1"),
        envelope("stream/open", {"stream_id": QUERY, "token": SECRET}, sender="gateway", correlation_id=["s-1"]),
        envelope("stream/close", {"stream_id": QUERY, "reason": BEARER}, correlation_id=["s-1"]),
        envelope("participant/status", {"tokens": 1, "status": BEARER, "auth": {"token": SECRET}}, sender="files"),
        envelope("participant/request-status", {"fields": [QUERY]}, to=["files"]),
    ]


def _odd() -> list[dict[str, Any]]:
    """Names where nobody expects secrets: kinds, senders, recipients, contexts, reasoning, ids."""
    return [
        envelope("chat", {"text": f"{json.dumps(KEYED)} {BEARER} {ADDRESS}"}),
        envelope("chat", {"text": f"# {BEARER}\n\n[here]({ADDRESS}) ![p]({ADDRESS})", "format": "markdown"}),
        envelope(f"shop/{QUERY}", {**KEYED, "nested": {"a": [KEYED]}}, sender=QUERY, to=[ADDRESS], id=QUERY),
        envelope(QUERY, {"x": 1}),
        envelope("reasoning/start", {"message": f"use {BEARER}"}, id="why-1"),
        envelope("reasoning/thought", {"reasoning": BEARER, "action": "call", "actionInput": KEYED}, context="why-1"),
        envelope("reasoning/start", {"message": f"{'see ' * 15}http://user:{SECRET}@host/"}, id="why-2"),
        envelope("reasoning/conclusion", {"message": BEARER}, context="why-1"),
        envelope("chat", {"text": "in a context"}, context=f"{QUERY}/below/{QUERY}"),
        envelope("chat", {"text": "of a type"}, context={"id": "c-2", "type": QUERY, "trigger": QUERY}),
        envelope("chat", {"text": "below an address"}, context=ADDRESS),
        envelope("chat", {"text": "in an address"}, context={"id": ADDRESS, "type": "x"}),
        envelope("chat", {"text": "unseen"}, correlation_id=[QUERY]),
        envelope("chat", {"text": "again"}, id=QUERY, sender=f"{QUERY}&x"),
    ]


def leaky_envelopes() -> list[dict[str, Any]]:
    """Its messages."""
    return [*_gateway()[:1], *_requests(), *_gateway()[1:], *_odd(), *_split()]


def leaky_lines() -> bytes:
    """The log: lines of a gateway, some bare envelopes, and what is broken."""
    said = leaky_envelopes()
    broken = lines_of({"kind": "chat", "token": SECRET})[:-3]
    got = [delivered(said[1], name) for name in (QUERY, ADDRESS)]
    return lines_of(*(received(one, space_id=QUERY) for one in said), *got, *said[:3]) + broken


def leaky() -> CaptureDocument:
    """The same, opened."""
    document = document_of(leaky_lines().decode())
    assert len(document.capture) > len(leaky_envelopes())
    return document


# Kinds, methods and what joins lines: with more in them they would be other messages, or none.
_STRUCTURE = re.compile(
    "(sub)?type|run_type|role|kind|method|jsonrpc|protocol|version|event|status|object|phase|level|ts|time(stamp)?"
    "|(start|end)_time|direction|transport|from|source|(.*[a-z_])?([iI]d|ID|[uU]uid|UUID|Nano|Value|Update|Version|reason)"
)
_SAID = frozenset({"stringValue"})


def planted_sample(path: Path) -> bytes:
    """A log of any format with a secret at the end of every text, name, title and argument in it."""
    secrets = cycle((BEARER, QUERY, ADDRESS, f'password="{SECRET}"', f"--token {SECRET}"))
    lines = path.read_text("utf-8", "replace").splitlines()
    return lines_of(
        *(
            _planted(json.loads(line), "", secrets)
            if _is_json(line)
            else line.replace('"text":"', f'"text":"{BEARER} ')
            for line in lines
        )
    )


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def _planted(value: Any, key: str, secrets: Iterator[str]) -> Any:
    if isinstance(value, dict):
        return {name: _planted(one, name, secrets) for name, one in value.items()}
    if isinstance(value, list):
        return [_planted(one, key, secrets) for one in value]
    if not isinstance(value, str) or not value or (key not in _SAID and _STRUCTURE.fullmatch(key)):
        return value
    return json.dumps(_planted(json.loads(value), key, secrets)) if _is_json(value) else f"{value} {next(secrets)}"

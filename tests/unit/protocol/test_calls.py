"""Method, target, outcome and stream as kind and payload say them (docs/protocols.md 3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.protocol.calls import Call, Payload, payload_of_rpc, read_call, read_payload, rpc_id
from inspector.protocol.header import read_header


def payload_in(envelope: bytes) -> Payload | None:
    return read_payload(read_header(envelope).payload)


def payload_of(value: Any) -> Payload:
    found = payload_in(json.dumps({"payload": value}).encode())
    assert found is not None
    return found


def call_of(kind: str, payload: Any = None) -> Call:
    envelope = {"kind": kind} if payload is None else {"kind": kind, "payload": payload}
    return read_call(kind, payload_in(json.dumps(envelope).encode()))


def tool(name: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name}}


@pytest.mark.parametrize(
    ("kind", "payload", "method", "target"),
    [
        ("mcp/request", tool("grep"), "tools/call", "grep"),
        ("mcp/proposal", tool("grep"), "tools/call", "grep"),
        ("mcp/request", {"method": "tools/list", "params": {"name": "no"}}, "tools/list", None),
        ("mcp/request", {"method": "resources/read", "params": {"uri": "file:///a"}}, "resources/read", "file:///a"),
        ("mcp/request", {"method": "resources/subscribe", "params": {"uri": "u"}}, "resources/subscribe", "u"),
        ("mcp/request", {"method": "prompts/get", "params": {"name": "p"}}, "prompts/get", "p"),
        (
            "mcp/request",
            {"method": "completion/complete", "params": {"ref": {"name": "p"}}},
            "completion/complete",
            "p",
        ),
        ("mcp/request", {"method": "completion/complete", "params": {"ref": {"uri": "u"}}}, "completion/complete", "u"),
        ("mcp/request:tools/call:grep", None, "tools/call", "grep"),
        ("mcp/request:tools/call:grep", {}, "tools/call", "grep"),
        ("mcp/request:tools/call:grep", tool("grep"), "tools/call", "grep"),
        ("mcp/request:tools/call:grep", {"method": "tools/call"}, "tools/call", "grep"),
        ("mcp/request", tool(7), "tools/call", None),
        ("mcp/request", tool(""), "tools/call", None),
        ("mcp/request", {"method": "tools/call", "params": [1]}, "tools/call", None),
        ("mcp/request", {"method": ["tools/call"]}, None, None),
        ("mcp/request", "no object", None, None),
        ("mcp/response:tools/call:grep", {"result": {}}, "tools/call", "grep"),
        ("mcp/response", {"result": {}, **tool("grep")}, "tools/call", "grep"),
        ("chat", {"method": "tools/call"}, None, None),
    ],
)
def test_what_is_called(kind: str, payload: Any, method: str | None, target: str | None) -> None:
    call = call_of(kind, payload)
    assert (call.method, call.target) == (method, target)


@pytest.mark.parametrize(
    ("kind", "payload", "method", "target"),
    [
        ("mcp/request:tools/call:grep", tool("rm"), "tools/call", "rm"),
        ("mcp/request:tools/call:grep", {"method": "tools/list"}, "tools/list", None),
        ("mcp/response:tools/call:grep", tool("rm"), "tools/call", "grep"),
        ("mcp/response:tools/list", tool("rm"), "tools/list", None),
        ("mcp/response:tools/call", tool("rm"), "tools/call", "rm"),
    ],
    ids=["tool", "method", "response's tool", "response's method", "response's tool from its payload"],
)
def test_where_kind_and_payload_disagree(kind: str, payload: Any, method: str, target: str | None) -> None:
    call = call_of(kind, payload)
    assert (call.method, call.target) == (method, target)


@pytest.mark.parametrize(
    ("kind", "payload", "canonical"),
    [
        ("mcp", {"method": "tools/call", "id": 1}, "mcp/request"),
        ("mcp", {"method": "notifications/chat/message", "params": {"text": "hi"}}, "chat"),
        ("mcp", {"result": None}, "mcp/response"),
        ("mcp", {"error": {}}, "mcp/response"),
        ("system", {"event": "welcome"}, "system/welcome"),
        ("system", {"type": "welcome"}, "system/welcome"),
        ("system", {"event": "presence", "type": "x"}, "system/presence"),
        ("system", {}, "system"),
        ("mcp", None, "mcp"),
    ],
)
def test_one_word_kinds(kind: str, payload: Any, canonical: str) -> None:
    assert call_of(kind, payload).kind == canonical


@pytest.mark.parametrize(
    ("payload", "failed", "has_meta"),
    [
        ({"result": {}}, False, False),
        ({"result": {"isError": True}}, True, False),
        ({"result": {"isError": "true"}}, False, False),
        ({"result": {"isError": False, "_meta": {}}}, False, True),
        ({"result": {"isError": True, "_meta": {}}}, True, True),
        ({"result": {"content": [{"_meta": {}, "isError": True}]}}, False, False),
        ({"error": {"code": 1}}, True, False),
        ({"error": None, "result": {}}, False, False),
        ({"result": "isError"}, False, False),
    ],
)
def test_outcomes(payload: Any, failed: bool, has_meta: bool) -> None:
    found = payload_of(payload)
    assert (found.has_failed, bool(found.result and found.result.meta)) == (failed, has_meta)


@pytest.mark.parametrize(
    ("identifier", "kept"),
    [(7, "7"), ("7", "'7'"), (7.5, "7.5"), (None, None), (True, None), ([7], None), ({"a": "\ud800"}, None)],
)
def test_seven_and_the_text_seven_differ(identifier: Any, kept: str | None) -> None:
    assert rpc_id(payload_of({"id": identifier, "result": {}}).id) == kept


def test_streams_and_joins() -> None:
    assert payload_of({"stream_id": "stream-1"}).stream_id == "stream-1"
    assert payload_of({"stream_id": 7}).stream_id is None
    assert payload_of({"participantId": "me"}).participantId == "me"


def test_payloads_with_half_a_surrogate_pair_are_read() -> None:
    raw = b'{"kind":"mcp/request","payload":{"x":"\\ud800","method":"tools/call","params":{"name":"grep"}}}'
    call = read_call("mcp/request", payload_in(raw))
    assert (call.method, call.target) == ("tools/call", "grep")


def test_a_json_rpc_message_is_its_own_payload() -> None:
    header = read_header(b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"grep"}}')
    payload = payload_of_rpc(header)
    call = read_call("mcp/request", payload)
    assert (call.method, call.target, payload.id) == ("tools/call", "grep", "x")


ODD = ("\\ud800", "\\udc00 \\ud800")
"""Halves of surrogate pairs, as JSON writes them."""


@pytest.mark.parametrize("odd", [f'"{text}"' for text in ODD] + ["NaN", "-Infinity"])
def test_what_the_fast_decoder_refuses_loses_nothing(odd: str) -> None:
    request = read_call("mcp/request", payload_in(
        b'{"payload":{"method":"tools/call","params":{"arguments":{"q":%s},"name":"grep"}}}' % odd.encode()
    ))  # fmt: skip
    assert (request.method, request.target) == ("tools/call", "grep")
    read = read_call("mcp/request", payload_in(
        b'{"payload":{"method":"resources/read","params":{"q":%s,"uri":"u"}}}' % odd.encode()
    ))  # fmt: skip
    assert read.target == "u"
    response = payload_in(
        b'{"payload":{"result":{"content":[{"text":%s}],"isError":true,"_meta":{"a":1}}}}' % odd.encode()
    )
    assert response is not None
    assert response.has_failed
    assert response.result
    assert response.result.meta


def test_the_same_without_an_envelope() -> None:
    header = read_header(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grep","q":"\\ud800"}}')
    assert read_call("mcp/request", payload_of_rpc(header)).target == "grep"

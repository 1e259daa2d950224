"""What of a message a model would be given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.tokens.counted_text import counted_text


def _blocks(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"result": {"content": list(blocks), **more}}


_TEXT = {"type": "text", "text": "found it"}


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("chat", {"text": "Hello", "format": "plain"}, "Hello"),
        ("reasoning/thought", {"message": "Look first"}, "Look first"),
        ("reasoning/conclusion", {"conclusion": "Done"}, "Done"),
        ("reasoning/start", {"input": "Why?"}, "Why?"),
        ("chat", {"method": "notifications/chat/message", "params": {"text": "Hi"}}, "Hi"),
        ("chat", {"mood": "odd"}, '{"mood":"odd"}'),
        (
            "mcp/request",
            {"method": "tools/call", "params": {"name": "grep", "arguments": {"q": "x"}, "_meta": {"a": 1}}},
            'grep {"q":"x"}',
        ),
        ("mcp/proposal", {"method": "tools/call", "params": {"name": "write"}}, "write"),
        ("mcp/request", {"method": "tools/list", "params": {"_meta": {}}}, '{"method":"tools/list","params":{}}'),
        ("mcp/request", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, '{"method":"ping"}'),
        ("mcp/response", _blocks(_TEXT, _TEXT), "found it\nfound it"),
        ("mcp/response", _blocks(_TEXT, structuredContent={"a": 1}, _meta={"context": {}}), "found it"),
        ("mcp/response", _blocks(structuredContent={"a": 1}), '{"a":1}'),
        ("mcp/response", _blocks({"type": "image", "data": "AAAA", "mimeType": "image/png"}), ""),
        ("mcp/response", _blocks({"type": "resource", "resource": {"uri": "f:a", "text": "body"}}), "body"),
        ("mcp/response", _blocks({"type": "resource", "resource": {"uri": "f:a", "blob": "AAAA"}}), "f:a"),
        ("mcp/response", _blocks({"type": "resource_link", "uri": "f:a", "name": "a"}), "a f:a"),
        ("mcp/response", _blocks("bare", 7), "bare"),
        ("mcp/response", {"result": {"contents": [{"uri": "f:a", "text": "body"}]}}, "body"),
        ("mcp/response", {"result": {"tools": [], "_meta": {"x": 1}}}, '{"tools":[]}'),
        ("mcp/response", {"result": "plain"}, "plain"),
        ("mcp/response", {"result": [1]}, "[1]"),
        ("mcp/response", {"error": {"code": 1, "message": "no"}}, '{"code":1,"message":"no"}'),
        ("mcp/response", {"error": "no"}, "no"),
        ("mcp/response", {"other": 1}, '{"other":1}'),
        ("stream/frame", {"text": "token"}, ""),
        ("system/presence", {"event": "join"}, '{"event":"join"}'),
        ("", {}, ""),
    ],
)
def test_counted_text(kind: str, payload: dict[str, Any], text: str) -> None:
    assert counted_text(kind, payload) == text


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("result", "content", "params", "text", "error", "name")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.sampled_from(("chat", "mcp/request", "mcp/response", "mcp/proposal", "system/error")),
    st.dictionaries(st.sampled_from(("result", "params", "error", "text", "_meta")), _JSON, max_size=4),
)
def test_it_never_raises_and_never_tells_meta(kind: str, payload: dict[str, Any]) -> None:
    found = counted_text(kind, payload)
    assert isinstance(found, str)
    if not any("_meta" in str(value) for value in payload.values()):
        assert "_meta" not in found


def test_of_an_initialize_result_only_the_instructions_are_for_a_model() -> None:
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "instructions": "Be brief."}
    assert counted_text("mcp/response", {"jsonrpc": "2.0", "id": 0, "result": result}) == "Be brief."
    other = {"instructions": "Be brief.", "name": "x"}
    assert counted_text("mcp/response", {"result": other}) == '{"instructions":"Be brief.","name":"x"}'

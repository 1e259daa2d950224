"""One capability in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.capability_words import capability_in_words


def call(kind: str = "mcp/request", **payload: Any) -> dict[str, Any]:
    return {"kind": kind, "payload": payload}


@pytest.mark.parametrize(
    ("capability", "words"),
    [
        ("*", "anything"),
        ("chat", "chat"),
        ("mcp/request:tools/call:read_*", "call tools named read_*"),
        ("mcp/request:tools/call:read_file", "call the tool read_file"),
        ("mcp/request:tools/call", "call any tool"),
        ("mcp/request:tools/list", "request tools/list"),
        ("mcp/request:*", "make any request"),
        ("made/up", "send made/up"),
        ({"id": "x", "kind": "reasoning/*"}, "reason"),
        ({"kind": ["chat", "reasoning/thought"]}, "chat, or think aloud"),
        ({"kind": "!chat"}, "anything but chat"),
        (call(method="tools/call", params={"name": "write_*"}), "call tools named write_*"),
        (call(method="tools/call", params={"name": "!delete_*"}), "call any tool but delete_*"),
        (call(method="tools/call", params={"name": ["a", "b"]}), "call tools named a or b"),
        (call(method="!tools/call"), "request anything but tools/call"),
        (call("mcp/proposal", method="tools/call"), "propose any tool call"),
        (call(method="tools/call", params={"name": "a", "arguments": {"path": "/x"}}),
         "call the tool a, under conditions"),
        ({"kind": "chat", "payload": {"text": "/hi/"}}, "chat, under conditions"),
        ({"kind": "chat", "to": ["lead", "files"]}, "chat to lead, files"),
        ({"kind": "mcp/*", "context": "deploy/*"}, "do anything with MCP in the context deploy/*"),
        ({"kind": "chat", "context": ["a", "b"]}, "chat in the context a or b"),
        ({"kind": "chat", "context": None}, "chat"),
        (7, "an unreadable capability"),
    ],
)  # fmt: skip
def test_words(capability: object, words: str) -> None:
    assert capability_in_words(capability) == words


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "payload", "to", "method", "params", "name"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_stands_there_gives_words(capability: object) -> None:
    assert capability_in_words(capability)

"""Capabilities in words."""

from __future__ import annotations

import pytest

from inspector.protocol.participants import capability_lines, permissions_in_words


@pytest.mark.parametrize(
    ("capabilities", "lines"),
    [
        (["mcp/*", "chat"], ["mcp/*", "chat"]),
        ([{"id": "x", "kind": "chat"}], ["chat"]),
        ([{"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}],
         ["mcp/request:tools/call:read_*"]),
        ([{"kind": "mcp/request", "payload": {"method": "tools/list"}}], ["mcp/request:tools/list"]),
        ([{"kind": ["chat", "mcp/*"]}], ["chat|mcp/*"]),
        ([{"kind": "mcp/request", "payload": 7}], ["mcp/request"]),
        ([{}], ["?"]),
        ([7, None], []),
        ("chat", []),
        (None, []),
    ],
)  # fmt: skip
def test_one_line_each(capabilities: object, lines: list[str]) -> None:
    assert capability_lines(capabilities) == lines


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["*"], "may do anything"),
        (["chat", "reasoning/*"], "chat, reason"),
        (["mcp/*"], "call tools, propose"),
        (["mcp/request:tools/call:read_*"], "call tools"),
        (["mcp/response"], "listens only"),
        (["mcp/response", "mcp/response"], "answers tools"),
        ([], "listens only"),
    ],
)
def test_in_words(lines: list[str], words: str) -> None:
    assert permissions_in_words(lines) == words

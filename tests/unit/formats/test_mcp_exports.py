"""Logs of mcpsnoop and exports of MCP Inspector; configurations of servers are refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.filters.sentences import info
from inspector.formats.refused_formats import known_refusal
from tests.builders import document_at, lines_of, log_file

SERVER = {"command": "pantry-server", "args": []}
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "arguments": {}}}
ANSWERED = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "flour"}]}}


def said(document: CaptureDocument) -> list[str | None]:
    return [info(document.analysis, row) for row in range(len(document.capture))]


def snooped(number: int, direction: str, **members: Any) -> dict[str, Any]:
    time = f"2026-01-05T09:00:0{number}Z"
    return {"session_id": "s", "server_label": "pantry", "seq": number, "ts": time, "direction": direction, **members}


def test_connections_of_a_proxy_have_ids_of_their_own() -> None:
    lines = [
        snooped(number, direction, transport="http", conn_id=connection, raw=raw)
        for number, (direction, connection, raw) in enumerate(
            [("c2s", "a", ASKED), ("c2s", "b", ASKED), ("s2c", "b", ANSWERED), ("s2c", "a", ANSWERED)]
        )
    ]
    document = document_at(log_file(lines_of(*lines), "session.jsonl"))
    assert (document.format, document.unreadable) == ("mcpsnoop", 0)
    assert summary(document, "")["calls"]["answered"] == 2


def test_a_line_on_standard_error_is_no_noise_on_the_protocol_channel() -> None:
    lines = [snooped(1, "c2s", raw=ASKED), snooped(2, "stderr", text="open"), snooped(3, "s2c", raw=ANSWERED)]
    document = document_at(log_file(lines_of(*lines)))
    noise = [found for found in document.analysis.findings.all() if found.code == "mcp-stdout-noise"]
    assert said(document)[1] == "open"
    assert not noise


def test_a_response_comes_its_duration_later() -> None:
    entries: list[dict[str, Any]] = [
        {"id": "a", "timestamp": "2026-01-05T09:00:00Z", "direction": "request", "message": ASKED,
         "response": ANSWERED, "duration": 1500},
        {"id": "b", "timestamp": "2026-01-05T09:00:01Z", "direction": "notification", "origin": "server",
         "message": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}},
    ]  # fmt: skip
    document = document_at(log_file(json.dumps(entries, indent=2).encode(), "inspector-protocol.json"))
    assert document.format == "mcp-inspector"
    assert [text and text.split()[0] for text in said(document)] == ["find", "notifications/message", "find:"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"mcpServers": {"pantry": SERVER}}, "a configuration of MCP servers"),
        ({"servers": {"pantry": SERVER}, "inputs": []}, "a configuration of MCP servers"),
        (SERVER, "the entry of a server in a configuration of MCP"),
        ({"$schema": "https://example.com/schemas/2025-09-29/server.schema.json", "name": "pantry", "version": "1"},
         "the description of an MCP server for its registry"),
        ({"id": "x", "method": "POST", "url": "http://127.0.0.1", "requestHeaders": {}, "category": "transport"},
         "requests over HTTP as MCP Inspector exports them"),
    ],
)  # fmt: skip
def test_configurations_are_refused(value: dict[str, Any], words: str) -> None:
    refusal = known_refusal(json.dumps(value).encode())
    assert refusal is not None
    assert refusal.facts.startswith(f"looks like {words}")
    assert "not read yet" not in refusal.remedy


@pytest.mark.parametrize(
    "value", [{"servers": {"a": {"name": "x"}}}, {"command": "run", "args": [], "output": "x"}, {"servers": {}}]
)
def test_other_objects_are_no_configurations(value: dict[str, Any]) -> None:
    assert known_refusal(json.dumps(value).encode()) is None

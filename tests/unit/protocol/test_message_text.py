"""The text a message shows in its row."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.message_text import compact_json, content_text, text_shown


@pytest.mark.parametrize(
    "payload",
    [
        {"text": "yes"},
        {"message": "yes"},
        {"thought": "yes"},
        {"reasoning": "yes", "action": "tool", "actionInput": {}},
        {"decision": "yes"},
        {"conclusion": "yes"},
        {"input": "yes"},
        {"description": "yes"},
        {"params": {"text": "yes"}},
        {"text": 7, "message": "yes", "input": "no"},
        {"text": "yes", "message": "no"},
    ],
)
def test_the_first_text_counts(payload: dict[str, Any]) -> None:
    assert text_shown("chat", payload) == "yes"


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("chat", {"text": ""}, ""),
        ("chat", {}, None),
        ("reasoning/conclusion", {}, None),
        ("mcp/response", {"error": {"message": "no such tool"}}, "no such tool"),
        ("mcp/response", {"error": {"code": 1}}, '{"code":1}'),
        ("system/error", {"error": "capability_violation"}, "capability_violation"),
        ("mcp/response", {"result": {"content": [{"type": "text", "text": "15 records"}]}}, "15 records"),
        ("mcp/response", {"result": {"content": [{"type": "image"}, {"type": "audio"}]}}, "image, audio"),
        ("mcp/response", {"result": {"content": []}}, "empty result"),
        ("mcp/response", {"result": {}}, "empty result"),
        ("mcp/response", {"result": {"content": [], "_meta": {"a": 1}}}, "empty result"),
        ("mcp/response", {"result": {"isError": False, "content": []}}, '{"isError":false,"content":[]}'),
        ("mcp/response", {"result": {"contents": [{"uri": "u", "text": "x = 1"}]}}, "x = 1"),
        ("mcp/response", {"result": {"completion": {"values": ["a", "b"]}}}, "a, b"),
        ("mcp/response", {"result": {"tools": [{"name": "a"}, {"name": "b"}]}}, "2 tools: a, b"),
        ("mcp/response", {"result": {"tools": []}}, "0 tools"),
        ("mcp/response", {"result": {"resources": [{"uri": "u"}]}}, "1 resource: u"),
        ("mcp/response", {"result": {"resourceTemplates": [{"name": "page"}], "ttlMs": 0}}, "1 template: page"),
        ("mcp/response", {"result": {"content": [{"type": "text", "text": ""}]}}, "empty result"),
        ("mcp/response", {"result": {"action": "accept", "content": {"berth": 6, "password": "x"}}},
         "accept: berth=6  password=••••••••"),
        ("mcp/response", {"result": {"action": "decline"}}, "decline"),
        ("mcp/response", {"result": {"role": "assistant", "content": {"type": "text", "text": "Ahoy"}}}, "Ahoy"),
        ("mcp/response", {"result": {"messages": [{"role": "user", "content": {"text": "Ask for a berth"}}]}},
         "Ask for a berth"),
        ("mcp/response", {"result": "plain"}, "plain"),
        ("mcp/response", {"result": None}, "empty result"),
        ("mcp/response", {"result": 0}, "0"),
        ("system/join", {"participantId": "watcher", "space": "demo", "token": "t"}, "watcher asks to join demo"),
        ("system/join", {}, "asks to join"),
        ("participant/request-status", {"fields": ["tokens"]}, "asks for tokens"),
        ("participant/request-status", {}, "asks for status"),
        ("participant/clear", {}, "asks to forget the whole context"),
        ("participant/pause", {"reason": "lunch"}, "lunch"),
        ("stream/request", {"modes": ["text"], "metadata": {}}, "asks for a stream, text"),
        ("stream/request", {"description": "reasoning:1", "direction": "upload"}, "reasoning:1"),
        ("mcp/request", {"params": {"arguments": {"path": "a.py", "n": 2}}}, "path=a.py  n=2"),
        ("mcp/request", {"params": {"uri": "file:///a"}}, "file:///a"),
        ("mcp/request", {"params": {"level": "debug"}}, "debug"),
        ("mcp/request", {"params": {"message": "Which berth?", "requestedSchema": {}}}, "Which berth?"),
        ("mcp/request", {"params": {"messages": [{"role": "user", "content": {"text": "Greet"}}]}}, "Greet"),
        ("system/presence", {"event": "join", "participant": {"id": "lead"}}, "lead join"),
        ("system/welcome", {"participants": [{}, {}]}, "2 others present"),
        ("system/welcome", {"participants": [{}]}, "1 other present"),
        ("participant/status", {"tokens": 1200, "max_tokens": 2000, "messages_in_context": 3},
         "1,200 of 2,000 tokens, 3 messages in context"),
        ("participant/status", {"tokens": 1200, "status": "idle"}, "idle, 1,200 tokens"),
        ("stream/close", {"stream_id": "s1", "reason": "complete"}, "s1  complete"),
        ("space/kick", {"participant_id": "x"}, "x"),
        ("mcp/request", {"params": ["odd"]}, None),
        ("participant/status", {"tokens": float("nan")}, "nan tokens"),
    ],
)  # fmt: skip
def test_no_row_is_mute_that_says_something(kind: str, payload: dict[str, Any], text: str | None) -> None:
    assert text_shown(kind, payload) == text


def test_content_blocks_may_be_anything() -> None:
    assert content_text({"content": ["a", 7, None]}) is None
    assert content_text({"content": {"text": "no list"}}) is None


def test_nesting_that_cannot_be_written_is_not_written() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert compact_json(deep) == "..."


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("ui/initialize", {"appInfo": {"name": "panel", "version": "1"}}, "the app panel starts"),
        ("ui/notifications/initialized", {}, "the app is ready"),
        ("ui/notifications/tool-input", {"arguments": {"rack": 2}}, "rack=2"),
        ("ui/notifications/tool-result", {"content": [{"type": "text", "text": "200"}]}, "result of the tool: 200"),
        ("ui/message", {"role": "user", "content": {"type": "text", "text": "Hotter"}}, "the app writes: Hotter"),
        ("ui/update-model-context", {"structuredContent": {"rack": 2}}, "the app tells the model facts"),
        ("ui/open-link", {"url": "https://example.org"}, "the app asks to open https://example.org"),
        ("ui/notifications/size-changed", {"width": 300, "height": 200}, "the app is 300 by 200 pixels"),
        ("ui/request-display-mode", {"mode": "fullscreen"}, "the app asks for the mode fullscreen"),
        ("ui/message", ["odd"], "the app writes a message"),
        ("ui/of-tomorrow", {}, None),
    ],
)
def test_messages_of_apps_are_described(method: str, params: Any, text: str | None) -> None:
    assert text_shown("mcp/request", {"jsonrpc": "2.0", "method": method, "params": params}) == text


def test_a_page_of_an_app_is_not_its_markup() -> None:
    page = {"uri": "ui://oven/panel", "mimeType": "text/html;profile=mcp-app", "text": "<html></html>"}
    assert text_shown("mcp/response", {"result": {"contents": [page]}}) == "page of an app, 13 characters"


def test_a_skill_is_described_by_its_own_facts() -> None:
    uri, text = "skill://baking/SKILL.md", "---\nname: baking\ndescription: How to bake\n---\nPreheat."
    skill = {"uri": uri, "mimeType": "text/markdown", "text": text}
    assert text_shown("mcp/response", {"result": {"contents": [skill]}}) == "skill baking: How to bake"
    assert text_shown("mcp/response", {"result": {"contents": [{**skill, "text": "Preheat."}]}}) == "Preheat."
    assert text_shown("mcp/response", {"result": {"skills": [{"name": "baking", "uri": uri}]}}) == "1 skill: baking"

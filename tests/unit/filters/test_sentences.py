"""What rows say in a sentence, in the table, in `list` and in exports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.export.message_summary import MessageSummarizer
from inspector.export.redaction import Redaction
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.sentences import arguments_words, shape_of
from inspector.present.message_row import row_content
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.findings import gateway

ASK = tool_call("search_records", id="q", sender="coder", arguments={"page": 1})
RECORDS = {"records": [{"id": n} for n in range(4)], "page": 1}


def said(text: str) -> dict[str, Any]:
    """A result that is a text."""
    return {"content": [{"type": "text", "text": text}]}


def info(*lines: Any, message: int = -1) -> object:
    """What the last message says, which is the same in the table as far as the words go."""
    document = document_of(*lines)
    message %= len(lines)
    told = FIELD_BY_NAME["info"].value(document.analysis, message)
    row = " ".join(row_content(document, message).text.split())
    assert row[:400] == str(told)[:400]
    return told


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (
            {"content": [{"type": "text", "text": json.dumps(RECORDS, indent=2)}]},
            "search_records: 4 records, page=1, {size}",
        ),
        ({"content": [], "structuredContent": RECORDS}, "search_records: 4 records, page=1, {size}"),
        (said("Found\nfour"), "search_records: Found four"),
        (said("{braces} in words"), "search_records: {braces} in words"),
        ({"content": [{"type": "image", "data": "AAAA"}]}, "search_records: image, {size}"),
        ({"content": []}, "search_records: empty result"),
        ({"tools": [{"name": "a"}, {"name": "b"}]}, "search_records: 2 tools: a, b"),
        (
            {"content": [{"type": "text", "text": "no such page"}], "isError": True},
            "search_records failed: no such page",
        ),
    ],
)
def test_a_result_says_its_tool_and_what_came(result: Any, told: str) -> None:
    answer = envelope("mcp/response", {"result": result}, sender="files", correlation_id=["q"])
    size = FIELD_BY_NAME["size"].value(document_of(answer).analysis, 0)
    assert info(ASK, answer) == told.replace("{size}", f"{size} B")


def test_a_text_stays_what_the_message_says() -> None:
    document = document_of(ASK, tool_result(ASK, "done"))
    assert FIELD_BY_NAME["text"].value(document.analysis, 1) == "done"


def test_an_error_says_which_call_failed() -> None:
    failed = envelope("mcp/response", {"error": {"code": -1, "message": "offline"}}, correlation_id=["q"])
    assert info(ASK, failed) == "search_records failed: offline"
    unknown = gateway("system/error", {"error": "timeout", "message": "nobody answered"}, correlation_id=["q"])
    assert info(ASK, unknown) == "tools/call search_records failed: nobody answered"
    assert info(gateway("system/error", {"error": "bad_frame"})) == "bad_frame"


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"attempted_kind": "mcp/request"}, "coder may not send mcp/request tools/call search_records"),
        ({"attempted_kind": "mcp/request:tools/call:rm"}, "coder may not send mcp/request tools/call rm"),
        ({}, "coder may not send mcp/request tools/call search_records"),
    ],
)
def test_a_refusal_says_who_may_not_do_what(payload: Any, said: str) -> None:
    refused = gateway("system/error", {"error": "capability_violation", **payload}, correlation_id=["q"], to=["coder"])
    assert info(ASK, refused) == said


def test_a_refusal_of_what_was_not_seen_names_whom_it_is_for() -> None:
    payload = {"error": "capability_violation", "attempted_kind": "chat"}
    assert info(gateway("system/error", payload, to=["coder"])) == "coder may not send chat"
    assert info(gateway("system/error", payload)) == "not allowed: chat"


@pytest.mark.parametrize(
    ("payload", "to", "said"),
    [
        ({"method": "tools/list"}, ["human"], "tools/list asks for the tools of human"),
        ({"method": "tools/list"}, None, "tools/list asks for the tools"),
        ({"method": "tools/list"}, ["a", "b", "c"], "tools/list asks for the tools of a, b and 1 more"),
        ({"method": "ping"}, ["human"], "ping asks for a sign of life"),
        ({"method": "odd/method"}, ["human"], "odd/method"),
        ({"method": "resources/read", "params": {"uri": "file:///a"}}, ["fs"], "resources/read file:///a"),
    ],
)
def test_a_request_without_a_text_says_what_it_is_for(payload: Any, to: Any, said: str) -> None:
    assert info(envelope("mcp/request", payload, to=to)) == said


def test_a_proposal_turned_down_says_which() -> None:
    proposal = envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "rm"}}, id="p")
    assert info(proposal, envelope("mcp/reject", {"reason": "unsafe"}, correlation_id=["p"])) == "rm unsafe"


@pytest.mark.parametrize("place", ["arguments", "result"])
def test_secrets_are_masked_everywhere(place: str) -> None:
    secret = "hunter2hunter2"
    ask = tool_call("login", id="q", arguments={"password": secret} if place == "arguments" else {})
    answer = envelope("mcp/response", {"result": {"structuredContent": {"password": secret}}}, correlation_id=["q"])
    document = document_of(ask, answer)
    for message in (0, 1):
        assert secret not in str(FIELD_BY_NAME["info"].value(document.analysis, message))
        assert secret not in row_content(document, message).text


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ([], "empty list"), ({}, "empty object"), ([{}], "1 record"), ([1, 2], "2 items"), (7, "7"),
        ({"files": [1]}, "1 file"), ({"ok": True, "n": 3}, "ok=true, n=3"), ({"a": {"b": {"rows": [1, 2]}}}, "2 rows"),
        ({"a": {}, "b": {}}, "a, b"), ({str(n): n for n in range(6)}, "0=0, 1=1, 2=2, 3=3, 2 more"),
        ({"text": "x" * 99}, f"text={'x' * 39}…"), ({"": []}, "0 items"),
    ],
)  # fmt: skip
def test_shapes(value: Any, shape: str) -> None:
    assert shape_of(value) == shape


def test_what_is_deep_or_long_is_told_all_the_same() -> None:
    deep = envelope("mcp/response", {"result": said("[" * 50_000)}, correlation_id=["q"])
    assert str(info(ASK, deep)).startswith("search_records: [[[")
    long = envelope("mcp/response", {"result": said(json.dumps(list(range(30_000))))}, correlation_id=["q"])
    assert str(info(ASK, long)).startswith("search_records: JSON, ")


def test_an_export_says_what_the_row_says() -> None:
    document = document_of(ASK, tool_result(ASK, json.dumps(RECORDS)))
    summary = MessageSummarizer(document, Redaction()).summarize(1)
    assert summary.text == FIELD_BY_NAME["info"].value(document.analysis, 1)


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        ("progress", {"progress": 9, "total": 14, "message": "inv-031.pdf"}, "9 of 14: inv-031.pdf"),
        ("progress", {"progressToken": "a", "progress": 0.5}, "0.5"),
        ("progress", {"progress": True, "total": float("1e300")}, "1"),
        ("message", {"level": "warning", "logger": "ocr", "data": "no text layer"}, "warning: ocr: no text layer"),
        ("message", {"level": "info", "data": {"pages": 3}}, 'info: {"pages":3}'),
        ("message", {"level": 3, "data": None}, ""),
    ],
)  # fmt: skip
def test_what_a_server_tells_meanwhile(method: str, params: dict[str, Any], told: str) -> None:
    line = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
    assert info(line) == f"notifications/{method} {told}".strip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"questions": [{"question": "Which index?", "options": []}, {"question": "When?"}]}, "Which index? When?"),
        ({"questions": ["Which index?", 3]}, None),
        ({"message": "Run the tests.", "agent_type": "explorer"}, "explorer: Run the tests."),
        ({"prompt": "Look.", "description": "Look it up", "subagent_type": "Explore"}, "Explore: Look it up"),
    ],
)
def test_calls_of_agents_own_tools_say_what_they_mean_to_do(arguments: dict[str, Any], words: str | None) -> None:
    assert arguments_words("tool", arguments) == words


def test_the_purpose_of_a_call_comes_after_its_files() -> None:
    read = [{"mode": "Line", "path": "/w/oven.md"}, {"mode": "Line", "path": "b.md"}]
    assert arguments_words("read", {"__tool_use_purpose": "Look", "operations": read}) == "/w/oven.md, b.md  Look"
    assert arguments_words("read", {"operations": [{"mode": "Line"}]}) is None
    assert arguments_words("grep", {"__tool_use_purpose": "Find it", "pattern": "rye"}) == "pattern=rye  Find it"
    assert arguments_words("shell", {"__tool_use_purpose": "List", "command": "ls"}) == "ls"

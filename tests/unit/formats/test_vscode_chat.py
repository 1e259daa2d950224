"""Chat sessions of VS Code: documents, and logs of changes that are replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.vscode_chat.conversion import is_chat
from inspector.formats.vscode_chat.reader import SESSION_KEY
from tests.builders import document_at, document_of, field_values, lines_of, log_file
from tests.samples import FORMAT_SAMPLES

SAMPLE = FORMAT_SAMPLES["vscode-chat.jsonl"]
SHARED = Path(__file__).parents[4] / "shared" / "recordings" / "transcripts"


def changes(*changed: Any) -> CaptureDocument:
    begun = {"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": []}}
    return document_at(log_file(lines_of(begun, *changed), "chat.jsonl"))


def request(text: str, *pieces: Any, **more: Any) -> dict[str, Any]:
    return {"requestId": text, "timestamp": 1767603600000, "message": {"text": text}, "response": list(pieces), **more}


def called(name: str, identifier: str, **more: Any) -> dict[str, Any]:
    return {"kind": "toolInvocationSerialized", "toolId": name, "toolCallId": identifier, "isComplete": True, **more}


def test_what_a_sub_agent_did_is_a_context_below_the_call_that_started_it() -> None:
    about = {
        "kind": "subagent",
        "description": "Find it",
        "agentName": "Explore",
        "prompt": "Where?",
        "result": "There",
    }
    pieces = [
        called("runSubagent", "t1", toolSpecificData=about), called("read_file", "t2", subAgentInvocationId="t1"),
        {"value": "Found."},
    ]  # fmt: skip
    document = changes({"kind": 2, "k": ["requests"], "v": [request("Go", *pieces)]})
    rows = field_values(document, "kind", "from", "context", "tool")
    assert [row[:4] for row in rows[2:]] == [
        ("mcp/request", "copilot", None, "runSubagent"), ("mcp/response", "tools", None, "runSubagent"),
        ("mcp/request", "Explore#t1", "t1", "read_file"), ("mcp/response", "tools", "t1", "read_file"),
        ("chat", "copilot", None, None),
    ]  # fmt: skip
    contexts = document.analysis.contexts
    (node,) = contexts.tree.alive()
    assert (contexts.label(node), document.capture.transcripts.agents["t1"].call) == ("Find it", "t1")


def test_a_session_that_was_changed() -> None:
    document = document_at(SAMPLE)
    rows = field_values(document, "kind", "from", "tool", "answers", "error", "text")
    assert [row[:5] for row in rows] == [
        ("vscode/session", "vscode", None, None, None), ("chat", "user", None, None, None),
        ("reasoning/thought", "copilot", None, None, None), ("chat", "copilot", None, None, None),
        ("mcp/request", "copilot", "read_file", None, None), ("mcp/response", "tools", "read_file", 5, None),
        ("mcp/request", "copilot", "run_in_terminal", None, None),
        ("mcp/response", "tools", "run_in_terminal", 7, True),
        ("vscode/textEditGroup", "vscode", None, None, None), ("chat", "copilot", None, None, None),
        ("vscode/hologram", "vscode", None, None, None), ("chat", "user", None, None, None),
        ("chat", "copilot", None, None, None), ("vscode/canceled", "user", None, None, None),
    ]  # fmt: skip
    assert [rows[place][5] for place in (0, 3, 5, 8, 9)] == [
        "The tide, drawn", "I look into `tide.csv`.", "hour,height\n1,3.4", "1 edit of tide.svg",
        "Drawn:\n\n```svg\n<svg/>\n```",
    ]  # fmt: skip
    assert document.capture.records.payload(1)["attached"] == ["tide.csv"]
    assert "<attachments>" in document.capture.records.payload(1)["sent"]
    told = field_values(document, "model", "usage.input", "usage.output", "first_token", "space")
    assert [row for row in told if row[1] is not None or row[3] is not None] == [
        ("copilot/model-1", 1200, 80, 400.0, "00000000-0000-4000-8000-00000000000c"),
        ("copilot/model-1", None, None, 300.0, "00000000-0000-4000-8000-00000000000c"),
    ]  # fmt: skip


def test_a_request_that_failed() -> None:
    failed = request("one", result={"errorDetails": {"message": "Too many requests"}})
    rows = field_values(changes({"kind": 2, "k": ["requests"], "v": [failed]}), "kind", "text", "error")
    assert rows[2:] == [("system/error", "Too many requests", True)]


def test_changes_of_every_kind() -> None:
    document = changes(
        {"kind": 2, "k": ["requests"], "v": [request("one", {"value": "a"}, {"value": "b"}), request("gone")]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "c"}], "i": 1},
        {"kind": 3, "k": ["requests", 1]}, {"kind": 1, "k": ["requests", 0, "message", "text"], "v": "two"},
        {"kind": 1, "k": ["nowhere", 7, "x"], "v": 1}, {"kind": 9}, {"kind": 1, "k": []},
    )  # fmt: skip
    assert [row[0] for row in field_values(document, "text")[1:]] == ["two", "ac"]


def test_a_document_says_what_its_changes_say() -> None:
    session = {"version": 3, "responderUsername": "x", "sessionId": "s", "requests": [request("one", {"value": "a"})]}
    document = document_at(log_file(json.dumps(session, indent=2).encode(), "chat.json"))
    assert document.format == "vscode-chat"
    told = changes({"kind": 2, "k": ["requests"], "v": session["requests"]})
    assert field_values(document, "kind", "text", "time")[1:] == field_values(told, "kind", "text", "time")[1:]


def test_a_torn_log_is_read_as_far_as_it_goes() -> None:
    document = changes({"kind": 2, "k": ["requests"], "v": [request("one")]}, b'{"kind":1,"k":["reque')
    assert [row[0] for row in field_values(document, "text")[1:]] == ["one"]
    assert any("line 3" in str(one) for one in document.read_errors)


def test_only_a_chat_is_taken_for_one() -> None:
    for head in (
        b'{"kind":0,"from":"a","payload":{}}',
        b'{"kind":"main"}',
        b'{"requests":[]}',
        b'{"kind":0,"v":{}}',
        b"[]",
        b"",
    ):
        assert not is_chat(head)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples of others are not here")
@pytest.mark.parametrize(
    "name", ["vscode-chat-session.json", "vscode-chat-session-oplog.jsonl", "vscode-chat-session-oplog-patched.jsonl"]
)
def test_counts_of_others_samples(name: str) -> None:
    expected = json.loads((SHARED / "EXPECTED.json").read_text("utf-8"))[f"copilot/{name}"]
    document = document_at(SHARED / "copilot" / name)
    rows = field_values(document, "kind", "from")
    assert rows.count(("chat", "user")) == expected["requests"]
    tools = expected["response_items"].get("toolInvocationSerialized", 0)
    assert [row[0] for row in rows].count("mcp/request") == [row[0] for row in rows].count("mcp/response") == tools
    document.catch_up()
    assert not any(row[0] for row in field_values(document, "finding"))


_MEMBERS = (
    "kind", "value", "uri", "edits", "text", "node", "children", "result", "metadata", "toolCallRounds", "toolCalls",
    "message", "timings", "totalElapsed", "usage", "isComplete", "resultDetails", "timestamp",
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", "thinking", "textEditGroup"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=10,
)


@given(
    _VALUES,
    _VALUES,
    st.sampled_from(("toolInvocationSerialized", "thinking", "textEditGroup", "inlineReference", None)),
)
@example({"edits": None}, None, "textEditGroup")
def test_pieces_of_any_shape_are_read(value: Any, result: Any, kind: str | None) -> None:
    piece = {**value, "kind": kind} if isinstance(value, dict) else value
    document = document_of(
        {SESSION_KEY: "s", "request": {"response": [piece, piece], "result": result, "timestamp": value}}
    )
    for name in ("kind", "text", "info", "answers", "first_token", "usage.input"):
        field_values(document, name)
    assert document.unreadable == 0


def test_a_request_of_2026_states_tokens_model_and_state_in_other_places() -> None:
    rounds = [{"toolCalls": [
        {"id": "hidden", "name": "think", "arguments": "{}"},
        {"id": "c2__vscode-17", "name": "read_file", "arguments": '{"path": "a"}'},
    ]}]  # fmt: skip
    metadata = {"resolvedModel": "model-2", "promptTokens": 900, "outputTokens": 40, "toolCallRounds": rounds}
    asked = request("Go", called("copilot_readFile", "c2"), {"value": "Done."}, modelId="copilot/auto",
                    result={"metadata": metadata})  # fmt: skip
    state = {"modelState": {"value": 2}, "promptTokens": 1000, "completionTokens": 2, "isSystemInitiated": True}
    stopped = request("Again", {"value": "I"}, result={"errorDetails": {"message": "Canceled"}}, **state)
    document = changes({"kind": 2, "k": ["requests"], "v": [asked, stopped]})
    rows = field_values(document, "kind", "from", "tool", "model", "usage.input", "usage.output")[1:]
    assert rows == [
        ("chat", "user", None, None, None, None),
        ("mcp/request", "copilot", "read_file", "model-2", None, None),
        ("mcp/response", "tools", "read_file", None, None, None),
        ("chat", "copilot", None, "model-2", 900, 40),
        ("chat", "vscode", None, None, None, None), ("chat", "copilot", None, None, 1000, 2),
        ("vscode/canceled", "user", None, None, None, None),
    ]  # fmt: skip


def test_calls_without_a_displayed_piece_are_listed_and_keep_the_others_apart() -> None:
    made = {
        "a": ("read_file", "rows"), "b": ("run_task", "ERROR: Your input to the tool was invalid (must be string)"),
        "c": ("grep_search", "2 hits"), "d": ("open_page", "ERROR while calling tool: Invalid URL scheme."),
        "e": ("read_file", "more rows"), "f": ("fetch_webpage", None),
    }  # fmt: skip
    results = {name: {"content": [{"value": said}]} for name, (_, said) in made.items() if said is not None}
    rounds = [
        {"toolCalls": [{"id": name, "name": tool, "arguments": json.dumps({"of": name})}]}
        for name, (tool, _) in made.items()
    ]
    shown = ("copilot_readFile", "copilot_findTextInFiles", "copilot_readFile")
    pieces = [called(tool, f"shown-{place}") for place, tool in enumerate(shown)]
    about = {"metadata": {"toolCallRounds": rounds, "toolCallResults": results}}
    document = changes({"kind": 2, "k": ["requests"], "v": [request("Look", *pieces, result=about)]})
    rows = [row for row in field_values(document, "kind", "tool", "error", "text") if row[0] == "mcp/response"]
    assert [row[1:] for row in rows] == [
        ("read_file", None, "rows"), ("run_task", True, made["b"][1]), ("grep_search", None, "2 hits"),
        ("open_page", True, made["d"][1]), ("read_file", None, "more rows"),
    ]  # fmt: skip


def test_a_tool_of_copilot_has_one_name_with_and_without_the_recorded_call() -> None:
    pieces = [
        called("copilot_readFile", "1"),
        called("copilot_getChangedFiles", "2"),
        called("copilot_listDirectory", "3"),
    ]
    document = changes({"kind": 2, "k": ["requests"], "v": [request("Look", *pieces)]})
    rows = field_values(document, "kind", "tool")
    assert [row[1] for row in rows if row[0] == "mcp/request"] == ["read_file", "get_changed_files", "list_dir"]

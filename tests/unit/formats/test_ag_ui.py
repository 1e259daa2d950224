"""Streams of AG-UI: pieces of texts and calls are joined, and snapshots show only messages that are new."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from tests.builders import document_at, lines_of, log_file, opened_document

USER = {"id": "u", "role": "user", "content": "yes"}
CALLED = {"id": "x", "type": "function", "function": {"name": "oven", "arguments": '{"rack": 2}'}}


def event(sort: str, **members: Any) -> dict[str, Any]:
    return {"type": sort, **members}


def text(identifier: str, *pieces: str) -> list[dict[str, Any]]:
    said = [event("TEXT_MESSAGE_CONTENT", messageId=identifier, delta=piece) for piece in pieces]
    start = event("TEXT_MESSAGE_START", messageId=identifier, role="assistant")
    return [start, *said, event("TEXT_MESSAGE_END", messageId=identifier)]


def call(identifier: str, *pieces: str) -> list[dict[str, Any]]:
    given = [event("TOOL_CALL_ARGS", toolCallId=identifier, delta=piece) for piece in pieces]
    start = event("TOOL_CALL_START", toolCallId=identifier, toolCallName="oven")
    return [start, *given, event("TOOL_CALL_END", toolCallId=identifier)]


def result(identifier: str) -> dict[str, Any]:
    return event("TOOL_CALL_RESULT", toolCallId=identifier, messageId="r", content="hot")


def snapshot(*messages: dict[str, Any]) -> dict[str, Any]:
    return event("MESSAGES_SNAPSHOT", messages=messages)


def read(*lines: dict[str, Any], block_bytes: int = 1 << 20) -> CaptureDocument:
    return opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)


def said(document: CaptureDocument) -> list[str | None]:
    return [info(document.analysis, row) for row in range(len(document.capture))]


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_texts_that_are_open_at_once(block_bytes: int) -> None:
    first, second = text("a", "Two ", "hours."), text("b", "Or ", "three.")
    mixed = [line for pair in zip(first, second, strict=True) for line in pair]
    document = read(*mixed, block_bytes=block_bytes)
    assert said(document) == ["Two hours.", "Or three."]
    assert (document.format, document.unreadable) == ("ag-ui", 0)


def test_a_text_without_an_end_is_shown_at_the_end() -> None:
    assert said(read(*text("a", "Two ", "hours.")[:-1])) == ["Two hours."]


def test_a_call_announced_without_arguments_is_one_call() -> None:
    document = read(*call("c"), *call("c", '{"rack":', " 2}"), result("c"))
    assert [document.capture.string("kind", row) for row in range(len(document.capture))] == [
        "mcp/request", "mcp/response",
    ]  # fmt: skip
    assert document.capture.records.payload(0)["params"] == {"name": "oven", "arguments": {"rack": 2}}


def test_a_call_without_arguments_comes_before_its_result() -> None:
    assert str(said(read(*call("c"), result("c")))[0]).startswith("oven")


def test_a_snapshot_shows_what_is_new() -> None:
    told = {"id": "t", "role": "tool", "toolCallId": "x", "content": "hot"}
    history = (USER, {"id": "y", "role": "assistant", "content": "ok", "toolCalls": [CALLED]}, told)
    document = read(*text("a", "ok"), *call("c", '{"rack": 2}'), snapshot(*history), snapshot(*history, USER))
    # The snapshot has another id for the call.
    assert said(document) == [
        "ok", "oven rack=2", "2 of 3 messages are new", "yes", "oven: hot", "1 of 4 messages are new", "yes",
    ]  # fmt: skip


def test_objects_of_a_recorder() -> None:
    times = range(1767603600000, 1767603700000)
    lines = [
        {"type": line["type"], "timestamp": time, "payload": {"event": line}}
        for line, time in zip(text("a", "ok", "!"), times, strict=False)
    ]
    document = document_at(log_file(json.dumps(lines[::-1], indent=1).encode(), "test.json"))
    assert (document.format, said(document)) == ("ag-ui", ["ok!"])


def test_a_call_waits_only_in_a_conversation_with_a_result() -> None:
    ended = event("RUN_FINISHED", threadId="k", runId="r1")
    begun = event("RUN_STARTED", threadId="k", runId="r1")
    for told, waiting in (((), 0), (result("c0"), 1)):
        lines = [*call("c0"), told] if told else []
        calls = tool_calls(read(begun, *lines, *call("c1"), *text("m", "Hot."), ended).analysis)
        assert (calls.unanswered, calls.untraced) == (waiting, 1 - waiting)

"""Answers of Ollama, saved as the lines they came in, and recorded over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.sentences import info
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, lines_of, log_file, opened_document


def line(second: int, *, done: bool = False, **fields: Any) -> dict[str, Any]:
    counts = {"done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3} if done else {}
    return {"model": "m-1", "created_at": f"2026-03-01T08:00:0{second}.1Z", **fields, "done": done, **counts}


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text, **fields}}


CALL = {"function": {"name": "oven", "arguments": {"rack": 2}}}
CHAT = [line(1, **said("Two")), line(2, **said(" hours.")), line(3, done=True, **said(""))]
GENERATED = [line(1, response="Two"), line(2, response=" hours."), line(3, done=True, response="", context=[1, 2])]
CALLED = [line(4, **said("", tool_calls=[CALL])), line(5, done=True, **said(""))]


def read(lines: list[dict[str, Any]], block_bytes: int) -> CaptureDocument:
    return opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize("lines", [CHAT, GENERATED, [line(3, done=True, **said("Two hours."))]])
def test_answer(lines: list[dict[str, Any]], block_bytes: int) -> None:
    document = read(lines, block_bytes)
    assert (document.format, len(document.capture), document.unreadable) == ("messages", 1, 0)
    assert info(document.analysis, 0) == "Two hours."
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (reported.input, reported.output) == (9, 3)


def test_answers_and_calls() -> None:
    document = read([*CHAT, *GENERATED, *CALLED], 1 << 20)
    assert [document.capture.string("kind", row) for row in range(len(document.capture))] == [
        "chat", "chat", "mcp/request",
    ]  # fmt: skip
    assert document.capture.records.payload(2)["params"] == {"name": "oven", "arguments": {"rack": 2}}
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (reported.input, reported.output) == (27, 9)


def test_other_lines_with_done() -> None:
    task = {"model": "m-1", "created_at": "today", "message": "wash up", "done": False}
    with pytest.raises(UnknownFormatError):
        read([task], 1 << 20)


# Over HTTP


TOOLS = [{"type": "function", "function": {"name": "oven", "parameters": {}}}]
QUESTION = {"role": "user", "content": "How long?"}
ASKED = {"model": "m-1", "messages": [QUESTION], "tools": TOOLS, "stream": True}
FOLLOWED = {
    "model": "m-1", "tools": TOOLS, "messages": [
        QUESTION, {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_name": "oven", "content": "hot"},
    ],
}  # fmt: skip
PROMPTED = {"model": "m-1", "system": "Be short.", "prompt": "How long?"}


def ndjson(lines: list[dict[str, Any]]) -> str:
    return lines_of(*lines).decode()


def exchange(x: int, path: str, body: dict[str, Any], **answer: Any) -> list[dict[str, Any]]:
    at, way = f"2026-03-01T08:00:1{x}", ("client->server", "server->client")
    asked = {"method": "POST", "path": path, "message": body}
    return [
        {"t": f"{at}.0Z", "dir": way[0], "kind": "http-request", "x": x, **asked},
        {"t": f"{at}.9Z", "dir": way[1], "kind": "http-response", "x": x, "status": 200, "first_ms": 200, **answer},
        {"t": f"{at}.9Z", "dir": way[1], "kind": "http-end", "x": x, "how": "complete"},
    ]  # fmt: skip


def archived(number: int, path: str, body: dict[str, Any], text: str, mime: str) -> dict[str, Any]:
    return {
        "startedDateTime": f"2026-03-01T08:00:1{number}.000Z", "time": 900,
        "request": {"method": "POST", "url": f"http://127.0.0.1:11434{path}", "headers": [],
                    "postData": {"mimeType": "application/json", "text": json.dumps(body)}},
        "response": {"status": 200, "headers": [], "content": {"mimeType": mime, "text": text}},
    }  # fmt: skip


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_chat_over_http(block_bytes: int) -> None:
    document = read(
        [
            *exchange(1, "/api/chat", ASKED, text=ndjson(CALLED)),
            *exchange(2, "/api/chat", FOLLOWED, text=ndjson(CHAT)),
            *exchange(3, "/api/chat", ASKED, message=line(3, done=True, **said("At once."))),
        ],
        block_bytes,
    )
    told = [document.capture.string("kind", row) for row in range(len(document.capture))]
    assert told.count("http/response") == 0
    calls = tool_calls(document.analysis)
    assert (calls.tools, calls.answered, calls.unanswered) == (1, 1, 0)
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (document.analysis.usage.calls_by_model(), reported.input, reported.output) == ({"m-1": 3}, 27, 9)
    texts = [document.capture.records.payload(row).get("text") for row in range(len(document.capture))]
    assert "Two hours." in texts
    assert "At once." in texts
    spaces = {FIELD_BY_NAME["space"].value(document.analysis, row) for row in range(len(document.capture))} - {None}
    assert len(spaces) == 2, "the third request begins anew"


def test_calls_of_one_tool_at_once() -> None:
    second = {"function": {"name": "oven", "arguments": {"rack": 3}}}
    called = [line(4, **said("", tool_calls=[CALL, second])), line(5, done=True, **said(""))]
    results = [{"role": "tool", "tool_name": "oven", "content": text} for text in ("hot", "cold")]
    made = {"role": "assistant", "content": "", "tool_calls": [CALL, second]}
    followed = {**FOLLOWED, "messages": [QUESTION, made, *results]}
    document = read(
        [*exchange(1, "/api/chat", ASKED, text=ndjson(called)), *exchange(2, "/api/chat", followed, text=ndjson(CHAT))],
        1 << 20,
    )
    assert (tool_calls(document.analysis).tools, tool_calls(document.analysis).answered) == (2, 2)
    linked = document.analysis.correlation.columns["answer"]
    answers = {
        info(document.analysis, row): info(document.analysis, int(linked[row]))
        for row in range(len(document.capture))
        if document.capture.string("method", row) == "tools/call" and linked[row] >= 0
    }
    assert answers == {"oven rack=2": "oven: hot", "oven rack=3": "oven: cold"}


def test_generate_over_http() -> None:
    document = read(exchange(1, "/api/generate", PROMPTED, text=ndjson(GENERATED)), 1 << 20)
    texts = [document.capture.records.payload(row).get("text") for row in range(len(document.capture))]
    assert texts[1:3] == ["Be short.", "How long?"]
    assert texts[-1] == "Two hours."
    answer = document.capture.records.payload(3)["model_call"]
    assert (answer["stop_reason"], answer["events"], answer["first_token_ms"]) == ("stop", 3, 200.0)


@pytest.mark.parametrize("rest", ['{"error":"model runner stopped"}\n', '{"model":"m-1","crea'])
def test_broken_answer_over_http(rest: str) -> None:
    document = read(exchange(1, "/api/chat", ASKED, text=ndjson(CHAT[:1]) + rest), 1 << 20)
    assert document.capture.records.payload(len(document.capture) - 1).get("text") == "Two"
    assert document.capture.failed_count == int("error" in rest)


def test_archive() -> None:
    long = [line(1, **said("word " * 40)) for _ in range(1_000)]
    at_once = json.dumps(line(3, done=True, response="At once."))
    entries = [
        archived(1, "/api/chat", ASKED, ndjson([*long, *CHAT]), "application/x-ndjson"),
        archived(2, "/api/generate", PROMPTED, at_once, "application/json"),
    ]
    archive = {"log": {"version": "1.2", "entries": entries}}
    document = document_at(log_file(json.dumps(archive).encode(), "session.har"))
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (document.analysis.usage.calls_by_model(), reported.input, reported.output) == ({"m-1": 2}, 18, 6)
    texts = [str(document.capture.records.payload(row).get("text")) for row in range(len(document.capture))]
    assert any(text.endswith("word Two hours.") and len(text) > 200_000 for text in texts)


def test_chat_of_another_server() -> None:
    message = {"messages": [{"role": "user", "content": "Hi"}]}
    document = read(exchange(1, "/api/chat", message, text="ok"), 1 << 20)
    assert [document.capture.string("kind", row) for row in range(2)] == ["http/request", "http/response"]

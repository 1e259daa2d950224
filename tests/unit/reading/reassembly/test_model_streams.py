"""Answers that were saved as the events they came in: one message each, however the log is cut, and nothing lost."""

from __future__ import annotations

import json
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.export import export_file
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.line_reading import read_line_as
from tests.builders import GrowingLog, clean_up, document_at

ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m1", "model": "claude-opus-5", "usage": {"input_tokens": 25}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Berth 4 "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "is free"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "book"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"berth":4}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 15}},
    {"type": "message_stop"},
]


def chunk(identifier: str, delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {"id": identifier, "object": "chat.completion.chunk", "model": "gpt-5.2", "choices": [choice], **more}


CHAT = [
    chunk("c1", {"role": "assistant", "content": ""}), chunk("c1", {"content": "It "}), chunk("c1", {"content": "is"}),
    chunk("c2", {"role": "assistant", "content": "No"}, usage={"prompt_tokens": 9, "completion_tokens": 1}),
]  # fmt: skip
RESPONSES: list[dict[str, Any]] = [
    {"type": "response.created", "response": {"id": "r1", "object": "response", "output": []}},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "Yes"},
    {"type": "response.completed", "response": {
        "id": "r1", "object": "response", "model": "gpt-5.2", "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes"}]}],
    }},
]  # fmt: skip


def served(events: list[dict[str, Any]]) -> str:
    """Events as a server sends them."""
    named = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    return "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip(named, events, strict=True))


def alone(events: list[dict[str, Any]]) -> str:
    """The same, an object a line."""
    return "".join(f"{json.dumps(event)}\n" for event in events)


SAID = ["Berth 4 is free", "berth=4", "It is", "No", "Yes"]


def said(document: CaptureDocument) -> list[object]:
    return [FIELD_BY_NAME["text"].value(document.analysis, row) for row in range(len(document.capture))]


@pytest.mark.parametrize("written", [served, alone])
def test_an_answer_is_put_together(written: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.sse"
    done = "data: [DONE]\n" if written is served else ""
    path.write_text(written(ANTHROPIC) + written(CHAT) + done + written(RESPONSES), "utf-8")
    document = document_at(path)
    assert (document.format, document.unreadable) == ("messages", 0)
    assert said(document) == SAID
    assert tool_calls(document.analysis).by_tool == {"book": 1}
    assert document.analysis.usage.calls_by_model() == {"claude-opus-5": 1, "gpt-5.2": 1}
    copy = tmp_path / "copy.jsonl"
    deque(export_file(document, range(len(document.capture)), copy), maxlen=0)
    assert said(document_at(copy)) == SAID


def test_chunks_need_not_say_what_they_are(tmp_path: Path) -> None:
    silent = [{key: value for key, value in one.items() if key != "object"} for one in CHAT]
    filtered = {"choices": [], "id": "", "object": "", "prompt_filter_results": []}
    path = tmp_path / "answers.sse"
    path.write_text(served([filtered, *silent, {"choices": [], "usage": {"prompt_tokens": 9}}]), "utf-8")
    document = document_at(path)
    assert (said(document), document.unreadable) == (["It is", "No"], 0)


def test_an_answer_of_gemini(tmp_path: Path) -> None:
    pieces = [{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], "responseId": name}
              for name, text in (("a", "Berth "), ("a", "4"), ("b", "None"))]  # fmt: skip
    path = tmp_path / "answers.txt"
    path.write_text(served(pieces) + served([{"promptFeedback": {"blockReason": "SAFETY"}}]), "utf-8")
    document = document_at(path)
    assert said(document) == ["Berth 4", "None", "nothing was said: SAFETY"]
    copy = tmp_path / "copy.jsonl"
    deque(export_file(document, range(len(document.capture)), copy), maxlen=0)
    assert said(document_at(copy)) == said(document)


@given(st.sets(st.integers(1, 2_000), max_size=6))
def test_any_cutting_gives_the_same(cuts: set[int]) -> None:
    data = (served(ANTHROPIC) + served(CHAT) + served(RESPONSES)).encode()
    log = GrowingLog()
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for start, stop in pairwise(places):
        log.write_bytes(data[start:stop])
    assert said(log.end()) == SAID
    clean_up()


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message_start", "message": "go"}, {"type": "response.created"}, {"type": "message_stop"},
        {"object": "chat.completion.chunk", "choices": 1}, {"type": "ping"}, {"type": "response.created", "kind": "x"},
    ],
)  # fmt: skip
def test_what_is_no_event(line: dict[str, Any]) -> None:
    assert read_line_as(json.dumps(line).encode())[1] != "messages"

"""Debug logs of the chat of VS Code: calls of models and tools, each a span in a line."""

from __future__ import annotations

import json
from typing import Any

from inspector.document.document import CaptureDocument
from tests.builders import document_at, field_values, lines_of, log_file


def span(record: str, name: str, attributes: Any, **more: Any) -> dict[str, Any]:
    known = {"ts": 1790000000000, "dur": 5, "sid": "s", "type": record, "name": name, "spanId": f"{record}-{name}"}
    return {**known, "status": "ok", "attrs": attributes, **more}


def log(*lines: Any) -> CaptureDocument:
    return document_at(log_file(lines_of(span("session_start", "session_start", {}), *lines), "main.jsonl"))


def test_a_record_of_a_newer_type_is_shown() -> None:
    document = log(span("hologram", "in three dimensions", {"depth": 3}), span("user_message", "m", {"content": "Hi"}))
    assert field_values(document, "kind", "text")[1:] == [
        ("vscode-debug/hologram", "in three dimensions"),
        ("chat", "Hi"),
    ]


def test_a_cut_answer_is_shown_as_far_as_it_goes() -> None:
    answer = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "It is high tide at noon."}]}])
    document = log(span("agent_response", "agent_response", {"response": f"{answer[:-15]}[truncated]"}))
    [(text,)] = field_values(document, "text")[1:]
    assert str(text).startswith("It is high t")


def test_an_answer_that_is_no_json_is_its_text() -> None:
    document = log(span("agent_response", "agent_response", {"response": "Plain words"}))
    assert field_values(document, "text")[1:] == [("Plain words",)]

"""Exported prompts of the chat of VS Code: calls of models by any of their APIs."""

from __future__ import annotations

import json

import pytest

from inspector.document.summary import summary
from tests.builders import document_at, log_file


@pytest.mark.parametrize("url", ["https://h.example/responses", "https://h.example/v1/messages?beta=1", "no address"])
def test_a_request_is_a_call_whichever_api_it_was_sent_to(url: str) -> None:
    metadata = {"model": "m", "url": url, "startTime": "2026-05-04T10:00:01.000Z", "duration": 500,
                "usage": {"prompt_tokens": 7, "completion_tokens": 2}}  # fmt: skip
    asked = {"messages": [{"role": 1, "content": [{"type": 1, "text": "Which tide?"}]}]}
    answer = {"type": "success", "message": ["High."]}
    log = {"id": "r1", "kind": "request", "metadata": metadata, "requestMessages": asked, "response": answer}
    export = {"prompt": "Which tide?", "logCount": 1, "logs": [log]}
    found = summary(document_at(log_file(json.dumps(export).encode(), "x.chatreplay.json")), "x")
    assert (found["models"], found["usage"]["input"], found["usage"]["output"]) == ({"m": 1}, 7, 2)

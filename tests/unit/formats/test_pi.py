"""Sessions of Pi that differ from the usual ones."""

from __future__ import annotations

import json
from typing import Any

from inspector.document.summary import summary
from tests.builders import document_at, log_file


def _summary(*messages: dict[str, Any]) -> dict[str, Any]:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/w"}
    lines = [{"type": "message", "id": f"m{number}", "timestamp": "2026-05-01T10:00:01Z", "message": message}
             for number, message in enumerate(messages)]  # fmt: skip
    return summary(document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in (header, *lines)))), "")


def test_calls_of_a_model_with_the_same_id_of_their_answers_count_each() -> None:
    usage = {"input": 12, "output": 7, "cacheRead": 0, "cacheWrite": 0}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Two."}], "model": "m", "responseId": "r"}
    found = _summary({**answer, "usage": usage}, {**answer, "usage": usage})
    assert (found["usage"]["input"], found["usage"]["output"]) == (24, 14)


def test_a_message_without_a_time_of_its_own_has_its_call() -> None:
    call = {"type": "toolCall", "id": "c", "name": "ls", "arguments": {}}
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "ls", "content": "red", "isError": False}
    found = _summary({"role": "assistant", "content": [call]}, result)
    assert (found["calls"]["tools"], found["calls"]["answered"]) == (1, 1)

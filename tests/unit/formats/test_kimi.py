"""Sessions of Kimi whose lines alone look like those of another format."""

from __future__ import annotations

import json
from typing import Any

from inspector.document.summary import summary
from tests.builders import document_at, log_file

USER = {"role": "user", "content": [{"type": "text", "text": "Count the loaves."}]}


def _summary(*lines: dict[str, Any]) -> dict[str, Any]:
    return summary(document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in lines))), "")


def test_a_record_among_the_first_decides_the_format_of_messages_before_it() -> None:
    failed = {"role": "tool", "content": "<system>ERROR: no shelf</system>", "tool_call_id": "a"}
    call = {"type": "function", "id": "a", "function": {"name": "Shell", "arguments": "{}"}}
    asked = {"role": "assistant", "content": [], "tool_calls": [call]}
    found = _summary(USER, {"role": "_checkpoint", "id": 0}, asked, failed)
    assert (found["format"], found["unreadable"]) == ("kimi", 0)
    assert (found["calls"]["tools"], found["calls"]["failed"]) == (1, 1)


def test_messages_without_such_a_record_are_those_of_a_model_api() -> None:
    assert _summary(USER, {"role": "assistant", "content": "Two."})["format"] == "messages"

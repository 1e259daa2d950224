"""Entries of a model's context are told in words, not as JSON."""

from __future__ import annotations

import json

from inspector.analysis.views.model_context import ModelContext, find_reader
from inspector.present.entry_words import entry_words
from tests.builders import document_of


def test_calls_results_and_tools_are_told_in_words() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": json.dumps({"command": "ls"})}}
    body = {
        "model": "m-1",
        "messages": [
            {"role": "user", "content": "count"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"files":3}'},
        ],
        "tools": [{"type": "function", "function": {"name": name}} for name in ("run", "read")],
    }
    line = {"t": "2026-09-01T08:00:00Z", "dir": "client->server", "kind": "http-request", "x": 1, "method": "POST"}
    document = document_of({**line, "path": "/v1/chat/completions", "headers": {}, "message": body})
    reader = find_reader(document.analysis, None, 0)
    assert reader is not None
    moment = ModelContext(document.analysis, reader).moment_at(0)
    told = [entry_words(document, moment, place) for place in range(4)]
    assert told[:3] == ["run, read", "count", "run command=ls"]
    assert told[3].startswith("run: ")

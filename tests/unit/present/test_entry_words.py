"""Entries of a model's context are told in words, not as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from inspector.analysis.views.model_context import ModelContext, find_reader
from inspector.engine.engine import Engine
from inspector.engine.requests.model_contexts import ShowModelContext
from inspector.present.entry_words import entry_words
from tests.builders import document_at, document_of, envelope, lines_of
from tests.commands import printed


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


def test_a_rejection_without_a_text_is_told_as_in_the_table(tmp_path: Path) -> None:
    call = {"method": "tools/call", "params": {"name": "run"}}
    about = {"correlation_id": ["p-1"], "to": ["planner"], "sender": "ann"}
    log = tmp_path / "log.jsonl"
    proposal = envelope("mcp/proposal", call, id="p-1", sender="planner")
    log.write_bytes(lines_of(proposal, envelope("mcp/reject", {"reason": "unsafe"}, **about)))
    told = printed("model-sees", log, "--participant", "planner")
    assert "run unsafe" in told
    assert '{"reason"' not in told


def test_a_write_of_the_same_content_is_unchanged_as_in_steps(tmp_path: Path) -> None:
    lines, session = list[str](), {"sessionId": "s-1", "version": "2.1.300", "isSidechain": False}
    for number, (role, block) in enumerate(
        (role, block)
        for call in ("t1", "t2")
        for role, block in (
            ("assistant", {"type": "tool_use", "id": call, "name": "Write", "input": {"file_path": "/a/b.txt",
                                                                                     "content": "one\n"}}),
            ("user", {"type": "tool_result", "tool_use_id": call, "content": "File written."}),
        )
    ):  # fmt: skip
        message = {"role": role, "content": [block], **({"id": f"m{number}", "model": "m"} if role != "user" else {})}
        record = {"type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, **session}
        lines.append(json.dumps({**record, "timestamp": f"2026-05-01T10:00:0{number}.000Z", "message": message}))
    log = tmp_path / "s-1.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    engine = Engine()
    parts = engine.answer_parts(engine.adopt(document_at(log)), ShowModelContext())
    words = [line.words for part in parts if isinstance(part, list) for line in part]
    assert [one for one in words if one.startswith("Write +") or "unchanged" in one] == [
        "Write +1 /a/b.txt", "Write unchanged /a/b.txt",
    ]  # fmt: skip

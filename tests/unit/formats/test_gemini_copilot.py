"""Sessions of Gemini CLI and Copilot CLI: samples, what an independent script counts, and values of any type."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from inspector.cli.commands import app
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.copilot_cli import reader as copilot
from inspector.formats.gemini_cli import reader as gemini
from inspector.protocol.record import Shape
from tests.builders import document_at, document_of, lines_of, log_file
from tests.samples import FORMAT_SAMPLES

ROOT = Path(__file__).parents[3]
SAMPLES = Path(os.environ.get("TRANSCRIPT_SAMPLES") or ROOT.parent / "shared" / "recordings" / "transcripts")
"""Sessions of other people, with what an independent script counts in them; not part of the project."""


def expected(format_: str) -> dict[str, Any]:
    try:
        found = json.loads((SAMPLES / "EXPECTED.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: counts for name, counts in found.items() if counts["format"] == format_}


@pytest.mark.parametrize("name", expected("gemini") or [pytest.param("", marks=pytest.mark.skip("no samples here"))])
def test_gemini_counts_as_an_independent_script_does(name: str) -> None:
    counts, found = expected("gemini")[name], summary(document_at(SAMPLES / name), name)
    tokens = counts["tokens"]
    assert (found["format"], found["records"], found["unreadable"]) == ("gemini-cli", counts["counts"]["records"], 0)
    assert found["usage"] == ({
        "input": tokens["input"] - tokens["cached"], "output": tokens["output"] + tokens["thoughts"],
        "cache_read": tokens["cached"], "cache_write": 0,
    } if tokens else None)  # fmt: skip
    assert (found["calls"]["tools"], found["calls"]["answered"]) == (counts["tool_calls"], counts["tool_results"])
    assert found["tool_counts"] == counts["tools"]
    assert found["kinds"].get("reasoning/thought", 0) == counts["thoughts"]
    assert set(found["findings"]) <= {"request-unanswered", "secret-in-clear"}


_COPILOT = {name: one for name, one in expected("copilot-cli").items() if "catalogue" not in name}
"""But for those whose ids are placeholders."""


@pytest.mark.parametrize("name", _COPILOT or [pytest.param("", marks=pytest.mark.skip("no samples here"))])
def test_copilot_counts_as_an_independent_script_does(name: str) -> None:
    counts, found = _COPILOT[name], summary(document_at(SAMPLES / name), name)
    assert (found["format"], found["records"], found["unreadable"]) == ("copilot-cli", counts["records"], 0)
    calls = {"tools": counts["tool_calls"], "answered": counts["paired"], "failed": counts["failed_results"]}
    assert found["calls"] == {**calls, "unanswered": counts["tool_calls"] - counts["paired"], "rejected": 0}
    assert (found["usage"] or {"output": 0})["output"] == counts["output_tokens"]
    assert (found["sub_agents"], found["findings"]) == (counts["sub_agents"], {})


def test_a_message_that_is_written_again_with_more_is_one() -> None:
    document = document_at(FORMAT_SAMPLES["gemini-cli.jsonl"])
    found = summary(document, "")
    assert found["usage"] == {"input": 300, "output": 58, "cache_read": 2200, "cache_write": 0}
    assert found["models"] == {"gemini-3-pro": 2}
    assert found["calls"] == {"tools": 2, "answered": 2, "failed": 1, "unanswered": 0, "rejected": 0}
    repeats = FIELD_BY_NAME["repeats"]
    assert [m + 1 for m in range(len(document.capture)) if repeats.value(document.analysis, m)] == [5, 6]


def test_a_sub_agent_of_copilot_is_a_context() -> None:
    document = document_at(FORMAT_SAMPLES["copilot-cli.jsonl"])
    found = summary(document, "")
    assert (found["sub_agents"], found["contexts"]) == (1, 1)
    assert found["calls"] == {"tools": 2, "answered": 2, "failed": 1, "unanswered": 0, "rejected": 0}
    assert found["usage"]["output"] == 17


def test_other_lines_are_neither() -> None:
    for written in (
        {"id": "1", "timestamp": "t", "type": "user", "content": "x", "kind": "chat"},
        {"id": "1", "timestamp": "t", "type": "pilot", "content": "x"},
        {"type": "session.start", "data": {}, "timestamp": "t"},
        {"$set": {}, "other": 1},
    ):
        line = json.dumps(written).encode()
        assert (gemini.READER.read(line), copilot.READER.read(line)) == (None, None)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["text", "id", "name", "args", "result", "functionResponse", "response", "output", "toolCallId", "type", "data"]
    ), inner, max_size=4), max_leaves=6,
)  # fmt: skip
_GEMINI = ("content", "thoughts", "toolCalls", "tokens", "model", "id", "displayContent")
_EVENTS = ("user.message", "assistant.message", "tool.execution_complete", "subagent.started", "session.error", "abort")


@example({"content": "", "toolCalls": [None]}, "gemini")  # a message has a row also if none of its calls is an object
@example({"content": "", "thoughts": [None]}, "gemini")
@given(st.dictionaries(st.sampled_from(_GEMINI), _VALUES), st.sampled_from(["user", "gemini", "error"]))
def test_gemini_of_any_values_is_read(members: dict[str, Any], sort: str) -> None:
    message = {"id": "m", "timestamp": "2026-05-02T09:00:00Z", "content": "x", **members, "type": sort}
    line = json.dumps({"sessionId": "s", "projectHash": "p", "messages": [message]}).encode()
    record = gemini.READER.read(line)
    assert record is not None
    assert record.shape is Shape.DERIVED
    assert all(isinstance(gemini.READER.payload(line, n), dict) for n in range(len(record.derived_messages)))


_DATA = (
    "content", "toolRequests", "toolCallId", "result", "success", "message", "attachments", "agentName", "outputTokens",
    "parentToolCallId", "error",
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(_DATA), _VALUES), st.sampled_from(_EVENTS))
def test_copilot_of_any_values_is_read(members: dict[str, Any], sort: str) -> None:
    event = {"type": sort, "data": members, "id": "e", "timestamp": "2026-05-02T09:00:00Z", "parentId": None}
    line = json.dumps(event).encode()
    record = copilot.READER.read(line)
    assert record is not None
    assert record.shape is Shape.DERIVED
    assert all(isinstance(copilot.READER.payload(line, n), dict) for n in range(len(record.derived_messages)))


def _said(identifier: str, sort: str, text: str, second: int, **more: Any) -> dict[str, Any]:
    when = f"2026-01-02T03:04:{second:02}.000Z"
    return {"id": identifier, "timestamp": when, "type": sort, "content": text, **more}


def _begun(session: str, **more: Any) -> dict[str, Any]:
    return {"sessionId": session, "projectHash": "abc", "startTime": "2026-01-02T03:04:00.000Z", **more}


def test_what_a_user_of_gemini_went_back_from_is_no_more_seen() -> None:
    lines = (
        _begun("s"), _said("1", "user", "one", 1), _said("2", "gemini", "first", 2), _said("3", "user", "two", 3),
        _said("4", "gemini", "second", 4), {"$rewindTo": "3"}, _said("5", "user", "three", 5),
        _said("6", "gemini", "third", 6),
    )  # fmt: skip
    path = log_file(lines_of(*lines))
    told = CliRunner().invoke(app, ["model-sees", str(path), "--participant", "gemini", "--json"])
    assert [entry["no"] for entry in json.loads(told.stdout)["entries"]] == [2, 3, 7, 8]


def test_a_history_of_gemini_that_was_written_anew_stands_for_all_before() -> None:
    kept = [_said("9", "user", "what was said so far", 5), _said("2", "gemini", "first", 2)]
    document = document_of(
        _begun("s"), _said("1", "user", "one", 1), _said("2", "gemini", "first", 2), {"$set": {"messages": kept}},
        {"$set": {"lastUpdated": "x"}}, _said("3", "gemini", "second", 6),
    )  # fmt: skip
    kind = FIELD_BY_NAME["kind"]
    found = [kind.value(document.analysis, m) for m in range(len(document.capture))]
    assert found[3:] == ["participant/compact-done", "gemini/set", "chat"]
    assert document.capture.records.payload(3)["text"] == "user: what was said so far\n\ngemini: first"


def test_a_sub_agent_of_gemini_is_a_context_of_its_session(tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    (chats / "s").mkdir(parents=True)
    result = [{"functionResponse": {"response": {"output": "seen"}}}]
    call = {"id": "c1", "name": "investigator", "args": {}, "agentId": "a1", "status": "success", "result": result}
    own = [_begun("s", kind="main"), _said("1", "user", "go", 1), _said("2", "gemini", "", 2, toolCalls=[call])]
    sub = [_begun("a1", kind="subagent"), _said("x", "user", "look", 3), _said("y", "gemini", "seen", 4)]
    (chats / "session-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in own), "utf-8")
    (chats / "s" / "a1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in sub), "utf-8")
    document = CaptureDocument()
    document.load(chats / "session-1.jsonl", together=True)
    fields = [FIELD_BY_NAME[name] for name in ("from", "context", "text", "space")]
    rows = [tuple(field.value(document.analysis, m) for field in fields) for m in range(len(document.capture))]
    assert [row[:3] for row in rows if row[1] and row[2] in ("look", "seen")] == [
        ("gemini", "a1", "look"), ("agent#a1", "a1", "seen"),
    ]  # fmt: skip
    assert {row[3] for row in rows} == {"s"}
    document.close()


def test_what_a_session_of_copilot_took_in_stands_at_its_end() -> None:
    details = {"input": {"tokenCount": 100}, "output": {"tokenCount": 17}, "cache_read": {"tokenCount": 5}}
    data = {"sessionStartTime": 1, "tokenDetails": details}
    end = {"type": "session.shutdown", "data": data, "id": "e", "timestamp": "2026-01-02T03:04:09Z", "parentId": "d"}
    lines = [json.loads(line) for line in (FORMAT_SAMPLES["copilot-cli.jsonl"]).read_text("utf-8").splitlines()]
    found = summary(document_of(*lines, end, end), "")
    assert found["usage"] == {"input": 100, "output": 17, "cache_read": 5, "cache_write": 0}

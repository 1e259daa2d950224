"""Sessions of Gemini CLI and Copilot CLI: samples, what an independent script counts, and values of any type."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.summary import summary
from inspector.filters.fields import FIELD_BY_NAME
from inspector.protocol.formats import copilot, gemini
from inspector.protocol.formats.refused import refusal
from inspector.protocol.record import Shape
from tests.builders import document_at

ROOT = Path(__file__).parents[4]
OWN = ROOT / "tests" / "data" / "formats"
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
    assert found["calls"] == {**calls, "unanswered": counts["tool_calls"] - counts["paired"]}
    assert (found["usage"] or {"output": 0})["output"] == counts["output_tokens"]
    assert (found["sub_agents"], found["findings"]) == (counts["sub_agents"], {})


def test_a_message_that_is_written_again_with_more_is_one() -> None:
    document = document_at(OWN / "gemini-cli.jsonl")
    found = summary(document, "")
    assert found["usage"] == {"input": 300, "output": 58, "cache_read": 2200, "cache_write": 0}
    assert found["models"] == {"gemini-3-pro": 2}
    assert found["calls"] == {"tools": 2, "answered": 2, "failed": 1, "unanswered": 0}
    repeats = FIELD_BY_NAME["repeats"]
    assert [m + 1 for m in range(len(document.capture)) if repeats.value(document.analysis, m)] == [5, 6]


def test_a_sub_agent_of_copilot_is_a_context() -> None:
    document = document_at(OWN / "copilot-cli.jsonl")
    found = summary(document, "")
    assert (found["sub_agents"], found["contexts"]) == (1, 1)
    assert found["calls"] == {"tools": 2, "answered": 2, "failed": 1, "unanswered": 0}
    assert found["usage"]["output"] == 17


def test_other_lines_are_neither() -> None:
    for written in (
        {"id": "1", "timestamp": "t", "type": "user", "content": "x", "kind": "chat"},
        {"id": "1", "timestamp": "t", "type": "pilot", "content": "x"},
        {"type": "session.start", "data": {}, "timestamp": "t"},
        {"$set": {}, "other": 1},
    ):
        line = json.dumps(written).encode()
        assert (gemini.read(line), copilot.read(line)) == (None, None)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"resourceSpans": []}, "OpenTelemetry"), ({"batches": [{}]}, "OpenTelemetry"),
        ({"data": [{"traceID": "x"}]}, "Jaeger"), ({"kind": 0, "v": {}}, "VS Code"),
        ({"log": {"version": "1.2", "entries": []}}, "HAR"),
    ],
)  # fmt: skip
def test_what_is_known_and_not_read_is_refused_by_name(value: Any, words: str) -> None:
    assert words in (refusal(json.dumps(value).encode()) or "")


def test_near_misses_are_not_refused() -> None:
    for value in (
        {"kind": "chat", "v": 1},
        {"kind": 0, "from": "a", "v": 1},
        {"log": "text"},
        {"info": "x"},
        {"data": [1]},
    ):
        assert refusal(json.dumps(value).encode()) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["text", "id", "name", "args", "result", "functionResponse", "response", "output", "toolCallId", "type", "data"]
    ), inner, max_size=4), max_leaves=6,
)  # fmt: skip
_GEMINI = ("content", "thoughts", "toolCalls", "tokens", "model", "id", "displayContent")
_EVENTS = ("user.message", "assistant.message", "tool.execution_complete", "subagent.started", "session.error", "abort")


@given(st.dictionaries(st.sampled_from(_GEMINI), _VALUES), st.sampled_from(["user", "gemini", "error"]))
def test_gemini_of_any_values_is_read(members: dict[str, Any], sort: str) -> None:
    message = {"id": "m", "timestamp": "2026-05-02T09:00:00Z", "content": "x", **members, "type": sort}
    line = json.dumps({"sessionId": "s", "projectHash": "p", "messages": [message]}).encode()
    record = gemini.read(line)
    assert record is not None
    assert record.shape is Shape.MEANING
    assert all(isinstance(gemini.payload(line, n), dict) for n in range(len(record.means)))


_DATA = (
    "content", "toolRequests", "toolCallId", "result", "success", "message", "attachments", "agentName", "outputTokens",
    "parentToolCallId", "error",
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(_DATA), _VALUES), st.sampled_from(_EVENTS))
def test_copilot_of_any_values_is_read(members: dict[str, Any], sort: str) -> None:
    event = {"type": sort, "data": members, "id": "e", "timestamp": "2026-05-02T09:00:00Z", "parentId": None}
    line = json.dumps(event).encode()
    record = copilot.read(line)
    assert record is not None
    assert record.shape is Shape.MEANING
    assert all(isinstance(copilot.payload(line, n), dict) for n in range(len(record.means)))

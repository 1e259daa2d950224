"""Sessions of Claude Code, read to their end: counted once, linked, told apart."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.findings.check_table import CHECKS
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.document.document import CaptureDocument
from inspector.document.summary import message_story, summary
from inspector.filters import compile_filter
from inspector.present.findings import failed_filter
from tests.builders import document_at, document_of
from tests.samples import FORMAT_SAMPLES

ROOT = Path(__file__).parents[3]
OWN = FORMAT_SAMPLES["claude-code.jsonl"]
SAMPLES = Path(os.environ.get("TRANSCRIPT_SAMPLES") or ROOT.parent / "shared" / "recordings" / "transcripts")
"""Sessions of other people, with what an independent script counts in them; not part of the project."""


ON_TRANSCRIPTS = {check.code for check in CHECKS if check.on_transcripts}


def expected() -> dict[str, Any]:
    try:
        found = json.loads((SAMPLES / "EXPECTED.json").read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: counts for name, counts in found.items() if counts["format"] == "claude"}


@pytest.mark.parametrize("name", expected() or [pytest.param("", marks=pytest.mark.skip("no samples here"))])
def test_a_sample_counts_as_an_independent_script_counts_it(name: str) -> None:
    counts, document = expected()[name], document_at(SAMPLES / name)
    found = summary(document, name)
    tokens = counts["tokens"]
    usage = found["usage"] or dict.fromkeys(("input", "output", "cache_read", "cache_write"), 0)
    assert usage == {
        "input": tokens["input_tokens"], "output": tokens["output_tokens"],
        "cache_read": tokens["cache_read_input_tokens"], "cache_write": tokens["cache_creation_input_tokens"],
    }  # fmt: skip
    assert (found["format"], found["records"], found["unreadable"]) == ("claude-code", counts["records"], 0)
    # The program's own words are no call of a model; of a call whose model is not named it is not said.
    models = {model: n for model, n in counts["models"].items() if n and model not in ("<synthetic>", "None")}
    if "trimmed" not in json.dumps(counts["sub_agents"]):  # placeholders for ids: calls cannot be told apart
        assert found["models"] == models
        assert found["calls"]["tools"] == counts["tool_calls"]
        assert found["calls"]["answered"] == counts["paired"]
        assert found["tool_counts"] == counts["tools"]
        assert found["calls"]["unanswered"] == counts["unanswered"]
        assert found["sub_agents"] >= len(counts["sub_agents"])
    assert set(found["findings"]) <= ON_TRANSCRIPTS


NEAR = {
    "tool-fails-again": "claude/v2.1.31-tool-errors.jsonl",  # three commands in a row, and an edit
    "agent-in-circles": "claude/v2.1.33-ask-user.jsonl",  # a command twice running
    "context-full": "claude/v2.1.14-microcompact-excerpt.jsonl",  # results are taken out, nothing is summed up
    "model-call-failed": "codex/v0.66-real.jsonl",  # calls of tools fail, none of the model
}
"""Real sessions in which a check finds nothing, and nearly could."""


@pytest.mark.parametrize("code", NEAR)
def test_a_check_is_silent_where_real_sessions_come_near(code: str) -> None:
    if not (SAMPLES / NEAR[code]).exists():
        pytest.skip("no samples here")
    assert code not in summary(document_at(SAMPLES / NEAR[code]), "")["findings"]


def test_retries_are_one_failure_until_something_is_said() -> None:
    name = "claude/v2.1.5-api-errors-excerpt.jsonl"
    if not (SAMPLES / name).exists():
        pytest.skip("no samples here")
    found = document_at(SAMPLES / name)
    assert rows(found, 'kind == "system/error"') == [5, 6, 7, 14, 15, 16, 17, 18, 19, 20, 21]
    assert rows(found, 'finding == "model-call-failed"') == [5, 14]


@pytest.fixture
def document() -> CaptureDocument:
    return document_at(OWN)


def rows(document: CaptureDocument, text: str) -> list[int]:
    found = compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))
    return (found.nonzero()[0] + 1).tolist()


def test_a_session_in_figures(document: CaptureDocument) -> None:
    found = summary(document, "")
    assert found["usage"] == {"input": 38, "output": 451, "cache_read": 35_180, "cache_write": 6_180}
    assert found["models"] == {"claude-opus-4-5-20251101": 4, "claude-haiku-4-5-20251001": 2}
    assert found["calls"] == {"tools": 4, "answered": 4, "failed": 1, "unanswered": 0, "rejected": 0}
    assert (found["records"], found["messages"], found["sub_agents"], found["findings"]) == (
        27, 30, 1, {"context-full": 1, "model-call-failed": 2},
    )  # fmt: skip


def test_fields_of_transcripts(document: CaptureDocument) -> None:
    assert rows(document, 'model == "claude-haiku-4-5-20251001"') == [13, 15]
    assert rows(document, "usage.output > 90") == [5, 10]
    assert rows(document, "repeats") == [16, 26]
    assert rows(document, 'payload.params.arguments.pattern == "total"') == [5]
    assert rows(document, '"rounds once"') == [8]
    assert rows(document, 'context under "toolu_2"') == [12, 13, 14, 15]
    assert rows(document, 'kind like "claude/*"') == [1, 2, 6, 19, 29, 30]


def test_a_sub_agent_is_a_context_that_its_call_opens_and_its_result_concludes(document: CaptureDocument) -> None:
    contexts = document.analysis.contexts
    (node,) = contexts.tree.alive()
    assert (contexts.label(node), contexts.type(node), contexts.state(node, None)) == (
        "Find roundings", "sub-agent", "concluded",
    )  # fmt: skip
    assert (contexts.started_by[node], contexts.concluded_by[node]) == (11, 15)
    assert document.analysis.correlation.causes(11) == [8]


def test_a_message_has_an_envelope_made_of_its_record(document: CaptureDocument) -> None:
    story = message_story(document, 12)
    assert story["envelope"] == {
        "id": "toolu_4", "ts": "2026-03-04T09:00:09.333Z", "from": "general-purpose#toolu_2", "to": ["tools"],
        "kind": "mcp/request", "correlation_id": ["s1"], "context": "toolu_2",
        "payload": {"method": "tools/call", "params": {"name": "Bash", "arguments": {"command": "grep -rn round src"}}},
    }  # fmt: skip
    assert document.capture.records.read_line_of(12) in OWN.read_bytes()
    assert message_story(document, 25)["repeats"] == 25
    assert message_story(document, 24)["repeats"] is None


def sees(document: CaptureDocument, name: str, at: int) -> list[tuple[int, str]]:
    """What stands in the context of an agent's model once a message, from 1, has arrived: number and role."""
    space = int(document.capture.columns["space"][0])
    moment = ModelContext(document.analysis, Reader(space, name)).moment_at(at - 1)
    return [(entry.message + 1, entry.role.word) for entry in moment.entries()]


def test_what_a_model_sees_is_its_own_conversation(document: CaptureDocument) -> None:
    own = [(3, "user"), (4, "assistant"), (5, "assistant"), (7, "tool"), (8, "assistant"), (9, "assistant")]
    assert sees(document, "claude", 16) == [*own, (10, "assistant"), (11, "tool"), (16, "tool")]
    assert sees(document, "general-purpose#toolu_2", 30) == [
        (12, "user"), (13, "assistant"), (14, "tool"), (15, "assistant"),
    ]  # fmt: skip


def test_a_summary_stands_for_what_was_compacted(document: CaptureDocument) -> None:
    assert (22, "user") in sees(document, "claude", 23)
    assert sees(document, "claude", 30) == [(24, "user"), (25, "assistant")]
    space = int(document.capture.columns["space"][0])
    reported = ModelContext(document.analysis, Reader(space, "claude")).moment_at(29).reported()
    assert reported is not None
    assert (reported.message, reported.tokens) == (24, 2_405)


def test_what_a_user_went_back_from_has_left() -> None:
    def record(kind: str, uuid: str, parent: str | None, content: Any) -> str:
        message = {"role": kind, "content": content, "id": f"m-{uuid}", "model": "m"}
        made = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": message}
        return json.dumps({**made, "timestamp": "2026-03-04T09:00:00.000Z"})

    def said(uuid: str, parent: str) -> str:
        return record("assistant", uuid, parent, [{"type": "text", "text": uuid}])

    calls = [{"type": "tool_use", "id": name, "name": "Bash", "input": {}} for name in ("t1", "t2")]
    results = [[{"type": "tool_result", "tool_use_id": name, "content": name}] for name in ("t1", "t2")]
    forked = document_of(
        record("user", "a", None, "Begin."), said("b", "a"), record("user", "c", "b", "Go left."), said("d", "c"),
        record("user", "e", "b", "Go right."), record("assistant", "f", "e", calls),
        record("user", "g", "f", results[0]), record("user", "h", "f", results[1]),
    )  # fmt: skip
    assert [number for number, _ in sees(forked, "claude", 4)] == [1, 2, 3, 4]
    assert [number for number, _ in sees(forked, "claude", 9)] == [1, 2, 5, 6, 7, 8, 9]


def test_copies_cost_nothing_again(document: CaptureDocument) -> None:
    document.count_tokens()
    tokens = document.analysis.tokens.columns["tokens"]
    assert tokens[24] > 0
    assert (tokens[25], tokens[0], tokens[5]) == (0, 0, 0)


def test_the_filter_of_failures_shows_as_many_as_are_counted(tmp_path: Path) -> None:
    """A result that says a sub-agent's last words again, and that it failed, is a failure of its own."""
    path, result = tmp_path / OWN.name, b'{"tool_use_id":"toolu_2",'
    path.write_bytes(OWN.read_bytes().replace(result, result + b'"is_error":true,'))
    document = document_at(path)
    assert rows(document, "repeats") == [26]
    found = rows(document, failed_filter(document.capture))
    assert 16 in found
    assert document.capture.failed_count == len(found)

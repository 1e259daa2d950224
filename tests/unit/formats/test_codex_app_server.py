"""Connections of `codex app-server`: threads, approvals with decisions, changed files, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.steps.call_facts import KeptCalls
from inspector.analysis.views.steps.step_table import StepTable, step_table
from inspector.analysis.views.steps.time_split import split_time
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.document.summary import summary
from inspector.engine.engine import Engine
from inspector.engine.requests.steps import ListSteps, StepQuestion
from inspector.engine.requests.turns import ListTurns
from inspector.filters.sentences import info
from inspector.formats.codex import app_server
from inspector.present.account_sentences import AccountSentences
from inspector.present.usage_sentences import UsageSentences
from tests.builders import account_tally, closed_at_end, document_at

_SAMPLE = Path(app_server.__file__).parent / "samples" / "codex-app-server.jsonl"


@pytest.fixture
def document() -> CaptureDocument:
    return document_at(_SAMPLE)


def _texts(document: CaptureDocument, kind: str) -> list[str | None]:
    code = document.capture.strings.find(kind)
    rows = [row for row, one in enumerate(document.capture.columns["kind"][:].tolist()) if one == code]
    return [info(document.analysis, row) for row in rows]


def test_a_thread_that_an_agent_started_has_a_context_of_its_own(document: CaptureDocument) -> None:
    contexts = [document.capture.string("context", row) or "main" for row in (28, 29, 30, 32)]
    assert contexts == ["thr-2", "thr-2", "main", "main"]
    assert [document.capture.string("sender", row) for row in (28, 32)] == ["agent#thr-2", "codex"]


def test_an_independent_thread_is_no_sub_agent(tmp_path: Path) -> None:
    def line(thread: str, number: int, item: dict[str, Any]) -> dict[str, Any]:
        params = {"threadId": thread, "turnId": "turn", "item": {"id": f"{thread}-{number}", **item}}
        return {"method": "item/completed", "params": params, "emittedAtMs": 1_777_629_600_000 + number * 1_000}

    asked = {"type": "userMessage", "content": [{"type": "text", "text": "Which kites?"}]}
    told = {"type": "agentMessage", "text": "Two."}
    lines = [line(thread, number, item) for thread in ("a", "b") for number, item in enumerate((asked, told))]
    path = tmp_path / "connection.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    document = document_at(path)
    assert [document.capture.string("context", row) for row in range(4)] == [None, None, "b", "b"]
    assert [document.capture.string("sender", row) for row in range(4)] == ["user", "codex", "user", "codex"]
    assert not any(agent.is_agent for agent in document.capture.transcripts.agents.values())
    assert len(step_table(document.analysis).prompts) == 2


def _asks(thread: str, number: int) -> dict[str, Any]:
    params = {"threadId": thread, "turnId": "turn", "itemId": f"{thread}-{number}", "command": "ls"}
    return {"method": "item/commandExecution/requestApproval", "id": number, "params": params}


_ACCEPTED = {"result": {"decision": "accept"}}
_SUB_STARTED = {
    "method": "thread/started",
    "params": {"thread": {"id": "SUB", "parentThreadId": "main", "agentRole": "r"}},
}


def _starts(thread: str) -> dict[str, Any]:
    return {"method": "turn/started", "params": {"threadId": thread, "turn": {"id": "turn"}}}


def _write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def _ways(document: CaptureDocument, *rows: int) -> list[tuple[str | None, str | None, tuple[str, ...]]]:
    capture = document.capture
    return [(capture.string("context", row), capture.string("sender", row), capture.recipients(row)) for row in rows]


def test_a_sub_agent_asks_the_person(tmp_path: Path) -> None:
    told = {"threadId": "SUB", "item": {"id": "m", "type": "agentMessage", "text": "Two."}}
    lines = (
        _starts("main"), _SUB_STARTED, _asks("SUB", 0), {"id": 0, **_ACCEPTED},
        _asks("main", 1), {"id": 1, **_ACCEPTED}, {"method": "item/completed", "params": told},
    )  # fmt: skip
    document = document_at(_write(tmp_path / "connection.jsonl", *lines))
    assert _ways(document, 2, 3, 4, 5, 6) == [
        ("SUB", "r#SUB", ("user",)), ("SUB", "user", ("r#SUB",)),
        (None, "codex", ("user",)), (None, "user", ("codex",)), ("SUB", "r#SUB", ("codex",)),
    ]  # fmt: skip


def test_an_answer_belongs_to_a_question_of_its_own_log(tmp_path: Path) -> None:
    first = _write(tmp_path / "a.jsonl", _starts("main"), _SUB_STARTED, _asks("SUB", 0))
    second = _write(tmp_path / "b.jsonl", _starts("other"), _asks("other", 0), {"id": 0, **_ACCEPTED})
    document = closed_at_end(CaptureDocument())
    run_to_end(document.open_together([SourceChoice(first), SourceChoice(second)]))
    answers = [row for row in range(len(document.capture)) if document.capture.string("sender", row) == "user"]
    assert _ways(document, *answers) == [(None, "user", ("codex",))]


def test_a_later_question_with_the_same_id_takes_the_answer(tmp_path: Path) -> None:
    accepted = {"id": 0, **_ACCEPTED}
    lines = (_starts("main"), _SUB_STARTED, _asks("SUB", 0), _asks("main", 0), accepted, _asks("SUB", 0), accepted)
    document = document_at(_write(tmp_path / "connection.jsonl", *lines))
    assert [way[0] for way in _ways(document, 4, 6)] == [None, "SUB"]


def _steps(document: CaptureDocument) -> StepTable:
    return step_table(document.analysis)


def test_a_decision_without_a_time_has_come_by_the_next_message(document: CaptureDocument) -> None:
    table = _steps(document)
    asked, proposed = int(table.step_of[19]), int(table.step_of[20])
    assert (table.took_ns[[asked, proposed]] / 1e9).tolist() == [0.5, 0.5]
    assert split_time(table, table.step_of[[19, 20]]).person == 500_000_000


def test_questions_of_permission_are_no_calls() -> None:
    engine = Engine()
    log = engine.adopt(document_at(_SAMPLE))
    turns = engine.answer_request(log, ListTurns())
    assert (turns[0].calls, turns[0].rejected) == (5, 1)
    head = engine.answer_request(log, ListSteps(StepQuestion())).head
    assert (head.model_calls, head.calls, head.failed, head.rejected) == (2, 5, 1, 1)


def test_questions_decisions_and_changes_are_words(document: CaptureDocument) -> None:
    assert _texts(document, "mcp/proposal") == ["Asks to run: cat attic.txt, outside", "Asks to change files: writes"]
    assert _texts(document, "mcp/reject") == ["not allowed"]
    assert "{" not in (info(document.analysis, 19) or "")


def test_errors_are_told_in_their_own_words(document: CaptureDocument) -> None:
    lines = AccountSentences(document, account_tally(document)).failure_lines()
    assert "2 errors reported by codex-cli: stream disconnected; usage limit" in [line.text for line in lines]


_BEGUN_MS = 1_777_629_600_000


def _item(method: str, at_ms: int, **item: Any) -> dict[str, Any]:
    return {
        "method": f"item/{method}",
        "emittedAtMs": _BEGUN_MS + at_ms,
        "params": {"threadId": "main", "turnId": "t", "item": item},
    }


def test_a_tool_runs_after_the_decision_that_allowed_it(tmp_path: Path) -> None:
    command = {"type": "commandExecution", "id": "c1", "command": "/bin/bash -lc 'npm test'"}
    ran = _item("completed", 15_100, **command, status="completed", aggregatedOutput="ok", exitCode=0, durationMs=5_000)
    question = {"threadId": "main", "turnId": "t", "itemId": "c1", "command": "npm test"}
    asks = {**_asks("main", 0), "params": question, "emittedAtMs": _BEGUN_MS + 4_100}
    accepts = {"id": 0, "result": {"decision": "accept"}, "emittedAtMs": _BEGUN_MS + 10_100}
    log = _write(tmp_path / "log.jsonl", _starts("main"), _item("started", 4_000, **command), asks, accepts, ran)
    table = _steps(document_at(log))
    split = split_time(table, np.arange(len(table)))
    assert (split.person, split.tools) == (6_000_000_000, 5_000_000_000)


def test_changed_files_model_and_commands_are_those_of_the_thread(tmp_path: Path) -> None:
    difference = "@@ -1 +1,2 @@\n-0\n+0.0\n+1\n"
    change = {"path": "/w/total.js", "kind": {"type": "update", "move_path": None}, "diff": difference}
    added = {"path": "/w/new.js", "kind": {"type": "add"}, "diff": "a\nb\n"}
    edit = {"type": "fileChange", "id": "f1", "changes": [change, added]}
    command = {"type": "commandExecution", "id": "c1", "command": "/bin/zsh -lc \"rg -n 'x y' src\""}
    used = {"last": {"inputTokens": 9, "outputTokens": 1}, "total": {"totalTokens": 10}}
    log = _write(
        tmp_path / "log.jsonl", {"id": 1, "result": {"thread": {"id": "main"}, "model": "gpt-x"}}, _starts("main"),
        _item("started", 1_000, **edit), _item("completed", 1_100, **edit, status="completed"),
        _item("started", 1_200, **command), _item("completed", 1_300, **command, status="completed", exitCode=0),
        {"method": "thread/tokenUsage/updated", "params": {"threadId": "main", "tokenUsage": used}},
    )  # fmt: skip
    document = document_at(log)
    facts = run_to_end(KeptCalls(document.analysis).facts())
    files = {file.path: (file.added, file.removed, file.edits, file.writes) for file in facts.files()}
    assert files == {"/w/total.js": (2, 1, 1, 0), "/w/new.js": (2, 0, 0, 1)}
    assert [one.command for one in facts.commands()] == ["rg -n 'x y' src"]
    told = UsageSentences(document, None, None).usage_lines()
    assert "1 call of gpt-x" in told[0].text


def test_each_thread_of_a_connection_keeps_its_model(tmp_path: Path) -> None:
    def used(thread: str, total: int) -> dict[str, Any]:
        told = {"last": {"inputTokens": 9, "outputTokens": 1}, "total": {"totalTokens": total}}
        return {"method": "thread/tokenUsage/updated", "params": {"threadId": thread, "tokenUsage": told}}

    begun = [
        {"id": number, "result": {"thread": {"id": thread}, "model": model}}
        for number, (thread, model) in enumerate((("a", "gpt-a"), ("b", "gpt-b")))
    ]
    log = _write(tmp_path / "log.jsonl", *begun, used("a", 10), used("b", 10), used("a", 20))
    assert summary(document_at(log), "x")["models"] == {"gpt-a": 2, "gpt-b": 1}

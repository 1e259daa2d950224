"""What is said about objects that are odd, and that nothing is said about those that are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.msp import problems
from inspector.msp.document import SessionDocument

DATA = Path(__file__).parents[2] / "data" / "msp"


@pytest.fixture
def check(tmp_path: Path):
    def checks(**members: Any) -> list[tuple[str, str]]:
        sub = {"subsession_id": "s", "parent_session_id": "m", "label": "units", "messages": []} | members
        (tmp_path / "x.json").write_text(json.dumps([{"session_id": "m", "sub_context": {}}, sub]))
        document = SessionDocument.read([tmp_path / "x.json"])
        return [(problem.code, problem.place.removeprefix("x.json $[1]")) for problem in document.problems]

    return checks


def _message(**members: Any) -> dict[str, Any]:
    return {"id": "q", "role": "user", "content": "a"} | members


@pytest.mark.parametrize("name", ["one-file.json", "nested.json", "lines.jsonl", "array.json", "unknown-fields.json"])
def test_good_documents_have_no_problems(name: str):
    assert SessionDocument.read([DATA / name]).problems == []


@pytest.mark.parametrize(
    ("members", "code", "place"),
    [
        ({"status": "closed"}, problems.STATUS, ".status"),
        ({"status": "Discarded", "closed_at": None}, problems.STATUS, ".status"),
        ({"status": "paused"}, problems.STATUS, ".status"),
        ({"status": "active", "closed_at": "2026-01-01T00:00:00Z"}, problems.STATUS, ".status"),
        (
            {"created_at": "2026-01-02T00:00:00Z", "closed_at": "2026-01-01T00:00:00Z"},
            problems.TIMES,
            ".closed_at",
        ),
        ({"created_at": "soon"}, problems.INVALID, ".created_at"),
        ({"context_policy": {"include_snapshots": 1}}, problems.INVALID, ".context_policy.include_snapshots"),
        ({"context_policy": []}, problems.INVALID, ".context_policy"),
        ({"messages": {}}, problems.INVALID, ".messages"),
        ({"messages": [3]}, problems.UNREADABLE, ".messages[0]"),
        ({"messages": [_message(visibility="main_only")]}, problems.VISIBILITY, ".messages[0].visibility"),
        ({"messages": [_message(visibility="x")]}, problems.INVALID, ".messages[0].visibility"),
        ({"messages": [_message(visibility=["x"])]}, problems.INVALID, ".messages[0].visibility"),
        ({"messages": [_message(), _message()]}, problems.DUPLICATE, ".messages[1].id"),
        ({"messages": [_message(content=5)]}, problems.INVALID, ".messages[0].content"),
        ({"messages": [_message(timestamp="today")]}, problems.INVALID, ".messages[0].timestamp"),
        ({"messages": [{"role": "user", "content": ""}]}, problems.INVALID, ".messages[0].id"),
    ],
)
def test_each_fault_is_told_once_with_its_place(check, members: dict[str, Any], code: str, place: str):
    assert check(**members) == [(code, place)]


def test_an_edit_that_mends_a_fault_takes_its_problem_away():
    document = SessionDocument.read([DATA / "odd.json"])
    places = {problem.place for problem in document.problems}
    message = document.subsessions[0].messages[0]
    document.set_visibility(message, "global")
    assert places - {problem.place for problem in document.problems} == {
        "odd.json $.subsessions[0].messages[0].visibility"
    }
    document.undo()
    assert {problem.place for problem in document.problems} == places


def test_every_code_is_among_the_codes():
    found = {problem.code for name in ("odd.json", "cycle.json", "folder") for problem in
             SessionDocument.read([DATA / name]).problems}  # fmt: skip
    assert found <= set(problems.CODES)
    assert len(found) > 7


def test_sentences_are_sentences():
    for problem in SessionDocument.read([DATA / "odd.json"]).problems:
        assert problem.text.endswith(".")

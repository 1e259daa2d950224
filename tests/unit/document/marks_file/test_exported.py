"""Marks of exported messages: beside the file, on the messages as they are numbered there."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.analysis.passes.user_marks import ContextTarget, Note
from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile, beside_capture, restore_marks
from tests.builders import envelope, lines_of

LINES = [
    envelope("chat", {"text": "one"}),
    envelope("chat", {"text": "two"}, context="why/fs"),
    envelope("chat", {"text": "three"}, context="why"),
    envelope("chat", {"text": "four"}),
]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*LINES))
    document = CaptureDocument()
    document.load(path)
    marks, contexts = document.analysis.marks, document.analysis.contexts
    marks.set_note(1, Note(True, "why"))
    marks.set_note(3, Note(comment="late"))
    marks.set_note(ContextTarget(contexts.spaces[0], contexts.tree.find(contexts.spaces[0], "why")), Note(True))
    file = MarksFile(document, path)
    file.write(file.snapshot())
    document.close()
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("more", [(), ("--self-contained",), ("-Y", 'text == "two" || text == "four"')])
def test_json_lines_with_marks_beside_them(marked: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    target = tmp_path / "out.jsonl"
    run(marked, "-o", target, "--marks", *more)
    document = CaptureDocument()
    try:
        document.load(target)
        assert restore_marks(document, target) == ""
        marks = document.analysis.marks
        assert [marks.note(row) for row in marks.rows.tolist()] == [Note(True, "why"), Note(comment="late")]
        assert marks.rows.tolist() == ([0, 1] if "-Y" in more else [1, 3])
        assert len(list(marks.contexts())) == 1
    finally:
        document.close()


@pytest.mark.parametrize("more", [(), ("--unmasked",)])
def test_secrets_in_comments_are_masked_as_in_messages(marked: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    content = json.loads(beside_capture(marked).read_bytes())
    content["messages"][0]["comment"] = "see Bearer abcdef123"
    beside_capture(marked).write_text(json.dumps(content))
    run(marked, "-o", tmp_path / "out.jsonl", "--marks", *more)
    assert ("abcdef123" in beside_capture(tmp_path / "out.jsonl").read_text()) is bool(more)


def test_without_being_asked_nothing_lies_beside(marked: Path, tmp_path: Path) -> None:
    run(marked, "-o", tmp_path / "out.jsonl")
    assert not beside_capture(tmp_path / "out.jsonl").exists()


def test_marks_of_another_file_at_the_target_stay(marked: Path, tmp_path: Path) -> None:
    foreign = beside_capture(tmp_path / "out.jsonl")
    foreign.write_text('{"ctxmarks":1,"of":{"name":"x","messages":1,"digest":"0"},"messages":[]}')
    before = foreign.read_bytes()
    run(marked, "-o", tmp_path / "out.jsonl", "--marks")
    assert foreign.read_bytes() == before


def test_a_table_has_columns_for_them(marked: Path, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(marked, "-o", "-", "--format", "csv"))))
    assert [(bool(json.loads(row["mark"] or "false")), row["comment"]) for row in rows] == [
        (False, ""), (True, "why"), (False, ""), (False, "late"),
    ]  # fmt: skip
    beside_capture(marked).unlink()
    assert "comment" not in run(marked, "-o", "-", "--format", "csv").splitlines()[0]


@pytest.mark.parametrize("format_", ["md", "html"])
def test_documents_show_them(marked: Path, format_: str) -> None:
    text = run(marked, "-o", "-", "--format", format_)
    assert "marked" in text
    assert "late" in text


def test_marks_do_not_go_with_other_formats(marked: Path) -> None:
    done = CliRunner().invoke(app, ["export", str(marked), "-o", "-", "--marks"])
    assert done.exit_code == 2
    assert "--marks requires JSON Lines" in done.output

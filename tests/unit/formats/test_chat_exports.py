"""Exports of chats: branches, damaged trees, and rows of a file's conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.formats.message_trees import ordered_messages
from inspector.survey.file_runs import rows_of_file
from tests.builders import document_at
from tests.unit.formats.conformance import FORMATS_FOLDER, figures

PAPER = FORMATS_FOLDER / "chatgpt" / "samples" / "paper.json"
ROPES = FORMATS_FOLDER / "claude_ai" / "samples" / "ropes.json"


def test_the_branch_that_is_shown_comes_last() -> None:
    parents = {"a": None, "b": "a", "c": "b", "d": "a", "e": "a"}
    found = list(ordered_messages(parents, "c"))
    assert found == [
        ("a", False), ("d", False), ("d", True), ("e", False), ("e", True), ("b", False), ("c", False),
    ]  # fmt: skip


@pytest.mark.parametrize("parents", [{"a": "b", "b": "a"}, {"a": "a"}, {"a": "lost"}, {}])
def test_a_damaged_tree_ends(parents: dict[str, str | None]) -> None:
    found = [name for name, _ in ordered_messages(parents, "a")]
    assert len(found) == len(set(found)) <= len(parents)


def test_a_long_conversation_needs_no_deep_stack() -> None:
    parents = {str(number): str(number - 1) if number else None for number in range(20_000)}
    assert len(list(ordered_messages(parents, "19999"))) == len(parents)


@pytest.mark.parametrize(("sample", "titles"), [
    (PAPER, ["Planes of paper", "Boats of paper"]), (ROPES, ["Ropes and knots", "Old ropes"]),
])  # fmt: skip
def test_a_file_has_a_row_for_each_conversation(sample: Path, titles: list[str]) -> None:
    rows, reason = rows_of_file(sample)
    assert ([row["title"] for row in rows], reason) == (titles, "")
    document = document_at(Path(rows[1]["path"]))
    assert 0 < len(document.capture) < len(document_at(sample).capture)


def test_one_conversation_in_a_file_is_read(tmp_path: Path) -> None:
    one: Any = json.loads(PAPER.read_text())[1]
    (tmp_path / "one.json").write_text(json.dumps(one, indent=2))
    assert figures(tmp_path / "one.json")["models"] == {"gpt-y": 2}


def test_a_rewind_names_the_first_message_of_the_branch() -> None:
    document = document_at(PAPER)
    payloads = [document.capture.records.payload(row) for row in range(len(document.capture))]
    assert [one["from"] for one in payloads if "from" in one] == ["n4", "m3"]

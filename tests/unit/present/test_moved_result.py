"""Results that Claude Code moved to files of their own: found beside the session, by their name alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.present.moved_result import MOST_SHOWN, MovedResult, moved_result_of
from tests.builders import document_at

SESSION = "11111111-1111-4111-8111-111111111111"


def session(folder: Path, named: str) -> Path:
    said = f"Output too large (2MB). Full output saved to: {named}\n\nPreview:\nkite 1"
    text = f"<persisted-output>\n{said}\n</persisted-output>"
    record = {
        "type": "user", "uuid": "u", "parentUuid": None, "sessionId": SESSION, "timestamp": "2026-09-01T08:00:03.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]},
    }  # fmt: skip
    (folder / f"{SESSION}.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return folder / SESSION


def found_in(document: CaptureDocument) -> MovedResult | None:
    return moved_result_of(document.capture, 0)


@pytest.mark.parametrize("home", ["/home/x/.claude/projects/-w", "C:\\Users\\x\\projects", "/etc"])
def test_the_whole_result_is_found_beside_the_session(tmp_path: Path, home: str) -> None:
    separator = "\\" if "\\" in home else "/"
    folder = session(tmp_path, separator.join((home, SESSION, "tool-results", "t.txt")))
    results = folder / "tool-results"
    results.mkdir(parents=True)
    (results / "t.txt").write_text("kite 1\nsk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n", encoding="utf-8")
    for path in (tmp_path / f"{SESSION}.jsonl", folder):  # the folder holds nothing but results
        found = found_in(document_at(path))
        assert found is not None
        assert found.path == results / "t.txt"
        assert found.text.startswith("kite 1")
        assert "abcdefghij" not in found.text
        assert found.is_whole
    (results / "t.txt").write_bytes(b"x" * (MOST_SHOWN + 1))
    found = found_in(document_at(folder))
    assert found is not None
    assert not found.is_whole
    assert len(found.text) == MOST_SHOWN


def test_nothing_else_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    folder = session(tmp_path, f"/w/{SESSION}/tool-results/t.txt")
    (folder / "tool-results").mkdir(parents=True)
    assert (found_in(document_at(folder)) or MovedResult(folder, "x", 1)).size is None  # it is gone
    (folder / "tool-results" / "t.txt").symlink_to(secret)
    found = found_in(document_at(folder))
    assert found is not None
    assert (found.text, found.size) == ("", None)
    session(tmp_path, str(secret))
    assert found_in(document_at(folder)) is None

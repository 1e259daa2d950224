"""Lists of sources: written, read with suspicion, and opened as what they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.source_list import (
    is_own_source_list,
    is_source_list,
    own_source_list,
    read_source_list,
    resolve_choices,
    write_source_list,
)
from inspector.document.source_set import SourceChoice
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import envelope, lines_of


def _logs(folder: Path) -> list[Path]:
    (folder / "logs").mkdir()
    paths = [folder / "a.jsonl", folder / "logs/b.jsonl"]
    for number, path in enumerate(paths):
        path.write_bytes(lines_of(envelope(id=f"m{number}", ts=f"2026-01-02T03:04:0{number}.000Z")))
    return paths


def test_what_is_written_is_read_wherever_the_folder_is_moved(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    a, b = _logs(first)
    choices = [
        SourceChoice(a, clock_offset_ns=-5), SourceChoice(b, parts=(first / "logs/b.jsonl.1",), reading="envelopes"),
    ]  # fmt: skip
    write_source_list(first / "both.ctxsources", choices)
    assert read_source_list(first / "both.ctxsources") == choices
    moved = first.rename(tmp_path / "moved")
    assert is_source_list(moved / "both.ctxsources")
    assert [one.path for one in read_source_list(moved / "both.ctxsources")] == [
        moved / "a.jsonl", moved / "logs/b.jsonl",
    ]  # fmt: skip


def test_a_list_opens_as_its_sources_and_what_is_gone_is_said(tmp_path: Path) -> None:
    a, b = _logs(tmp_path)
    listed = tmp_path / "both.ctxsources"
    write_source_list(listed, [SourceChoice(b), SourceChoice(a), SourceChoice(tmp_path / "gone.jsonl")])
    document = CaptureDocument()
    document.load(listed)
    assert [document.capture.records.envelope_id(row) for row in range(len(document.capture))] == ["m0", "m1"]
    assert (document.name, document.path) == ("both", listed)
    assert any("gone.jsonl cannot be read" in sentence for sentence in document.read_errors)
    document.close()


def test_a_list_of_the_programs_own_is_the_same_for_the_same_files(tmp_path: Path) -> None:
    a, b = _logs(tmp_path)
    one = own_source_list([SourceChoice(a), SourceChoice(b)])
    assert own_source_list([SourceChoice(b), SourceChoice(a, clock_offset_ns=7)]) == one
    assert read_source_list(one)[0].clock_offset_ns == 7
    assert one.name == "a.jsonl and 1 more.ctxsources"
    assert is_own_source_list(one)
    assert own_source_list([SourceChoice(a)]) != one


WRONG = {
    "no sources": {"ctxsources": 1, "sources": []},
    "a newer version": {"ctxsources": 2, "sources": [{"path": "a.jsonl"}]},
    "no path": {"ctxsources": 1, "sources": [{"clock_offset_ns": 1}]},
    "another type": {"ctxsources": "1", "sources": "a.jsonl"},
    "a list in a list": {"ctxsources": 1, "sources": [{"path": "x.ctxsources"}]},
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_a_list_that_cannot_be_used_says_why(tmp_path: Path, content: object) -> None:
    _logs(tmp_path)
    path = tmp_path / "x.ctxsources"
    path.write_text(json.dumps(content))
    document = CaptureDocument()
    with pytest.raises(UnknownFormatError, match=r"x\.ctxsources"):
        document.load(path)
    document.close()


def test_a_log_that_speaks_of_lists_is_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope(payload={"text": 'a list begins with {"ctxsources":1}'})))
    assert not is_source_list(path)


def test_a_list_beside_other_files_is_what_it_names(tmp_path: Path) -> None:
    a, b = _logs(tmp_path)
    listed, broken = tmp_path / "one.ctxsources", tmp_path / "broken.ctxsources"
    write_source_list(listed, [SourceChoice(b, clock_offset_ns=5)])
    broken.write_text('{"ctxsources": 1}')
    found = resolve_choices([SourceChoice(listed), SourceChoice(a), SourceChoice(broken)])
    assert found == [SourceChoice(a), SourceChoice(b, clock_offset_ns=5), SourceChoice(broken)]

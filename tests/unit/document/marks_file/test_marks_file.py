"""The file of marks: restored on the same capture, never on another one, kept where the folder is read-only."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget, Note
from inspector.base import paths
from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile, beside_capture, restore_marks
from inspector.document.marks_file import places as files
from tests.builders import closed_at_end, envelope, lines_of
from tests.unit.document.marks_file.marking import opened

LINES = [
    envelope("chat", {"text": "one"}),
    envelope("chat", {"text": "two"}, context="why/fs"),
    envelope("chat", {"text": "three"}, context="why"),
]


def log(folder: Path, *lines: object, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_bytes(lines_of(*(lines or LINES)))  # pyright: ignore[reportArgumentType]
    return path


def context(document: CaptureDocument, path: str) -> ContextTarget:
    space = document.analysis.contexts.spaces[0]
    return ContextTarget(space, document.analysis.contexts.tree.find(space, path))


def kept(path: Path, **notes: Note) -> Path:
    """A log with notes on messages, written; its file of marks."""
    document = opened(path)
    file = MarksFile(document, path)
    file.restore(complete=True)
    for name, note in notes.items():
        document.analysis.marks.set_note(int(name.removeprefix("no")) - 1, note)
    file.write(file.snapshot())
    document.close()
    assert file.path is not None
    return file.path


def test_marks_of_a_run_in_a_file_are_kept_in_the_own_folder(tmp_path: Path) -> None:
    """Nothing can lie beside a run: its path is below the file."""
    two = "\n".join(f"\n# aider chat started at 2026-05-0{day} 10:00:00\n\n#### Bake {day}.\n\nDone." for day in (1, 2))
    chats = tmp_path / "chats.markdown"
    chats.write_text(f"{two}\n")
    run = chats / "2026-05-02 10.00.00"
    assert restore_marks(opened(run), run) == ""
    place = kept(run, no1=Note(True, "dark"))
    assert place.is_relative_to(paths.data_folder())
    again = opened(run)
    assert restore_marks(again, run) == ""
    assert again.analysis.marks.note(0) == Note(True, "dark")


def test_marks_are_restored(tmp_path: Path) -> None:
    path = log(tmp_path)
    document = opened(path)
    marks = document.analysis.marks
    marks.set_note(1, Note(True, "why\nis it slow"))
    marks.set_note(context(document, "why/fs"), Note(comment="the culprit"))
    marks.set_note(ContextTarget(document.analysis.contexts.spaces[0], MAIN), Note(True))
    file = MarksFile(document, path)
    file.restore(complete=True)
    file.write(file.snapshot())
    assert file.path == tmp_path / "log.jsonl.ctxmarks.json"
    assert [found.name for found in tmp_path.iterdir() if found.name.startswith(".")] == []

    again = opened(path)
    assert restore_marks(again, path) == ""
    assert again.analysis.marks.note(1) == Note(True, "why\nis it slow")
    assert again.analysis.marks.note(context(again, "why/fs")).comment == "the culprit"
    assert again.analysis.marks.note(ContextTarget(again.analysis.contexts.spaces[0], MAIN)).marked
    assert again.analysis.marks.rows.tolist() == [1]


def test_a_log_that_grew_keeps_its_marks(tmp_path: Path) -> None:
    path = log(tmp_path)
    kept(path, no2=Note(True))
    log(tmp_path, *LINES, *(envelope() for _ in range(30)))
    again = opened(path)
    restore_marks(again, path)
    assert again.analysis.marks.rows.tolist() == [1]


def test_marks_of_another_file_are_not_put_on_this_one(tmp_path: Path) -> None:
    path = log(tmp_path)
    file = kept(path, no2=Note(True))
    before = file.read_bytes()
    log(tmp_path, *(envelope() for _ in range(5)))
    other = opened(path)
    marks = MarksFile(other, path)
    assert marks.restore(complete=True) == []
    assert marks.problem == "log.jsonl.ctxmarks.json holds the marks of another file; it was left as it is."
    other.analysis.marks.set_note(0, Note(True))
    marks.write(marks.snapshot())
    assert file.read_bytes() == before
    assert marks.path is not None
    assert marks.path.parent == paths.data_folder() / "marks"
    again = opened(path)
    assert restore_marks(again, path) == ""
    assert again.analysis.marks.rows.tolist() == [0]


def test_a_mark_whose_message_changed_waits_in_the_file(tmp_path: Path) -> None:
    many = [envelope() for _ in range(30)]
    path = log(tmp_path, *many)
    file = kept(path, no2=Note(True), no28=Note(comment="late"))
    log(tmp_path, *many[:27], *(envelope(kind="chat/cancel") for _ in range(3)))
    again = opened(path)
    marks = MarksFile(again, path)
    assert marks.restore(complete=True) == [1]
    assert "1 mark is not shown" in marks.problem
    marks.write(marks.snapshot())
    assert [entry["no"] for entry in json.loads(file.read_bytes())["messages"]] == [2, 28]


def test_marks_find_their_place_while_the_log_is_read(tmp_path: Path) -> None:
    many = [envelope() for _ in range(300)]
    path = log(tmp_path, *many)
    kept(path, no3=Note(True), no299=Note(True))
    document = closed_at_end(CaptureDocument())
    steps = document.open_log(path, block_bytes=20_000)
    file = MarksFile(document, path)
    seen = []
    for _ in steps:
        file.restore(complete=False)
        seen.append(document.analysis.marks.rows.tolist())
    assert [2] in seen
    file.restore(complete=True)
    assert document.analysis.marks.rows.tolist() == [2, 298]
    assert file.is_settled


def test_a_read_only_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path)
    real = files.replace_whole

    def refuse(place: Path, data: bytes) -> None:
        if place.parent == tmp_path:
            raise PermissionError(13, "Permission denied")
        real(place, data)

    monkeypatch.setattr(files, "replace_whole", refuse)
    file = kept(path, no1=Note(comment="x"))
    assert file.parent == paths.data_folder() / "marks"
    monkeypatch.undo()


def test_without_notes_there_is_no_file(tmp_path: Path) -> None:
    path = log(tmp_path)
    file = kept(path, no1=Note(True))
    document = opened(path)
    marks = MarksFile(document, path)
    marks.restore(complete=True)
    document.analysis.marks.set_note(0, Note())
    marks.write(marks.snapshot())
    assert not file.exists()


def test_an_older_write_does_not_undo_a_newer_one(tmp_path: Path) -> None:
    document = opened(path := log(tmp_path))
    file = MarksFile(document, path)
    document.analysis.marks.set_note(0, Note(True))
    older = file.snapshot()
    document.analysis.marks.set_note(1, Note(True))
    file.write(file.snapshot())
    file.write(older)
    assert [entry["no"] for entry in json.loads(beside_capture(path).read_bytes())["messages"]] == [1, 2]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"ctxmarks":9,"of":{"name":"x","messages":1,"digest":"d"}}', b"\xff", b"[" * 100_000,
     b'{"ctxmarks":1,"of":{"name":"x","messages":-4,"digest":"d"},"messages":[{"no":"x"}]}'],
    ids=["empty", "torn", "array", "newer", "not-text", "deep", "wrong-types"],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = log(tmp_path)
    file = beside_capture(path)
    file.write_bytes(content)
    document = opened(path)
    marks = MarksFile(document, path)
    assert marks.restore(complete=True) == []
    assert "cannot be read" in marks.problem
    document.analysis.marks.set_note(0, Note(True))
    marks.write(marks.snapshot())
    assert file.read_bytes() == content


MANY = [envelope("chat", {"text": f"m{number}"}) for number in range(30)]


def session(path: Path, home: Path | None = None, *, complete: bool = True) -> tuple[CaptureDocument, MarksFile]:
    document = opened(path)
    file = MarksFile(document, home)
    file.restore(complete=complete)
    return document, file


def mark(one: tuple[CaptureDocument, MarksFile], row: int, note: Note) -> None:
    one[0].analysis.marks.set_note(row, note)
    one[1].write(one[1].snapshot())


def numbers(file: Path) -> list[int]:
    return [entry["no"] for entry in json.loads(file.read_bytes())["messages"]]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = log(tmp_path, name=os.fsdecode(b"l\xff.jsonl"))
    file = kept(path, no2=Note(True))
    assert json.loads(file.read_bytes())["of"]["name"] == "l\\udcff.jsonl"
    assert session(path, path)[0].analysis.marks.rows.tolist() == [1]
    mark(session(path), 0, Note(True))


def test_half_characters(tmp_path: Path) -> None:
    bad = "why/\ud800bad"
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(envelope("chat", {"text": "x"}, context=bad)) for _ in range(3)) + "\n")
    one = session(path, path)
    target = next(
        ContextTarget(space, node)
        for space in one[0].analysis.contexts.spaces
        for node in [one[0].analysis.contexts.tree.find(space, bad)]
    )
    one[0].analysis.marks.set_note(target, Note(True))
    mark(one, 0, Note(comment="a\ud83d"))
    again = opened(path)
    assert restore_marks(again, path) == ""
    assert again.analysis.marks.note(0).comment == "a\ud83d"
    assert again.analysis.marks.note(target).marked


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_and_a_huge_file_are_not_read(tmp_path: Path) -> None:
    path = log(tmp_path)
    os.mkfifo(beside_capture(path))
    one = session(path, path)
    assert "it is not a file" in one[1].problem
    mark(one, 0, Note(True))
    assert beside_capture(path).is_fifo()
    beside_capture(path).unlink()
    beside_capture(path).touch()
    os.truncate(beside_capture(path), 9 << 20)
    one = session(path, path)
    assert one[0].analysis.marks.rows.tolist() == [0]
    mark(one, 1, Note(True))
    assert beside_capture(path).stat().st_size == 9 << 20


def test_two_windows_keep_the_marks_of_each_other(tmp_path: Path) -> None:
    path = log(tmp_path, *MANY)
    file = beside_capture(path)
    one, two = session(path, path), session(path, path)
    mark(one, 1, Note(True, "A long comment"))
    mark(two, 2, Note(True))
    assert numbers(file) == [2, 3]
    mark(one, 4, Note(True))
    mark(two, 2, Note())
    assert numbers(file) == [2, 5]
    mark(one, 1, Note())
    mark(one, 4, Note())
    assert not file.exists()


def test_marks_beside_and_among_the_data_are_both_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path, *MANY)
    real = files.replace_whole

    def refuse(place: Path, data: bytes) -> None:
        if place.parent == tmp_path:
            raise PermissionError(13, "Permission denied")
        real(place, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace_whole", refuse)
        own = kept(path, no2=Note(True, "mine"))
    entry = {**json.loads(own.read_bytes())["messages"][0], "comment": "a colleague's"}
    beside_capture(path).write_text(json.dumps({**json.loads(own.read_bytes()), "messages": [entry]}))
    one = session(path, path)
    assert set(one[0].analysis.marks.note(1).comment.split("\n")) == {"mine", "a colleague's"}
    mark(one, 3, Note(True))
    assert numbers(beside_capture(path)) == [2, 4]
    assert not own.exists()


def test_a_log_that_was_cut_short_keeps_its_marks(tmp_path: Path) -> None:
    path = log(tmp_path, *MANY)
    kept(path, no26=Note(True, "KEEP"))
    log(tmp_path, *MANY[:5])
    mark(session(path, path), 0, Note(True))
    log(tmp_path, *MANY)
    one = session(path, path)
    assert one[0].analysis.marks.rows.tolist() == [0, 25]
    mark(one, 1, Note(True))
    assert numbers(beside_capture(path)) == [1, 2, 26]


def test_a_stream_is_marked_before_it_is_known_whose_marks_lie_there(tmp_path: Path) -> None:
    one = session(log(tmp_path, *MANY))
    mark(one, 25, Note(True, "KEEP"))
    own = one[1].path
    assert own is not None
    two = session(log(tmp_path, *MANY[:6], name="short.jsonl"), complete=False)
    mark(two, 0, Note(True))
    assert numbers(own) == [26]
    assert two[1].path not in (None, own)
    three = session(log(tmp_path, *MANY))
    assert three[0].analysis.marks.rows.tolist() == [0, 25]


def test_what_was_taken_in_after_a_snapshot_is_not_dropped_by_it(tmp_path: Path) -> None:
    path = log(tmp_path, *MANY)
    kept(path, no26=Note(True))
    document = opened(path)
    file = MarksFile(document, path)
    document.analysis.marks.set_note(0, Note(True))
    early = file.snapshot()
    file.restore(complete=True)
    file.write(early)
    assert numbers(beside_capture(path)) == [1, 26]


def test_a_space_with_half_a_character_waits(tmp_path: Path) -> None:
    path = log(tmp_path)
    file = kept(path, no1=Note(True))
    content = json.loads(file.read_bytes())
    content["contexts"] = [{"space": "s\ud800", "path": "p\ud800", "mark": True}]
    file.write_text(json.dumps(content))
    mark(session(path, path), 1, Note(True))
    assert numbers(file) == [1, 2]
    assert json.loads(file.read_bytes())["contexts"] == content["contexts"]


def test_an_empty_digest_fits_nothing(tmp_path: Path) -> None:
    path = log(tmp_path, *MANY)
    content = {"ctxmarks": 1, "of": {"name": "z", "messages": 21, "digest": ""}, "contexts": [{"mark": True}]}
    beside_capture(path).write_text(json.dumps(content))
    one = session(path, path)
    assert len(one[0].analysis.marks) == 0
    assert "marks of another file" in one[1].problem


def test_restoring_many_contexts_leaves_off_in_time(tmp_path: Path) -> None:
    path = log(tmp_path, *(envelope("chat", {"text": "x"}, context=f"c{number}") for number in range(50)))
    one = session(path, path)
    for number in range(50):
        one[0].analysis.marks.set_note(context(one[0], f"c{number}"), Note(True))
    one[1].write(one[1].snapshot())
    again = opened(path)
    file = MarksFile(again, path)
    assert file.restore(complete=True, until=time.perf_counter() - 1) == []
    assert not file.is_settled
    assert len(file.restore(complete=True)) == 50
    assert file.is_settled


def test_the_command_line_gives_the_same_answers(tmp_path: Path) -> None:
    path = log(tmp_path)
    kept(path, no2=Note(True, "why is it slow"), no3=Note(True))
    done = CliRunner().invoke(app, ["list", str(path), "-Y", "mark", "-e", "no,mark,comment", "--format", "jsonl"])
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"no": 2, "mark": True, "comment": "why is it slow"}, {"no": 3, "mark": True, "comment": None},
    ]  # fmt: skip

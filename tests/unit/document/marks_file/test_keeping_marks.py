"""Marks where a folder cannot be written, in two programs at once, after a move, and in files edited by hand."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.user_marks import Note
from inspector.base import paths
from inspector.document.marks_file import beside_capture, places, restore_marks
from tests.builders import clean_up
from tests.unit.document.marks_file.marking import OTHERS, log, opened, put, session, shown


class ReadOnly:
    """A folder that takes no files and gives none away, as for a user who may only read it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.on = True
        real, unlink = places.replace_whole, Path.unlink

        def refuse(place: Path, data: bytes) -> None:
            if self.on and place.parent == folder:
                raise PermissionError(13, "Permission denied")
            real(place, data)

        def keep(path: Path, missing_ok: bool = False) -> None:
            if self.on and path.parent == folder:
                raise PermissionError(13, "Permission denied")
            unlink(path, missing_ok=missing_ok)

        patch.setattr(places, "replace_whole", refuse)
        patch.setattr(Path, "unlink", keep)


@pytest.fixture
def colleague(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ReadOnly]:
    """A capture with a colleague's marks beside it, in a folder that can only be read."""
    path = log(tmp_path / "shared" / "log.jsonl")
    put(session(path), no1=Note(True), no2=Note(comment="theirs"), no3=Note(True, "both"))
    return path, ReadOnly(path.parent, monkeypatch)


def test_a_mark_that_was_removed_does_not_return(colleague: tuple[Path, ReadOnly]) -> None:
    path, _ = colleague
    put(session(path), no1=Note(), no2=Note(comment="mine"))
    assert shown(path) == {2: Note(comment="mine"), 3: Note(True, "both")}
    put(session(path), no2=Note(), no3=Note(True, "both"), no4=Note(True))
    assert shown(path) == {3: Note(True, "both"), 4: Note(True)}
    put(session(path), no3=Note(), no4=Note())
    assert shown(path) == {}
    put(session(path), no1=Note(True))
    assert shown(path) == {1: Note(True)}


def test_what_the_colleague_changes_later_is_shown_again(colleague: tuple[Path, ReadOnly]) -> None:
    path, _ = colleague
    put(session(path), no2=Note())
    content = json.loads(beside_capture(path).read_bytes())
    content["messages"][1]["comment"] = "looked again"
    beside_capture(path).write_text(json.dumps(content))
    assert shown(path)[2] == Note(comment="looked again")


def test_once_the_folder_can_be_written_the_marks_lie_there_alone(colleague: tuple[Path, ReadOnly]) -> None:
    path, folder = colleague
    put(session(path), no1=Note(), no4=Note(True))
    folder.on = False
    put(session(path), no5=Note(True))
    content = json.loads(beside_capture(path).read_bytes())
    assert [entry["no"] for entry in content["messages"]] == [2, 3, 4, 5]
    assert b"over" not in beside_capture(path).read_bytes()
    assert not list((paths.data_folder() / "marks").glob("log*.json"))
    assert sorted(shown(path)) == [2, 3, 4, 5]


def test_a_removal_that_can_be_written_nowhere_is_an_error(
    colleague: tuple[Path, ReadOnly], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = colleague

    def refuse(_place: Path, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    one = session(path)
    with monkeypatch.context() as patch:
        patch.setattr(places, "replace_whole", refuse)
        with pytest.raises(OSError, match="No space left"):
            put(one, no1=Note(), no2=Note(), no3=Note())
    put(one)
    assert shown(path) == {}


def _marks_every_third(path: str, first: int) -> None:
    places._LOCK_S = 200.0  # the others may be slow
    one = session(Path(path))
    for number in range(first, 31, 3):
        put(one, **{f"no{number}": Note(True, f"by {first}")})
    one[0].close()


@pytest.mark.real
def test_three_processes_lose_no_edit_of_each_other(tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")
    spawned = multiprocessing.get_context("spawn")
    workers = [spawned.Process(target=_marks_every_third, args=(str(path), first)) for first in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(250)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(shown(path)) == 30


@pytest.mark.parametrize("where", ["renamed.jsonl", "other/log.jsonl", "other/renamed.jsonl"])
def test_a_capture_that_was_moved_takes_its_marks_along(tmp_path: Path, where: str) -> None:
    old = log(tmp_path / "log.jsonl")
    put(session(old), no2=Note(True, "why"))
    new = tmp_path / where
    new.parent.mkdir(exist_ok=True)
    old.rename(new)
    one = session(new)
    assert one[0].analysis.marks.note(1) == Note(True, "why")
    assert one[1].notice == f"The marks were found in {beside_capture(old)}: {new.name} was renamed or moved since."
    put(one)
    assert beside_capture(new).exists()
    assert not beside_capture(old).exists()
    assert session(new)[1].notice == ""


def test_marks_among_the_data_are_found_after_a_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = log(tmp_path / "a" / "log.jsonl")
    folder = ReadOnly(old.parent, monkeypatch)
    put(session(old), no2=Note(True))
    folder.on = False
    new = tmp_path / "b.jsonl"
    old.rename(new)
    assert shown(new) == {2: Note(True)}


def test_the_marks_of_a_copy_are_offered_and_stay_where_they_are(tmp_path: Path) -> None:
    old = log(tmp_path / "log.jsonl")
    put(session(old), no2=Note(True), no3=Note(comment="x"))
    before = beside_capture(old).read_bytes()
    new = Path(shutil.copy(old, tmp_path / "copy.jsonl"))
    one = session(new)
    assert len(one[0].analysis.marks) == 0
    assert one[1].offered is not None
    assert one[1].offered.capture == old
    one[1].accept_offered()
    assert sorted(one[1].restore(complete=True), key=str) == [1, 2]
    put(one)
    put(one, no2=Note())
    assert beside_capture(old).read_bytes() == before
    assert shown(new) == {3: Note(comment="x")}


def test_another_capture_finds_no_marks_of_this_one(tmp_path: Path) -> None:
    put(session(log(tmp_path / "log.jsonl")), no2=Note(True))
    one = session(log(tmp_path / "other.jsonl", OTHERS))
    assert (one[1].notice, one[1].offered, len(one[0].analysis.marks)) == ("", None, 0)


@pytest.mark.parametrize("foreign", [b"", b"{broken", None], ids=["empty", "broken", "of-another-capture"])
def test_a_copy_leaves_the_marks_of_another_file_alone(tmp_path: Path, foreign: bytes | None) -> None:
    other = log(tmp_path / "target.jsonl", OTHERS)
    put(session(other), no9=Note(True, "precious"))
    if foreign is not None:
        beside_capture(other).write_bytes(foreign)
    before = beside_capture(other).read_bytes()
    one = session(log(tmp_path / "log.jsonl"))
    put(one, no2=Note(True))
    shutil.copy(tmp_path / "log.jsonl", other)
    place = one[1].write_copy(other)
    assert beside_capture(other).read_bytes() == before
    assert place is not None
    assert place.parent == paths.data_folder() / "marks"
    assert shown(other) == {2: Note(True)}
    assert shown(tmp_path / "log.jsonl") == {2: Note(True)}


def test_a_copy_over_an_older_copy_keeps_what_was_marked_there(tmp_path: Path) -> None:
    one = session(log(tmp_path / "log.jsonl"))
    copy = log(tmp_path / "copy.jsonl")
    put(session(copy), no9=Note(True))
    put(one, no2=Note(True))
    one[1].write_copy(copy)
    assert sorted(shown(copy)) == [2, 9]


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["<b>", "\x00", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_ENTRY = st.dictionaries(st.sampled_from(["no", "digest", "mark", "comment", "space", "path", "over"]), _JUNK)
_CONTENT = st.fixed_dictionaries(
    {"ctxmarks": st.just(1) | _JUNK, "of": st.just(None) | _JUNK},
    optional={"messages": st.lists(_ENTRY | _JUNK, max_size=3) | _JUNK, "contexts": st.lists(_ENTRY, max_size=3)},
)


@given(_CONTENT, _JUNK)
def test_whatever_a_file_of_marks_holds_nothing_raises(
    tmp_path: Path, content: dict[str, object], index: object
) -> None:
    path = log(tmp_path / "log.jsonl")
    one = session(path)
    heads = one[1].snapshot().heads
    if content["of"] is None:
        content["of"] = {"name": "<b>x</b>", "messages": len(heads), "digest": heads[-1]}
    beside_capture(path).write_text(json.dumps(content))
    places.own_folder().mkdir(exist_ok=True)
    (places.own_folder() / "index.json").write_text(json.dumps({"ctxindex": 1, "known": index}))
    two = session(path)
    assert isinstance(two[1].problem, str)
    put(two, no1=Note(True))
    assert shown(path)[1].marked
    clean_up()
    for file in (*tmp_path.glob("*.ctxmarks.json"), *places.own_folder().glob("*")):
        file.unlink()


def test_huge_comments_and_deep_nesting(tmp_path: Path) -> None:
    path = log(tmp_path / "log.jsonl")
    put(session(path), no1=Note(True))
    content = json.loads(beside_capture(path).read_bytes())
    content["messages"][0]["comment"] = "x" * 7_000_000
    beside_capture(path).write_text(json.dumps(content))
    assert len(shown(path)[1].comment) == 20_000
    beside_capture(path).write_text('{"ctxmarks":1,"of":' + "[" * 50_000)
    assert "cannot be read" in session(path)[1].problem


def test_the_command_line_finds_them_too(tmp_path: Path) -> None:
    old = log(tmp_path / "log.jsonl")
    put(session(old), no2=Note(True))
    new = old.rename(tmp_path / "new.jsonl")
    document = opened(new)
    assert restore_marks(document, new) == ""
    assert document.analysis.marks.rows.tolist() == [1]

"""Whose marks a file holds: after a rotation, behind links, of captures that begin alike, named by an edited list."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from inspector.analysis.passes.user_marks import Note
from inspector.document.marks_file import beside_capture, places, restore_marks
from tests.unit.document.marks_file.marking import MANY, OTHERS, log, notes_in, opened, put, session

# Rotated


@pytest.mark.parametrize("fresh", [OTHERS, OTHERS[:2], []], ids=["another log", "a short one", "nothing yet"])
def test_a_rotated_log_takes_its_marks_along(tmp_path: Path, fresh: list[dict[str, object]]) -> None:
    path = log(tmp_path / "a.jsonl")
    put(session(path), no3=Note(True, "three"))
    rotated = path.rename(tmp_path / "a.1.jsonl")
    log(path, fresh)
    one = session(rotated)
    assert notes_in(one) == {3: Note(True, "three")}
    assert one[1].notice == f"The marks were found in {beside_capture(path)}: a.1.jsonl was renamed or moved since."
    put(one)
    assert beside_capture(rotated).exists()
    assert not beside_capture(path).exists()


def test_a_log_that_begins_anew_with_the_same_message_may_be_the_one(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl")
    put(session(path), no3=Note(True))
    copy = Path(shutil.copy(path, tmp_path / "copy.jsonl"))
    log(path, MANY[:4])
    one = session(copy)
    assert (notes_in(one), one[1].offered is not None) == ({}, True)


# Alike


def test_marks_of_a_capture_that_begins_alike_are_offered_and_stay(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", MANY[:1])
    put(session(path), no1=Note(comment="of a"))
    path.unlink()
    other = log(tmp_path / "sub" / "b.jsonl", [MANY[0], *OTHERS[:9]])
    one = session(other)
    assert (notes_in(one), one[1].notice) == ({}, "")
    assert one[1].offered is not None
    put(one, no2=Note(True))
    assert beside_capture(path).exists()


def test_a_short_capture_that_was_renamed_is_known(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", MANY[:3])
    put(session(path), no1=Note(True))
    assert notes_in(session(path.rename(tmp_path / "b.jsonl"))) == {1: Note(True)}


def test_marks_on_messages_that_are_not_here_are_offered_alone(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl")
    put(session(path), no25=Note(True))
    path.unlink()
    one = session(log(tmp_path / "b.jsonl", [*MANY[:20], *OTHERS[:10]]))
    assert (notes_in(one), one[1].offered is not None) == ({}, True)
    put(one, no1=Note(True))
    assert beside_capture(path).exists()


# Links


def test_a_link_to_a_log_has_the_marks_of_the_log(tmp_path: Path) -> None:
    path = log(tmp_path / "logs" / "a.jsonl")
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    put(session(link), no3=Note(True, "by the link"))
    assert beside_capture(path).exists()
    assert not beside_capture(link).exists()
    assert notes_in(session(path)) == {3: Note(True, "by the link")}


def test_marks_beside_a_link_are_read_and_go_to_the_log(tmp_path: Path) -> None:
    path = log(tmp_path / "logs" / "a.jsonl")
    put(session(path), no3=Note(True))
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    beside_capture(path).rename(beside_capture(link))
    one = session(link)
    assert notes_in(one) == {3: Note(True)}
    put(one, no4=Note(True))
    assert sorted(notes_in(session(path))) == [3, 4]
    assert not beside_capture(link).exists()


def test_a_file_of_marks_that_is_a_link_stays_one(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl")
    kept = tmp_path / "shared" / "of a"
    kept.parent.mkdir()
    beside_capture(path).symlink_to(kept)
    one = session(path)
    put(one, no3=Note(True))
    assert beside_capture(path).is_symlink()
    assert [entry["no"] for entry in json.loads(kept.read_bytes())["messages"]] == [3]
    put(one, no3=Note())
    assert beside_capture(path).is_symlink()
    assert not kept.exists()


# A list that somebody edited


def known(path: Path, **said: str) -> None:
    """Write another entry of the list."""
    index = places.own_folder() / "index.json"
    content = json.loads(index.read_bytes())
    content["known"][0] |= said
    index.write_text(json.dumps(content))


@pytest.mark.parametrize("name", ["precious", "precious.ctxmarks.json"])
def test_what_the_list_names_elsewhere_is_not_removed(tmp_path: Path, name: str) -> None:
    path = log(tmp_path / "logs" / "a.jsonl")
    put(session(path), no3=Note(True))
    precious = beside_capture(path).rename(tmp_path / name)
    known(path, marks=str(precious), capture="/nowhere/a.jsonl")
    one = session(path)
    assert notes_in(one) == {}
    put(one, no4=Note(True))
    assert precious.exists()


def test_a_name_that_nothing_can_have_ends_nothing(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl")
    put(session(path), no3=Note(True))
    known(path, capture=str(tmp_path / f"{'x' * 300}.jsonl"))
    copy = log(tmp_path / "b.jsonl")
    one = session(copy)
    assert one[1].offered is not None


def test_a_folder_that_cannot_be_looked_into_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path / "a.jsonl")

    def refused(_place: object) -> str:
        raise PermissionError(13, "Permission denied")

    document = opened(path)
    monkeypatch.setattr(os.path, "realpath", refused)
    assert restore_marks(document, path) == "The marks could not be looked for: Permission denied."

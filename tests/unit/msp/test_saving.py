"""Files are written whole or not at all, and never over what somebody else wrote."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from inspector.base.atomic_files import TemporaryFile
from inspector.base.file_lock import FileLock
from inspector.msp import saving
from inspector.msp.document import ChangedOnDiskError, SessionDocument, WouldReplaceError
from tests.msp_samples import desk, written

DATA = Path(__file__).parents[2] / "data" / "msp"


@pytest.fixture
def edited(tmp_path: Path) -> SessionDocument:
    """A document with one message more than its file."""
    shutil.copyfile(DATA / "one-file.json", tmp_path / "x.json")
    document = SessionDocument.read([tmp_path / "x.json"])
    document.add_message(document.sessions[0], "user", "mine")
    return document


def _folder(tmp_path: Path) -> SessionDocument:
    shutil.copytree(DATA / "folder", tmp_path / "folder")
    return SessionDocument.read([tmp_path / "folder"])


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _rewrites(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"Agreed", b"Denied"))


def _writes_unseen(path: Path) -> None:
    """As many bytes, and the same time."""
    before = path.stat()
    _rewrites(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaces(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes() + b"\n")
    other.replace(path)


@pytest.mark.parametrize("change", [_rewrites, _writes_unseen, _replaces, Path.unlink])
def test_what_somebody_else_did_is_never_written_over(edited: SessionDocument, change: Callable[[Path], object]):
    path = edited.paths[0]
    change(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(ChangedOnDiskError) as caught:
        edited.save()
    assert caught.value.paths == [path]
    assert (path.read_bytes() if path.exists() else None) == before
    assert edited.is_dirty
    assert [name for name in _names(path.parent) if name.endswith(".part")] == []
    if change is not _writes_unseen:
        assert edited.changed_on_disk() == [path]
    edited.save(force=True)
    assert b"mine" in path.read_bytes()
    assert b"Agreed" in path.read_bytes()
    assert (edited.is_dirty, edited.changed_on_disk()) == (False, [])


def test_a_write_at_the_last_moment_is_noticed(edited: SessionDocument, monkeypatch: pytest.MonkeyPatch):
    path = edited.paths[0]
    monkeypatch.setattr(saving.os, "fsync", lambda _: path.write_text("theirs"))
    with pytest.raises(ChangedOnDiskError):
        edited.save()
    assert path.read_text() == "theirs"
    assert _names(path.parent) == ["x.json"]


def test_a_touched_file_is_not_changed(edited: SessionDocument):
    os.utime(edited.paths[0], (1, 1))
    assert edited.changed_on_disk() == []
    edited.save()


def test_nothing_is_written_when_nothing_was_edited(edited: SessionDocument):
    edited.undo()
    before = edited.paths[0].stat()
    _rewrites(edited.paths[0])
    edited.save()
    assert edited.paths[0].stat().st_ino == before.st_ino
    assert b"Denied" in edited.paths[0].read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="no such modes")
def test_mode_and_link_stay(edited: SessionDocument, tmp_path: Path):
    real = tmp_path / "x.json"
    real.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to("x.json")
    document = SessionDocument.read([link])
    document.add_message(document.sessions[0], "user", "mine")
    document.save()
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert b"mine" in real.read_bytes()
    document.undo()
    document.save()
    assert real.read_bytes() == (DATA / "one-file.json").read_bytes()


def test_a_full_disk_leaves_the_file_as_it_was(edited: SessionDocument, monkeypatch: pytest.MonkeyPatch):
    before = edited.paths[0].read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(saving.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        edited.save()
    assert edited.paths[0].read_bytes() == before
    assert _names(edited.paths[0].parent) == ["x.json"]
    assert edited.is_dirty
    monkeypatch.undo()
    edited.save()
    assert not edited.is_dirty


def test_of_several_files_only_those_are_written_that_differ(tmp_path: Path):
    document = _folder(tmp_path)
    before = {path: path.stat().st_ino for path in (tmp_path / "folder").rglob("*.json")}
    document.add_message(document.subsessions[1], "user", "mine")
    document.save()
    changed = [path.name for path, inode in before.items() if path.stat().st_ino != inode]
    assert changed == ["s2.json"]


def test_one_changed_file_of_several_keeps_all_from_being_written(tmp_path: Path):
    document = _folder(tmp_path)
    for sub in document.subsessions:
        document.add_message(sub, "user", "mine")
    path = tmp_path / "folder" / "side" / "s2.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ChangedOnDiskError) as caught:
        document.save()
    assert caught.value.paths == [path]
    assert b"mine" not in (tmp_path / "folder" / "s1.json").read_bytes()


def test_a_new_subsession_of_a_folder_is_a_new_file_until_that_is_taken_back(tmp_path: Path):
    document = _folder(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    path = tmp_path / "folder" / f"{sub.id}.json"
    assert not path.exists()
    document.save()
    assert path.read_text().startswith('{\n\t"subsession_id": "sub-')
    assert f'"s1", "s2", "{sub.id}"]' in (tmp_path / "folder" / "session.json").read_text()
    document.undo()
    document.save()
    assert not path.exists()
    assert (tmp_path / "folder" / "session.json").read_bytes() == (DATA / "folder" / "session.json").read_bytes()
    document.redo()
    path.write_text("theirs")
    with pytest.raises(ChangedOnDiskError):
        document.save()
    assert path.read_text() == "theirs"


def test_a_file_of_ours_that_somebody_wrote_in_is_not_taken_away(tmp_path: Path):
    document = _folder(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    document.save()
    path = tmp_path / "folder" / f"{sub.id}.json"
    path.write_text("theirs")
    document.undo()
    with pytest.raises(ChangedOnDiskError):
        document.save()
    assert path.read_text() == "theirs"


def test_saved_under_another_name_it_goes_on_there(edited: SessionDocument, tmp_path: Path):
    before = (tmp_path / "x.json").read_bytes()
    edited.save_as(tmp_path / "y.json")
    assert (edited.paths, edited.is_dirty) == ([tmp_path / "y.json"], False)
    assert (tmp_path / "x.json").read_bytes() == before
    edited.undo()
    edited.save()
    assert (tmp_path / "y.json").read_bytes() == before


def test_several_files_are_saved_into_a_folder(tmp_path: Path):
    document = _folder(tmp_path)
    document.add_message(document.subsessions[1], "user", "mine")
    with pytest.raises(NotADirectoryError):
        document.save_as(tmp_path / "folder" / "s1.json")
    document.save_as(tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*.json")) == ["s1.json", "s2.json", "session.json"]
    assert b"mine" in (tmp_path / "copy" / "side" / "s2.json").read_bytes()
    document.undo()
    document.save()
    assert b"mine" not in (tmp_path / "copy" / "side" / "s2.json").read_bytes()


def test_a_compressed_file_is_only_read(tmp_path: Path):
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress((DATA / "one-file.json").read_bytes()))
    document = SessionDocument.read([path])
    document.save()
    document.add_message(document.sessions[0], "user", "mine")
    with pytest.raises(OSError, match="compressed") as caught:
        document.save()
    assert caught.value.errno == errno.EROFS
    document.save_as(tmp_path / "x.json")
    assert b"mine" in (tmp_path / "x.json").read_bytes()
    document.add_message(document.sessions[0], "user", "more")
    document.save()
    assert not document.read_only


def test_what_is_nested_too_deeply_to_be_written_is_an_error_of_saving(edited: SessionDocument):
    before = edited.paths[0].read_bytes()
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    edited.sessions[0].data["odd"] = value
    with pytest.raises(OSError, match="nested too deeply"):
        edited.save()
    assert edited.paths[0].read_bytes() == before


SESSION = {"session_id": "m1", "messages": [{"id": "a", "role": "user", "content": "hey"}]}
SUB = {"subsession_id": "s1", "parent_session_id": "m1", "label": "units", "status": "open", "messages": []}


def _wrote(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def _two_files(tmp_path: Path) -> SessionDocument:
    """A session and a sub-session, each in its file, opened by their names."""
    return SessionDocument.read([_wrote(tmp_path / "a.json", SESSION), _wrote(tmp_path / "b.json", SUB)])


@pytest.mark.parametrize("names", [("a/s.json", "b/s.json"), ("a/s.json", "b/S.json"), ("a/.s.json", "b/s.txt")])
def test_files_that_are_called_alike_are_all_saved_into_a_folder(tmp_path: Path, names: tuple[str, str]):
    document = SessionDocument.read(
        [_wrote(tmp_path / name, value) for name, value in zip(names, (SESSION, SUB), strict=True)]
    )
    document.save_as(tmp_path / "out")
    assert len({path.name.lower() for path in (tmp_path / "out").iterdir()}) == 2
    again = SessionDocument.read([tmp_path / "out"])
    assert ([one.id for one in again.sessions], [one.id for one in again.subsessions]) == (["m1"], ["s1"])


def test_what_lies_in_the_chosen_folder_is_not_written_over_unasked(tmp_path: Path):
    document = _two_files(tmp_path)
    other = _wrote(tmp_path / "out" / "b.json", {"theirs": True})
    before = other.read_bytes()
    with pytest.raises(WouldReplaceError) as caught:
        document.save_as(tmp_path / "out")
    assert caught.value.paths == [other]
    assert (_names(tmp_path / "out"), other.read_bytes()) == (["b.json"], before)
    assert document.paths == [tmp_path / "a.json", tmp_path / "b.json"]
    document.save_as(tmp_path / "out", replace=True)
    assert b"units" in other.read_bytes()


def test_saving_into_its_own_folder_replaces_nothing_of_others(tmp_path: Path):
    document = _two_files(tmp_path)
    document.add_message(document.sessions[0], "user", "mine")
    document.save_as(tmp_path)
    assert b"mine" in (tmp_path / "a.json").read_bytes()
    _rewrites(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("theirs")
    with pytest.raises(WouldReplaceError):
        document.save_as(tmp_path)


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json.gz", "x.json.zst"])
def test_it_is_not_saved_under_a_name_it_cannot_be_read_from(tmp_path: Path, name: str):
    document = SessionDocument.read([_wrote(tmp_path / "a.json", SESSION)])
    with pytest.raises(OSError, match="choose a name"):
        document.save_as(tmp_path / name)
    assert _names(tmp_path) == ["a.json"]
    assert document.paths == [tmp_path / "a.json"]


@pytest.mark.skipif(os.name == "nt", reason="no such modes")
@pytest.mark.parametrize(
    ("umask", "mode", "wanted"), [(0o022, 0o600, 0o600), (0o077, 0o644, 0o600), (0o022, 0o644, 0o644)]
)
def test_a_new_file_is_read_by_nobody_else_than_the_one_it_comes_from(
    tmp_path: Path, umask: int, mode: int, wanted: int
):
    document = _two_files(tmp_path)
    for path in document.paths:
        path.chmod(mode)
    before = os.umask(umask)
    try:
        sub = document.open_subsession(document.sessions[0], "new")
        document.save()
        document.save_as(tmp_path / "out")
    finally:
        os.umask(before)
    found = [tmp_path / f"{sub.id}.json", *(tmp_path / "out").iterdir()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in found] == [wanted] * 4


def test_it_is_read_again_although_a_new_subsession_has_no_file_yet(tmp_path: Path):
    document = _two_files(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    _wrote(tmp_path / "a.json", {**SESSION, "label": "theirs"})
    document.reload()
    assert (document.sessions[0].label, len(document.subsessions)) == ("theirs", 1)
    assert document.paths == [tmp_path / "a.json", tmp_path / "b.json"]
    assert document.subsession(sub.key) is None


def test_a_saved_new_file_is_read_again_although_its_edit_was_taken_back(tmp_path: Path):
    document = _two_files(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    document.save()
    document.undo()
    document.reload()
    assert document.subsession(sub.key) is not None


@pytest.mark.parametrize("saved", [False, True])
def test_what_is_made_again_after_saving_elsewhere_is_saved_there(tmp_path: Path, saved: bool):
    document = _two_files(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    if saved:
        document.save()
    document.undo()
    document.save_as(tmp_path / "out")
    document.redo()
    document.save()
    assert (tmp_path / "out" / f"{sub.id}.json").exists()
    assert (tmp_path / f"{sub.id}.json").exists() == saved
    assert SessionDocument.read([tmp_path / "out"]).subsession(sub.key) is not None


def test_what_somebody_wrote_into_a_file_of_an_edit_taken_back_stays(tmp_path: Path):
    document = _two_files(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    document.save()
    path = tmp_path / f"{sub.id}.json"
    path.write_text("theirs")
    document.undo()
    with pytest.raises(ChangedOnDiskError):
        document.save()
    assert document.changed_on_disk() == [path]
    document.save(force=True)
    assert path.read_text() == "theirs"
    assert document.changed_on_disk() == []


def test_half_a_save_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    document = _folder(tmp_path)
    sub = document.open_subsession(document.sessions[0], "new")
    document.add_message(document.sessions[0], "user", "mine")
    real, names = Path.replace, list[str]()

    def fails(self: Path, target: Path) -> Path:
        names.append(target.name)
        if len(names) == 2:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fails)
    document.files.reverse()  # the new one first
    with pytest.raises(PermissionError):
        document.save()
    document.files.reverse()
    monkeypatch.undo()
    assert names[0] == f"{sub.id}.json"
    document.undo()
    document.undo()
    assert document.is_dirty  # the disk has what was taken back
    document.save()
    assert _names(tmp_path / "folder") == _names(DATA / "folder")


_KILLED = """
import os, sys
from pathlib import Path
from inspector.msp import saving
from inspector.msp.document import SessionDocument
document = SessionDocument.read([Path(sys.argv[1])])
document.add_message(document.sessions[0], "user", "lost")
saving.os.fsync = lambda _: os._exit(9)
document.save()
"""


@pytest.mark.real
def test_what_a_killed_process_left_goes_with_the_next_save(edited: SessionDocument):
    path = edited.paths[0]
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert done.returncode == 9
    (left,) = [one for one in path.parent.iterdir() if one != path]
    assert left.suffix == ".part"
    young = time.time() + 3600
    os.utime(left, (young, young))
    edited.save()
    assert left.exists()  # so young that somebody may be about to hold it
    os.utime(left, (1, 1))
    edited.add_message(edited.sessions[0], "user", "more")
    edited.save()
    assert _names(path.parent) == ["x.json"]


def test_what_somebody_is_writing_stays(edited: SessionDocument):
    path = edited.paths[0]
    theirs, another = TemporaryFile(path), TemporaryFile(path.with_name("y.json"))
    another.release()
    for part in (theirs, another):
        os.utime(part.path, (1, 1))
    edited.save()
    assert _names(path.parent) == sorted(["x.json", theirs.path.name, another.path.name])
    theirs.discard()
    another.discard()
    assert _names(path.parent) == ["x.json"]


@pytest.mark.skipif(os.name == "nt", reason="no such owners")
def test_a_file_keeps_its_owner(edited: SessionDocument):
    try:
        os.chown(edited.paths[0], 1234, 1234)
    except OSError:  # nor does root in some containers
        pytest.skip("only root gives files away")
    edited.save()
    found = edited.paths[0].stat()
    assert (found.st_uid, found.st_gid) == (1234, 1234)


def test_files_somebody_puts_into_its_folders_are_found_wherever_it_was_saved_last(tmp_path: Path):
    document = _folder(tmp_path)
    assert document.new_on_disk() == []
    document.open_subsession(document.sessions[0], "new")
    document.save()
    assert document.new_on_disk() == []
    new = _wrote(tmp_path / "folder" / "deeper" / "s9.json", SUB)
    assert document.new_on_disk() == [new]
    document.save_as(tmp_path / "out")
    assert document.new_on_disk() == []
    new = _wrote(tmp_path / "out" / "s9.json", SUB)
    assert document.new_on_disk() == [new]
    new.unlink()
    assert document.new_on_disk() == []


@pytest.mark.skipif(os.name == "nt", reason="what is held there cannot be replaced")
def test_of_two_who_save_at_once_the_second_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = written(tmp_path, desk())
    first, second = SessionDocument.read([path]), SessionDocument.read([path])
    for document in (first, second):
        document.add_message(document.sessions[0], "user", "hello")
    replacing, asking, go_on = Event(), Event(), Event()
    take, place = FileLock.acquire, TemporaryFile.replace_target

    def placed(part: TemporaryFile, target: Path) -> None:
        replacing.set()
        assert go_on.wait(30)
        place(part, target)

    def taken(target: Path, patience_s: float = 0.0) -> FileLock | None:
        if replacing.is_set():
            asking.set()
        return take(target, 30 * (patience_s > 0))

    monkeypatch.setattr(TemporaryFile, "replace_target", placed)
    monkeypatch.setattr(FileLock, "acquire", taken)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.save)
        assert replacing.wait(30)
        other = pool.submit(second.save)
        assert asking.wait(30)
        go_on.set()
        one.result(30)
        with pytest.raises(ChangedOnDiskError):
            other.result(30)
    assert len(SessionDocument.read([path]).sessions[0].messages) == 3

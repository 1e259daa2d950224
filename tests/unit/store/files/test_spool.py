"""Spools: whole however they are filled, kept while they are used, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest

from inspector.base.paths import cache_folder
from inspector.store.files.spool import NoRoomError, Spool, remove_dead_spools


def test_names_of_spools_are_those_of_what_they_hold(tmp_path: Path) -> None:
    for name in ("standard input", "a/b:c", "..", "x" * 500):
        spool = Spool(name)
        spool.write(b"x")
        assert spool.path.parent.parent == cache_folder()
        spool.close()
        spool.close()
    big = Spool("big")
    with pytest.raises(NoRoomError):
        big.require_room(1 << 60)
    big.close()


_HOLD = "from inspector.store.files.spool import Spool; s = Spool('log'); print(s.path, flush=True); input()"


@pytest.mark.real
def test_spools_are_swept_when_their_program_was_killed_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(*_: int) -> None:
        raise ProcessLookupError  # as for a process of another container, or of another machine

    with subprocess.Popen([sys.executable, "-c", _HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        theirs = Path(owner.stdout.readline().decode().strip())
        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", unseen)
            ours = Spool("ours")
        assert (theirs.exists(), ours.path.exists()) == (True, True)
        owner.kill()
    Spool("next").close()
    assert (theirs.parent.exists(), ours.path.exists()) == (False, True)
    ours.close()
    assert not list(cache_folder().iterdir())


def test_a_folder_that_cannot_be_made_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "file"))
    with pytest.raises(NoRoomError, match=r"its copy cannot be written below .*cache \(Not a directory\)\. Make that"):
        Spool("log")


def test_what_cannot_be_locked_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = cache_folder() / "spool-left"
    left.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("inspector.base.file_lock.lock_descriptor", Mock(side_effect=OSError("no locks here")))
        remove_dead_spools()
        with pytest.raises(OSError, match="no locks here"):
            Spool("new")
    assert left.exists()
    remove_dead_spools()
    assert not left.exists()


@pytest.mark.parametrize("shared", [True, False])
def test_a_copy_is_whole_however_little_the_system_takes_at_once(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:1_000]))
    if not shared:
        monkeypatch.delattr(os, "copy_file_range", raising=False)
    path, data = tmp_path / "log", os.urandom(70_000)
    path.write_bytes(data)
    spool = Spool("log")
    with path.open("rb") as file:
        assert spool.fill_from(file.fileno(), 65_000, threading.Event()) == 65_000
        assert spool.path.read_bytes() == data[:65_000]
        assert spool.fill_from(file.fileno(), 80_000, threading.Event()) == 70_000
    spool.write(b"more")
    assert (spool.path.read_bytes(), spool.size) == (data + b"more", 70_004)
    spool.set_write_offset(80_000)
    spool.write(b"on")
    assert spool.path.read_bytes()[79_999:] == b"\0on"
    spool.close()

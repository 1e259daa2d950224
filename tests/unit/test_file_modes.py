"""Files the user has named are as readable as the user's other files; the program's own are the user's alone."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector import paths
from inspector.captures import captures_folder, new_capture
from inspector.export import export_file
from inspector.file_modes import mode_for
from inspector.last_open import LastOpen, save_last_open, last_open_path
from inspector.settings import Settings, save, settings_path
from tests.builders import document_of, envelope, received

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes are of Unix")


@pytest.fixture(params=[0o022, 0o002, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_follows_the_umask_which_stays(umask: int, tmp_path: Path) -> None:
    assert mode_for(tmp_path / "new") == 0o666 & ~umask
    again = os.umask(umask)
    assert again == umask


def test_what_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    (tmp_path / "there").chmod(0o640)
    assert mode_for(tmp_path / "there") == 0o640


def test_an_export_is_as_readable_as_other_files(umask: int, tmp_path: Path) -> None:
    document = document_of(received(envelope("chat", {"text": "Hello"})))
    target = tmp_path / "out.jsonl"
    for _ in export_file(document, [0], target):
        pass
    assert mode(target) == 0o666 & ~umask


def test_what_is_the_programs_own_is_the_users_alone(umask: int) -> None:
    save(Settings())
    save_last_open(LastOpen())
    own = new_capture("space")
    own.path.touch(0o600)
    try:
        for folder in (paths.config_folder(), paths.data_folder(), paths.cache_folder(), paths.log_folder()):
            assert mode(folder) == 0o700
        assert mode(captures_folder()) == 0o700
        for file in (settings_path(), last_open_path()):
            assert mode(file) == 0o600
    finally:
        own.discard()

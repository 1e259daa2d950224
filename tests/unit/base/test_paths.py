"""Tests of `inspector.base.paths`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from inspector.base import paths
from inspector.settings import load_settings


def test_user_folders_lie_below_the_override(user_folders: Path) -> None:
    folders = [paths.config_folder(), paths.data_folder(), paths.cache_folder(), paths.log_folder()]
    assert folders == [user_folders / name for name in ("config", "data", "cache", "log")]
    assert all(folder.is_dir() for folder in folders)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_user_folders_are_the_users_alone() -> None:
    assert paths.data_folder().stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_all_folders_that_are_made_are_the_users_alone_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE)
    logs = tmp_path / "state" / paths.APP_NAME / "log"
    monkeypatch.setattr(platformdirs, "user_log_path", lambda *_, **__: logs)
    before = os.umask(0)
    try:
        assert paths.log_folder() == logs
    finally:
        os.umask(before)
    assert [one.stat().st_mode & 0o777 for one in (logs, logs.parent, logs.parent.parent)] == [0o700] * 3


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_folders_that_others_can_enter_are_closed_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE)
    logs = tmp_path / "state" / paths.APP_NAME / "log"
    monkeypatch.setattr(platformdirs, "user_log_path", lambda *_, **__: logs)
    logs.mkdir(parents=True)
    for one in (logs, logs.parent, logs.parent.parent):
        one.chmod(0o755)
    paths.log_folder()
    assert [one.stat().st_mode & 0o777 for one in (logs, logs.parent, logs.parent.parent)] == [0o700, 0o700, 0o755]


def test_a_folder_that_cannot_be_made_is_named_all_the_same(user_folders: Path) -> None:
    """A home that nobody may write in, or a file in its place: whoever writes there says so, and the rest goes on."""
    user_folders.mkdir(parents=True, exist_ok=True)
    (user_folders / "config").write_bytes(b"")
    assert paths.config_folder() == user_folders / "config"
    assert "could not be read" in (load_settings().message or "")


def test_resources_are_found() -> None:
    assert paths.resource("icons", "context-inspector.svg").is_file()
    assert paths.resource("fonts", "OFL-Inter.txt").is_file()

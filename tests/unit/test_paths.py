"""Tests of `inspector.paths`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector import paths


def test_user_folders_lie_below_the_override(user_folders: Path) -> None:
    folders = [paths.config_folder(), paths.data_folder(), paths.cache_folder(), paths.log_folder()]
    assert folders == [user_folders / name for name in ("config", "data", "cache", "log")]
    assert all(folder.is_dir() for folder in folders)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_user_folders_are_the_users_alone() -> None:
    assert paths.data_folder().stat().st_mode & 0o777 == 0o700


def test_resources_are_found() -> None:
    assert paths.resource("icons", "context-inspector.svg").is_file()
    assert paths.resource("fonts", "OFL-Inter.txt").is_file()

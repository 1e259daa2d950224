"""Files the user has named are as readable as the user's other files; the program's own are the user's alone."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.base import paths
from inspector.base.atomic_files import open_replacement
from inspector.base.file_modes import mode_for
from inspector.engine.engine import Engine
from inspector.engine.requests.msp_contexts import ExportMergedContext, WantedContext
from inspector.engine.targets import Target
from inspector.export import export_file
from inspector.export.msp import export_subsession, node_at
from inspector.settings import Settings, save_settings, settings_path
from inspector.settings.window_state import WindowState, last_open_path, save_last_open
from inspector.store.files.capture_folder import captures_folder, new_capture
from tests.builders import document_of, envelope, received

SAMPLE = Path(__file__).parents[2] / "data" / "msp" / "weekly-report.json"

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


def test_a_context_exported_as_a_sub_session_is_too(umask: int, tmp_path: Path) -> None:
    document = document_of(received(envelope("chat", {"text": "Hello"}, context="c")))
    found = node_at(document, "c")
    assert found is not None
    for _ in export_subsession(document, *found, tmp_path / "out.json"):
        pass
    assert mode(tmp_path / "out.json") == 0o666 & ~umask


def test_and_the_messages_a_sub_session_would_send(umask: int, tmp_path: Path) -> None:
    engine = Engine()
    number, steps = engine.open([Target(SAMPLE)])
    engine.read(steps)
    engine.answer_request(number, ExportMergedContext(WantedContext("units"), tmp_path / "out.json"))
    engine.close()
    assert mode(tmp_path / "out.json") == 0o666 & ~umask


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    (tmp_path / "link").symlink_to("there")
    with open_replacement(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "after"


def test_what_fails_half_way_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("before")
    try:
        with open_replacement(tmp_path / "there") as file:
            file.write(b"after")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text() == "before"


def test_what_is_the_programs_own_is_the_users_alone(umask: int) -> None:
    save_settings(Settings())
    save_last_open(WindowState())
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

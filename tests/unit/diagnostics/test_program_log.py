"""Tests of `inspector.diagnostics.program_log`: one file an instance, bounded, masked, and not to be fooled."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.base.paths import log_folder
from inspector.diagnostics import program_log
from inspector.diagnostics.program_log import LogFile
from inspector.protocol.secrets.masking import MASK, mask_text
from inspector.sources import opening

pytestmark = pytest.mark.logs_warnings

_log = logging.getLogger("inspector.tests")


@pytest.fixture
def log() -> Iterator[LogFile]:
    handler = program_log.start_logging(mask_text)
    yield handler
    program_log.stop_logging(handler)


def test_nothing_is_written_before_something_is_logged(log: LogFile) -> None:
    assert log.path is None
    assert list(log_folder().iterdir()) == []


def test_lines_say_when_how_bad_and_where(log: LogFile) -> None:
    _log.info("opened %d", 3)
    _log.debug("not this")
    assert log.path == log_folder() / "context-inspector.log"
    assert log.path is not None
    (line,) = program_log.last_lines(log.path, 10)
    assert line.endswith("INFO inspector.tests: opened 3")
    assert log.path.stat().st_mode & 0o777 == 0o600 or sys.platform == "win32"


def test_secrets_are_masked_in_words_and_tracebacks(log: LogFile) -> None:
    try:
        raise ValueError("Authorization: Bearer abcdefgh12345678")
    except ValueError:
        _log.exception("token=%s", "https://h/?token=tell-nobody")
    text = "\n".join(program_log.last_lines(log.path, 50))
    assert "tell-nobody" not in text
    assert "abcdefgh12345678" not in text
    assert MASK in text


def test_hostile_words_make_no_lines_and_act_on_no_terminal(log: LogFile) -> None:
    _log.warning("%s", "one\n2026-01-01 00:00:00.000 ERROR inspector.ui: forged\x1b[2J\u202eevil")
    lines = program_log.last_lines(log.path, 10)
    assert len(lines) == 2
    assert lines[1].startswith("    2026-01-01")
    assert "\\u001b[2J\\u202eevil" in lines[1]


def test_a_full_file_is_begun_anew_and_one_part_kept(log: LogFile) -> None:
    for number in range(40):
        _log.info("%s %d", "x" * 60_000, number)
    assert log.path is not None
    parts = sorted(path.name for path in log_folder().glob("*.log*"))
    assert parts == ["context-inspector.log", "context-inspector.log.1"]
    assert all(path.stat().st_size <= 1 << 20 for path in log_folder().glob("*.log*"))
    assert program_log.last_lines(log.path, 1)[0].endswith(" 39")


@pytest.mark.real
def test_each_instance_has_a_file_of_its_own(log: LogFile) -> None:
    _log.info("the first")
    other = (
        "import logging\nfrom inspector.diagnostics import program_log\nprogram_log.start_logging(str)\n"
        "logging.getLogger('inspector.x').info('the second')\n"
    )
    subprocess.run([sys.executable, "-c", other], check=True, timeout=120)
    subprocess.run([sys.executable, "-c", other], check=True, timeout=120)
    assert [line[-9:] for line in program_log.last_lines(log.path, 9)] == ["the first"]
    beside = program_log.last_lines(log_folder() / "context-inspector-2.log", 9)
    assert [line[-10:] for line in beside] == ["the second", "the second"]


def test_warnings_still_reach_the_terminal(log: LogFile, capsys: pytest.CaptureFixture[str]) -> None:
    program_log.stop_logging(log)
    again = program_log.start_logging(mask_text)  # standard error is that of the test by now
    _log.warning("told")
    _log.info("not told")
    program_log.stop_logging(again)
    said = capsys.readouterr().err
    assert "told" in said
    assert "not told" not in said


def test_frames_are_never_logged(log: LogFile) -> None:
    program_log.stop_logging(log)
    detailed = program_log.start_logging(mask_text, detailed=True)
    try:
        assert not logging.getLogger("inspector.demo.gateway").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger(f"{opening.__name__}.websocket").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger("websockets.client").isEnabledFor(logging.DEBUG)
        assert _log.isEnabledFor(logging.DEBUG)
    finally:
        program_log.stop_logging(detailed)


def test_frames_of_the_demo_are_not_logged_after_the_end_either() -> None:
    program_log.stop_logging(program_log.start_logging(mask_text))
    assert not logging.getLogger("inspector.demo.gateway").isEnabledFor(logging.DEBUG)


def test_a_folder_that_cannot_be_written_to_fails_nobody(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.mktemp("full") / "file"
    home.write_text("")
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(home))
    handler = program_log.start_logging(mask_text)
    _log.info("nowhere")
    assert handler.path is None
    program_log.stop_logging(handler)


def test_a_full_disk_tells_no_secret(log: LogFile, capsys: pytest.CaptureFixture[str]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    (log_folder() / "context-inspector.log").symlink_to("/dev/full")
    for _ in range(3):
        _log.info("joining with %s", "Authorization: Bearer sk-live-0123456789abcdef0123")
    said = capsys.readouterr().err
    assert "sk-live" not in said
    assert said == "The program's log cannot be written: No space left on device.\n"


def test_a_record_that_cannot_be_made_tells_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    handler = program_log.start_logging(mask_text)  # after standard error is caught
    words = ("Authorization: Bearer sk-live-0123456789abcdef0123",)
    record = logging.LogRecord("inspector", logging.WARNING, "", 1, "joining", words, None)
    ours = [one for one in logging.getLogger().handlers if type(one).__module__ == program_log.__name__]
    for one in ours:
        one.handle(record)
    program_log.stop_logging(handler)
    assert len(ours) == 2
    said = capsys.readouterr().err
    assert "sk-live" not in said
    assert said == "The program's log cannot be written: TypeError.\n"

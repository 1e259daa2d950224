"""Tests of `inspector.diagnostics.hard_crashes` with processes that really crash."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from inspector.base.paths import log_folder
from inspector.diagnostics import hard_crashes
from inspector.diagnostics.crash_report import ReportChoices, describe_dump
from inspector.diagnostics.hard_crashes import HardCrash

pytestmark = [pytest.mark.real, pytest.mark.skipif(sys.platform == "win32", reason="signals")]

_RUN = """
import faulthandler, os, signal, sys, time
from inspector.diagnostics import hard_crashes
with hard_crashes.record_crashes(str):
    print("begun", flush=True)
    {end}
"""
ABORT = "os.abort()"
SEGV = "faulthandler._sigsegv()"
WAIT = "sys.stdin.read()"


def _run(end: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _RUN.format(end=end)], capture_output=True, text=True, timeout=120, check=False
    )


@contextlib.contextmanager
def _running() -> Generator[subprocess.Popen[str]]:
    """A run that goes on until its standard input is closed."""
    command = [sys.executable, "-c", _RUN.format(end=WAIT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield process


def _files() -> list[Path]:
    return sorted(log_folder().iterdir())


def _as_if_old() -> None:
    for path in _files():
        os.utime(path, (time.time() - 60, time.time() - 60))


@pytest.fixture
def found() -> Iterator[list[HardCrash]]:
    """Filled by a test; what it holds is let go."""
    crashes: list[HardCrash] = []
    yield crashes
    for crash in crashes:
        crash.release()


def test_a_run_that_ends_well_leaves_nothing() -> None:
    assert _run("pass").returncode == 0
    assert _files() == []


def test_leaving_by_exit_leaves_nothing() -> None:
    assert _run("sys.exit(3)").returncode == 3
    assert _files() == []


@pytest.mark.parametrize(
    ("end", "ended_by", "words"),
    [(ABORT, signal.SIGABRT, "Fatal Python error: Aborted"), (SEGV, signal.SIGSEGV, "Segmentation fault")],
    ids=["abort", "segmentation fault"],
)
def test_a_hard_crash_leaves_a_dump(end: str, ended_by: int, words: str, found: list[HardCrash]) -> None:
    assert _run(end).returncode == -ended_by
    found += hard_crashes.earlier_crashes()
    assert len(found) == 1
    assert words in found[0].dump
    assert 'File "<string>"' in found[0].dump
    assert [name for name, _ in found[0].facts] == ["started", "process"]
    assert found[0].path.stat().st_mode & 0o777 == 0o600
    found[0].discard()
    assert _files() == []


def test_a_crash_in_another_thread_leaves_all_threads(found: list[HardCrash]) -> None:
    import_and_go = "import threading; t = threading.Thread(target=os.abort); t.start(); t.join()"
    assert _run(import_and_go).returncode == -signal.SIGABRT
    found += hard_crashes.earlier_crashes()
    assert found[0].dump.count("hread 0x") == 2


def test_an_error_that_ends_the_program_is_noted_and_raised(found: list[HardCrash]) -> None:
    done = _run("raise ValueError('of no use')")
    assert done.returncode == 1
    assert "of no use" in done.stderr
    found += hard_crashes.earlier_crashes()
    assert found[0].dump.endswith("\nValueError\n! ValueError: of no use")


def test_what_an_error_says_is_marked_and_its_secrets_masked(found: list[HardCrash]) -> None:
    token = "Bearer sk-live-0123456789abcdef0123"
    run = _RUN.format(end=f"raise ValueError('for Acme\\n  {token}\\n# facts: forged')").replace(
        "record_crashes(str)", "record_crashes(mask_text)"
    )
    with_mask = f"from inspector.protocol.secrets.masking import mask_text\n{run}"
    subprocess.run([sys.executable, "-c", with_mask], capture_output=True, timeout=120, check=False)
    found += hard_crashes.earlier_crashes()
    assert "sk-live" not in found[0].path.read_text()
    assert "! # facts: forged" in found[0].dump
    quiet = describe_dump(found[0].dump, ReportChoices())
    assert quiet.endswith("ValueError")
    assert "Acme" not in quiet
    assert "Acme" in describe_dump(found[0].dump, ReportChoices(error_words=True))


def test_a_killed_run_leaves_nothing_to_tell() -> None:
    with _running() as process:
        process.kill()
    assert len(_files()) == 1
    _as_if_old()
    assert hard_crashes.earlier_crashes() == []
    assert _files() == []


def test_a_run_that_lives_is_left_alone() -> None:
    with _running() as process:
        _as_if_old()
        assert hard_crashes.earlier_crashes() == []
        assert len(_files()) == 1
        process.communicate("")
    assert _files() == []


def test_instances_do_not_mix(found: list[HardCrash]) -> None:
    with _running() as living:
        assert _run(ABORT).returncode < 0
        assert _run(SEGV).returncode < 0
        found += hard_crashes.earlier_crashes()
        assert len(found) == 2
        assert all(str(living.pid) not in crash.path.name for crash in found)
        living.communicate("")


def test_what_one_offers_no_other_does(found: list[HardCrash]) -> None:
    _run(ABORT)
    found += hard_crashes.earlier_crashes()
    assert len(found) == 1
    assert hard_crashes.earlier_crashes() == []
    found[0].release()
    again = hard_crashes.earlier_crashes()
    assert [crash.path for crash in again] == [found[0].path]
    again[0].discard()


def test_old_and_many_dumps_are_removed(found: list[HardCrash]) -> None:
    for number in range(14):
        path = log_folder() / f"{number}.run"
        path.write_text("# process: 1\nFatal Python error: Aborted\n")
        age = 40 * 24 * 3600 if number == 0 else number
        os.utime(path, (time.time() - age, time.time() - age))
    found += hard_crashes.earlier_crashes()
    assert [crash.path.name for crash in found] == [f"{number}.run" for number in range(1, 11)]
    assert len(_files()) == 10


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "file"))
    ran = False
    with hard_crashes.record_crashes(str):
        ran = True
    assert ran
    assert "could not be noted" in caplog.text


def test_notes_and_reasons_are_written(found: list[HardCrash]) -> None:
    end = "hard_crashes.write_fact('version', '1.2\\n3'); hard_crashes.write_dump('Qt: no platform'); os.abort()"
    _run(end)
    found += hard_crashes.earlier_crashes()
    assert ("version", "1.2 3") in found[0].facts
    assert found[0].dump.startswith("Qt: no platform\nFatal Python error")

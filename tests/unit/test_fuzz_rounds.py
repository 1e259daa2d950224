"""A round of `make fuzz`: each property has its share of time, and a failure is repeated by its seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT

pytestmark = pytest.mark.real

_PROPERTIES = """
import time
from hypothesis import given, strategies as st

@given(st.integers())
def test_slow(number):
    with open(CALLS, "a") as calls:
        calls.write("x")
    time.sleep(0.3)

@given(st.integers(0, 40))
def test_wrong(number):
    assert number != 17

@given(st.integers())
def test_right(number):
    pass

@given(st.randoms(use_true_random=False))
def test_drawing_in_its_body(random):
    time.sleep(0.05)
    random.random()
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "test_made.py"
    path.write_text(f"CALLS = {str(folder / 'calls')!r}\n{_PROPERTIES}", encoding="utf-8")
    plain = ("-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--confcutdir", str(ROOT / "tests"))
    command = [sys.executable, "-m", "pytest", *plain, "-p", "tests.conftest", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)


def test_a_round_goes_on_after_a_failure_and_a_seed_repeats_it(tmp_path: Path) -> None:
    log, made = tmp_path / "failures", tmp_path / "test_made.py"
    log.touch()
    found = _run(tmp_path, "-p", "tests.fuzz.plugin", "--hypothesis-profile=fuzz", "--fuzz-share=2",
                 f"--fuzz-log={log}", str(made))  # fmt: skip
    assert "1 failed, 3 passed" in found.stdout, found.stdout
    assert 0 < len((tmp_path / "calls").read_text()) <= 8, "0.3 s each in a share of 2 s"
    (line,) = log.read_text("utf-8").splitlines()
    assert line in found.stdout
    seed = line.rpartition("--hypothesis-seed=")[2]
    again = _run(tmp_path, "--hypothesis-profile=fuzz-shrink", f"--hypothesis-seed={seed}", f"{made}::test_wrong")
    assert "number=17" in again.stdout

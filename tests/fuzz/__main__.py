"""Runs all property tests in rounds, with new examples each time, until the time is over.

Run as `python -m tests.fuzz MINUTES` (`make fuzz MINUTES=60`). Arguments behind the minutes select test files.
A round gives each property the same share of time. A failure prints its seed and the command that repeats it;
the run goes on and ends with exit code 1. Make a test of each failure.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parent.parent
_FILES_A_BATCH = 12
"""A batch is one process: a crash loses no more than this, and starting it costs some seconds."""
_SHARE_SECONDS = 2.0
_STOPPED = 5
"""The exit code of pytest if it ran no test."""


def property_files(selected: Sequence[str] = ()) -> list[str]:
    """Test files with properties whose path holds one of the `selected` words; tests of windows are left out."""
    found = (path for path in (TESTS / "unit").rglob("test_*.py") if "@given" in path.read_text("utf-8"))
    return sorted(str(path) for path in found if not selected or any(word in str(path) for word in selected))


def fuzz(minutes: float, selected: Sequence[str] = ()) -> int:
    """Repeats rounds until the minutes are over; returns 1 if a property failed or a process crashed, else 0."""
    files, began = property_files(selected), time.monotonic()
    until = began + minutes * 60
    rounds, failures = 0, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            rounds += 1
            random.shuffle(files)
            for first in range(0, len(files), _FILES_A_BATCH):
                if time.monotonic() >= until:
                    break
                done = (time.monotonic() - began) / 60
                print(f"round {rounds}, files from {first}, {done:.0f} of {minutes:g} min", flush=True)
                failures += _run_batch(files[first : first + _FILES_A_BATCH], until, Path(folder) / "failures")
    print(f"{len(files)} files of properties, {rounds} rounds, {minutes:g} min, {len(failures)} failures")
    for line in failures:
        print(f"repeat: {line}")
    return int(bool(failures))


def _run_batch(files: list[str], until: float, log: Path) -> list[str]:
    """Runs the properties of these files; returns the commands that repeat its failures."""
    log.write_text("", encoding="utf-8")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.fuzz.plugin", "-m", "hypothesis",
        "--hypothesis-profile=fuzz", "--timeout=300", f"--fuzz-share={_SHARE_SECONDS}", f"--fuzz-log={log}",
        f"--fuzz-seconds={max(0.0, until - time.monotonic())}", *files,
    ]  # fmt: skip
    code = subprocess.run(command, cwd=TESTS.parent, check=False).returncode
    failures = log.read_text("utf-8").splitlines()
    if code not in (0, _STOPPED) and not failures:
        failures = [f"exit code {code}: {' '.join(files)}"]
    return failures


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # `subprocess.run` takes its process along
    sys.exit(fuzz(float(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:]))

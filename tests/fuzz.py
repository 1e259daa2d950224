"""Property tests again and again, with new examples each time, for as long as there is time.

Run as `python -m tests.fuzz MINUTES` (`make fuzz MINUTES=60`). Ends at the first failure, with what hypothesis found;
make a test of it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parent
_PROCESSES = "2"


def properties() -> list[str]:
    """Test files that hold properties of readers, passes, filters and documents; windows are left out."""
    return sorted(str(path) for path in (TESTS / "unit").rglob("test_*.py") if "@given" in path.read_text("utf-8"))


def fuzz(minutes: float) -> int:
    """Repeat them; the exit code of the round that failed, or 0."""
    files, began, rounds = properties(), time.monotonic(), 0
    random.shuffle(files)  # a round takes longer than most have: each time it begins elsewhere
    while time.monotonic() - began < minutes * 60:
        rounds += 1
        seed = random.randrange(1 << 32)
        print(f"round {rounds}, seed {seed}, {(time.monotonic() - began) / 60:.0f} of {minutes:g} min", flush=True)
        command = [
            sys.executable, "-m", "pytest", "-q", "-x", "-n", _PROCESSES, "--maxschedchunk=1", "-m", "hypothesis",
            "--timeout=1200", "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", *files,
        ]  # fmt: skip
        code = subprocess.run(command, cwd=TESTS.parent, check=False).returncode
        if code:
            return code
    print(f"{len(files)} files of properties, {rounds} rounds, no failure")
    return 0


if __name__ == "__main__":
    sys.exit(fuzz(float(sys.argv[1]) if len(sys.argv) > 1 else 5))

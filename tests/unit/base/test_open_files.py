"""Limit of open files: raised to what the system allows, in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource")

_CODE = """
import resource, sys
from inspector.base.open_files import allow_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
print(allow_open_files(int(sys.argv[3])), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "allowed", "soft_then"),
    [(256, 1_000, 400, 400, 556), (256, 300, 400, 144, 300), (900, 1_000, 400, 400, 900), (100, 100, 400, 1, 100)],
)
def test_the_soft_limit_grows_up_to_the_hard_one(
    soft: int, hard: int, wanted: int, allowed: int, soft_then: int
) -> None:
    words = [sys.executable, "-c", _CODE, *map(str, (soft, hard, wanted))]
    found = subprocess.run(words, capture_output=True, text=True, check=True, timeout=50)
    assert found.stdout.split() == [str(one) for one in (allowed, soft_then, hard)]

"""Tests of `inspector.held_file`: one holds, others see it, and it is free when its process has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from inspector.held_file import hold

_ASKED = """
import os, sys
from inspector.held_file import hold
print(hold(os.open(sys.argv[1], os.O_RDWR)))
"""


def _held_by_another(path: Path) -> bool:
    done = subprocess.run([sys.executable, "-c", _ASKED, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "False"


def test_a_file_is_held_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "one"
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    assert hold(descriptor)
    assert _held_by_another(path)
    os.close(descriptor)
    assert not _held_by_another(path)


def test_what_is_held_can_be_written_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(b"before ")
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
    assert hold(descriptor)
    os.write(descriptor, b"after")
    os.close(descriptor)
    assert path.read_bytes() == b"before after"

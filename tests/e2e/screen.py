"""A virtual display of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def virtual_display() -> Generator[str]:
    """Xvfb for as long as it is needed; the value of DISPLAY."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[write], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            yield f":{numbers.readline().strip()}"
    finally:
        server.terminate()
        server.wait(timeout=60)

"""Tests of `inspector.sources.blocking_files`."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from inspector.sources.blocking_files import call_with_timeout, wait_until_readable
from tests.conftest import MS


@pytest.mark.parametrize("content", [b"", b"a"])
async def test_files_on_a_disk_answer(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log").write_bytes(content)
    await asyncio.wait_for(wait_until_readable(tmp_path / "log"), 30_000 * MS)
    assert (tmp_path / "log").read_bytes() == content


async def test_what_cannot_be_opened_is_left_to_whoever_reads_it(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone", Path("/" + "x" * 300)):
        await asyncio.wait_for(wait_until_readable(path), 30_000 * MS)
        with pytest.raises(OSError, match=r"directory|No such file|too long"):
            path.read_bytes()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no such file")
async def test_what_the_system_makes_is_no_log() -> None:
    with pytest.raises(OSError, match="copy it to a file"):
        await wait_until_readable(Path("/proc/self/status"))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
async def test_the_loop_goes_on_while_a_file_does_not_answer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "silent")  # to open it waits until somebody writes
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(wait_until_readable(tmp_path / "silent"), 0.1)
    os.close(os.open(tmp_path / "silent", os.O_RDWR | os.O_NONBLOCK))


def test_who_does_not_answer_in_time_keeps_nobody_else_waiting() -> None:
    release = threading.Event()
    started = time.monotonic()
    assert call_with_timeout([release.wait, lambda: True, lambda: False], 1_000 * MS) == [None, True, False]
    assert time.monotonic() - started < 30_000 * MS
    release.set()

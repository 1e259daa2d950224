"""Standard input that never ends, as a user pipes it: into a command, and into the window."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import envelope, lines_of

pytestmark = [pytest.mark.real, pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")]


@pytest.fixture
def command() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes started; none is left."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start(command: list[subprocess.Popen[bytes]], *arguments: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "inspector", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    command.append(process)
    return process


def spooled(home: Path, count: int) -> None:
    """Wait until so many bytes have been taken in."""
    until = time.monotonic() + 60
    while sum(path.stat().st_size for path in home.glob("cache/spool-*/*")) < count:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_ctrl_c_ends_endless_input_and_answers_for_what_came(
    command: list[subprocess.Popen[bytes]], user_folders: Path
) -> None:
    process = start(command, "summary", "-", "--json")
    data = lines_of(envelope(), envelope(), envelope())
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()
    spooled(user_folders, len(data))
    time.sleep(1)  # the bytes are there; let the handler be too
    process.send_signal(signal.SIGINT)
    out = process.stdout.read() if process.stdout else b""
    said = process.stderr.read() if process.stderr else b""
    assert (process.wait(60), json.loads(out)["messages"]) == (0, 3)
    assert said.decode() == "standard input continues; this covers the messages received so far.\n"
    assert not list(user_folders.glob("cache/spool-*"))


def test_a_listing_of_input_that_ends(command: list[subprocess.Popen[bytes]]) -> None:
    out, said = start(command, "list", "-", "-e", "no").communicate(lines_of(envelope(), envelope()))
    assert (out.split(), said) == ([b"no", b"1", b"2"], b"")


def test_a_window_on_input_that_goes_on_ends_when_told(
    command: list[subprocess.Popen[bytes]], user_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", os.environ.get("QT_QPA_PLATFORM", "offscreen"))
    process = start(command, "-")
    data = lines_of(envelope())
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()
    spooled(user_folders, len(data))
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not list(user_folders.glob("cache/spool-*"))

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


_SHOWN = """
import sys
from PySide6.QtCore import QTimer
from inspector.ui.app import application

class Watched(application.Application):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.steps = QTimer(interval=20)
        self.steps.timeout.connect(self.look)
        self.steps.start()

    def look(self):
        for window in self.windows:
            if window.panes is not None and len(window.panes.rows) == 2 and not window.opening.reading:
                self.steps.stop()
                print(window.shown.state.name)
                self.spawn(self.quit(), "end")

application.Application = Watched
sys.exit(application.run_windows([sys.argv[1]], standalone=True))
"""


@pytest.mark.parametrize("file", ["-", "/dev/stdin", "/dev/fd/{}"])
def test_the_engine_of_a_window_reads_what_is_piped_into_the_program(file: str, user_folders: Path) -> None:
    source, sink = os.pipe()
    os.write(sink, lines_of(envelope(), envelope()))
    os.close(sink)
    is_descriptor = "{}" in file
    done = subprocess.run(
        [sys.executable, "-c", _SHOWN, file.format(source)],
        stdin=subprocess.DEVNULL if is_descriptor else source, pass_fds=(source,) if is_descriptor else (),
        capture_output=True, check=False, timeout=120, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )  # fmt: skip
    os.close(source)
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr.decode()
    assert not list(user_folders.glob("cache/spool-*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["-"], "Standard input is closed.\n"), (["list", "-"], "- cannot be read: it is closed.\n")],
)
def test_a_closed_standard_input_is_an_error(arguments: list[str], words: str, user_folders: Path) -> None:
    line = 'exec "$0" -m inspector "$@" <&-'
    ended = subprocess.run(
        ["sh", "-c", line, sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", words)

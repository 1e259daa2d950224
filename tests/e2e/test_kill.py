"""What `kill -9` loses: nothing that arrived more than a tenth of a second before, and the rest is offered again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.document.document import CaptureDocument
from inspector.store.files.capture_folder import unsaved_captures
from tests.conftest import MS

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
RATE, SIZE = 1_000, 400
LOST_S = 0.1
SLACK_S = 600 * MS
"""What two busy cores may add between sending and receiving; it is measured in tests/bench, here only bounded."""

WINDOW = """
import asyncio, sys, time
from inspector.sources.connection import Connection
from inspector.ui.app.application import Application, make_qt, run_loop

qt = make_qt()

async def main():
    application = Application(qt, theme="light", bundled_fonts=True)
    async def start():
        window = application.new_window()
        window.gateway.watch(Connection(url=sys.argv[1], space="demo"))
        async def stall():
            while True:
                await asyncio.sleep(0.3)
                time.sleep(0.25)  # as a window does that has much to paint
        if len(sys.argv) > 2:
            application.spawn(stall(), "stall")
    await application.run(start())
    return 0

run_loop(main(), qt)
"""


@pytest.fixture
def gateway() -> Iterator[str]:
    """Address of a gateway process that says numbered messages to whoever joins."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.numbered", str(RATE), str(SIZE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()


def records(path: Path) -> tuple[list[dict[str, int]], bytes]:
    """Payloads of the numbered messages that lie whole on disk, and what is left of a torn last line."""
    lines = path.read_bytes().split(b"\n")
    frames = [json.loads(line)["frame"] for line in lines[1:-1] if b'"dir":"in"' in line[:60]]
    return [frame["payload"] for frame in frames if frame["kind"] == "chat"], lines[-1]


def kill_after_a_while(process: subprocess.Popen[bytes], path_of: Path | None, home: Path) -> tuple[Path, int]:
    """Let a process capture for two seconds, kill it; its capture, and when it was killed."""
    try:
        ends = time.monotonic() + 60
        while not (path := path_of or next(home.rglob("*.ctxcap"), None)) or not path.exists() or not records(path)[0]:
            assert time.monotonic() < ends, "nothing was captured"
            assert process.poll() is None, "the program has ended"
            time.sleep(0.05)
        time.sleep(2)
    finally:
        killed_ns = time.time_ns()
        process.kill()
        process.wait(60)
    return path, killed_ns


def check(path: Path, killed_ns: int) -> tuple[int, float]:
    """How many messages lie on disk, in order and none missing, and how old the last one is, in seconds."""
    found, torn = records(path)
    assert [payload["n"] for payload in found] == list(range(1, len(found) + 1))
    lost_s = (killed_ns - found[-1]["sent_ns"]) / 1e9
    print(f"{len(found):,} messages on disk, the last {lost_s * 1000:.0f} ms old, {len(torn)} bytes of a torn line")
    return len(found), lost_s


def little_lost(run: Callable[[], tuple[Path, int]], allowed_s: float) -> tuple[Path, int]:
    """A capture that lost no more than allowed, and its messages; the cores may be busy for a while: three tries."""
    lost: list[float] = []
    while len(lost) < 3:
        path, killed_ns = run()
        count, lost_s = check(path, killed_ns)
        if lost_s < allowed_s:
            return path, count
        lost.append(lost_s)
        path.unlink()
    raise AssertionError(f"lost {lost} seconds")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize("stalls", [pytest.param([], id="fluent"), pytest.param(["stalls"], id="loop-stalls")])
def test_a_killed_window_has_its_capture_on_disk(gateway: str, user_folders: Path, stalls: list[str]) -> None:
    def run() -> tuple[Path, int]:
        process = subprocess.Popen([sys.executable, "-c", WINDOW, gateway, *stalls], cwd=ROOT, env=os.environ)
        return kill_after_a_while(process, None, user_folders)

    # Of a loop that does not turn, the frames are still with the operating system: what was received is what counts.
    path, count = little_lost(run, LOST_S + SLACK_S + (0.25 if stalls else 0))
    ends = time.monotonic() + 60
    while not (found := unsaved_captures()):  # while its engine ends
        assert time.monotonic() < ends
        time.sleep(0.05)
    (offered,) = found
    assert (offered.path, offered.space) == (path, "demo")
    # The welcome, and what came until its engine had ended.
    assert offered.messages is None or offered.messages > count


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_killed_recording_is_on_disk_and_read_as_any(gateway: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.ctxcap"
    command = [sys.executable, "-m", "inspector", "record", gateway, "--space", "demo", "-o", str(path)]

    def run() -> tuple[Path, int]:
        return kill_after_a_while(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL), path, tmp_path)

    _, count = little_lost(run, LOST_S + SLACK_S)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 7)
    document = CaptureDocument()
    document.load(path)
    assert document.unreadable == 1
    assert document.kind_counts()["chat"] in (count - 1, count)
    document.close()

"""Processes are killed while they work: files keep whole lines, and no process or temporary file is left."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from inspector.document.document import CaptureDocument
from inspector.engine.client import EngineClient
from inspector.engine.process import start_engine
from inspector.engine.targets import OpenOptions, Target
from tests.builders import envelope, lines_of
from tests.conftest import MS
from tests.e2e.test_kill import records
from tests.e2e.test_kill_recorder import Shown, kill, until
from tests.e2e.test_tap import tapped, whole_lines

pytestmark = [
    pytest.mark.trouble, pytest.mark.timeout(1800),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9"),
]  # fmt: skip
ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("TESTS_KILLS", "3"))
MESSAGES = 30_000
ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of a test's processes."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def wait_for(condition: Callable[[], object], what: str) -> None:
    ends = time.monotonic() + 120_000 * MS
    while not condition():
        assert time.monotonic() < ends, f"waited for {what}"
        time.sleep(0.01)


def left_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


async def test_an_engine_killed_while_it_opens_a_log_leaves_nothing(
    tmp_path: Path, temporary: Path, user_folders: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(*(envelope("chat", {"text": f"hi {n}"}, id=f"m{n}") for n in range(MESSAGES))))
    for _ in range(KILLS):
        client, shown = EngineClient(start_engine()), Shown()
        client.open((Target(log, name="log"),), OpenOptions(), shown)
        await asyncio.sleep(random.uniform(0.0, 2.0))
        children = psutil.Process(client.pid).children(recursive=True)
        kill(client)
        await until(lambda: not alive(children), "the end of its workers")  # noqa: B023  this turn's
        assert not left_in(temporary)
    client, shown = EngineClient(start_engine()), Shown()
    client.open((Target(log, name="log"),), OpenOptions(), shown)
    await until(lambda: shown.state.messages == MESSAGES, "all messages")
    assert shown.failures == []
    client.close()


def test_a_killed_tap_ends_its_server_and_its_capture_has_every_whole_line(
    tmp_path: Path, temporary: Path, user_folders: Path
) -> None:
    for number in range(KILLS):
        capture = tmp_path / f"{number}.ctxcap"
        tap = subprocess.Popen[bytes](
            tapped(capture, sys.executable, "-c", ECHO), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            bufsize=0,
        )  # fmt: skip
        assert tap.stdin is not None
        assert tap.stdout is not None
        with tap.stdin, tap.stdout:
            sent = 0
            ends = time.monotonic() + random.uniform(0.2, 0.8)
            while sent < 5 or time.monotonic() < ends:
                sent += 1
                tap.stdin.write(json.dumps({"jsonrpc": "2.0", "id": sent, "method": "ping"}).encode() + b"\n")
                assert json.loads(tap.stdout.readline())["id"] == sent
            wait_for(lambda: capture.exists() and len(whole_lines(capture)) > 3, "the first lines")  # noqa: B023
            children = psutil.Process(tap.pid).children(recursive=True)
            tap.kill()
            tap.wait(60)
        wait_for(lambda: not alive(children), "the end of the server")  # noqa: B023  this turn's
        frames = [line["frame"]["id"] for line in whole_lines(capture) if line.get("dir") == "client->server"]
        assert frames == list(range(1, len(frames) + 1))
        document = CaptureDocument()
        document.load(capture)
        assert len(document.capture) >= len(frames) > 0
        document.close()
        assert sorted(temporary.rglob("*")) == []
        assert [one for one in tmp_path.iterdir() if one.suffix not in (".ctxcap", "") and one != temporary] == []


def test_a_killed_recording_has_every_whole_line(tmp_path: Path, temporary: Path, user_folders: Path) -> None:
    gateway = subprocess.Popen[str](
        [sys.executable, "-m", "tests.numbered", "500", "300"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert gateway.stdout is not None
    try:
        url = gateway.stdout.readline().strip()
        for number in range(KILLS):
            capture = tmp_path / f"{number}.ctxcap"
            words = [sys.executable, "-m", "inspector", "record", url, "--space", "demo", "-o", str(capture)]
            process = subprocess.Popen[bytes](words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(lambda: capture.exists() and records(capture)[0], "the first messages")  # noqa: B023
            time.sleep(random.uniform(0.0, 0.4))
            children = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            wait_for(lambda: not alive(children), "the end of its processes")  # noqa: B023  this turn's
            numbers = [one["n"] for one in records(capture)[0]]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            document = CaptureDocument()
            document.load(capture)
            assert len(document.capture) >= len(numbers)
            document.close()
            assert sorted(temporary.rglob("*")) == []
    finally:
        gateway.kill()
        gateway.wait(60)
        gateway.stdout.close()


def test_a_recording_goes_on_after_its_gateway_was_killed(tmp_path: Path, user_folders: Path) -> None:
    def start(port: int) -> tuple[subprocess.Popen[str], str]:
        words = [sys.executable, "-c", GATEWAY, str(port)]
        process = subprocess.Popen[str](words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    gateway, url = start(0)
    capture = tmp_path / "all.ctxcap"
    words = [sys.executable, "-m", "inspector", "record", url, "--space", "demo", "-o", str(capture)]
    recording = subprocess.Popen[bytes](words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(KILLS):
            before = len(records(capture)[0]) if capture.exists() else 0
            wait_for(lambda: capture.exists() and len(records(capture)[0]) > before + 5, "messages")  # noqa: B023
            gateway.kill()
            gateway.wait(60)
            assert gateway.stdout is not None
            gateway.stdout.close()
            assert recording.poll() is None
            gateway, _ = start(int(url.rpartition(":")[2]))
        before = len(records(capture)[0])
        wait_for(lambda: len(records(capture)[0]) > before + 5, "messages of the last gateway")
        recording.send_signal(signal.SIGINT)
        assert recording.wait(60) == 0
    finally:
        for process in (gateway, recording):
            if process.poll() is None:
                process.kill()
            process.wait(60)
            if process.stdout is not None:
                process.stdout.close()
    assert records(capture)[1] == b""


GATEWAY = """
import asyncio, sys
from inspector.base.async_tasks import start_task
from tests.numbered import NumberedGateway

async def main():
    tasks = set()
    async with NumberedGateway(int(sys.argv[1])) as gateway:
        print(gateway.url, flush=True)
        start_task(gateway.say_at(500, 300), name="say", owner=tasks)
        await asyncio.sleep(600)

asyncio.run(main())
"""

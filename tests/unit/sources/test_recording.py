"""Recording without a window: counted, limited, ended cleanly by signals, and every trouble a sentence."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.base.async_tasks import start_task
from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.sources import recording
from inspector.sources.connection import Connection, Secret
from inspector.sources.recording import Recorded, Recording, RecordingProgress
from inspector.sources.state import SourceState
from tests.conftest import MS
from tests.numbered import NumberedGateway


def chats(path: Path) -> list[int]:
    whole = path.read_bytes().rpartition(b"\n")[0]  # the last line may be being written
    frames = [json.loads(line).get("frame", {}) for line in whole.splitlines()]
    return [frame["payload"]["n"] for frame in frames if frame.get("kind") == "chat"]


def marks(path: Path) -> list[str]:
    return [line["mark"] for line in map(json.loads, path.read_bytes().splitlines()) if "mark" in line]


async def test_no_more_is_taken_than_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "kept.ctxcap"
    async with NumberedGateway() as gateway:
        connection = Connection(url=gateway.url, space="demo", token=Secret("hidden"))
        recording = start_task(Recording(connection, path, messages=21).run(), name="record")
        await gateway.joined()
        await gateway.say(200)
        done = await recording
    assert (done.messages, done.trouble) == (21, "")
    assert chats(path) == list(range(1, 21))  # the first message is the gateway's greeting
    assert marks(path) == ["opened", "closed"]
    assert done.size_bytes == path.stat().st_size
    assert b"hidden" not in path.read_bytes()


async def test_it_ends_after_its_time_and_tells_how_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.sources.recording.TICK_S", 0.05)  # told often enough while it is connected
    progress: list[RecordingProgress] = []
    states: list[SourceState] = []
    async with NumberedGateway() as gateway:
        recording = Recording(
            Connection(url=gateway.url, space="demo"),
            tmp_path / "kept.ctxcap",
            seconds=0.7,
            on_state=lambda state, _sentence: states.append(state),
            on_progress=progress.append,
        )
        started = time.monotonic()
        done = await recording.run()
    assert 0.7 <= time.monotonic() - started < 30_000 * MS
    assert done.messages == 1
    assert states[-2:] == [SourceState.CONNECTED, SourceState.CLOSED]
    assert progress[-1].messages == 1
    assert progress[-1].size_bytes > 100


async def test_where_nobody_listens_is_a_sentence_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.ctxcap"
    done = await Recording(Connection(url="ws://127.0.0.1:9", space="demo"), path).run()
    assert done.messages == 0
    assert "refused the connection" in done.trouble
    assert not path.exists()


async def test_a_gateway_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told: list[str] = []
    connection = Connection(url=f"ws://127.0.0.1:{port}", space="demo")
    recording = Recording(
        connection, tmp_path / "kept.ctxcap", messages=3, wait=True,
        on_state=lambda _state, sentence: told.append(sentence),
    )  # fmt: skip
    running = start_task(recording.run(), name="record")
    async with asyncio.timeout(30_000 * MS):
        while not any(sentence.startswith("Waiting until the gateway is there.") for sentence in told):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    async with NumberedGateway(port) as gateway:
        await gateway.joined()
        await gateway.say(5)
        done = await running
    assert (done.messages, done.trouble) == (3, "")
    assert marks(tmp_path / "kept.ctxcap") == ["opened", "closed"]
    assert sum("Waiting" in sentence for sentence in told) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_waiting_ends_when_it_is_told_to(tmp_path: Path) -> None:
    told: list[str] = []
    recording = Recording(
        Connection(url="ws://127.0.0.1:9", space="demo"), tmp_path / "kept.ctxcap", wait=True,
        on_state=lambda _state, sentence: told.append(sentence),
    )  # fmt: skip
    running = start_task(recording.run(), name="record")
    async with asyncio.timeout(30_000 * MS):
        while len(told) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
    done = await running
    assert (done.messages, done.trouble) == (0, "")
    assert not (tmp_path / "kept.ctxcap").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open stays in its place there")
async def test_a_file_moved_away_meanwhile_holds_everything_and_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "TICK_S", 0.02)
    path, moved = tmp_path / "kept.ctxcap", tmp_path / "moved.ctxcap"
    progress: list[RecordingProgress] = []
    async with NumberedGateway() as gateway:
        connection = Connection(url=gateway.url, space="demo")
        running = start_task(Recording(connection, path, messages=21, on_progress=progress.append).run(), name="record")
        await gateway.joined()
        await gateway.say(10)
        path.rename(moved)
        progress.clear()
        async with asyncio.timeout(30_000 * MS):
            while len(progress) < 3:  # noqa: ASYNC110  several are told
                await asyncio.sleep(0.01)
        await gateway.say(10)
        done = await running
    assert done.messages == 21
    assert done.trouble == f"{path} was moved away or deleted while it was being written."
    assert chats(moved) == list(range(1, 21))
    assert done.size_bytes == moved.stat().st_size


async def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.ctxcap"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match=r"already holds 8 bytes\. Choose another name"):
        await Recording(Connection(url="ws://127.0.0.1:9", space="demo"), path).run()
    assert path.read_text() == "precious"


async def test_a_full_disk_ends_it_with_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.ctxcap"
    write = os.write

    def small(fd: int, data: bytes) -> int:
        room = 3_000 - os.fstat(fd).st_size  # also where all comes in one write
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data[:room])

    async def run(gateway: NumberedGateway) -> Recorded:
        recording = start_task(Recording(Connection(url=gateway.url, space="demo"), path).run(), name="record")
        await gateway.joined()
        monkeypatch.setattr(os, "write", small)
        for _ in range(20):
            await gateway.say(20)
            await asyncio.sleep(30 * MS)
        return await recording

    async with NumberedGateway() as gateway:
        done = await run(gateway)
    assert done.trouble.startswith(f"The capture {path} could not be written: No space left on device. ")
    assert " messages received since are lost; those before can be read." in done.trouble
    found = chats(path)
    assert found == list(range(1, len(found) + 1))
    assert done.messages == len(found) + 1  # and the greeting
    assert len(found) > 3


# The command


def record(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "inspector", "record", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a POSIX matter")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.real
async def test_a_signal_ends_it_cleanly_and_it_can_be_read_meanwhile(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "kept.ctxcap"
    async with NumberedGateway() as gateway:
        process = record(gateway.url, "--space", "demo", "-o", path)
        await gateway.joined()
        await gateway.say(5)
        async with asyncio.timeout(30_000 * MS):
            while not path.exists() or len(chats(path)) < 5:  # noqa: ASYNC110  a file
                await asyncio.sleep(0.02)
        document = CaptureDocument()
        document.load(path)
        assert document.kind_counts()["chat"] == 5
        document.close()
        process.send_signal(number)
        said, errors = await asyncio.to_thread(process.communicate, timeout=120)
    assert process.returncode == 0, errors
    assert said == ""
    assert f"{path}: 6 messages received" in errors
    assert marks(path)[-1] == "closed"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(["ws://127.0.0.1:9", "--space", "demo"], "refused the connection", id="nobody-listens"),
        pytest.param(["ws://127.0.0.1:9"], "Name a space with --space", id="no-space"),
        pytest.param(["ftp://x", "--space", "demo"], "starts with ftp://", id="no-gateway"),
        pytest.param(
            ["ws://127.0.0.1:9?space=demo", "--token-env", "NO_SUCH_TOKEN"], "variable NO_SUCH_TOKEN", id="no-token"
        ),
    ],
)
def test_trouble_is_exit_code_2_and_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(app, ["record", *arguments, "-o", str(tmp_path / "kept.ctxcap")])
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real
def test_it_needs_no_qt(tmp_path: Path) -> None:
    script = (
        "import inspector.sources.recording, inspector.cli, sys; sys.exit(any('PySide' in one for one in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

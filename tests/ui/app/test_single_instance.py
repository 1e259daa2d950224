"""A second start is taken by the running program, which opens what is asked for; what is none is not."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from inspector.base import instance_lock
from inspector.base.instance_lock import (
    ACCEPTED,
    GREETING,
    MAX_REQUEST_BYTES,
    HandoverOutcome,
    ListeningPlace,
    OpenRequest,
)
from inspector.ui.app import single_instance
from inspector.ui.app.application import Application
from tests.ui.features.test_window_restoring import log_of, read, said
from tests.ui.windows import run_in_window, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="every start is a program of its own there")


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> ListeningPlace:
    folder = tmp_path_factory.mktemp("r")
    folder.chmod(0o700)
    monkeypatch.setenv("TMPDIR" if sys.platform == "darwin" else "XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr(single_instance, "_LIMIT_MS", 60_000)  # busy machines keep callers waiting
    found = instance_lock.listening_place()
    assert found is not None
    return found


def running(qapp: QApplication, place: ListeningPlace, steps: Callable[[Application], Awaitable[None]]) -> None:
    """The program on its start page, listening."""

    async def whole(application: Application) -> None:
        lock = place.acquire_lock()
        assert lock is not None
        application.take_second_starts(place, lock)
        application.open_targets([])
        await until(place.socket.exists, "the socket")
        await steps(application)

    run_in_window(qapp, whole)
    assert not place.socket.exists()
    lock = place.acquire_lock()
    assert lock is not None
    lock.release()


async def second_start(place: ListeningPlace, request: OpenRequest) -> HandoverOutcome:
    return await asyncio.to_thread(instance_lock.hand_over, place, request, limit_s=30)


def test_a_file_opens_in_the_free_window_then_in_a_new_one(
    qapp: QApplication, place: ListeningPlace, tmp_path: Path
) -> None:
    one, two = log_of(tmp_path, "one.jsonl", 20), log_of(tmp_path, "two.jsonl", 20)

    async def steps(application: Application) -> None:
        assert await second_start(place, OpenRequest((str(one),))) is HandoverOutcome.ACCEPTED
        await read(application.windows[0])
        assert len(application.windows) == 1
        assert await second_start(place, OpenRequest((str(two),))) is HandoverOutcome.ACCEPTED
        await until(lambda: len(application.windows) == 2, "a second window")
        await read(application.windows[1])
        assert [window.document.name for window in application.windows] == ["one.jsonl", "two.jsonl"]
        await until(lambda: application.windows[1].isActiveWindow(), "the new one in front")

    running(qapp, place, steps)


def test_a_folder_of_sessions_and_a_name_no_file_can_have(qapp: QApplication, place: ListeningPlace) -> None:
    folder = Path(__file__).parents[2] / "data" / "msp" / "folder"

    async def steps(application: Application) -> None:
        assert await second_start(place, OpenRequest((str(folder), "/" + "x" * 300))) is HandoverOutcome.ACCEPTED
        await until(lambda: len(application.windows) == 2, "a second window")
        await read(application.windows[0])
        assert application.windows[0].document.msp is not None
        assert "cannot be read" in said(application.windows[1])

    running(qapp, place, steps)


def test_a_file_that_is_shown_comes_to_the_front_unless_a_new_window_is_asked_for(
    qapp: QApplication, place: ListeningPlace, tmp_path: Path
) -> None:
    log = log_of(tmp_path, count=20)

    async def steps(application: Application) -> None:
        await second_start(place, OpenRequest((str(log),)))
        await read(application.windows[0])
        application.windows[0].showMinimized()
        await second_start(place, OpenRequest((str(log),)))
        assert len(application.windows) == 1
        await until(lambda: not application.windows[0].isMinimized(), "the window that shows it")
        await second_start(place, OpenRequest((str(log),), new_window=True))
        await until(lambda: len(application.windows) == 2, "a window of its own")
        await read(application.windows[1])

    running(qapp, place, steps)


def test_without_files_a_free_window_comes_to_the_front_else_a_new_one_opens(
    qapp: QApplication, place: ListeningPlace, tmp_path: Path
) -> None:
    log = log_of(tmp_path, count=20)

    async def steps(application: Application) -> None:
        await second_start(place, OpenRequest())
        assert len(application.windows) == 1
        await second_start(place, OpenRequest(new_window=True))
        assert len(application.windows) == 2
        application.windows[1].close()
        await second_start(place, OpenRequest((str(log),)))
        await read(application.windows[0])
        await second_start(place, OpenRequest())
        assert [window.panes is None for window in application.windows] == [False, True]

    running(qapp, place, steps)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no such file")
def test_what_the_system_makes_is_not_read_in_the_window(qapp: QApplication, place: ListeningPlace) -> None:
    async def steps(application: Application) -> None:
        assert await second_start(place, OpenRequest(("/proc/self/status",))) is HandoverOutcome.ACCEPTED
        await until(lambda: "copy it to a file" in said(application.windows[0]), "the sentence")
        await until(lambda: not application.windows[0].opening.reading, "the end")

    running(qapp, place, steps)


def test_an_address_is_asked_about_and_a_missing_file_is_said(qapp: QApplication, place: ListeningPlace) -> None:
    async def steps(application: Application) -> None:
        await second_start(place, OpenRequest(("/nowhere/a.jsonl",)))
        assert "/nowhere/a.jsonl cannot be read" in said(application.windows[0])
        await second_start(place, OpenRequest(("ws://gateway.test:8080",)))
        dialog = application.windows[0].findChild(single_instance.QObject, "connectDialog")
        assert dialog is not None

    running(qapp, place, steps)


def test_the_activation_token_is_used(
    qapp: QApplication, place: ListeningPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN", raising=False)

    async def steps(application: Application) -> None:
        await second_start(place, OpenRequest(token="kwin-7"))
        assert os.environ["XDG_ACTIVATION_TOKEN"] == "kwin-7"

    running(qapp, place, steps)


async def spoken(place: ListeningPlace, *words: bytes, reads: bool = True) -> bytes:
    """What a stranger hears who says this."""

    def talk() -> bytes:
        heard = b""
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as caller:
            caller.settimeout(30)
            caller.connect(str(place.socket))
            try:
                for word in words:
                    caller.sendall(word)
                while reads and (part := caller.recv(4096)):
                    heard += part
            except OSError:
                pass
        return heard

    return await asyncio.to_thread(talk)


@pytest.mark.parametrize(
    "words",
    [
        [b"\n"], [b"GET / HTTP/1.1\r\n"], [b'{"targets": 7}\n'], [b"x" * (2 * MAX_REQUEST_BYTES)], [b"\xff\x00\n"],
        [b'{"targets": ["../../etc/passwd"], "folder": "", "token": ""}\n'], [b"{" * 100_000 + b"\n"],
    ],
)  # fmt: skip
def test_what_is_no_request_is_not_taken(qapp: QApplication, place: ListeningPlace, words: list[bytes]) -> None:
    async def steps(application: Application) -> None:
        heard = await spoken(place, *words)
        assert ACCEPTED not in heard
        assert len(application.windows) == 1
        assert application.windows[0].panes is None
        assert await second_start(place, OpenRequest()) is HandoverOutcome.ACCEPTED

    running(qapp, place, steps)


def test_silent_callers_are_put_out_and_keep_nobody_away(qapp: QApplication, place: ListeningPlace) -> None:
    async def steps(application: Application) -> None:
        silent = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(8)]
        try:
            for one in silent:
                one.connect(str(place.socket))
            assert await second_start(place, OpenRequest()) is HandoverOutcome.ACCEPTED
            # Nobody waits for a minute here, and with less the callers might be gone before the next one comes.
            assert application._instance is not None
            timers = list(application._instance._callers.values())
            assert [(timer.isActive(), timer.interval()) for timer in timers] == [(True, 60_000)] * 8
            for timer in timers:
                timer.timeout.emit()
            for one in silent:
                one.settimeout(30)
                assert await asyncio.to_thread(one.recv, 100) == GREETING
                assert await asyncio.to_thread(one.recv, 100) == b""
        finally:
            for one in silent:
                one.close()

    running(qapp, place, steps)


@pytest.mark.real
def test_it_is_taken_although_the_first_one_is_at_work(qapp: QApplication, place: ListeningPlace) -> None:
    assert instance_lock.HANDOVER_TIMEOUT_S > 2

    async def steps(application: Application) -> None:
        asked = asyncio.ensure_future(second_start(place, OpenRequest(new_window=True)))  # noqa: TID251
        await asyncio.sleep(0.05)
        time.sleep(1)  # noqa: ASYNC251  at work, as with a huge message
        assert await asked is HandoverOutcome.ACCEPTED
        assert len(application.windows) == 2

    running(qapp, place, steps)


def test_the_socket_is_the_users_alone(qapp: QApplication, place: ListeningPlace) -> None:
    async def steps(application: Application) -> None:
        assert place.socket.stat().st_mode & 0o077 == 0
        assert place.lock.stat().st_mode & 0o777 == 0o600
        assert place.socket.parent.stat().st_mode & 0o777 == 0o700

    running(qapp, place, steps)


# Real processes

_PATIENT = """
import runpy
from inspector.base import instance_lock
instance_lock._QUICK_LIMIT_S = instance_lock.hand_over.__kwdefaults__["limit_s"] = 60
runpy.run_module("inspector", run_name="__main__")
"""
START = [sys.executable, "-c", _PATIENT]
"""The program, which on a busy machine waits for the first one as long as that needs."""


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*START, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def listening(place: ListeningPlace, first: subprocess.Popen[str]) -> None:
    until_s = time.monotonic() + 60
    while not place.socket.exists():
        assert first.poll() is None, first.communicate()[0]
        assert time.monotonic() < until_s
        time.sleep(0.02)


def windows_written(home: Path, wanted: int) -> str:
    """The session file, once it names so many windows."""
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        file = home / "data" / "session.json"
        text = file.read_text() if file.exists() else ""
        if text.count('"path"') == wanted:
            return text
        time.sleep(0.1)
    pytest.fail(f"waited for {wanted} windows to be written down")


@pytest.mark.timeout(300)
@pytest.mark.real
def test_two_processes_then_a_killed_one_then_all_again(
    place: ListeningPlace, user_folders: Path, tmp_path: Path
) -> None:
    one, two = log_of(tmp_path, "one.jsonl", 20), log_of(tmp_path, "two.jsonl", 20)
    processes: list[subprocess.Popen[str]] = []
    try:
        processes.append(started())
        listening(place, processes[0])
        for path in (one, two):
            done = subprocess.run(
                [*START, path.name], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
            )
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        windows_written(user_folders, 2)
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait(30)
        assert place.socket.exists()  # what a killed one leaves
        processes.append(started())
        until_s = time.monotonic() + 60
        while instance_lock.hand_over(place, OpenRequest(), limit_s=30) is not HandoverOutcome.ACCEPTED:
            assert time.monotonic() < until_s
            time.sleep(0.05)
        assert processes[1].poll() is None
        text = windows_written(user_folders, 2)
        assert "one.jsonl" in text
        assert "two.jsonl" in text
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.timeout(120)
@pytest.mark.real
def test_without_a_runtime_folder_it_is_a_process_of_its_own(
    user_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = started(str(log_of(tmp_path, count=20)))
    try:
        windows_written(user_folders, 1)
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()

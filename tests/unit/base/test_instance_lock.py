"""The second start's side: what it asks for, where, and what it makes of whoever answers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base import instance_lock
from inspector.base.file_lock import FileLock
from inspector.base.instance_lock import (
    ACCEPTED,
    GREETING,
    MAX_REQUEST_BYTES,
    HandoverOutcome,
    ListeningPlace,
    OpenRequest,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="every start is a program of its own there")


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as made:  # a socket's name is short, whatever TMPDIR is
        folder = Path(made)
        folder.chmod(0o700)
        monkeypatch.setenv("TMPDIR" if sys.platform == "darwin" else "XDG_RUNTIME_DIR", str(folder))
        yield folder


@pytest.fixture
def place(runtime: Path) -> ListeningPlace:
    found = instance_lock.listening_place()
    assert found is not None
    return found


def answering(place: ListeningPlace, talk: Callable[[socket.socket], None]) -> threading.Thread:
    """A first program that talks like this to one caller."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(place.socket))
    listener.listen()

    def serve() -> None:
        with listener, listener.accept()[0] as caller:
            talk(caller)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


targets = st.text(min_size=1, max_size=30).filter(lambda text: "\0" not in text).map(lambda text: f"/{text}")


@given(st.lists(targets, max_size=5), st.booleans(), st.text("abc-_:/019", max_size=40))
def test_what_is_asked_for_arrives(paths: list[str], new_window: bool, token: str) -> None:
    request = OpenRequest(tuple(paths), "/home", new_window, token)
    line = request.encoded()
    assert line.count(b"\n") == 1
    assert instance_lock.decode_request(line) == request


def test_a_path_that_is_not_utf_8_arrives() -> None:
    request = OpenRequest((os.fsdecode(b"/tmp/\xff.jsonl"),), "/tmp")
    assert instance_lock.decode_request(request.encoded()) == request


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_none(line: bytes) -> None:
    request = instance_lock.decode_request(line)
    assert request is None or instance_lock.decode_request(request.encoded()) == request


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{}", b"[]", b"7", b"{" * 5_000, b'{"targets": "/etc/passwd", "folder": "", "token": ""}',
        b'{"targets": ["relative"], "folder": "", "token": ""}', b'{"targets": [7], "folder": "", "token": ""}',
        b'{"targets": ["/a\\u0000b"], "folder": "", "token": ""}', b'{"targets": ["-"], "folder": "", "token": ""}',
        b'{"targets": ["http://evil.test"], "folder": "", "token": ""}',
        b'{"targets": [' + b",".join([b'"/a"'] * 101) + b'], "folder": "", "token": ""}',
        b'{"targets": ["/' + b"a" * 9_000 + b'"], "folder": "", "token": ""}',
    ],
)  # fmt: skip
def test_what_is_no_request_is_none(line: bytes) -> None:
    assert instance_lock.decode_request(line) is None


def test_a_token_that_is_none_is_dropped() -> None:
    found = instance_lock.decode_request(b'{"targets": [], "folder": "", "token": "a\\nb"}')
    assert found == OpenRequest()


def test_words_of_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "demo").touch()
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "token-1")
    here = str(tmp_path)
    ask = instance_lock.quick_request
    assert ask([]) == OpenRequest((), here, False, "token-1")
    assert ask(["a.jsonl"]) == OpenRequest((f"{here}/a.jsonl",), here, False, "token-1")
    assert ask(["window", "./demo", "ws://gateway.test"]) == OpenRequest(
        (f"{here}/demo", "ws://gateway.test"), here, False, "token-1"
    )
    assert ask(["--new-window", "a.jsonl"]) == OpenRequest((f"{here}/a.jsonl",), here, True, "token-1")
    for words in (
        ["demo"],
        ["summary", "a.jsonl"],
        ["missing.jsonl"],
        ["-"],
        ["a.jsonl", "--theme", "dark"],
        ["--help"],
    ):
        assert ask(words) is None
    os.mkfifo("pipe.log")
    assert ask(["pipe.log"]) is None  # read once: by this process


def test_a_word_too_long_for_a_name_is_left_to_the_parser() -> None:
    assert instance_lock.quick_request(["/" + "x" * 300]) is None
    assert instance_lock.quick_request(["/a\0b"]) is None


def test_a_first_one_that_is_at_work_is_not_waited_for_twice_as_long(
    place: ListeningPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def in_vain(_first: socket.socket, until: float) -> bytes:
        waits.append(until - time.monotonic())
        raise TimeoutError

    monkeypatch.setattr(instance_lock, "_line_from", in_vain)
    lock = place.acquire_lock()
    assert lock is not None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as first:
        first.bind(str(place.socket))
        first.listen()
        assert not instance_lock.try_handover(OpenRequest())
        assert instance_lock.become_first_or_exit(OpenRequest()) is None
    lock.release()
    assert len(waits) == 2
    assert sum(waits) <= 6


def test_nobody_is_there(place: ListeningPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = Mock()
    monkeypatch.setattr(time, "sleep", waits)
    assert instance_lock.hand_over(place, OpenRequest()) is HandoverOutcome.NOT_ACCEPTED
    waits.assert_not_called()


def test_it_is_taken(place: ListeningPlace) -> None:
    heard: list[bytes] = []

    def talk(caller: socket.socket) -> None:
        caller.sendall(GREETING)
        heard.append(caller.recv(1 << 16))
        caller.sendall(ACCEPTED)

    first = answering(place, talk)
    request = OpenRequest(("/tmp/a.jsonl",), "/tmp")
    assert instance_lock.hand_over(place, request, limit_s=50) is HandoverOutcome.ACCEPTED
    first.join()
    assert instance_lock.decode_request(heard[0]) == request


OTHER_BUILD = GREETING.replace(b'"build": "', b'"build": "f')


@pytest.mark.parametrize(
    "greeting",
    [b"", b"220 mail.test ESMTP\r\n", b'{"context-inspector": 2}\n', b"x" * 100_000, OTHER_BUILD],
    ids=["nothing", "mail", "another version", "too long", "another build"],
)
def test_nothing_is_sent_to_what_greets_otherwise(place: ListeningPlace, greeting: bytes) -> None:
    heard: list[bytes] = []

    def talk(caller: socket.socket) -> None:
        try:
            caller.sendall(greeting)
            caller.shutdown(socket.SHUT_WR)
            heard.append(caller.recv(1 << 16))
        except OSError:
            heard.append(b"")

    first = answering(place, talk)
    assert instance_lock.hand_over(place, OpenRequest()) is HandoverOutcome.NOT_ACCEPTED
    first.join()
    assert heard == [b""]


def test_a_first_one_that_is_at_work_for_long_sees_nothing(place: ListeningPlace) -> None:
    done = threading.Event()
    heard: list[bytes] = []

    def talk(caller: socket.socket) -> None:
        done.wait(50)
        heard.append(caller.recv(1 << 16))

    first = answering(place, talk)
    assert instance_lock.hand_over(place, OpenRequest(), limit_s=0.2) is HandoverOutcome.NOT_ACCEPTED
    done.set()
    first.join()
    assert heard == [b""]


def test_one_that_ends_before_it_has_taken_it(place: ListeningPlace) -> None:
    def talk(caller: socket.socket) -> None:
        caller.sendall(GREETING)
        caller.recv(1 << 16)

    first = answering(place, talk)
    assert instance_lock.hand_over(place, OpenRequest()) is HandoverOutcome.NOT_ACCEPTED
    first.join()


def test_one_that_never_says_that_it_is_taken(place: ListeningPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    line_from, asked = instance_lock._line_from, 0

    def in_time(first: socket.socket, _until: float) -> bytes:
        """It greets however busy the machine is; after that nothing comes."""
        nonlocal asked
        asked += 1
        return line_from(first, time.monotonic() + (50 if asked == 1 else 0.1))

    def talk(caller: socket.socket) -> None:
        caller.sendall(GREETING)
        done.wait(50)

    monkeypatch.setattr(instance_lock, "_line_from", in_time)
    first = answering(place, talk)
    assert instance_lock.hand_over(place, OpenRequest()) is HandoverOutcome.NOT_ACKNOWLEDGED
    done.set()
    first.join()


def test_too_much_is_opened_here(place: ListeningPlace) -> None:
    assert instance_lock.hand_over(place, OpenRequest(tuple(["/a"] * 101))) is HandoverOutcome.NOT_ACCEPTED
    assert instance_lock.hand_over(place, OpenRequest(("/" + "a" * MAX_REQUEST_BYTES,))) is HandoverOutcome.NOT_ACCEPTED


def test_the_other_user_is_not_talked_to(place: ListeningPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answering(place, lambda caller: None)
    real = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    assert instance_lock.hand_over(place, OpenRequest()) is HandoverOutcome.NOT_ACCEPTED
    first.join()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_a_runtime_folder_others_may_enter_is_none(runtime: Path, mode: int) -> None:
    runtime.chmod(mode)
    assert instance_lock.listening_place() is None


def test_folders_that_are_none(runtime: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = "TMPDIR" if sys.platform == "darwin" else "XDG_RUNTIME_DIR"
    long = tmp_path / ("l" * 90)
    long.mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(runtime)
    for value in ("", "relative", str(tmp_path / "missing"), str(long), str(link)):
        monkeypatch.setenv(name, value)
        assert instance_lock.listening_place() is None


def test_a_folder_of_ours_that_others_may_enter_is_none(runtime: Path) -> None:
    (runtime / "context-inspector").mkdir()
    (runtime / "context-inspector").chmod(0o755)
    assert instance_lock.listening_place() is None


def test_other_settings_and_displays_are_other_programs(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {instance_lock.listening_place()}
    for name, value in (
        ("DISPLAY", ":77"),
        ("WAYLAND_DISPLAY", "wayland-7"),
        ("CONTEXT_INSPECTOR_HOME", "/elsewhere"),
        ("XDG_DATA_HOME", "/data"),
    ):
        monkeypatch.setenv(name, value)
        seen.add(instance_lock.listening_place())
    assert len(seen) == 5


@pytest.mark.real
def test_a_lock_is_free_when_its_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = f"import time; from inspector.base.file_lock import FileLock; from pathlib import Path; l = FileLock.acquire(Path({str(path)!r})); print(l, flush=True); time.sleep(600)"  # noqa: E501
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert b"FileLock" in holder.stdout.readline()
        assert FileLock.acquire(path) is None
    finally:
        holder.kill()
        holder.communicate()
    lock = FileLock.acquire(path)
    assert lock is not None
    assert path.stat().st_mode & 0o777 == 0o600
    assert FileLock.acquire(path) is None
    lock.release()
    again = FileLock.acquire(path)
    assert again is not None
    again.release()


@pytest.mark.real
def test_it_is_quick_because_it_brings_little_along() -> None:
    code = "import sys, inspector.__main__, inspector.base.instance_lock; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"PySide6", "typer", "pydantic", "numpy", "asyncio"} & set(loaded)

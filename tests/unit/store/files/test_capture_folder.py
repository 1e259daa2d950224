"""The folder of live captures: names, locks, and what dead processes left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.document.marks_file.places import marks_lock
from inspector.store.files.capture_folder import captures_folder, lock_capture, new_capture, unsaved_captures
from inspector.store.files.capture_writer import CaptureWriter
from inspector.store.files.spool import Spool
from tests.planted import BODY

WELCOME = json.dumps({"kind": "system/welcome", "payload": {"you": {"id": "me"}}})
CHAT = json.dumps({"kind": "chat", "id": "c1", "payload": {"text": "hello"}})
SECOND = 1_000_000_000


def left(space: str, *frames: str | bytes, origin: dict[str, object] | None = None, start: int = 100) -> Path:
    """A capture as a process leaves it that was killed: nobody holds it any more."""
    own = new_capture(space)
    writer = CaptureWriter(own.path, origin={"space": space} | (origin or {}))
    writer.add_frame('{"type":"join"}', direction="out", time_ns=start * SECOND)
    for number, frame in enumerate(frames, 1):
        writer.add_frame(frame, direction="in", time_ns=(start + number) * SECOND)
    writer.close()
    own.release()
    return own.path


def test_captures_of_one_second_get_names_of_their_own(user_folders: Path) -> None:
    first, second = new_capture("a/b"), new_capture("a/b")
    assert first.path != second.path
    assert "/" not in first.path.name
    assert first.path.parent == captures_folder() == user_folders / "data" / "captures"
    first.release()
    second.release()


def test_the_name_of_a_capture_holds_no_secret_of_the_spaces() -> None:
    own = new_capture(f"token={BODY}")
    assert BODY not in own.path.name
    own.release()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_captures_spools_and_their_locks_are_the_users_alone_whatever_the_umask(user_folders: Path) -> None:
    before = os.umask(0)
    try:
        own = new_capture("demo")
        writer = CaptureWriter(own.path, origin={})
        spool = Spool("log")
        with marks_lock():
            made = [path for path in user_folders.rglob("*") if path.name not in ("config", "cache", "data", "log")]
            assert {path.stat().st_mode & 0o077 for path in made} == {0}, made
            assert len([path for path in made if path.name.endswith(".lock")]) >= 3
    finally:
        os.umask(before)
    spool.close()
    writer.close()
    own.release()


def test_what_a_dead_process_left_is_told() -> None:
    path = left("demo", WELCOME, CHAT, CHAT)
    (found,) = unsaved_captures()
    assert (found.path, found.space, found.messages) == (path, "demo", 3)
    assert found.size_bytes == path.stat().st_size
    assert (found.first_ns, found.last_ns) == (100 * SECOND, 103 * SECOND)


def test_the_latest_comes_first() -> None:
    left("old", CHAT, start=1)
    left("new", CHAT, start=1_000)
    assert [one.space for one in unsaved_captures()] == ["new", "old"]


def test_what_is_held_is_not_offered() -> None:
    path = left("demo", CHAT)
    own = lock_capture(path)
    assert own is not None
    assert lock_capture(path) is None
    assert unsaved_captures() == []
    own.release()
    assert len(unsaved_captures()) == 1


FORWARDED = json.dumps({"kind": "chat", "payload": {"forwarded": {"kind": "system/welcome"}, "text": "keep me"}})


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param((WELCOME, FORWARDED), id="greeting-in-a-payload"),
        pytest.param((FORWARDED,), id="no-greeting"),
        pytest.param(("#a#system/welcome",), id="text"),
        pytest.param((b'#a#"system/welcome"',), id="bytes"),
        pytest.param(('["system/welcome"]',), id="array"),
        pytest.param((WELCOME, WELCOME, CHAT), id="greeted-twice"),
    ],
)
def test_words_like_a_greeting_make_no_capture_worthless(frames: tuple[str | bytes, ...]) -> None:
    path = left("demo", *frames)
    assert [(one.path, one.messages) for one in unsaved_captures()] == [(path, len(frames))]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('{"ctxcap": 1, "origin": {}}\n{"t": 1, "dir": "in", "src": 0, "frame": {}}\n', id="other-spacing"),
        pytest.param('{"ctxcap":1}\n{"frame":{"kind":"chat"},"dir":"in","t":1}\n', id="other-order"),
        pytest.param('{"ctxcap":1}\n{"t":1,"frame":{"dir":"out","mark":""}}\n', id="our-words-inside"),
        pytest.param('{"kind":"chat"}\n', id="no-capture-at-all"),
        pytest.param("torn", id="no-lines"),
    ],
)
def test_a_file_that_somebody_put_there_is_offered_and_stays(written: str) -> None:
    path = captures_folder() / "copied here.ctxcap"
    path.write_text(written)
    assert [(one.path, one.messages) for one in unsaved_captures()] == [(path, 1)]
    assert path.exists()


@pytest.mark.parametrize("written", ["", '{"ctx', '{"ctxcap":1,"origin":{"space":"d'])
def test_what_a_crash_left_of_a_first_line_is_removed(written: str) -> None:
    path = captures_folder() / "demo.ctxcap"
    path.write_text(written)
    assert unsaved_captures() == []
    assert not path.exists()


@pytest.mark.parametrize(
    ("frames", "origin"),
    [
        pytest.param((), {}, id="nothing-received"),
        pytest.param((WELCOME,), {}, id="greeted-alone"),
        pytest.param((WELCOME, CHAT), {"demo": True}, id="demo"),
    ],
)
def test_what_nobody_misses_is_removed(frames: tuple[str, ...], origin: dict[str, object]) -> None:
    path = left("demo", *frames, origin=origin)
    assert unsaved_captures() == []
    assert not path.exists()
    assert list(captures_folder().iterdir()) == []


def test_a_torn_last_line_and_damage_are_no_obstacle() -> None:
    path = left("demo", CHAT, CHAT)
    with path.open("ab") as file:
        file.write(b'{"t":9999,"dir":"in","src":0,"frame":{"ki')
    strange = captures_folder() / "strange.ctxcap"
    strange.write_bytes(b'\xff\xfe no capture\n{"t":7,"dir":"in","src":0,"frame":{}}\n')
    (captures_folder() / "a folder.ctxcap").mkdir()
    found = {one.path: one for one in unsaved_captures()}
    assert (found[path].messages, found[path].last_ns) == (3, 102 * SECOND)
    assert (found[strange].space, found[strange].messages, found[strange].first_ns) == ("", 2, 7)
    assert len(found) == 2


def test_messages_are_counted_as_far_as_a_start_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in [("a", 900), ("b", 900), ("c", 3)]:
        left(name, *[CHAT] * count)
    monkeypatch.setattr("inspector.store.files.capture_folder._COUNTED_BYTES", 150_000)
    found = {one.space: one.messages for one in unsaved_captures()}
    assert found == {"a": 900, "b": None, "c": 3}


def test_discarding_leaves_nothing_behind() -> None:
    own = lock_capture(left("demo", CHAT))
    assert own is not None
    own.discard()
    assert list(captures_folder().iterdir()) == []
    own.discard()


def test_a_file_that_is_gone_cannot_be_claimed(tmp_path: Path) -> None:
    assert lock_capture(tmp_path / "gone.ctxcap") is None


HOLDER = """
import sys
from inspector.store.files.capture_folder import new_capture
from inspector.store.files.capture_writer import CaptureWriter
own = new_capture("demo")
writer = CaptureWriter(own.path, origin={"space": "demo"}, background=True)
writer.add_frame('{"kind":"chat"}', direction="in", time_ns=1)
writer.write_all_now()
print(own.path, flush=True)
sys.stdin.read()
"""


@pytest.mark.real
def test_a_live_process_is_left_alone_and_a_killed_one_is_offered() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        path = Path(process.stdout.readline().strip())
        assert unsaved_captures() == []
    finally:
        process.kill()
        process.wait(60)
        process.stdin.close()
        process.stdout.close()
    (found,) = unsaved_captures()
    assert (found.path, found.messages) == (path, 1)

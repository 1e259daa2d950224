"""Saving: a capture of ours moves, also while it is written; a log is copied; what fails leaves all as it was."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.document import saving
from inspector.document.document import CaptureDocument
from inspector.document.saving import save_capture, save_copy, why_not_saved
from inspector.reading.workers.offload import LONG_LINE_BYTES
from inspector.store.files import capture_writer as writing
from inspector.store.files.capture_folder import OwnCapture, captures_folder, new_capture, unsaved_captures
from inspector.store.files.capture_writer import CaptureWriter
from inspector.store.files.source_files import SourceFile


class Live:
    """A capture being written, and the document that shows it."""

    def __init__(self) -> None:
        self.own: OwnCapture = new_capture("demo")
        self.writer = CaptureWriter(self.own.path, origin={"space": "demo"}, background=True)
        self.document = CaptureDocument()
        self.document.follow_capture(self.own.path, name="demo")
        self.said = 0

    def say(self, count: int) -> None:
        for _ in range(count):
            self.said += 1
            self.writer.add_frame(json.dumps({"kind": "chat", "n": self.said}), direction="in", time_ns=self.said)

    async def save(self, target: Path) -> None:
        own = self.own if self.own.path == self.document.path else None
        await save_capture(self.document, target, own=own, writer=self.writer)

    def say_much(self) -> None:
        self.said += 1
        frame = {"kind": "chat", "n": self.said, "payload": {"text": "x" * (LONG_LINE_BYTES + 1)}}
        self.writer.add_frame(json.dumps(frame), direction="in", time_ns=self.said)

    def shown(self) -> list[int]:
        self.writer.write_all_now()
        while self.document.poll() or self.document.sources.is_waiting:
            time.sleep(0.005 if self.document.sources.is_waiting else 0)
        capture = self.document.capture
        return [json.loads(capture.records.envelope_bytes(message))["n"] for message in range(len(capture))]

    def on_disk(self, path: Path) -> list[int]:
        self.writer.write_all_now()
        return [json.loads(line)["frame"]["n"] for line in path.read_bytes().splitlines()[1:]]


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def live() -> Iterator[Live]:
    made = Live()
    yield made
    made.writer.close()
    made.document.close()
    made.own.release()


@pytest.fixture(params=["renamed", "copied"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Within one file system, or across two."""
    if request.param == "copied":
        monkeypatch.setattr(saving, "_try_rename", lambda *_: False)
    return request.param


async def test_a_running_capture_goes_on_where_it_was_saved(live: Live, way: str, tmp_path: Path) -> None:
    target = tmp_path / "kept.ctxcap"
    live.say(2_000)
    assert len(live.shown()) == 2_000
    live.say(10)
    await live.save(target)
    live.say(5)
    assert live.shown() == list(range(1, 2_016))
    assert live.on_disk(target) == live.shown()
    assert (live.document.path, live.document.name, live.writer.path) == (target, "kept.ctxcap", target)
    assert list(captures_folder().iterdir()) == []
    assert names_in(tmp_path) == ["kept.ctxcap"]


async def test_saved_once_more_the_first_file_stays_as_it_was(live: Live, way: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.ctxcap", tmp_path / "second.ctxcap"
    live.say(3)
    await live.save(first)
    live.say(3)
    await live.save(second)
    live.say(3)
    assert live.shown() == live.on_disk(second) == list(range(1, 10))
    assert live.on_disk(first) == list(range(1, 7))


async def test_an_existing_file_is_replaced(live: Live, way: str, tmp_path: Path) -> None:
    target = tmp_path / "kept.ctxcap"
    target.write_bytes(b"x" * 100_000)
    live.say(3)
    await live.save(target)
    assert live.on_disk(target) == live.shown() == [1, 2, 3]


async def test_what_cannot_be_saved_stays_where_it_is(live: Live, way: str, tmp_path: Path) -> None:
    live.say(3)
    folder = tmp_path / "folder"
    folder.mkdir()
    for target, advice in [
        (tmp_path / "none" / "kept.ctxcap", "Choose a folder that exists"),
        (folder, "Choose another name"),
        (captures_folder() / "kept.ctxcap", "not saved yet. Choose a folder"),
        (tmp_path / ("x" * 300), "Choose a shorter name"),
    ]:
        with pytest.raises(OSError) as caught:  # noqa: PT011  what it says is looked at below
            await live.save(target)
        assert advice in why_not_saved(caught.value, target)
    live.say(3)
    assert live.shown() == live.on_disk(live.own.path) == list(range(1, 7))


async def test_a_full_disk_leaves_the_capture_and_no_halves(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "_try_rename", lambda *_: False)

    def full(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "kept.ctxcap"
    target.write_text("precious")
    live.say(3)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            await live.save(target)
    assert why_not_saved(caught.value, target) == (
        f"kept.ctxcap could not be saved in {tmp_path}: No space left on device. "
        "Free some space, or choose another disk; the capture is where it was."
    )
    assert names_in(tmp_path) == ["kept.ctxcap"]
    assert target.read_text() == "precious"
    live.say(3)
    assert live.shown() == live.on_disk(live.own.path) == list(range(1, 7))


@pytest.mark.real
async def test_after_a_long_line_the_saved_capture_is_read_on(live: Live, way: str, tmp_path: Path) -> None:
    live.say(1)
    live.say_much()
    assert live.shown() == [1, 2]
    live.say_much()
    live.writer.write_all_now()
    live.document.poll()  # on its way when it is saved
    await live.save(tmp_path / "kept.ctxcap")
    live.say(1)
    live.say_much()
    live.say(1)
    assert live.shown() == [1, 2, 3, 4, 5, 6]


async def test_what_fails_last_of_all_leaves_the_file_that_was_to_be_replaced(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "_try_rename", lambda *_: False)

    def full(_fd: int, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "kept.ctxcap"
    target.write_text("precious")
    live.say(3)
    with monkeypatch.context() as patch:
        patch.setattr(writing, "_write_all", full)
        with pytest.raises(OSError, match="No space left"):
            await live.save(target)
    assert names_in(tmp_path) == ["kept.ctxcap"]
    assert target.read_text() == "precious"
    live.say(3)
    assert live.shown() == live.on_disk(live.own.path) == list(range(1, 7))


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads through a file of its own")
async def test_a_connection_that_ends_while_it_is_saved_leaves_all_that_came(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "_try_rename", lambda *_: False)
    target = tmp_path / "kept.ctxcap"
    target.write_text("replaced")
    read = SourceFile.read

    def hung_up(source: SourceFile, offset: int, length: int) -> bytes:
        data = read(source, offset, length)
        if not live.writer.closed:
            live.say(3)
            live.writer.close()
        return data

    live.say(3)
    live.writer.write_all_now()
    with monkeypatch.context() as patch:
        patch.setattr(SourceFile, "read", hung_up)
        await live.save(target)
    assert live.shown() == live.on_disk(target) == list(range(1, 7))
    assert names_in(tmp_path) == ["kept.ctxcap"]
    assert list(captures_folder().iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads through a file of its own")
async def test_a_log_emptied_while_it_is_copied_is_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, target = tmp_path / "log.jsonl", tmp_path / "copy.jsonl"
    log.write_bytes(b'{"kind":"chat","from":"a","protocol":"mew/v0.4"}\n' * 50_000)
    target.write_text("precious")
    document = CaptureDocument()
    document.load(log)
    read = SourceFile.read

    def emptied(source: SourceFile, offset: int, length: int) -> bytes:
        data = read(source, offset, length)
        log.write_bytes(b"")
        return data

    with monkeypatch.context() as patch:
        patch.setattr(SourceFile, "read", emptied)
        with pytest.raises(OSError, match="became shorter") as caught:
            await save_copy(document, target)
    assert why_not_saved(caught.value, target) == (
        f"copy.jsonl could not be saved in {tmp_path}: The file became shorter while it was being copied. "
        "Save it once more; the capture is where it was."
    )
    assert target.read_text() == "precious"
    assert sorted(names_in(tmp_path)) == ["copy.jsonl", "log.jsonl"]
    document.close()


async def test_a_capture_that_is_read_only_moves(way: str, tmp_path: Path) -> None:
    own = new_capture("demo")
    writer = CaptureWriter(own.path, origin={})
    writer.add_frame('{"kind":"chat","n":1}', direction="in", time_ns=1)
    writer.close()
    document = CaptureDocument()
    document.load(own.path)
    await save_capture(document, tmp_path / "kept.ctxcap", own=own, writer=None)
    assert json.loads(document.capture.records.envelope_bytes(0))["n"] == 1
    assert unsaved_captures() == []
    assert not own.path.exists()
    document.close()


async def test_a_log_is_copied_as_it_was_read_even_if_another_has_its_name_now(tmp_path: Path) -> None:
    log, target = tmp_path / "log.jsonl", tmp_path / "copy.jsonl"
    said = b'{"kind":"chat","from":"a","protocol":"mew/v0.4"}\r\n\n torn'
    log.write_bytes(said)
    document = CaptureDocument()
    document.load(log)
    if os.name == "posix":
        log.unlink()
        log.write_text("another")
    await save_copy(document, target)
    assert target.read_bytes() == said
    assert document.path == log
    document.close()


async def test_onto_itself_nothing_happens(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"kind":"chat","from":"a","protocol":"mew/v0.4"}\n')
    before = log.stat()
    document = CaptureDocument()
    document.load(log)
    await save_copy(document, tmp_path / "." / "log.jsonl")
    assert (log.stat().st_ino, log.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    document.close()


@pytest.mark.skipif(os.name != "posix", reason="links are a POSIX matter")
async def test_a_link_stays_one(live: Live, way: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, real = tmp_path / "link.ctxcap", tmp_path / "there" / "real.ctxcap"
    real.touch()
    link.symlink_to(real)
    live.say(2)
    await live.save(link)
    assert link.is_symlink()
    assert live.on_disk(real) == live.shown() == [1, 2]

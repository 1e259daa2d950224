"""What a tap heard as a capture: order, losses and a disk that comes and goes."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.store.files import capture_writer as writer_module
from inspector.tap import capture_file as capture_module
from inspector.tap import recorder as recorder_module
from inspector.tap.backlog import CLIENT, SERVER, Backlog
from inspector.tap.recorder import TapRecorder
from tests.conftest import MS

PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_module, "AGAIN_S", 0.03)
    monkeypatch.setattr(recorder_module, "AGAIN_S", 0.03)
    monkeypatch.setattr(recorder_module, "WRITE_S", 0.001)


class Recorder(TapRecorder):
    """Looks at its file and takes in what was said only while nobody holds `still`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.still = threading.Lock()

    @override
    def _handle_batch(self) -> bool:
        with self.still:
            return super()._handle_batch()


def made(path: Path, backlog: Backlog) -> tuple[Recorder, list[str]]:
    sentences: list[str] = []
    return Recorder(path, backlog, origin=lambda: {"source": "tap"}, say=sentences.append), sentences


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 30_000 * MS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.002)


class Disk:
    """Refuses writes to files while it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self._write = os.write
        monkeypatch.setattr(writer_module.os, "write", self._written)

    def _written(self, file: int, data: Any) -> int:
        if self.full and threading.current_thread().name == "record":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._write(file, data)


def test_lines_marks_and_the_last_words(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    backlog.append_data(CLIENT, PING % 1 + b"\xff\npart")
    backlog.append_data(SERVER, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    backlog.append_data(CLIENT, b"ed")
    backlog.end(CLIENT, "")
    backlog.end(SERVER, "")
    recorder.close("the server ended with exit code 3", 3)
    lines = [{key: value for key, value in line.items() if key != "t"} for line in written(path)[1:]]
    assert lines == [
        {"src": 0, "mark": "opened", "source": "tap"},
        {"dir": "client->server", "src": 0, "frame": {"jsonrpc": "2.0", "id": 1, "method": "ping"}},
        {"dir": "client->server", "src": 0, "bin": True, "b64": "/w=="},
        {"dir": "server->client", "src": 0, "frame": {"jsonrpc": "2.0", "id": 1, "result": {}}},
        {"dir": "client->server", "src": 0, "text": "parted"},
        {"src": 0, "mark": "ended", "dir": "client->server", "bytes": 49, "newline": False, "reason": ""},
        {"src": 0, "mark": "ended", "dir": "server->client", "bytes": 37, "newline": True, "reason": ""},
        {"src": 0, "mark": "closed", "reason": "the server ended with exit code 3", "exit": 3},
    ]  # fmt: skip
    assert sentences == []


def test_what_was_said_too_fast_is_a_gap_with_its_size(tmp_path: Path) -> None:
    backlog, path = Backlog(most_bytes=1), tmp_path / "a.ctxcap"
    recorder, _ = made(path, backlog)
    backlog.append_data(CLIENT, PING % 1 + b'{"torn')
    backlog.append_data(CLIENT, b'":1}\n' + PING % 2)
    recorder.start()
    until(lambda: backlog._put[0] == backlog._taken[0])
    backlog.append_data(CLIENT, PING % 3)
    recorder.close("")
    gap = next(line for line in written(path) if line.get("mark") == "gap")
    assert gap["reason"] == "messages came faster than they could be written: 2 lines, 52 bytes, are missing here"
    assert [line["frame"]["id"] for line in written(path) if "frame" in line] == [1, 3]
    document = CaptureDocument()
    document.load(path)
    assert document.capture.string("kind", 1) in (None, "")
    assert len(document.capture) == 3
    document.close()


def test_whoever_does_not_wait_for_the_end_gets_gaps(tmp_path: Path) -> None:
    backlog = Backlog()
    recorder, _ = made(tmp_path / "a.ctxcap", backlog)
    backlog.append_data(SERVER, PING % 1 * 2)
    backlog.append_data(CLIENT, PING % 2)
    backlog.append_data(SERVER, PING % 3)
    recorder.close("it ended", is_hurried=lambda: True)
    recorder.start()
    recorder.close("it ended", is_hurried=lambda: True)
    found = written(tmp_path / "a.ctxcap")
    assert not [line for line in found if "frame" in line]
    gaps = [line for line in found if line.get("mark") == "gap"]
    assert sum(line["bytes"] for line in gaps) == len(PING % 1) * 4
    assert sum(line["lines"] for line in gaps) == 4
    assert found[-1]["mark"] == "closed"


class Watched(Recorder):
    """Counts what was done when something is handed to the disk."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.steps: list[int] = []

    @override
    def _write(self, *, at_once: bool = False) -> None:
        super()._write(at_once=at_once)
        self.steps.append(self._steps)


def test_many_lines_that_say_nothing_are_many_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for the end takes them for no disk that stands still, and they take no more memory than others."""
    monkeypatch.setattr(recorder_module, "_BATCH_BYTES", 50_000)
    backlog = Backlog()
    recorder = Watched(tmp_path / "a.ctxcap", backlog, origin=lambda: {"source": "tap"}, say=lambda _: None)
    for _ in range(3):
        backlog.append_data(SERVER, b"\n" * 1_000)
    recorder.start()
    recorder.close("it ended")
    assert written(tmp_path / "a.ctxcap")[-1]["mark"] == "closed"
    assert recorder.steps[-1] > 3_000
    assert max(after - before for before, after in pairwise(recorder.steps)) < 1_100


def test_a_full_disk_is_said_once_and_nothing_short_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, backlog, path = Disk(monkeypatch), Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    backlog.append_data(CLIENT, PING % 0)
    until(lambda: path.exists() and b'"ping"' in path.read_bytes())
    disk.full = True
    for number in range(1, 50):
        backlog.append_data(CLIENT, PING % number)
    until(lambda: sentences)
    time.sleep(0.1)
    disk.full = False
    until(lambda: len(sentences) == 2)
    backlog.append_data(CLIENT, PING % 50)
    recorder.close("")
    assert "cannot be written: No space left on device. The traffic is not affected" in sentences[0]
    assert sentences[1].endswith("is written again; no messages are missing.")
    assert [line["frame"]["id"] for line in written(path) if "frame" in line] == list(range(51))
    assert not [line for line in written(path) if line.get("mark") == "gap"]


def test_a_disk_that_stays_full_costs_memory_only_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_module, "MOST_UNWRITTEN_CHARS", 500)
    disk, backlog, path = Disk(monkeypatch), Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    assert recorder.capture.begun.wait(30_000 * MS)
    disk.full = True
    backlog.append_data(CLIENT, PING % 0)
    until(lambda: sentences)
    backlog.append_data(CLIENT, b"".join(PING % number for number in range(1, 101)))
    until(lambda: recorder.capture.lost_lines)
    disk.full = False
    until(lambda: len(sentences) == 2)
    backlog.append_data(CLIENT, PING % 101)
    recorder.close("")
    lines = written(path)
    kept = [line["frame"]["id"] for line in lines if "frame" in line]
    gap = next(line for line in lines if line.get("mark") == "gap")
    lost = gap["lines"]
    assert lost == 101 - (len(kept) - 1)
    assert kept == [*range(101 - lost), 101]
    assert gap["reason"].startswith(f"the capture could not be written (No space left on device): {lost} lines, ")
    assert lines.index(gap) == lines.index(next(line for line in lines if line.get("frame", {}).get("id") == 101)) - 1
    assert sentences[1].endswith(f"is written again; {lost} lines are missing in it.")


def test_a_disk_full_from_the_start_gets_the_capture_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, backlog, path = Disk(monkeypatch), Backlog(), tmp_path / "a.ctxcap"
    disk.full = True
    recorder, sentences = made(path, backlog)
    recorder.start()
    until(lambda: sentences)
    backlog.append_data(CLIENT, PING % 1)
    until(lambda: recorder.capture.lost_lines)
    disk.full = False
    until(lambda: len(sentences) == 2)
    backlog.append_data(CLIENT, PING % 2)
    recorder.close("")
    assert [line.get("mark") or line.get("frame", {}).get("id") for line in written(path)[1:]] == [
        "opened", "gap", 2, "ended", "ended", "closed",
    ]  # fmt: skip


def test_a_fault_of_ours_is_a_sentence(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    sentences: list[str] = []
    recorder = TapRecorder(path, backlog, origin=lambda: {"odd": 1 // 0}, say=sentences.append)
    recorder.start()
    recorder.close("")
    assert sentences == [
        f"The capture {path} is no longer written: ZeroDivisionError: integer division or modulo by zero."
    ]


def test_a_file_that_is_removed_is_begun_anew(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    backlog.append_data(CLIENT, PING % 1)
    until(lambda: path.exists() and b'"ping"' in path.read_bytes())
    path.unlink()
    until(lambda: path.exists() and b'"gap"' in path.read_bytes())
    backlog.append_data(CLIENT, PING % 2)
    recorder.close("")
    found = written(path)
    assert "ctxcap" in found[0]
    assert [line.get("mark") or line.get("frame", {}).get("id") for line in found[1:]] == [
        "opened", "gap", 2, "ended", "ended", "closed",
    ]  # fmt: skip
    assert found[2]["reason"].startswith("the capture was moved away or removed while it was written")
    assert len(sentences) == 2
    assert sentences[1].endswith("is written again; earlier messages are not in it.")


def test_the_gap_of_a_removed_file_begins_where_it_was_seen_last(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder._write()
    seen, said = recorder.capture._seen_ns, time.time_ns()
    backlog.append_data(CLIENT, PING % 1)
    recorder._handle_batch()
    assert recorder.capture._seen_ns >= said > seen
    recorder.capture._seen_ns = seen
    path.unlink()
    recorder._write()
    backlog.append_data(CLIENT, PING % 2)
    recorder._handle_batch()
    recorder._write()
    found = written(path)
    assert [line.get("mark") or line.get("frame", {}).get("id") for line in found[1:]] == ["opened", "gap", 2]
    assert found[2]["t"] == seen
    assert found[2]["until_ns"] >= said
    assert len(sentences) == 2
    recorder.capture._hold.release()


@pytest.mark.parametrize("left", [0, 200])
def test_a_file_that_others_cut_short_goes_on_with_a_gap(left: int, tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    for number in range(5):
        backlog.append_data(CLIENT, PING % number)
    until(lambda: path.exists() and b'"id":4' in path.read_bytes())
    with recorder.still:  # else it may write the next line between the two
        os.truncate(path, left)
        backlog.append_data(CLIENT, PING % 5)
    until(lambda: len(sentences) == 2)
    backlog.append_data(CLIENT, PING % 6)
    recorder.close("")
    lines = [line for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    found = [json.loads(line) for line in lines]
    assert "ctxcap" in found[0]
    assert [line.get("mark") or line.get("frame", {}).get("id") for line in found[1:]][-7:] == [
        "opened", "gap", 5, 6, "ended", "ended", "closed",
    ]  # fmt: skip
    (gap,) = [line for line in found if line.get("mark") == "gap"]
    assert gap["reason"] == "the capture was cut short while it was written; the removed part is missing in this file"
    assert sentences[0].endswith(
        "cannot be written: it was cut short. The traffic is not affected; writing is retried every second."
    )
    assert sentences[1].endswith("is written again; the removed part is missing in it.")


def test_what_others_wrote_in_its_place_is_left_alone(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, sentences = made(path, backlog)
    recorder.start()
    backlog.append_data(CLIENT, PING % 1)
    until(lambda: path.exists() and b'"ping"' in path.read_bytes())
    with recorder.still:  # else it may find the file empty, and fill it
        path.write_bytes(b"diary\n")
    until(lambda: sentences)
    backlog.append_data(CLIENT, PING % 2)
    until(lambda: recorder.capture.lost_lines)
    assert path.read_bytes() == b"diary\n"
    path.rename(tmp_path / "diary")
    until(lambda: len(sentences) == 2)
    recorder.close("")
    gap = next(line for line in written(path) if line.get("mark") == "gap")
    assert gap["lines"] == 1
    assert sentences[1].endswith("earlier messages are not in it, and 1 line is missing in it.")
    assert gap["reason"].endswith("is missing here; earlier messages are not in this file")
    assert (tmp_path / "diary").read_bytes() == b"diary\n"


def test_a_second_tap_keeps_away_from_a_file_that_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    recorder, _ = made(path, Backlog())
    recorder.start()
    assert recorder.capture.begun.wait(30_000 * MS)  # that its file is there does not say yet that it holds it
    other, sentences = made(path, Backlog())
    other.capture._append = True
    other.start()
    until(lambda: sentences)
    assert "cannot be written: another tap writes to it." in sentences[0]
    recorder.close("")
    until(lambda: len(sentences) == 2)
    other.close("")
    assert [line["mark"] for line in written(path) if "mark" in line].count("closed") == 2


def test_a_client_that_is_still_there_when_the_server_ends_loses_no_half_line(tmp_path: Path) -> None:
    backlog, path = Backlog(), tmp_path / "a.ctxcap"
    recorder, _ = made(path, backlog)
    recorder.start()
    backlog.append_data(CLIENT, b"half a line")
    backlog.end(SERVER, "")
    recorder.close("the server ended with exit code 0")
    assert [line.get("text") or line.get("reason") for line in written(path)[2:]] == [
        "", "half a line", "the server ended first", "the server ended with exit code 0",
    ]  # fmt: skip

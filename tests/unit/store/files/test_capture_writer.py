from __future__ import annotations

import base64
import errno
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.store.files.capture_writer import CaptureWriter
from tests.conftest import MS


def lines_of(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    assert raw.endswith(b"\n")
    return [json.loads(line) for line in raw[:-1].split(b"\n")]


def frame_of(line: bytes) -> str | bytes:
    """Read one record back, the slow way: the frame is the line's last member."""
    record = json.loads(line)
    if "b64" in record:
        return base64.b64decode(record["b64"])
    verbatim = line.partition(b'"frame":')[2][:-1].decode()
    text = verbatim if "frame" in record else record["text"]
    return text.encode() if record.get("bin") else text


def written(path: Path, *frames: str | bytes) -> list[bytes]:
    writer = CaptureWriter(path, origin={})
    for number, frame in enumerate(frames):
        writer.add_frame(frame, direction="in", time_ns=number)
    writer.close()
    return path.read_bytes()[:-1].split(b"\n")[1:]


def test_header_is_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={"source": "gateway", "space": "demo"})
    (header,) = lines_of(path)
    assert header["ctxcap"] == 1
    assert header["origin"] == {"source": "gateway", "space": "demo"}
    assert header["created"].endswith("Z")
    writer.close()


@pytest.mark.skipif(os.name != "posix", reason="modes are a POSIX matter")
def test_mode_is_0600(tmp_path: Path) -> None:
    CaptureWriter(tmp_path / "a.ctxcap", origin={}).close()
    assert stat.S_IMODE((tmp_path / "a.ctxcap").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("frame", "member"),
    [
        pytest.param('{"kind":"chat", "n":1.0,"n":2}', '"frame":{"kind":"chat", "n":1.0,"n":2}', id="verbatim"),
        pytest.param(r'{"a":"\ud800"}', r'"frame":{"a":"\ud800"}', id="lone-surrogate-escape"),
        pytest.param('[{"id":1},{"id":2}]', '"frame":[{"id":1},{"id":2}]', id="array"),
        pytest.param(b'{"a":1}', '"bin":true,"frame":{"a":1}', id="binary-json"),
        pytest.param(b"#stream-1#abc", '"bin":true,"text":"#stream-1#abc"', id="stream-frame"),
        pytest.param('{"a":1}\n', r'"text":"{\"a\":1}\n"', id="newline-after"),
        pytest.param('{"a":\n1}', r'"text":"{\"a\":\n1}"', id="newline-inside"),
        pytest.param(' {"a":1}', r'"text":" {\"a\":1}"', id="space-before"),
        pytest.param('{"a":NaN}', r'"text":"{\"a\":NaN}"', id="not-json"),
        pytest.param('{"a":1}{"b":2}', r'"text":"{\"a\":1}{\"b\":2}"', id="two-objects"),
        pytest.param("a\ud800b", r'"text":"a\ud800b"', id="lone-surrogate"),
        pytest.param("7", '"text":"7"', id="scalar"),
        pytest.param("", '"text":""', id="empty"),
        pytest.param(b"\xff\x00", '"bin":true,"b64":"/wA="', id="no-utf8"),
    ],
)
def test_a_frame_is_written_as(tmp_path: Path, frame: str | bytes, member: str) -> None:
    (line,) = written(tmp_path / "a.ctxcap", frame)
    assert line.decode() == '{"t":0,"dir":"in","src":0,' + member + "}"
    assert frame_of(line) == frame


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)
frames = st.one_of(
    st.text(),
    st.binary(),
    json_values.map(lambda value: json.dumps(value, ensure_ascii=False)),
    json_values.map(lambda value: json.dumps(value, indent=1)),
    json_values.map(lambda value: json.dumps([value])[:-1]),
    json_values.map(lambda value: json.dumps({"a": value}).encode()),
)


@given(st.lists(frames, max_size=6))
def test_any_frame_comes_back_equal(tmp_path: Path, sent: list[str | bytes]) -> None:
    path = tmp_path / "a.ctxcap"
    path.unlink(missing_ok=True)
    assert [frame_of(line) for line in written(path, *sent)] == sent


def test_deep_nesting_is_text(tmp_path: Path) -> None:
    (line,) = written(tmp_path / "a.ctxcap", "[" * 100_000 + "]" * 100_000)
    assert b'"text":"[[[' in line


def test_marks_and_directions(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    writer.add_mark("opened", time_ns=5, src=2, url="ws://x", odd=Path("p"))
    writer.add_frame("{}", direction="out", time_ns=6, src=2)
    writer.close()
    assert lines_of(path)[1:] == [
        {"t": 5, "src": 2, "mark": "opened", "url": "ws://x", "odd": "p"},
        {"t": 6, "dir": "out", "src": 2, "frame": {}},
    ]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="already holds 8 bytes"):
        CaptureWriter(path, origin={})
    assert path.read_text() == "precious"


def test_resume_ends_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    CaptureWriter(path, origin={}).close()
    with path.open("ab") as file:
        file.write(b'{"t":1,"dir":"in","sr')
    writer = CaptureWriter(path, origin={}, resume=True)
    writer.add_frame("{}", direction="in", time_ns=2)
    writer.close()
    header, torn, record = path.read_bytes().splitlines()
    assert header.startswith(b'{"ctxcap":1')
    assert torn == b'{"t":1,"dir":"in","sr'
    assert record == b'{"t":2,"dir":"in","src":0,"frame":{}}'


def test_frames_are_buffered_until_flush(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    writer.add_frame("{}", direction="in", time_ns=1)
    assert len(lines_of(path)) == 1
    writer.flush()
    assert len(lines_of(path)) == 2
    writer.close()


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    real_write = os.write

    def full_after_ten_bytes(fd: int, data: bytes) -> int:
        if len(data) < 60:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real_write(fd, data[:10])

    writer.add_frame('{"kind":"chat","text":"first of two"}', direction="in", time_ns=1)
    monkeypatch.setattr(os, "write", full_after_ten_bytes)
    with pytest.raises(OSError, match=r"^The capture .*a\.ctxcap could not be written: No space left"):
        writer.flush()
    writer.add_frame('{"kind":"chat","text":"second"}', direction="in", time_ns=2)
    monkeypatch.setattr(os, "write", real_write)
    writer.close()
    assert [line["frame"]["text"] for line in lines_of(path)[1:]] == ["first of two", "second"]


def test_large_buffers_do_not_wait_for_flush(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    writer.add_frame("x" * (2 << 20), direction="in", time_ns=1)
    assert path.stat().st_size > 2 << 20
    writer.close()


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={})
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.add_frame("{}", direction="in", time_ns=1)


# In the background


def eventually(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + 30_000 * MS
    while not condition():
        assert time.monotonic() < ends, "waited too long"
        time.sleep(0.002)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


class Disk:
    """A disk with so much room; writes end in the middle of a line where it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: int | None = None
        self.errno = errno.ENOSPC
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, fd: int, data: bytes) -> int:
        if self.room is None:
            return self._write(fd, data)
        if not self.room:
            raise OSError(self.errno, os.strerror(self.errno))
        written = self._write(fd, bytes(data)[: self.room])
        self.room -= written
        return written


def chat(number: int) -> str:
    return json.dumps({"kind": "chat", "n": number})


def numbers(path: Path) -> list[int]:
    return [line["frame"]["n"] for line in lines_of(path)[1:]]


def test_in_the_background_a_frame_reaches_the_file_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    writer.add_frame(chat(1), direction="in", time_ns=1)
    eventually(lambda: len(path.read_bytes().splitlines()) == 2)
    writer.add_frame(chat(2), direction="in", time_ns=2)
    writer.close()
    assert numbers(path) == [1, 2]
    assert "write a.ctxcap" not in {thread.name for thread in threading.enumerate()}


def test_in_the_background_order_is_kept_under_load(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    for number in range(30_000):
        writer.add_frame(chat(number), direction="in", time_ns=number)
        if number % 7_000 == 0:
            writer.write_all_now()
    writer.close()
    assert numbers(path) == list(range(30_000))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_a_full_disk_leaves_whole_lines_and_keeps_the_rest(tmp_path: Path, disk: Disk, number: int) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    disk.errno, disk.room = number, 200
    for n in range(10):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    eventually(lambda: writer.error)
    with pytest.raises(OSError, match=r"a\.ctxcap could not be written") as caught:
        writer.flush()
    assert caught.value.errno == number
    assert path.read_bytes().endswith(b"\n")
    assert 0 < len(numbers(path)) < 10
    disk.room = None
    writer.add_frame(chat(10), direction="in", time_ns=10)
    writer.close()
    assert numbers(path) == list(range(11))


def test_a_line_that_cannot_be_taken_back_is_completed_later(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_truncation(_fd: int, _size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    monkeypatch.setattr(os, "ftruncate", no_truncation)
    disk.room = 20
    writer.add_frame(chat(1), direction="in", time_ns=1)
    with pytest.raises(OSError, match="could not be written"):
        writer.flush()
    disk.room = None
    writer.close()
    assert numbers(path) == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="limits are a POSIX matter")
@pytest.mark.real
def test_a_limit_of_the_operating_system_is_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    script = """
import resource, sys
from pathlib import Path
from inspector.store.files.capture_writer import CaptureWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
writer = CaptureWriter(Path(sys.argv[1]), origin={})
for n in range(100):
    writer.add_frame('{"kind":"chat","n":%d}' % n, direction="in", time_ns=n)
try:
    writer.close()
except OSError as error:
    print(error.errno, error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{errno.EFBIG} The capture {path} could not be written")
    found = numbers(path)
    assert found == list(range(len(found)))
    assert 10 < len(found) < 100


def test_what_waits_is_bounded_and_the_rest_is_counted(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.store.files.capture_writer.WRITE_THROUGH_CHARS", 1_000)
    monkeypatch.setattr("inspector.store.files.capture_writer.MAX_PENDING_CHARS", 10_000)
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={}, background=True)
    disk.room = 0
    for n in range(1_000):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    assert writer.error is not None
    assert writer.pending_chars < 20_000
    disk.room = None
    writer.close()
    kept = numbers(writer.path)
    assert kept == list(range(len(kept)))
    assert len(kept) + writer.dropped_count == 1_000


def test_it_says_when_something_waits_where_nothing_did(tmp_path: Path) -> None:
    """Whoever reads the file need not look again and again."""
    heard: list[int] = []
    with closing(CaptureWriter(tmp_path / "a.ctxcap", origin={})) as writer:
        writer.on_pending = lambda: heard.append(writer.pending_chars)
        writer.add_frame(chat(1), direction="in", time_ns=1)
        writer.add_frame(chat(2), direction="in", time_ns=2)
        assert len(heard) == 1
        assert heard[0] > 0
        writer.flush()
        writer.add_mark("closed", time_ns=3)
        assert len(heard) == 2


def test_nothing_is_kept_behind_what_was_refused(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a disk that is slow to refuse would leave a hole in the middle of the capture."""
    monkeypatch.setattr("inspector.store.files.capture_writer.WRITE_THROUGH_CHARS", 1_000)
    monkeypatch.setattr("inspector.store.files.capture_writer.MAX_PENDING_CHARS", 10_000)
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={})
    disk.room = 0
    writer._wake = threading.Event()  # as in the background, where a thread is asked to write
    for n in range(500):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    refused = writer.dropped_count
    assert refused
    writer._drain_queue()  # the thread takes what it writes at once, and is refused
    for n in range(500, 1_000):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    assert writer.dropped_count == refused + 500
    disk.room, writer._wake = None, None
    writer.close()
    kept = numbers(writer.path)
    assert kept == list(range(len(kept)))
    assert len(kept) + writer.dropped_count == 1_000


@pytest.mark.sweep
def test_what_follows_the_largest_frame_at_once_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    writer.add_frame(json.dumps({"kind": "chat", "n": 0, "x": "x" * (100 << 20)}), direction="in", time_ns=0)
    assert writer.should_pause  # who reads a socket waits now; what was read already is kept all the same
    for n in range(1, 200):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    writer.close()
    assert (writer.error, writer.dropped_count, writer.should_pause) == (None, 0, False)
    with path.open("rb") as file:
        heads = [line[:60] for line in file]
    assert [int(head.partition(b',"dir"')[0].partition(b":")[2]) for head in heads[1:]] == list(range(200))


def test_the_cause_named_is_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.store.files.capture_writer.WRITE_THROUGH_CHARS", 1_000)
    monkeypatch.setattr("inspector.store.files.capture_writer.PAUSE_CHARS", 2_000)
    monkeypatch.setattr("inspector.store.files.capture_writer.MAX_PENDING_CHARS", 10_000)
    go_on, write = threading.Event(), os.write

    def slow(fd: int, data: bytes) -> int:
        go_on.wait()
        return write(fd, data)

    writers = [CaptureWriter(tmp_path / f"{name}.ctxcap", origin={}, background=True) for name in "ab"]
    monkeypatch.setattr(os, "write", slow)
    quick, stalled = writers
    for n in range(1_000):
        quick.add_frame(chat(n), direction="in", time_ns=n)
    assert "More arrives than the disk takes" in str(quick.error)
    for n in range(100):
        stalled.add_frame(chat(n), direction="in", time_ns=n)
    while stalled._write_started is None:
        time.sleep(0.001)
    stalled.check_stall()
    assert stalled.error is None
    assert stalled.should_pause
    monkeypatch.setattr("inspector.store.files.capture_writer.STALLED_S", 0)
    stalled.check_stall()
    assert "The disk does not answer" in str(stalled.error)
    go_on.set()
    for writer in writers:
        writer.close()
        kept = numbers(writer.path)
        assert kept == list(range(len(kept)))
        assert len(kept) + writer.dropped_count == (1_000 if writer is quick else 100)


@pytest.mark.sweep
def test_fifty_megabytes_are_written_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    large = json.dumps({"kind": "mcp/response", "payload": {"text": "0123456789" * 5_000_000}})
    writer.add_frame(chat(1), direction="in", time_ns=1)
    writer.add_frame(large, direction="in", time_ns=2)
    writer.add_frame(chat(3), direction="in", time_ns=3)
    writer.close()
    _, first, line, last = path.read_bytes().splitlines()
    assert line == b'{"t":2,"dir":"in","src":0,"frame":' + large.encode() + b"}"
    assert first.endswith(b'"n": 1}}')
    assert last.endswith(b'"n": 3}}')


# Going on elsewhere


@pytest.mark.parametrize("background", [False, True])
def test_a_capture_goes_on_in_another_file(tmp_path: Path, background: bool) -> None:
    path, other = tmp_path / "a.ctxcap", tmp_path / "b.ctxcap"
    writer = CaptureWriter(path, origin={"space": "demo"}, background=background)
    for n in range(5):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    writer.write_all_now()
    copied = path.stat().st_size - 30  # in the middle of a line
    other.write_bytes(path.read_bytes()[:copied])
    writer.add_frame(chat(5), direction="in", time_ns=5)
    writer.switch_to_file(other, copied=copied)
    writer.add_frame(chat(6), direction="in", time_ns=6)
    writer.close()
    assert writer.path == other
    assert numbers(path) == list(range(6))
    assert numbers(other) == list(range(7))


def test_a_full_disk_is_left_for_another_with_all_that_was_kept(tmp_path: Path, disk: Disk) -> None:
    path, other = tmp_path / "a.ctxcap", tmp_path / "b.ctxcap"
    writer = CaptureWriter(path, origin={}, background=True)
    disk.room = 150
    for n in range(10):
        writer.add_frame(chat(n), direction="in", time_ns=n)
    eventually(lambda: writer.error)
    other.write_bytes(path.read_bytes())
    with pytest.raises(OSError, match="No space left"):
        writer.switch_to_file(other, copied=path.stat().st_size)
    assert writer.path == path
    disk.room = None
    other.write_bytes(path.read_bytes())
    writer.switch_to_file(other, copied=path.stat().st_size)
    assert writer.error is None
    assert numbers(other) == list(range(10))
    writer.add_frame(chat(10), direction="in", time_ns=10)
    writer.close()
    assert numbers(other) == list(range(11))


def test_what_was_taken_back_since_it_was_copied_is_not_in_the_other_file(tmp_path: Path) -> None:
    path, other, named = tmp_path / "a.ctxcap", tmp_path / "part", tmp_path / "b.ctxcap"
    named.write_text("replaced")
    writer = CaptureWriter(path, origin={})
    writer.add_frame(chat(0), direction="in", time_ns=0)
    writer.write_all_now()
    other.write_bytes(path.read_bytes() + b'{"t":1,"dir"')  # a write that came to nothing half-way
    writer.switch_to_file(other, copied=other.stat().st_size, named=named)
    writer.add_frame(chat(1), direction="in", time_ns=1)
    writer.close()
    assert numbers(named) == [0, 1]
    assert writer.size_bytes == named.stat().st_size
    assert not other.exists()


def test_what_is_closed_goes_on_nowhere(tmp_path: Path) -> None:
    other = tmp_path / "b.ctxcap"
    other.write_bytes(b"")
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={})
    writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.switch_to_file(other, copied=0)
    assert other.read_bytes() == b""

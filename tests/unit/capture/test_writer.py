from __future__ import annotations

import base64
import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.capture.writer import CaptureWriter


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
        writer.frame(frame, direction="in", time_ns=number)
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
    writer.mark("opened", time_ns=5, src=2, url="ws://x", odd=Path("p"))
    writer.frame("{}", direction="out", time_ns=6, src=2)
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
    writer.frame("{}", direction="in", time_ns=2)
    writer.close()
    header, torn, record = path.read_bytes().splitlines()
    assert header.startswith(b'{"ctxcap":1')
    assert torn == b'{"t":1,"dir":"in","sr'
    assert record == b'{"t":2,"dir":"in","src":0,"frame":{}}'


def test_frames_are_buffered_until_flush(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    writer.frame("{}", direction="in", time_ns=1)
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

    writer.frame('{"kind":"chat","text":"first of two"}', direction="in", time_ns=1)
    monkeypatch.setattr(os, "write", full_after_ten_bytes)
    with pytest.raises(OSError, match=r"Could not write the capture .*a\.ctxcap: No space left.*free some space"):
        writer.flush()
    writer.frame('{"kind":"chat","text":"second"}', direction="in", time_ns=2)
    monkeypatch.setattr(os, "write", real_write)
    writer.close()
    assert [line["frame"]["text"] for line in lines_of(path)[1:]] == ["first of two", "second"]


def test_large_buffers_do_not_wait_for_flush(tmp_path: Path) -> None:
    path = tmp_path / "a.ctxcap"
    writer = CaptureWriter(path, origin={})
    writer.frame("x" * (2 << 20), direction="in", time_ns=1)
    assert path.stat().st_size > 2 << 20
    writer.close()


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    writer = CaptureWriter(tmp_path / "a.ctxcap", origin={})
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="is closed"):
        writer.frame("{}", direction="in", time_ns=1)

"""Lines of our own captures: frames in their three forms, marks, the first line."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from inspector.formats.capture import reader as capture_file
from inspector.formats.line_reading import read_line
from inspector.protocol.record import Record, Shape
from inspector.store.files.capture_writer import CTXCAP_VERSION
from tests.builders import document_of, envelope


def read(**line: Any) -> Record:
    return read_line(json.dumps(line).encode())


NEWER = "a newer Context Inspector wrote this capture, in version 99; only 1 can be read in full"


@pytest.mark.parametrize(
    "frame",
    [
        {"frame": {"kind": "chat", "payload": {"text": "hi"}}},
        {"text": json.dumps({"kind": "chat", "payload": {"text": "hi"}})},
        {"b64": base64.b64encode(json.dumps({"kind": "chat", "payload": {"text": "hi"}}).encode()).decode()},
    ],
    ids=["frame", "text", "b64"],
)
@pytest.mark.parametrize("way", ["in", "out", "client->server"])
def test_frames(frame: dict[str, Any], way: str) -> None:
    record = read(t=5_000_000_000_000_000_000, dir=way, src=3, **frame)
    assert (record.shape, record.time_ns, record.direction) == (
        Shape.ENVELOPE, 5_000_000_000_000_000_000, way,
    )  # fmt: skip
    assert json.loads(record.raw) == {"kind": "chat", "payload": {"text": "hi"}}


@pytest.mark.parametrize("frame", [{"text": "hi"}, {"b64": "//4="}])
def test_what_cannot_be_read_keeps_its_time_and_way(frame: dict[str, str]) -> None:
    record = read(t=5_000_000_000_000_000_000, dir="server->client", src=0, **frame)
    assert (record.shape, record.time_ns, record.direction) == (
        Shape.UNREADABLE, 5_000_000_000_000_000_000, "server->client",
    )  # fmt: skip


def test_a_frame_keeps_its_bytes() -> None:
    line = b'{"t":1,"dir":"in","src":0,"frame":{"kind" : "chat", "a":1.0,"a":2}}'
    assert read_line(line).raw == b'{"kind" : "chat", "a":1.0,"a":2}'


def test_binary_stream_frames() -> None:
    record = read(t=1, dir="in", bin=True, b64="I3MjAP8=")
    assert (record.shape, record.raw, record.stream_id, record.data) == (Shape.STREAM, b"#s#\x00\xff", "s", b"\x00\xff")


@pytest.mark.parametrize(
    ("line", "shape", "reason"),
    [
        ({"t": 1, "mark": "gap", "reason": "It was lost."}, Shape.GAP, "It was lost."),
        ({"t": 1, "mark": "gap"}, Shape.GAP, "the connection was lost, messages may be missing"),
        ({"t": 1, "mark": "gap", "reason": ["x"]}, Shape.GAP, "the connection was lost, messages may be missing"),
        ({"t": 1, "mark": "opened"}, Shape.NO_MESSAGE, None),
        ({"t": 1, "mark": "closed", "dir": "in"}, Shape.NO_MESSAGE, None),
        ({"t": 1, "mark": "closed", "reason": "it crashed", "exit": 1}, Shape.GAP, "it crashed"),
        ({"t": 1, "mark": "closed", "reason": "it was killed", "exit": -11}, Shape.GAP, "it was killed"),
        ({"t": 1, "mark": "closed", "exit": 127}, Shape.GAP, "the server ended"),
        ({"t": 1, "mark": "closed", "reason": "it is done", "exit": 0}, Shape.NO_MESSAGE, "it is done"),
        ({"t": 1, "mark": "closed", "reason": "it was told to", "exit": -15}, Shape.NO_MESSAGE, "it was told to"),
        ({"t": 1, "mark": "closed", "reason": "it was told to", "exit": 143}, Shape.NO_MESSAGE, "it was told to"),
        ({"t": 1, "mark": "closed", "reason": "of a gateway", "code": 1006}, Shape.NO_MESSAGE, None),
        ({"t": 1, "mark": "closed", "reason": "x", "exit": True}, Shape.NO_MESSAGE, None),
        ({"t": 1, "mark": "closed", "reason": "x", "exit": "1"}, Shape.NO_MESSAGE, None),
        ({"t": 1, "mark": "never heard of"}, Shape.NO_MESSAGE, None),
        ({"ctxcap": 1}, Shape.NO_MESSAGE, None),
        ({"ctxcap": "99"}, Shape.NO_MESSAGE, None),
        ({"ctxcap": 99}, Shape.UNREADABLE, NEWER),
        ({"t": 1, "dir": "in", "b64": "***"}, Shape.UNREADABLE, "a captured frame whose base64 is damaged"),
        ({"t": 1, "dir": "in", "b64": 7}, Shape.UNREADABLE, "a capture line without a frame"),
        ({"t": 1, "dir": "in", "text": 7}, Shape.UNREADABLE, "a JSON object with t, dir, text, which is no known line"),
        ({"t": 1, "dir": "in", "text": "hi"}, Shape.UNREADABLE, "no JSON at byte 0: Expecting value"),
        ({"t": 1, "dir": "in", "frame": {}}, Shape.UNREADABLE, "an empty JSON object"),
        ({"t": 1, "dir": "in"}, Shape.UNREADABLE, "a JSON object with t, dir, which is no known line"),
        ({"t": 1, "dir": "up", "frame": {"kind": "chat"}}, Shape.ENVELOPE, None),
    ],
)
def test_marks_and_damage(line: dict[str, Any], shape: Shape, reason: str | None) -> None:
    record = read(**line)
    assert (record.shape, record.reason) == (shape, reason)


def test_a_capture_of_a_newer_version_says_so_in_a_row_and_keeps_its_space() -> None:
    space = {"origin": {"space": "demo"}}
    document = document_of({"ctxcap": 99, **space}, {"t": 1, "dir": "in", "src": 0, "frame": envelope()})
    assert [document.capture.records.reason(row) for row in range(len(document.capture))] == [NEWER, None]
    assert document.capture.string("space", 1) == "demo"
    assert document.capture.sources[0].main_format == "capture"
    assert len(document_of({"ctxcap": CTXCAP_VERSION, **space}, envelope()).capture) == 1


def test_what_is_written_is_what_can_be_read() -> None:
    assert capture_file.VERSION == CTXCAP_VERSION

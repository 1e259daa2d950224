"""Lines that carry another format under a key of their own: every key, as an object and as JSON in a string."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.formats.line_reading import read_line, read_line_as
from inspector.protocol.record import Shape
from inspector.protocol.timestamps import NO_TIME

NINE = 1_767_603_600_000_000_000
KEYS = ("message", "envelope", "frame", "text", "data")
CHAT = {"kind": "chat", "payload": {}}
INNER: list[tuple[Any, Shape]] = [
    (CHAT, Shape.ENVELOPE),
    (json.dumps(CHAT), Shape.ENVELOPE),
    (" " + json.dumps(CHAT) + "\n", Shape.ENVELOPE),
    ({"jsonrpc": "2.0", "id": 1, "result": {}}, Shape.RPC),
    ("#s#data", Shape.STREAM),
    ({"type": "join"}, Shape.CLIENT_HELLO),
    ({"event": "received", "envelope": CHAT, "timestamp": "2026-01-05T08:00:00Z"}, Shape.ENVELOPE),
    ('{"kind":"chat","payload":{"text":"\ud800"}}', Shape.ENVELOPE),
]


def read(line: Any) -> Any:
    return read_line(json.dumps(line).encode())


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(("inner", "shape"), INNER)
def test_every_key(key: str, inner: Any, shape: Shape) -> None:
    assert read({key: inner}).shape is shape


@pytest.mark.parametrize("key", ["t", "time", "ts", "timestamp"])
@pytest.mark.parametrize("value", ["2026-01-05T09:00:00Z", NINE, NINE // 1_000_000, NINE / 1e9])
def test_every_key_of_time(key: str, value: Any) -> None:
    assert read({key: value, "message": CHAT}).time_ns == NINE


@pytest.mark.parametrize("key", ["dir", "direction"])
@pytest.mark.parametrize("way", ["in", "client->server"])
def test_every_key_of_direction(key: str, way: str) -> None:
    assert read({key: way, "message": CHAT}).direction == way


def test_what_the_inner_line_says_itself_stands() -> None:
    inner = {"event": "received", "envelope": CHAT, "timestamp": "2026-01-05T09:00:00Z", "direction": "inbound"}
    record = read({"t": 5, "dir": "out", "message": inner})
    assert (record.time_ns, record.direction) == (NINE, "inbound")


def test_no_time_and_odd_directions() -> None:
    record = read({"message": CHAT, "dir": 7, "time": []})
    assert (record.time_ns, record.direction) == (NO_TIME, None)


@pytest.mark.parametrize(
    "line",
    [
        {"message": "just words"}, {"message": 7}, {"message": None}, {"message": ["x"]}, {"message": {}},
        {"message": '{"torn":'}, {"text": "#torn"}, {"data": {"ctxcap": 1}},
    ],
)  # fmt: skip
def test_carries_nothing_known(line: Any) -> None:
    assert read(line).shape is Shape.UNREADABLE


def test_the_first_key_that_holds_something_known_counts() -> None:
    record = read({"message": "words", "text": json.dumps({"kind": "chat", "id": "right"})})
    assert record.header.id == "right"


def test_nesting_without_end_is_given_up() -> None:
    line: Any = CHAT
    for _ in range(20):
        line = {"message": line}
    assert read(line).shape is Shape.UNREADABLE


@pytest.mark.parametrize(
    "line",
    [
        {"t": 5, "dir": "in", "text": {"kind": "chat", "payload": {"text": "hi"}}},
        {"t": 5, "dir": "in", "frame": '{"kind": "chat", "payload": {"text": "hi"}}'},
        {"t": 5, "dir": "in", "text": "note", "message": {"kind": "chat", "payload": {"text": "hi"}}},
        {"timestamp": "2026-01-05T09:00:00Z", "event": "sent", "message": {"kind": "chat", "payload": {"text": "hi"}}},
    ],
    ids=["text-object", "frame-string", "note-beside", "event-beside"],
)
def test_a_wrapping_line_may_look_like_ours_or_a_gateways(line: dict[str, Any]) -> None:
    record, known_as = read_line_as(json.dumps(line).encode())
    assert (record.shape, known_as) == (Shape.ENVELOPE, "wrapped")

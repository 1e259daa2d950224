"""Lines of every format, recognised one by one (docs/design.md 4, Formats; docs/protocols.md 11)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats import line_reading
from inspector.formats.format import Stage
from inspector.formats.line_reading import read_line, read_line_as
from inspector.formats.mcp.reader import is_rpc
from inspector.formats.table import formats_of
from inspector.protocol.record import Shape
from inspector.protocol.timestamps import NO_TIME
from tests.samples import DATA, FORMAT_SAMPLES
from tests.strategies import lines

NINE = 1_767_603_600_000_000_000
CHAT = {"kind": "chat", "id": "a", "payload": {"text": "hi"}}


def known(line: Any) -> tuple[Shape, str | None]:
    record, label = read_line_as(line if isinstance(line, bytes) else json.dumps(line).encode())
    return record.shape, label


@pytest.mark.parametrize(
    ("line", "shape", "label"),
    [
        ({"event": "received", "envelope": CHAT, "timestamp": "x"}, Shape.ENVELOPE, "gateway-log"),
        ({"event": "delivered", "envelope": {"type": "join"}}, Shape.CLIENT_HELLO, "gateway-log"),
        ({"event": "failed", "id": "x", "error": "no", "timestamp": "x"}, Shape.LOG_ONLY, "capability-decisions"),
        ({"event": "capability_check", "participant": "a", "result": "denied"}, Shape.LOG_ONLY, "capability-decisions"),
        ({"event": "received", "envelope": "torn"}, Shape.UNREADABLE, "gateway-log"),
        (CHAT, Shape.ENVELOPE, "envelopes"),
        ({"kind": "system/presence", "event": "join"}, Shape.ENVELOPE, "envelopes"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Shape.RPC, "json-rpc"),
        (b"#s#data", Shape.STREAM, "stream-frames"),
        ({"ctxcap": 1, "origin": {}}, Shape.NO_MESSAGE, "capture"),
        ({"t": 1, "dir": "in", "src": 0, "frame": CHAT}, Shape.ENVELOPE, "capture"),
        ({"t": 1, "dir": "in", "text": "#s#x"}, Shape.STREAM, "capture"),
        ({"t": 1, "dir": "in", "b64": "I3MjAP8="}, Shape.STREAM, "capture"),
        ({"t": 1, "dir": "in", "b64": "***"}, Shape.UNREADABLE, "capture"),
        ({"t": 1, "dir": "in", "text": "hello"}, Shape.UNREADABLE, "capture"),
        ({"t": 1, "mark": "gap"}, Shape.GAP, "capture"),
        ({"t": 1, "mark": "opened"}, Shape.NO_MESSAGE, "capture"),
        ({"t": 1, "dir": "in", "message": CHAT}, Shape.ENVELOPE, "wrapped"),
        ({"message": CHAT}, Shape.ENVELOPE, "wrapped"),
        ({"data": {"message": {"frame": CHAT}}}, Shape.ENVELOPE, "wrapped"),
        ({"level": "info"}, Shape.UNREADABLE, None),
        (b"\x00\x00", Shape.UNREADABLE, None),
        (b"#s", Shape.UNREADABLE, None),
        ([CHAT], Shape.UNREADABLE, None),
    ],
)
def test_recognised(line: Any, shape: Shape, label: str | None) -> None:
    assert known(line) == (shape, label)


def test_json_rpc_is_asked_of_no_transcript_and_none_would_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [
        path for path in (*DATA.rglob("*"), *FORMAT_SAMPLES.values()) if path.suffix in (".jsonl", ".json", ".log")
    ]
    rpc = {line for path in files for line in path.read_bytes().splitlines() if is_rpc(line)}
    assert len(rpc) > 30
    transcripts = formats_of(Stage.TRANSCRIPT)
    assert [line for line in rpc for one in transcripts if one.read(line) is not None] == []
    monkeypatch.setattr(line_reading, "_TRANSCRIPTS", None)
    assert known({"jsonrpc": "2.0", "id": 1, "result": {}}) == (Shape.RPC, "json-rpc")


@given(lines)
def test_any_line_is_a_record_and_unreadable_ones_say_why(some: list[bytes]) -> None:
    for line in some:
        record = read_line(line)
        assert (record.reason is not None) >= (record.shape is Shape.UNREADABLE)


@given(st.recursive(st.just(CHAT), lambda inner: st.builds(lambda i: {"message": i}, inner), max_leaves=8))
def test_wrapping_is_looked_through_a_few_times(line: dict[str, Any]) -> None:
    assert known(line)[0] in (Shape.ENVELOPE, Shape.UNREADABLE)


def test_a_gateway_line_says_when_who_where() -> None:
    line = {
        "timestamp": "2026-01-05T09:00:00.010Z", "event": "delivered", "envelope": CHAT, "participant": "files",
        "space_id": "demo", "direction": "outbound", "metadata": {"source_participant": "lead"},
    }  # fmt: skip
    record = read_line(json.dumps(line, separators=(",", ":")).encode())
    assert (record.time_ns, record.event, record.participant) == (NINE + 10_000_000, "delivered", "files")
    assert (record.space, record.direction) == ("demo", "outbound")
    assert record.raw == b'{"kind":"chat","id":"a","payload":{"text":"hi"}}'


def test_copies_of_an_envelope_are_records_of_their_own() -> None:
    line = {"event": "received", "envelope": CHAT, "timestamp": "2026-01-05T09:00:00Z", "participant": "lead"}
    first = read_line(json.dumps(line).encode())
    second = read_line(json.dumps({**line, "event": "delivered", "participant": "files", "timestamp": None}).encode())
    assert (first.event, first.participant, first.time_ns) == ("received", "lead", NINE)
    assert (second.event, second.participant, second.time_ns) == ("delivered", "files", NO_TIME)

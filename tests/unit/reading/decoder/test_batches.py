"""JSON-RPC batches wherever a line has one: each element is a message with the line's time, direction and own bytes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.protocol import rpc_batch
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder.batches import split_batch
from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.flags import Flag
from inspector.store.messages.exact_bytes import ExactMessage
from tests.builders import document_of

NINE = 1_767_603_600_000_000_000
CALLS = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"text": '"[{'}} for n in range(3)]
WAYS: list[dict[str, Any]] = [
    {"t": NINE, "dir": "client->server", "message": CALLS},
    {"t": NINE, "dir": "client->server", "frame": CALLS},
    {"t": NINE, "dir": "client->server", "src": 0, "frame": CALLS},
    {"timestamp": "2026-01-05T09:00:00Z", "direction": "client->server", "data": CALLS},
    {"time": NINE, "text": "note", "frame": {"t": NINE, "dir": "client->server", "message": CALLS}},
]


def rows(document: CaptureDocument) -> list[bytes]:
    return [document.capture.records.read_line_of(row) for row in range(len(document.capture))]


@pytest.mark.parametrize("line", WAYS, ids=["wrapped", "capture", "with src", "other keys", "twice wrapped"])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", " : ")])
def test_each_message_has_the_time_and_the_direction_of_its_line(line: Any, separators: tuple[str, str]) -> None:
    written = json.dumps(line, separators=separators).encode()
    document = document_of(written)
    capture = document.capture
    assert [json.loads(row) for row in rows(document)] == CALLS
    assert all(row in written for row in rows(document))
    assert capture.columns["time_ns"].tolist() == [NINE] * 3
    for row in range(3):
        assert capture.string("direction", row) == "client->server"
        assert (capture.string("sender", row), capture.recipients(row)) == ("client", ("server",))
        assert b"".join(ExactMessage(capture, row).read_parts()) == capture.records.read_line_of(row)
        record = capture.records.read_record(row)
        assert (record.time_ns, record.direction) == (NINE, "client->server")
    assert (capture.record_count, document.unreadable) == (3, 0)


def test_of_our_own_capture_they_were_sent() -> None:
    capture = document_of({"t": NINE, "dir": "out", "frame": CALLS}).capture
    assert all(capture.flags_of(row) & Flag.SENT for row in range(3))


@pytest.mark.parametrize("odd", [7, None, "text", [], CALLS, {}, {"ctxcap": 1}, {"frame": CALLS}])
@pytest.mark.parametrize("key", ["message", "frame", None])
def test_an_element_that_is_no_message_is_seen(odd: Any, key: str | None) -> None:
    line: Any = [CALLS[0], odd, CALLS[1]]
    document = document_of(line if key is None else {"t": NINE, "dir": "in", key: line})
    assert [json.loads(row) for row in rows(document)] == line
    assert document.unreadable == 1
    assert bool(document.capture.flags_of(1) & Flag.UNREADABLE)
    assert document.capture.records.reason(1)
    assert document.capture.columns["time_ns"][1] == (NINE if key else NO_TIME)


@pytest.mark.parametrize("array", [[], [7], [[]], [CALLS], [{"kind": "chat"}], [{"id": 1, "method": "a"}]])
@pytest.mark.parametrize("key", ["message", "frame"])
def test_what_is_no_batch_is_one_line_that_cannot_be_read(array: Any, key: str) -> None:
    document = document_of({"t": NINE, "dir": "in", "frame": CALLS[0]}, {"t": NINE, "dir": "in", key: array})
    assert (len(document.capture), document.unreadable) == (2, 1)


def test_a_batch_in_a_string_is_one_line_that_cannot_be_read() -> None:
    document = document_of(CALLS[0], {"t": NINE, "dir": "in", "text": json.dumps(CALLS)})
    assert (len(document.capture), document.unreadable) == (2, 1)


def test_what_the_fast_decoder_refuses_spoils_no_neighbour() -> None:
    line = (
        b'{"t":1,"dir":"in","frame":[{"jsonrpc":"2.0","method":"a","params":{"x":NaN}},{"jsonrpc":"2.0","method":"b"}]}'
    )
    assert document_of(line).kind_counts()["jsonrpc/notification"] == 2


def test_batches_stand_in_their_place_among_usual_lines() -> None:
    chats = [{"t": NINE + n, "dir": "in", "src": 0, "frame": {"kind": "chat", "id": f"c{n}"}} for n in range(6)]
    lines = [json.dumps(chat, separators=(",", ":")) for chat in chats]
    lines[3:3] = [json.dumps({"t": NINE, "dir": "in", "frame": CALLS}), json.dumps(CALLS[:2])]
    document = document_of('{"ctxcap":1}', *lines)
    kinds = [document.capture.string("kind", row) for row in range(len(document.capture))]
    assert kinds == ["chat"] * 3 + ["mcp/request"] * 5 + ["chat"] * 3
    offsets = document.capture.columns["offset"].tolist()
    assert offsets == sorted(set(offsets))


def test_a_message_above_a_megabyte_is_read_by_its_head() -> None:
    long = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "grep", "text": "x" * (2 << 20)}}
    capture = document_of({"t": NINE, "dir": "client->server", "frame": [CALLS[0], long]}).capture
    assert (capture.records.is_big(1), capture.string("target", 1)) == (True, "grep")
    assert json.loads(b"".join(ExactMessage(capture, 1).read_parts())) == long
    assert json.loads(capture.records.envelope_bytes(1)) == long


@pytest.mark.parametrize("prefix", [b"", b'{"t":1,"dir":"in","frame":', b'{"message":'])
def test_nesting_without_end_is_one_line_that_cannot_be_read(prefix: bytes) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    line = prefix + b'[{"jsonrpc":"2.0","method":"a","params":' + deep + b"}]" + (b"}" if prefix else b"")
    block = BlockReader(0).read_lines(line + b"\n" + prefix + deep + (b"}" if prefix else b""), 0)
    assert [bool(flags & Flag.UNREADABLE) for flags in block.columns["flags"].tolist()] == [True, True]


def test_ten_thousand_messages_are_quick_and_a_hundred_million_zeros_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"t": NINE, "dir": "in", "frame": [CALLS[0]] * 10_000}).encode()
    started = time.thread_time()
    assert len(BlockReader(0).read_lines(line, 0)) == 10_000
    assert time.thread_time() - started < 10  # a fiftieth of it, on a quiet machine
    monkeypatch.setattr(rpc_batch, "MAX_ELEMENTS", 5)
    line = json.dumps({"t": NINE, "dir": "in", "frame": [CALLS[0], 0, 0, 0, 0, 0]}).encode()
    assert len(BlockReader(0).read_lines(line, 0)) == 1


_elements = st.one_of(
    st.sampled_from([*CALLS, 7, [], "a", {"x": ']},"'}, {"jsonrpc": "2.0", "id": 1, "result": {"a": [1]}}])
)
_around = st.sampled_from(
    [b'{"t":1,"dir":"in","src":0,"frame":%s}', b'{"message": %s ,"t":1}', b"%s", b'{"frame":[],"data":%s}']
)


@given(st.lists(st.tuples(_around, st.lists(_elements, max_size=4)), max_size=6), st.integers(0, 600))
def test_cut_anywhere_the_records_are_the_same(lines: list[tuple[bytes, list[Any]]], cut: int) -> None:
    texts = [around % json.dumps(elements).encode() for around, elements in lines]
    data = b"".join(text + b"\n" for text in texts)
    cut = data.find(b"\n", min(cut, len(data))) + 1
    whole = BlockReader(0).read_lines(data, 0)
    parts = [BlockReader(0).read_lines(data[:cut], 0), BlockReader(0).read_lines(data[cut:], cut)]
    for name in ("offset", "length", "time_ns", "flags", "size"):
        assert [value for part in parts for value in part.columns[name].tolist()] == whole.columns[name].tolist()
    spans = zip(whole.columns["offset"].tolist(), whole.columns["length"].tolist(), strict=True)
    expected = [piece for text in texts for piece in ([one for _, one in split_batch(text)] or [text])]
    assert [data[start : start + length] for start, length in spans] == expected

"""Bytes to columns: each shape's row, damaged lines, and the same messages however the bytes were cut."""

from __future__ import annotations

import json
from itertools import chain, pairwise, zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from inspector.formats.line_reading import read_line
from inspector.protocol.record import Shape
from inspector.protocol.timestamps import NO_TIME
from inspector.reading.decoder.batches import split_batch
from inspector.reading.decoder.block_reader import BlockReader
from inspector.reading.decoder.normalize import recipients
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from inspector.reading.reassembly.reassembler import Reassembler
from inspector.store.columns.block import OBJECT_KEY, STRING_COLUMNS, Block
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH, hash_text
from tests.builders import delivered, envelope, lines_of, received
from tests.samples import LINE_SAMPLES
from tests.strategies import gateway_logs, logs

NINE = 1_767_603_600_000_000_000


def rows_of(block: Block) -> list[dict[str, Any]]:
    """Rows with texts for ids."""
    rows: list[dict[str, Any]] = []
    for place in range(len(block)):
        row: dict[str, Any] = {name: column[place].item() for name, column in block.columns.items()}
        for name in STRING_COLUMNS:
            row[name] = block.strings[row[name]] if row[name] else None
        row["to_set"] = block.to_sets[row["to_set"]]
        rows.append(row)
    return rows


def read(*lines: Any) -> list[dict[str, Any]]:
    return rows_of(BlockReader(0).read_lines(lines_of(*lines), 0))


def only(line: Any, *names: str) -> list[Any]:
    (row,) = read(line)
    return [row[name] for name in names]


def test_an_envelope() -> None:
    (row,) = read(
        {
            "protocol": "mew/v0.4", "id": "b2", "ts": "2026-01-05T09:00:00Z", "from": "files", "to": ["lead", "x"],
            "kind": "mcp/response:tools/call:grep", "correlation_id": ["b1"], "context": "why-42/files",
            "payload": {"id": 7, "result": {"_meta": {}}},
        }
    )  # fmt: skip
    assert row["ts_ns"] == row["time_ns"] == NINE
    assert (row["kind"], row["kind_raw"]) == ("mcp/response", "mcp/response:tools/call:grep")
    assert (row["method"], row["target"]) == ("tools/call", "grep")
    assert (row["sender"], row["to_set"], row["context"]) == ("files", ("lead", "x"), "why-42/files")
    assert (row["id_hash"], row["correlation_hash"]) == (hash_text("b2"), hash_text("b1"))
    assert row["rpc_hash"] == hash_text("7")
    assert row["flags"] == Flag.CORRELATED | Flag.HAS_META
    assert (row["size"], row["length"], row["fold"]) == (row["length"], row["length"], NO_HASH)


@pytest.mark.parametrize(
    ("line", "kind", "flags"),
    [
        ({"kind": "chat", "id": "a"}, "chat", 0),
        ({"kind": "chat"}, "chat", Flag.NO_ID),
        ({"kind": "chat", "id": None}, "chat", Flag.NO_ID),
        ({"kind": "chat", "id": 7}, "chat", 0),
        ({"kind": ["chat"], "id": "a"}, "", 0),
        ({"kind": None, "id": "a"}, "", 0),
        ({"kind": 7, "id": "a"}, "", 0),
        ({"from": "a", "id": "a", "payload": {}}, "", 0),
        ({"kind": "system/error", "id": "a", "payload": {"error": "x"}}, "system/error", Flag.ERROR),
        ({"kind": "chat", "id": "a", "context": 7}, "chat", Flag.BAD_CONTEXT),
        ({"kind": "chat", "id": "a", "context": []}, "chat", Flag.BAD_CONTEXT),
        ({"kind": "chat", "id": "a", "context": {}}, "chat", Flag.OBJECT_CONTEXT),
        ({"kind": "chat", "id": "a", "context": {"id": ""}}, "chat", Flag.OBJECT_CONTEXT),
        ({"kind": "chat", "id": "a", "context": {"operation": "pop"}}, "chat", Flag.OBJECT_CONTEXT),
        ({"kind": "chat", "id": "a", "context": {"id": "c"}}, "chat", Flag.OBJECT_CONTEXT),
        ({"kind": "chat", "id": "a", "correlation_id": ["b", "c"]}, "chat", Flag.CORRELATED | Flag.MANY_CORRELATIONS),
        ({"kind": "chat", "id": "a", "correlation_id": [7, "c"]}, "chat", Flag.CORRELATED),
        ({"kind": "chat", "id": "a", "correlation_id": "c"}, "chat", Flag.CORRELATED),
        ({"kind": "chat", "id": "a", "correlationId": "c"}, "chat", Flag.CORRELATED),
        ({"kind": "chat", "id": "a", "correlation_id": []}, "chat", 0),
        ({"kind": "chat", "id": "a", "correlation_id": 7}, "chat", 0),
        ({"type": "join", "participantId": "me"}, "system/join", Flag.JOIN),
        ({"error": "Invalid message format"}, "", Flag.ERROR),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, "mcp/request", Flag.RPC),
        ({"jsonrpc": "2.0", "method": "notifications/x"}, "mcp/request", Flag.RPC),
        ({"jsonrpc": "2.0", "id": 1, "error": {}}, "mcp/response", Flag.RPC | Flag.ERROR),
        ({"jsonrpc": "2.0", "id": 1, "result": {"isError": True}}, "mcp/response", Flag.RPC | Flag.ERROR),
        (b"#s#x", "stream/frame", Flag.FRAME),
        ({"event": "capability_check", "timestamp": "x"}, "", Flag.LOG_ONLY),
        ({"t": 1, "mark": "gap"}, "", Flag.GAP),
        ({"t": 1, "dir": "out", "frame": {"kind": "chat", "id": "a"}}, "chat", Flag.SENT),
        ({"t": 1, "dir": "in", "frame": {"kind": "chat", "id": "a"}}, "chat", 0),
        ({"time": 1, "dir": "out", "message": {"kind": "chat", "id": "a"}}, "chat", 0),
        ("{torn", "", Flag.UNREADABLE),
    ],
)  # fmt: skip
def test_kinds_and_flags(line: Any, kind: str, flags: int) -> None:
    assert only(line, "kind", "flags") == [kind, flags]


@pytest.mark.parametrize(
    ("line", "sender"),
    [
        ({"kind": "chat", "from": "a"}, "a"),
        ({"kind": "chat", "from": 7}, None),
        (received({"kind": "chat"}, "true-sender"), "true-sender"),
        (received({"kind": "chat", "from": "claimed"}, "true-sender"), "claimed"),
        (delivered({"kind": "chat"}, "recipient"), None),
        (received({"type": "join", "participantId": "me"}, "runtime-id"), "runtime-id"),
        ({"type": "join", "participantId": "me"}, "me"),
        ({"kind": "system/join", "payload": {"participantId": "me"}}, "me"),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, None),
        ({"dir": "client->server", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}, "client"),
        ({"dir": "->server", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}, None),
    ],
)
def test_who_sent_it(line: Any, sender: str | None) -> None:
    assert only(line, "sender") == [sender]


@pytest.mark.parametrize(
    ("to", "recipients_"),
    [
        (["a", "b"], ("a", "b")), ("a", ("a",)), (None, ()), ([], ()), ([None], ()), (["a", 7, None], ("a",)),
        (7, ()), ({"a": 1}, ()), ("", ("",)),
    ],
)  # fmt: skip
def test_recipients(to: Any, recipients_: tuple[str, ...]) -> None:
    assert recipients(to) == recipients_
    assert only({"kind": "chat", "to": to}, "to_set") == [recipients_]


@pytest.mark.parametrize(
    ("way", "to"), [("client->server", ("server",)), ("a -> b", ("b",)), ("a->", ()), ("in", ()), (None, ())]
)
def test_recipients_of_json_rpc(way: str | None, to: tuple[str, ...]) -> None:
    assert only({"dir": way, "message": {"jsonrpc": "2.0", "id": 1, "method": "x"}}, "to_set") == [to]


@pytest.mark.parametrize(
    ("context", "key"),
    [
        ("a/b", "a/b"), ("", ""), ("/", "/"), (None, None), (7, None), ({"id": "c"}, OBJECT_KEY + "c"),
        ({"operation": "push", "correlation_id": "x", "topic": "t"}, OBJECT_KEY + "x"),
        ({"operation": "push", "topic": "t"}, OBJECT_KEY + "t"), ({"id": 7}, OBJECT_KEY + "(no id)"),
        ({"operation": "pop"}, OBJECT_KEY),
    ],
)  # fmt: skip
def test_observed_context_keys(context: Any, key: str | None) -> None:
    assert only({"kind": "chat", "context": context}, "context") == [key]


@pytest.mark.parametrize(
    ("line", "time_ns", "ts_ns"),
    [
        ({"kind": "chat"}, NO_TIME, NO_TIME),
        ({"kind": "chat", "ts": "2026-01-05T09:00:00Z"}, NINE, NINE),
        ({"kind": "chat", "ts": 1_767_603_600}, NINE, NINE),
        ({"kind": "chat", "ts": "9999-12-31T00:00:00Z"}, NO_TIME, NO_TIME),
        ({"kind": "chat", "ts": []}, NO_TIME, NO_TIME),
        ({"time": NINE, "message": {"kind": "chat", "ts": "2026-01-05T08:00:00Z"}}, NINE, NINE - 3_600 * 10**9),
        (received({"kind": "chat"}, timestamp="2026-01-05T09:00:00Z"), NINE, NO_TIME),
    ],
)
def test_times(line: Any, time_ns: int, ts_ns: int) -> None:
    assert only(line, "time_ns", "ts_ns") == [time_ns, ts_ns]


def test_copies_share_what_they_fold_by() -> None:
    chat = envelope("chat", id="m", ts="2026-01-05T09:00:00Z", to=["files"])
    rows = read(received(chat), delivered(chat, "files"), delivered({**chat, "payload": {}}, "lead"))
    assert len({row["fold"] for row in rows}) == 1 != NO_HASH
    assert len({row["content_hash"] for row in rows}) == 2
    assert [row["participant"] for row in rows] == ["lead", "files", "lead"]


@pytest.mark.parametrize(
    "other", [{"id": "n"}, {"from": "x"}, {"ts": "x"}, {"kind": "x"}, {"id": None}, {"id": 7}], ids=str
)
def test_what_differs_does_not_fold(other: dict[str, Any]) -> None:
    chat = envelope("chat", id="m")
    first, second = read(received(chat), delivered({**chat, **other}, "files"))
    assert first["fold"] != second["fold"]


def test_another_space_does_not_fold() -> None:
    chat = envelope("chat", id="m")
    first, second = read(received(chat), delivered(chat, "files", space_id="other"))
    assert first["fold"] != second["fold"]


def test_blank_lines_are_no_records_and_line_ends_do_not_count() -> None:
    data = b'\r\n  \n\t\r\n{"kind":"chat"} \r\n\n  {"kind":"chat"}\n{"kind":"chat"}'
    rows = rows_of(BlockReader(0).read_lines(data, 0))
    assert [(row["offset"], row["length"]) for row in rows] == [(8, 15), (27, 17), (45, 15)]
    assert all(row["kind"] == "chat" for row in rows)


def test_a_byte_order_mark_belongs_to_no_line_but_where_files_were_joined() -> None:
    data = b'\xef\xbb\xbf{"kind":"chat"}\n'
    assert [row["kind"] for row in rows_of(BlockReader(0).read_lines(data, 0))] == ["chat"]
    assert rows_of(BlockReader(0).read_lines(data, 0))[0]["offset"] == 3
    assert rows_of(BlockReader(0).read_lines(data, 10))[0]["offset"] == 10, "there it is something before a message"


def test_offsets_lead_back_to_the_line() -> None:
    data = lines_of({"kind": "chat", "id": "ä"}, "{torn", received(envelope())) + b'{"last":'
    for row in rows_of(BlockReader(0).read_lines(data, 0)):
        assert data[row["offset"] : row["offset"] + row["length"]] in data.split(b"\n")


def test_formats_and_origin() -> None:
    block = BlockReader(0).read_lines(lines_of({"ctxcap": 1, "origin": {"space": "demo"}}, "x", {"kind": "chat"}), 0)
    assert block.formats == {"capture": 1, None: 1, "envelopes": 1}
    assert block.origin == {"ctxcap": 1, "origin": {"space": "demo"}}
    assert BlockReader(0).read_lines(b'{"ctxcap":1,"x":"\\ud800"}\n', 0).origin == {"ctxcap": 1, "x": "\ud800"}


@given(logs | gateway_logs().map(lambda lines: lines_of(*lines)), st.lists(st.integers(0, 30), max_size=4))
def test_the_same_bytes_cut_at_any_line_end_give_the_same_rows(data: bytes, chosen: list[int]) -> None:
    ends = [place + 1 for place, byte in enumerate(data) if byte == 0x0A]
    cuts = sorted({0, len(data), *(ends[c % len(ends)] for c in chosen if ends)})
    whole = rows_of(BlockReader(0).read_lines(data, 0))
    parts = [row for a, b in pairwise(cuts) for row in rows_of(BlockReader(0).read_lines(data[a:b], a))]
    assert [_as_copy(row) for row in parts] == [_as_copy(row) for row in whole]


def _as_copy(row: dict[str, Any]) -> dict[str, Any]:
    """What counts of a row: of a copy that a block holds already, only what a delivery is made of is read."""
    if row["event"] not in ("delivered", "rejected") or not row["fold"]:
        return row
    return {name: row[name] for name in ("fold", "offset", "length", "participant", "event", "content_hash")}


@given(logs)
def test_no_record_is_ever_lost(data: bytes) -> None:
    block = BlockReader(0).read_lines(data, 0)
    lines = [line.rstrip() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    # Each message of a JSON-RPC batch is a record.
    not_blank = [piece for line in lines for piece in ([text for _, text in split_batch(line)] or [line])]
    assert block.formats.total() == len(not_blank)
    unseen = [line for line in not_blank if read_line(line.strip()).shape is Shape.NO_MESSAGE]
    assert len(block) == len(not_blank) - len(unseen)


@given(st.binary(max_size=80))
def test_any_bytes_are_messages(data: bytes) -> None:
    block = BlockReader(0).read_lines(data, 0)
    assert block.stop == len(data)
    assert all(row["kind"] is not None for row in rows_of(block))


class CountingWires(Reassembler):
    """Counts the bytes that are searched for pieces of messages."""

    searched = 0

    @override
    def is_relevant(self, data: bytes) -> bool:
        self.searched += len(data)
        return super().is_relevant(data)

    @override
    def process_lines(self, data: bytes, lines: Any, offsets: Any) -> Any:
        self.searched += len(data)
        return super().process_lines(data, lines, offsets)


class SearchingWires(Reassembler):
    """Searches all lines, whatever their shape."""

    @property
    @override
    def goes_on(self) -> bool:
        return True


FRAME = f'{{"t":{NINE},"dir":"in","src":0,"frame":{json.dumps(envelope("chat", id="c1"))}}}'


@pytest.mark.parametrize("line", [envelope("chat", id="c1"), received(envelope("chat", id="c1")), FRAME])
def test_usual_lines_are_not_searched_for_pieces(line: Any) -> None:
    wires = CountingWires(DerivedLineSpool("log"))
    assert len(BlockReader(0, reassembler=wires).read_lines(lines_of(*[line] * 50), 0)) == 50
    assert wires.searched == 0
    assert len(BlockReader(0, reassembler=wires).read_lines(lines_of(*[line] * 50, "damaged"), 0)) == 51
    assert wires.searched == len("damaged")


@pytest.mark.parametrize("sample", LINE_SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("line", [envelope("chat", id="c1"), received(envelope("chat", id="c1")), FRAME])
def test_usual_lines_among_others_change_nothing(sample: Path, line: Any) -> None:
    lines = sample.read_bytes().splitlines()[:200]
    usual = [lines_of(line)[:-1]] * len(lines)
    data = b"\n".join(one for one in chain(*zip_longest(usual, lines)) if one) + b"\n"
    found, expected = (
        rows_of(BlockReader(0, reassembler=wires(DerivedLineSpool("log"))).read_lines(data, 0))
        for wires in (Reassembler, SearchingWires)
    )
    assert len(found) > len(lines)
    assert found == expected

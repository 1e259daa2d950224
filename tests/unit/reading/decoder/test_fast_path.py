"""The usual lines read column by column: the same rows as one by one, whatever lies between them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.reading.decoder import fast_path
from inspector.reading.decoder.block_reader import BlockReader
from inspector.store.columns.block import STRING_COLUMNS, Block
from inspector.store.columns.extracted_columns import ExtractedColumns
from inspector.store.columns.extracts import Extracts
from inspector.store.columns.flags import Flag
from tests.builders import delivered, envelope, lines_of, received, tool_call, tool_result
from tests.samples import first_of
from tests.strategies import envelopes, gateway_logs, logs

RECORDINGS = Path(__file__).parents[3] / "data" / "recordings"


def rows_of(block: Block) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place in range(len(block)):
        row: dict[str, Any] = {name: column[place].item() for name, column in block.columns.items()}
        for name in STRING_COLUMNS:
            row[name] = block.strings[row[name]] if row[name] else None
        row["to_set"] = block.to_sets[row["to_set"]] if row["to_set"] else None
        rows.append(row)
    return rows


def extracted(block: Block) -> dict[str, Any]:
    """What was extracted; of odd forms those of the first of each sender and kind, all that anybody looks at."""
    parts = {part.name: getattr(block.extracts, part.name) for part in fields(Extracts)}
    keys = [
        (sender, kind, flags & Flag.CORRELATED.value)
        for sender, kind, flags in zip(
            *(block.columns[name].tolist() for name in ("sender", "kind", "flags")), strict=True
        )
    ]
    return parts | {"odd": {place: odd for place, odd in parts["odd"].items() if keys.index(keys[place]) == place}}


def assert_read_alike(data: bytes) -> int:
    """Compare with reading line by line; how many lines were usual."""
    with mock.patch("inspector.reading.decoder.line_splitter.RUN_LINES", 3):
        fast = BlockReader(0).read_lines(data, 0)
    with mock.patch("inspector.reading.decoder.block_reader.choose_reader", return_value=None):
        plain = BlockReader(0).read_lines(data, 0)
    assert rows_of(fast) == rows_of(plain)
    assert extracted(fast) == extracted(plain)
    assert fast.formats == plain.formats
    assert fast.origin == plain.origin
    lines = [line for line in data.split(b"\n") if line.strip()]
    read = fast_path.choose_reader(lines)
    return 0 if read is None else len(read(lines, fast_path.BlockTables()).places)


def captured(frame: Any, time_ns: object = 1_767_603_600_000_000_000, way: str = "in") -> dict[str, Any]:
    return {"t": time_ns, "dir": way, "src": 0, "frame": frame}


def compact(line: dict[str, Any]) -> str:
    """As `CaptureWriter` writes it."""
    return json.dumps(line, separators=(",", ":"))


_odd = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3), st.just({}), st.just([1]))
_keys = (
    "kind", "id", "ts", "from", "to", "correlation_id", "correlationId", "context", "payload", "protocol", "event",
    "envelope", "timestamp", "participant", "space_id", "direction", "jsonrpc", "t", "dir", "frame", "mark", "type",
)  # fmt: skip
_spoilt = st.tuples(envelopes, st.dictionaries(st.sampled_from(_keys), _odd, max_size=2)).map(lambda p: p[0] | p[1])
_payload_keys = ("id", "method", "params", "result", "error", "stream_id", "name", "uri", "ref", "_meta", "isError")
_payloads = st.dictionaries(
    st.sampled_from(_payload_keys),
    _odd | st.dictionaries(st.sampled_from(_payload_keys), _odd, max_size=3),
    max_size=4,
)
_methods = st.sampled_from(("tools/call", "resources/read", "prompts/get", "completion/complete", "x"))
_calls = st.builds(
    lambda e, payload, method: e | {"payload": payload | ({"method": method} if method != "x" else {})},
    envelopes, _payloads, _methods,
)  # fmt: skip
_envelopes = st.one_of(envelopes, _spoilt, _calls)


@given(st.lists(_envelopes, max_size=12))
def test_envelopes(many: list[dict[str, Any]]) -> None:
    assert_read_alike(lines_of(envelope(), *many))


@given(st.lists(_envelopes, max_size=6), st.lists(_spoilt, max_size=3))
def test_gateway_logs(many: list[dict[str, Any]], spoilt: list[dict[str, Any]]) -> None:
    lines = [line for inner in many for line in (received(inner), delivered(inner, "x"), delivered(inner, "y"))]
    assert_read_alike(lines_of(received(envelope()), *lines, *(received(inner) | inner for inner in spoilt)))


@given(st.lists(st.tuples(_envelopes, _odd | st.just(1_767_603_600_000_000_001), st.sampled_from(("in", "out", "x")))))
def test_captures(many: list[tuple[dict[str, Any], Any, str]]) -> None:
    lines = [captured(*one) for one in many]
    rest = [{**line, "src": 1} for line in lines] + [{"frame": line["frame"], **line} for line in lines]
    data = lines_of({"ctxcap": 1}, compact(captured(envelope())), *map(compact, lines + rest), *lines)
    assert_read_alike(data)


@given(logs | gateway_logs().map(lambda lines: lines_of(*lines)))
def test_spoilt_logs(data: bytes) -> None:
    assert_read_alike(data)


@pytest.mark.parametrize("path", first_of(sorted(RECORDINGS.rglob("*.jsonl")), 2), ids=lambda path: path.stem)
def test_recordings(path: Path) -> None:
    assert_read_alike(path.read_bytes())


@pytest.mark.parametrize(
    "made",
    [lambda e: e, received, lambda e: delivered(e, "files"), lambda e: compact(captured(e))],
    ids=("envelopes", "received", "delivered", "captured"),
)
def test_usual_traffic_is_read_the_quick_way(made: Any) -> None:
    """Else nobody would notice that it no longer is."""
    many = [envelope("reasoning/thought", context="why/a"), tool_call("grep"), envelope(to="x", correlation_id="m1")]
    assert assert_read_alike(lines_of(*map(made, many))) == 3


@pytest.mark.parametrize(
    "odd",
    [
        {"to": {"id": "x"}}, {"to": [7, "x", None]}, {"to": 12}, {"correlation_id": 7}, {"correlation_id": [None, "a"]},
        {"correlation_id": {"id": "x"}}, {"correlationId": "a"}, {"payload": "text"}, {"payload": [1]}, {"payload": 7},
        {"payload": {"context": "why"}}, {"payload": {"thread_id": "t"}}, {"thread_id": "t"}, {"threadId": 7},
        {"kind": "reasoning/thought", "payload": {"reasoning_id": "r1"}}, {"context": {"id": "x", "parent": "y"}},
        {"context": {"operation": "push"}}, {"context": ["a"]}, {"context": 7}, {"ts": 1_767_603_600}, {"ts": [1]},
        {"id": 7}, {"id": {"n": 1}}, {"from": 7}, {"protocol": 7}, {"space": 7}, {"protocol": "mcp-x/v0"},
        {"kind": "system/error", "payload": {"error": "x"}}, {"kind": "system/error", "payload": "x"},
        {"kind": "system/presence", "payload": {"event": "join", "participant": {"id": "x"}}},
        {"kind": "system/welcome", "payload": {"you": {"id": "x", "capabilities": []}}},
    ],
    ids=str,
)  # fmt: skip
def test_odd_values_are_read_the_quick_way_too(odd: dict[str, Any]) -> None:
    for made in (lambda e: e, lambda e: received(envelope()) | {"envelope": e}, captured):
        line = made(envelope() | odd)
        assert assert_read_alike(lines_of(*map(compact, (made(envelope()), line, line, made(envelope()))))) == 4
        assert assert_read_alike(lines_of(*map(compact, (line, line, line)))) == 3


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "mcp", "payload": {"method": "tools/call"}},
        {"kind": "system/join", "payload": {"participantId": "x"}},
        {"kind": "chat", "context": "\0x", "to": 7},
        {"kind": "chat", "context": "\0x"}, {"kind": "chat", "context": {"id": "x"}}, {"kind": "chat", "payload": "hi"},
        {"kind": "mcp/request", "payload": {"method": "completion/complete", "params": {"ref": {"name": "x"}}}},
        captured(envelope(), 1_767_603_600), captured(envelope()) | {"mark": "x"}, received(envelope(id=None)),
        received(envelope(sender=None), "files"),
        received(envelope(sender=None)) | {"participant": ""},
        delivered(envelope(sender=None), "files"),
        {"kind": "mcp/response", "payload": {"id": 1.0, "result": {"isError": True, "_meta": None}}},
        {"kind": "mcp/request:tools/call:read:x", "payload": {"method": "tools/list"}},
        {"kind": "", "to": "", "id": ""},
        {"kind": "chat", "ts": "2026-02-30T00:00:00.000Z"}, {"kind": "chat", "ts": "2026-01-05 09:00:00.000Z"},
    ],
)  # fmt: skip
def test_rare_lines(line: dict[str, Any]) -> None:
    for first in (envelope(), received(envelope()), captured(envelope())):
        assert_read_alike(lines_of(first, line, first))
        assert_read_alike(lines_of(compact(first), compact(line), compact(first)))
        assert_read_alike(lines_of(first, received(line), captured(line), first))


def test_more_lines_than_are_taken_at_once() -> None:
    lines = [envelope() if n % 7 else {"odd": n} for n in range(1500)]
    assert assert_read_alike(lines_of(*lines)) == sum(1 for n in range(1500) if n % 7)


@given(st.lists(st.tuples(_envelopes, st.sampled_from((lambda e: e, received, captured))), max_size=12))
def test_what_passes_are_told_is_what_the_record_says(
    tmp_path_factory: pytest.TempPathFactory, many: list[tuple[dict[str, Any], Any]]
) -> None:
    path = tmp_path_factory.mktemp("told") / "log.jsonl"
    path.write_bytes(lines_of(envelope(), *(made(inner) for inner, made in many)))
    document = CaptureDocument()
    kept = Extracts()

    def keep(one: ExtractedColumns) -> None:
        kept.add_extracts(one.unchecked, range(len(document.capture)))

    with mock.patch.object(ExtractedColumns, "clear_unchecked", keep):
        document.load(path)
    capture = document.capture
    for row, told in kept.records.items():
        payload = capture.records.payload(row)
        if row in kept.digests and row not in kept.tools:
            payload = {"result": {"_meta": payload["result"]["_meta"]}}
        assert told.payload == payload
        assert told.identifier == (None if capture.flags_of(row) & Flag.NO_ID else capture.records.envelope_id(row))
    document.close()


def test_starts_and_marked_results_are_told() -> None:
    start = envelope("reasoning/start", {"message": "why"}, id="r1")
    result = tool_result(tool_call("grep"), meta={"context": {"consumed": True}})
    block = BlockReader(0).read_lines(lines_of(envelope(), start, {"odd": 1}, result), 0)
    assert {place: told.payload for place, told in block.extracts.records.items()} == {
        1: {"message": "why"},
        3: {"result": {"_meta": {"context": {"consumed": True}}}},
    }

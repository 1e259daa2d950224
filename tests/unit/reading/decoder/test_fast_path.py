"""Usual lines read column by column: the same values in any spelling, whatever lies between them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from random import Random
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
from tests.strategies import envelopes, gateway_logs, logs


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


_SPELLING = ("offset", "length", "size", "content_hash")
"""Columns that depend on the spelling of a line."""
_NO_SHAPE = lines_of(*({"odd": number} for number in range(16)))
"""Lines behind which no fast path is chosen."""


def values_of(*data: bytes) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str | None, int]]:
    """Returns rows, extracts and formats of the last of these lines, without values that depend on the spelling."""
    *before, _ = (BlockReader(0).read_lines(one, 0) for one in (*data[:-1], b""))
    skipped = sum(map(len, before))
    block = BlockReader(0).read_lines(b"".join(data), 0)
    rows = [{name: value for name, value in row.items() if name not in _SPELLING} for row in rows_of(block)[skipped:]]
    extracts = {
        name: {place - skipped: value for place, value in part.items() if place >= skipped}
        for name, part in extracted(block).items() if name not in ("digests", "noise")
    }  # fmt: skip
    formats = block.formats - sum((one.formats for one in before), Counter())
    return rows, extracts, dict(formats)


def fast_count(data: bytes) -> int:
    """Returns the number of lines that the fast path reads."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    read = fast_path.choose_reader(lines)
    return 0 if read is None else len(read(lines, fast_path.BlockTables()).places)


def assert_spelling_is_irrelevant(lines: list[dict[str, Any]], random: Random) -> None:
    """Compares compact lines, read by the fast path in several runs, with other spellings and with the fallback."""
    plain = lines_of(*map(compact, lines))
    with mock.patch("inspector.reading.decoder.line_splitter.RUN_LINES", 3):
        expected = values_of(plain)
    assert values_of(b"".join(respelled(line, random) + b"\n" for line in lines)) == expected
    assert values_of(_NO_SHAPE, plain) == expected


def respelled(value: Any, random: Random) -> bytes:
    """Returns JSON with members in another order, blanks and escapes."""
    return json.dumps(_shuffled(value, random), separators=(" ,\t", "  : ")).encode().replace(b"lead", b"l\\u0065ad")


def _shuffled(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        members = [(key, _shuffled(item, random)) for key, item in value.items()]
        random.shuffle(members)
        return dict(members)
    return [_shuffled(item, random) for item in value] if isinstance(value, list) else value


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


_randoms = st.randoms(use_true_random=False)


@given(st.lists(_envelopes, max_size=12), _randoms)
def test_envelopes_in_any_spelling(many: list[dict[str, Any]], random: Random) -> None:
    assert_spelling_is_irrelevant([envelope(), *many], random)


@given(st.lists(_envelopes, max_size=6), st.lists(_spoilt, max_size=3), _randoms)
def test_gateway_logs_in_any_spelling(
    many: list[dict[str, Any]], spoilt: list[dict[str, Any]], random: Random
) -> None:  # fmt: skip
    lines = [line for inner in many for line in (received(inner), delivered(inner, "x"), delivered(inner, "y"))]
    assert_spelling_is_irrelevant(
        [received(envelope()), *lines, *(received(inner) | inner for inner in spoilt)], random
    )


@given(
    st.lists(st.tuples(_envelopes, _odd | st.just(1_767_603_600_000_000_001), st.sampled_from(("in", "out", "x")))),
    _randoms,
)
def test_captures_in_any_spelling(many: list[tuple[dict[str, Any], Any, str]], random: Random) -> None:
    lines = [captured(*one) for one in many]
    rest = [{**line, "src": 1} for line in lines] + [{"frame": line["frame"], **line} for line in lines]
    assert_spelling_is_irrelevant([captured(envelope()), *lines, *rest], random)


@given(logs | gateway_logs().map(lambda lines: lines_of(*lines)))
def test_spoilt_logs_fall_back(data: bytes) -> None:
    if not data.startswith(b"\xef\xbb\xbf"):
        assert values_of(_NO_SHAPE, data) == values_of(data)


@pytest.mark.parametrize(
    "made",
    [lambda e: e, received, lambda e: delivered(e, "files"), lambda e: compact(captured(e))],
    ids=("envelopes", "received", "delivered", "captured"),
)
def test_usual_traffic_is_read_the_quick_way(made: Any) -> None:
    """Else nobody would notice that it no longer is."""
    many = [envelope("reasoning/thought", context="why/a"), tool_call("grep"), envelope(to="x", correlation_id="m1")]
    assert fast_count(lines_of(*map(made, many))) == 3


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
        {"kind": "system/welcome", "payload": {"you": {"id": "x", "capabilities": []}}}, {"context": "\0x"},
        {"kind": "mcp/request", "payload": {"method": "completion/complete", "params": {"ref": {"name": "x"}}}},
    ],
    ids=str,
)  # fmt: skip
def test_odd_values_are_read_the_quick_way_too(odd: dict[str, Any]) -> None:
    for made in (lambda e: e, lambda e: received(envelope()) | {"envelope": e}, captured):
        lines = [made(envelope() | odd) for _ in range(3)]
        assert fast_count(lines_of(*map(compact, lines))) == 3
        assert_spelling_is_irrelevant([made(envelope()), *lines], Random(1))


@pytest.mark.parametrize(
    "line",
    [
        {"kind": "mcp", "payload": {"method": "tools/call"}},
        {"kind": "system/join", "payload": {"participantId": "x"}},
        {"kind": "chat", "context": "\0x", "to": 7},
        {"kind": "chat", "context": "\0x"}, {"kind": "chat", "context": {"id": "x"}}, {"kind": "chat", "payload": "hi"},
        captured(envelope(), 1_767_603_600), captured(envelope()) | {"mark": "x"}, received(envelope(id=None)),
        received(envelope(sender=None), "files"),
        received(envelope(sender=None)) | {"participant": ""},
        delivered(envelope(sender=None), "files"),
        {"kind": "mcp/response", "payload": {"id": 1.0, "result": {"isError": True, "_meta": None}}},
        {"kind": "mcp/request:tools/call:read:x", "payload": {"method": "tools/list"}},
        {"kind": "", "to": "", "id": ""},
        {"kind": "chat", "ts": "2026-02-30T00:00:00.000Z"}, {"kind": "chat", "ts": "2026-01-05 09:00:00.000Z"},
        {"kind": "Pod", "apiVersion": "v1"}, {"kind": "Pod", "id": "x", "to": 7, "spec": {}},
    ],
)  # fmt: skip
def test_rare_lines_in_any_spelling(line: dict[str, Any]) -> None:
    for first in (envelope(), received(envelope()), captured(envelope())):
        assert_spelling_is_irrelevant([first, line, first], Random(1))
        assert_spelling_is_irrelevant([first, received(line), captured(line), first], Random(1))


def test_an_object_of_another_program_among_envelopes_is_unreadable() -> None:
    block = BlockReader(0).read_lines(lines_of(envelope(), {"kind": "Pod", "apiVersion": "v1"}, envelope()), 0)
    assert [bool(flags & Flag.UNREADABLE) for flags in block.columns["flags"].tolist()] == [False, True, False]


def test_a_system_error_is_an_error() -> None:
    refusal = envelope("system/error", {"error": "capability_violation"})
    for lines in ([refusal], [envelope("system", {"event": "error"})], [captured(refusal)]):
        assert BlockReader(0).read_lines(lines_of(*lines), 0).columns["flags"].tolist()[0] & Flag.ERROR


def test_more_lines_than_are_taken_at_once() -> None:
    lines = [envelope() if n % 7 else {"odd": n} for n in range(1500)]
    assert fast_count(lines_of(*lines)) == sum(1 for n in range(1500) if n % 7)
    block = BlockReader(0).read_lines(lines_of(*lines), 0)
    unread = [bool(flags & Flag.UNREADABLE) for flags in block.columns["flags"].tolist()]
    assert unread == [not n % 7 for n in range(1500)]


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

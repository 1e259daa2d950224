"""Every field: values of each, whether there is a message for it or not; fields of a payload."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given

from inspector.analysis.arrays.field_columns import Flags, Interned, InternedSets, Numbers
from inspector.document.document import CaptureDocument
from inspector.filters.field import Depends, FieldType
from inspector.filters.fields import FIELD_BY_NAME, FIELDS
from inspector.filters.payloads import payload_field
from inspector.protocol.timestamps import parse_time
from tests.builders import clean_up, delivered, document_of, envelope, lasting, received, tool_call, tool_result
from tests.strategies import conversations


def value(name: str, *lines: Any, message: int = -1) -> object:
    document = document_of(*lines)
    return FIELD_BY_NAME[name].value(document.analysis, message % len(document.capture))


@cache
def read_once(*lines: str) -> CaptureDocument:
    return lasting(document_of(*lines))


def test_no_two_fields_have_one_name() -> None:
    assert len(FIELD_BY_NAME) == len(FIELDS)


def test_every_field_is_described() -> None:
    def is_described(field: Any) -> bool:
        return bool(field.label and field.help.endswith(".") and field.name == field.name.lower())

    assert [field.name for field in FIELDS if not is_described(field)] == []


ENVELOPE = {
    "protocol": "mew/v0.4", "id": "a", "ts": "2026-01-05T09:00:00.010Z", "from": "lead", "to": ["files"],
    "kind": "mcp/request:tools/call:grep", "correlation_id": ["p"], "context": "why/fs",
    "payload": {"id": 7, "method": "tools/call", "params": {"name": "grep", "arguments": {"pattern": "x"}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no", 1), ("time", parse_time("2026-01-05T09:00:00.010Z")), ("ts", parse_time("2026-01-05T09:00:00.010Z")),
        ("id", "a"), ("protocol", "mew/v0.4"), ("space", None), ("from", "lead"), ("to", ["files"]),
        ("kind", "mcp/request"), ("kind.raw", "mcp/request:tools/call:grep"), ("method", "tools/call"),
        ("target", "grep"), ("tool", "grep"), ("tool.rule", None), ("correlation", ["p"]), ("context", "why/fs"),
        ("context.parent", "why"),
        ("context.root", "why"), ("context.leaf", "fs"), ("context.depth", 2), ("context.raw", "why/fs"),
        ("context.told", "envelope"), ("labels", []),
        ("context.type", None), ("context.state", "active"), ("size", len(json.dumps(ENVELOPE))), ("text", "pattern=x"),
        ("dir", None),
        ("error", None), ("badge", []), ("collapsed.by", None), ("consumes", None), ("summary", None),
        ("latency", None), ("answered", None), ("proposal.state", None), ("delivered", []), ("stream", None),
        ("source", "test.jsonl"),
    ],
)  # fmt: skip
def test_an_envelope(name: str, expected: object) -> None:
    assert FIELD_BY_NAME[name].value(read_once(json.dumps(ENVELOPE)).analysis, 0) == expected


NOTHING = {"no": 2, "kind": "", "text": "{torn", "size": 5, "source": "test.jsonl", "seen_by": ["test.jsonl"],
           "to": [], "correlation": [], "labels": [], "badge": [], "delivered": [], "finding": ["unreadable"],
           "finding.severity": "warning"}  # fmt: skip
"""What a line that cannot be read has; a field that is not named has no value there."""


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_an_unreadable_message(field: Any) -> None:
    found = field.value(read_once('{"kind": "chat"}', "{torn").analysis, 1)
    assert found == NOTHING.get(field.name), "no value of a line that cannot be read, or one more in NOTHING"


@pytest.mark.parametrize(
    ("name", "lines", "expected"),
    [
        ("from", [{"kind": "chat", "from": 7}], None),
        ("from", [received({"kind": "chat"}, "true-sender")], "true-sender"),
        ("time", [received({"kind": "chat", "ts": "2026-01-05T08:00:00Z"}, timestamp="2026-01-05T09:00:00Z")],
         parse_time("2026-01-05T09:00:00Z")),
        ("space", [received({"kind": "chat"})], "demo"),
        ("dir", [received({"kind": "chat"})], "inbound"),
        ("dir", [{"dir": "a->b", "message": {"id": 1, "result": {}}}], "a->b"),
        ("delivered", [received(ENVELOPE), delivered(ENVELOPE, "x"), delivered(ENVELOPE, "y")], ["x", "y"]),
        ("error", [{"id": 1, "error": {}}], True),
        ("error", [envelope("system/error", {"error": "x"})], True),
        ("text", [b"#s#data \xff", ENVELOPE], "data \ufffd"),
        ("text", [{"t": 1, "mark": "gap"}], "the connection was lost, messages may be missing"),
        ("text", [b"\xff\xfe", ENVELOPE], "\ufffd\ufffd"),
        ("stream", [b"#stream-1#x", ENVELOPE], "stream-1"),
        ("stream", [envelope("stream/open", {"stream_id": "stream-1"})], "stream-1"),
        ("kind", [b"#s#x", ENVELOPE], "stream/frame"),
        ("kind", [{"kind": ["chat"]}], ""),
        ("kind.raw", [{"kind": ["chat"]}], None),
        ("id", [{"kind": "chat"}], "local-1"),
        ("context", [envelope(context="/")], None),
        ("context.raw", [envelope(context="/")], "/"),
        ("context.raw", [envelope(context={"id": "ä"})], '{"id": "ä"}'),
        ("target", [envelope("mcp/request", {"method": "resources/read", "params": {"uri": "u"}})], "u"),
        ("tool", [envelope("mcp/request", {"method": "resources/read", "params": {"uri": "u"}})], None),
        ("method", [{"id": 1, "method": "tools/list"}], "tools/list"),
    ],
)  # fmt: skip
def test_values(name: str, lines: list[Any], expected: object) -> None:
    assert value(name, *lines, message=0) == expected


def test_a_call_and_its_answer() -> None:
    request = tool_call("grep", ts="2026-01-05T09:00:00.000Z")
    lines = [request, tool_result(request, ts="2026-01-05T09:00:00.250Z")]
    assert [value(name, *lines) for name in ("tool", "tool.rule", "latency")] == ["grep", "correlation", 250.0]
    assert value("answered", *lines, message=0) == 2


@given(conversations)
def test_columns_say_what_single_values_say(lines: list[dict[str, Any]]) -> None:
    """What filters see (arrays and tables) is what everything else shows."""
    analysis = document_of(*lines).analysis
    for field in FIELDS:
        column = field.column(analysis)
        assert len(column) == len(analysis)
        values = [field.value(analysis, message) for message in range(len(analysis))]
        if isinstance(column, Interned):
            assert [column.table[i] if i else None for i in column.ids[:].tolist()] == values
        elif isinstance(column, InternedSets):
            assert [list(column.table[i]) for i in column.ids[:].tolist()] == values
        elif isinstance(column, Numbers):
            assert column.present(slice(None)).tolist() == [v is not None for v in values]
        elif isinstance(column, Flags):
            assert [bool(bits & column.mask) for bits in column.bits.tolist()] == [v is True for v in values]
        if field.many:
            assert all(isinstance(v, list) for v in values)
    clean_up()


@pytest.mark.parametrize(
    ("payload", "path", "expected"),
    [
        ({"a": [{"odd key": 1}]}, ("a", "0", "odd key"), 1),
        ({"a": {"0": "key"}}, ("a", "0"), "key"),
        ({"a": [1]}, ("a", "1"), None),
        ({"a": [1]}, ("a", "-1"), None),
        ({"a": [1]}, ("a", "9" * 5_000), None),
        ({"a": [1]}, ("a", "x"), None),
        ({"a": "text"}, ("a", "0"), None),
        ({"a": None}, ("a",), None),
        ({"a": None}, ("a", "b"), None),
        ({"a": [1, "x"]}, ("a",), [1, "x"]),
        ({"a": True}, ("a",), True),
        ({"a": 1.5}, ("a",), 1.5),
        ("text", ("a",), None),
        ({}, (), {}),
    ],
)
def test_payload_fields(payload: Any, path: tuple[str, ...], expected: object) -> None:
    field = payload_field(path)
    assert field.value(document_of(envelope(payload=payload)).analysis, 0) == expected
    assert (field.type, field.depends) == (FieldType.ANY, Depends.FIXED)


@pytest.mark.parametrize(
    ("path", "name", "label"),
    [
        (("a", "0", "b_c"), "payload.a.0.b_c", "b_c"),
        (("odd key",), 'payload."odd key"', "odd key"),
        (('"',), 'payload."\\""', '"'),
        ((), "payload", "payload"),
    ],
)
def test_payload_fields_have_names(path: tuple[str, ...], name: str, label: str) -> None:
    field = payload_field(path)
    assert (field.name, field.label) == (name, label)

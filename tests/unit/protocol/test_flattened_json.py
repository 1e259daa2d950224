"""Messages nested too deeply to read: one row each, with what is known around them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.summary import message_story, summary
from inspector.formats.line_reading import read_line, read_line_as
from inspector.protocol.flattened_json import FlattenedJson
from inspector.protocol.header import TOO_DEEP
from inspector.protocol.record import Shape
from inspector.protocol.truncated_json import MAX_DEPTH
from inspector.store.columns.flags import Flag
from tests.builders import delivered, document_of, envelope, received

DEEP = 3_000
NESTED = "[" * DEEP + '"]}{[\\"' + '"' + "]" * DEEP


def deep(line: dict[str, Any]) -> bytes:
    """A line in which a placeholder becomes what nothing can read."""
    return json.dumps(line).replace('"DEEP"', NESTED).encode()


def said(**fields: Any) -> dict[str, Any]:
    return envelope("chat", {"text": "x", "more": "DEEP"}, sender="lead", id="m1", **fields)


SAID = said(ts="2026-01-05T09:00:00.000Z")


def test_one_message_with_its_deliveries() -> None:
    one, other = said(ts="2026-01-05T09:00:00.000Z"), said(ts="2026-01-05T09:00:01.000Z")
    lines = [deep(received(one))]
    lines += [deep(delivered(one, name)) for name in ("a", "b", "c")]
    lines += [deep(received(other)), deep(delivered(other, "a"))]
    document = document_of(*lines, received(envelope(sender="a")))
    found = summary(document, "")
    assert (found["format"], found["messages"], found["records"], found["unreadable"]) == ("gateway-log", 3, 7, 2)
    assert found["findings"] == {"unreadable": 2}
    story = message_story(document, 0)
    assert (story["fields"]["from"], story["fields"]["space"], story["fields"]["delivered"]) == (
        "lead", "demo", ["a", "b", "c"],
    )  # fmt: skip
    assert document.capture.records.read_record(0).raw == deep(one)
    assert document.capture.flags_of(0) & Flag.UNREADABLE


@pytest.mark.parametrize(
    ("line", "label", "time"),
    [
        ({"t": 1_767_603_600_000_000_000, "dir": "out", "src": 0, "frame": SAID}, "capture", True),
        ({"time": "2026-01-05T09:00:00Z", "message": SAID}, "wrapped", True),
        (SAID, "envelopes", False),
    ],
    ids=["capture", "wrapped", "bare"],
)
def test_what_stands_around_it_is_read(line: dict[str, Any], label: str, time: bool) -> None:
    record, known_as = read_line_as(deep(line))
    assert (record.shape, record.reason, record.time_ns > 0) == (Shape.UNREADABLE, TOO_DEEP, time)
    assert record.raw == deep(SAID)
    assert known_as is not None
    assert label in known_as


@pytest.mark.parametrize(
    "line",
    [
        b"[" * DEEP, b"{" * DEEP, b'{"a":' * DEEP, b'{"x":' + b"[" * DEEP + b"}", NESTED.encode(),
        b'{"n":' + NESTED.encode() + b"}",
    ],
    ids=["lists", "braces", "torn", "crossed", "no object", "nothing known"],
)  # fmt: skip
def test_what_is_nothing_known_is_unreadable_as_it_is(line: bytes) -> None:
    record = read_line(line)
    assert (record.shape, record.raw) == (Shape.UNREADABLE, line)


@given(st.integers(0, 4), st.integers(0, 4), st.text(max_size=5))
def test_what_is_left_out_is_what_lies_too_deep(before: int, behind: int, text: str) -> None:
    def around(inner: str) -> str:
        return "[" * MAX_DEPTH + json.dumps(text) + f",{inner}" * (before + 1) + "]" * MAX_DEPTH

    line = f"{around('[' + json.dumps(text) + ']')}{' ' * behind}".encode()
    shallow = FlattenedJson(line)
    assert shallow.text == f"{around('null')}{' ' * behind}".encode()
    assert json.loads(shallow.text)
    assert shallow.original_bytes(shallow.text) == line
    assert FlattenedJson(b'{"a":[1]}').text == b'{"a":[1]}'

"""Objects that share a line: logs put one behind the other, and a writer that was stopped in the middle of a line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.fields import FIELD_BY_NAME
from inspector.protocol.shared_lines import object_spans, objects_in_line
from tests.builders import document_at, log_file

ONE, TWO = b'{"id":"a","kind":"chat","payload":{"text":"}{"}}', b'{"id": "b", "kind": "chat", "payload": {}}'
TORN = b'{"id":"c","kind":"ch'


def pieces(line: bytes) -> list[bytes]:
    return [line[start:stop] for start, stop in object_spans(line)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (ONE + TWO, [ONE, TWO]),
        (ONE + b" \t" + TWO + b" ", [ONE, TWO]),
        (ONE + TWO + TORN, [ONE, TWO, TORN]),
        (ONE + TORN, [ONE, TORN]),
        (TORN + ONE, [TORN, ONE]),
        (b'{"id":' + ONE[:9] + ONE, [b'{"id":' + ONE[:9], ONE]),
        (ONE + TORN + ONE, [ONE, TORN, ONE]),
        (TORN + TORN + ONE, [TORN + TORN, ONE]),
        ('{"id":"ä","kind":"chat"}'.encode() + ONE, ['{"id":"ä","kind":"chat"}'.encode(), ONE]),
        (b'{"id":"\xff"}' + ONE, [b'{"id":"\xff"}', ONE]),
    ],
)
def test_each_object_is_found(line: bytes, found: list[bytes]) -> None:
    assert pieces(line) == found


@pytest.mark.parametrize("line", [ONE, ONE + b"\n"[:0], TORN, ONE + b" text", b"[1][2]", b"", b"{", b'{"a":' * 5_000])
def test_other_lines_are_left_alone(line: bytes) -> None:
    assert pieces(line) == []
    assert objects_in_line(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"a","envelope":{"id":"b","kind":"chat"},"direct',
        b'{"id":"a","envelope":{"id":"b","kind":"chat"}',
        b'{"id":"a","messages":[{"id":"b","kind":"chat"},{"id":"c","kind":"chat"}',
    ],
)
def test_a_torn_line_does_not_pass_for_what_it_holds(line: bytes) -> None:
    assert pieces(line) == []
    assert pieces(ONE + line) == [ONE, line]


def test_a_line_of_nothing_but_braces_is_not_a_million_messages() -> None:
    assert object_spans(b"{}" * 100_000) == []


@given(
    st.lists(
        st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=9), max_size=3), min_size=2, max_size=5
    )
)
def test_any_objects(values: list[dict[str, object]]) -> None:
    written = [json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") for value in values]
    assert pieces(b"".join(written)) == written


def test_logs_without_a_line_end_between_them_lose_nothing() -> None:
    document = document_at(log_file(ONE + b"\n" + TWO + ONE + b"\n" + TORN + TWO.replace(b" ", b"") + b"\n"))
    ids = [FIELD_BY_NAME["id"].value(document.analysis, row) for row in range(len(document.capture))]
    assert ids[:3] == ["a", "b", "a"]
    assert ids[-1] == "b"
    assert (len(ids), document.unreadable) == (5, 1)

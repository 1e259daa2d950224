"""Elements of a JSON array: found whatever the layout, the blocks or the damage."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.array_elements import ElementScanner, element_indent, trim_span

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\[]{},: \n\té', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\{[', max_size=3), inner, max_size=3),
    max_leaves=12,
)


def elements(data: bytes, size: int = 1 << 20) -> list[bytes]:
    """The elements of an array that comes in blocks of a size."""
    scanner = ElementScanner(element_indent(data))
    spans = [span for at in range(0, len(data), size) for span in scanner.scan(data[at : at + size])]
    cut = [trim_span(data, span) for span in spans + scanner.finish()]
    return [data[span[0] : span[1]] for span in cut if span is not None]


@given(st.lists(values, max_size=5), st.sampled_from([None, 0, 1, 2, "\t"]), st.integers(1, 40), st.booleans())
def test_elements_are_those_that_json_sees(array: list[Any], indent: Any, size: int, ascii_only: bool) -> None:
    data = b"\xef\xbb\xbf \n" * ascii_only + json.dumps(array, indent=indent, ensure_ascii=ascii_only).encode() + b"\n"
    assert [json.loads(element) for element in elements(data, size)] == array


@given(st.lists(values, max_size=5), st.integers(1, 40))
def test_one_element_a_line(array: list[Any], size: int) -> None:
    data = b"[\n" + b",\n".join(json.dumps(value).encode() for value in array) + b"\n]"
    assert [json.loads(element) for element in elements(data, size)] == array


@given(st.binary(max_size=200) | st.text('[]{}",\\\n a1', max_size=60).map(str.encode), st.integers(1, 30))
def test_any_bytes_in_any_blocks_give_the_same_and_lose_nothing(tail: bytes, size: int) -> None:
    data = b"[" + tail
    found = elements(data, size)
    assert found == elements(data)
    rest = data.translate(None, b"\xef\xbb\xbf \t\r\n,[]")
    assert b"".join(found).translate(None, b"\xef\xbb\xbf \t\r\n,[]") == rest


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[]", []),
        (b" [ \n ] \n", []),
        (b"[", []),
        (b'[{"a":1},', [b'{"a":1}']),
        (b'[{"a":1},{"b"', [b'{"a":1}', b'{"b"']),
        (b'[{"a":1}, 7, "x,]", [1,[2]], nonsense ]', [b'{"a":1}', b"7", b'"x,]"', b"[1,[2]]", b"nonsense"]),
        (b'[{"a":1} what {"b":2}]', [b'{"a":1}', b"what", b'{"b":2}']),
        (b'[{"a":1}]\nmore\n\nand more', [b'{"a":1}', b"more", b"and more"]),
        (b'[}}{"a":1}},{"b":{"x":1,"y":2}}]', [b"}}", b'{"a":1}', b"}", b'{"b":{"x":1,"y":2}}']),
        (b'[\n{"a":1},\n{"b":[1,\n{"c":3}]', [b'{"a":1}', b'{"b":[1', b'{"c":3}']),
        (b'[\n{"a":1},\n{"d":"x\n{"e":1}\n]', [b'{"a":1}', b'{"d":"x', b'{"e":1}']),
        (b'[{"s":"\\\\"},{"t":"\\""}]', [b'{"s":"\\\\"}', b'{"t":"\\""}']),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_layouts_and_damage(data: bytes, expected: list[bytes], size: int) -> None:
    assert elements(data, size) == expected


def test_a_layout_is_only_taken_for_one_when_elements_do_not_look_like_it_inside() -> None:
    array = [{"list": [{"a": 1}, {"b": 2}]}, {"list": [{"c": 3}]}]
    assert element_indent(json.dumps(array, indent=2).encode()) == b"  "
    assert element_indent(json.dumps(array, indent=0).encode()) is None
    assert element_indent(json.dumps(array).encode()) is None
    assert element_indent(b'[\n{"a":1},\n{"b":2}\n]') == b""


@pytest.mark.parametrize("piece", [b"[", b"{", b"}", b"]", b'"', b"\\", b'["', b"[{\n", b",", b" ", b'\\"'])
def test_hostile_repetition_is_read_once_over(piece: bytes) -> None:
    scanner = ElementScanner(b"")
    spans: list[tuple[int, int]] = []
    for _ in range(8):
        spans += scanner.scan(piece * (20_000 // len(piece)))
    spans += scanner.finish()
    assert len(spans) <= 160_000
    assert all(start <= stop <= scanner.position for start, stop in spans)

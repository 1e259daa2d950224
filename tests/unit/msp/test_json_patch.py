"""A rewrite keeps every byte that did not have to change."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.msp import json_layout
from inspector.msp.json_patch import UNREAD, exactly_same, lines_of, patch_json, patch_json_lines

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=6),
    st.sampled_from(["a", "ü"]),
)
_NAMES = st.one_of(st.sampled_from(["id", "a", "b", "messages", "ü\n"]), st.text(max_size=3))
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4), max_leaves=12
)


@st.composite
def _texts(draw: st.DrawFn) -> bytes:
    """A value with blanks anywhere, escapes as they come, and repeated members."""
    blanks = st.sampled_from(["", " ", "\n", "\r\n  ", "\t", "\n    "])
    style = draw(st.sampled_from([None, 1, 2, "\t", "wild"]))
    value = draw(_VALUES)
    ascii_only = draw(st.booleans())
    if style != "wild":
        text = json.dumps(value, indent=style, ensure_ascii=ascii_only)
    else:
        text = _wild(draw, blanks, value, ascii_only)
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return (draw(st.sampled_from(["", "\ufeff"])) + draw(blanks) + text + draw(blanks)).encode()


def _wild(draw: st.DrawFn, blanks: st.SearchStrategy[str], value: Any, ascii_only: bool) -> str:
    def space() -> str:
        return draw(blanks)

    if isinstance(value, dict):
        parts = [(name, _wild(draw, blanks, item, ascii_only)) for name, item in value.items()]
        if parts and draw(st.booleans()):
            parts.insert(0, (parts[-1][0], "0"))
        members = [f"{space()}{json.dumps(name)}{space()}:{space()}{text}{space()}" for name, text in parts]
        return "{" + (",".join(members) or space()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(space() + _wild(draw, blanks, item, ascii_only) + space() for item in value)) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


def _loads(text: bytes) -> Any:
    return json.loads(text.decode("utf-8-sig"))


@given(_texts(), _VALUES)
def test_it_decodes_to_the_new_value(text: bytes, value: Any):
    assert exactly_same(_loads(patch_json(text, value)), value)


@given(_texts())
def test_the_same_value_gives_the_same_bytes(text: bytes):
    assert patch_json(text, _loads(text)) == text


@st.composite
def _edited(draw: st.DrawFn) -> tuple[bytes, Any]:
    text = draw(_texts())
    value = _loads(text)
    return text, _edit(draw, value)


def _edit(draw: st.DrawFn, value: Any) -> Any:
    if isinstance(value, dict):
        value = {name: _edit(draw, item) for name, item in value.items() if draw(st.integers(0, 3))}
        return value | (draw(st.dictionaries(_NAMES, _VALUES, max_size=1)))
    if isinstance(value, list):
        items = [_edit(draw, item) for item in value if draw(st.integers(0, 3))]
        items[draw(st.integers(0, len(items))) :][:0] = draw(st.lists(_VALUES, max_size=1))
        if draw(st.booleans()):
            items.insert(draw(st.integers(0, len(items))), draw(_VALUES))
        return items
    return value if draw(st.integers(0, 3)) else draw(_LEAVES)


@given(_edited())
def test_any_edits_decode_to_what_was_meant(case: tuple[bytes, Any]):
    text, value = case
    assert exactly_same(_loads(patch_json(text, value)), value)


@given(_edited())
def test_what_is_large_is_taken_apart_and_written_the_same(case: tuple[bytes, Any]):
    text, value = case
    wanted = patch_json(text, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_layout, "_MANY_ITEMS", 0)
        assert patch_json(text, value) == wanted
        assert patch_json(text, _loads(text)) == text


@given(st.lists(_VALUES, min_size=1, max_size=4), st.lists(_VALUES, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_lines_decode_to_the_new_values(old: list[Any], new: list[Any], newline: str):
    text = newline.join(map(json.dumps, old)).encode() + newline.encode()
    assert patch_json_lines(text, old) == text
    written = patch_json_lines(text, new)
    assert [json.loads(line) for line in written.decode().split(newline) if line] == new
    assert written.endswith(newline.encode())


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ('{"a":1}', {"a": 1, "b": 2}, '{"a":1,"b":2}'),
        ('{"a": 1}', {"a": 1, "b": [1, {"c": 2}]}, '{"a": 1, "b": [1, {"c": 2}]}'),
        ('{ "a" : 1 }', {"a": 1, "b": 2}, '{ "a" : 1, "b" : 2 }'),
        ('{\n  "a": 1e2\n}\n', {"a": 100.0, "b": {"c": 2}}, '{\n  "a": 1e2,\n  "b": {\n    "c": 2\n  }\n}\n'),
        ('{\r\n\t"a": []\r\n}', {"a": [{"b": 1}]}, '{\r\n\t"a": [\r\n\t\t{\r\n\t\t\t"b": 1\r\n\t\t}\r\n\t]\r\n}'),
        ('{"a":1,"a":1.0,"b":"\\u00e4"}', {"a": 2, "b": "ä"}, '{"a":1,"a":2,"b":"\\u00e4"}'),
        ('[\n  {"id":"x","n":1.50},\n  {"id":"y"}\n]', [{"id": "y"}, {"id": "z", "n": 1}],
         '[\n  {"id":"y"},\n  {"id":"z","n":1}\n]'),
        ('[{\n  "id": "x"\n}, {\n  "id": "y"\n}]', [{"id": "x"}, {"id": "y"}, {"id": "z"}],
         '[{\n  "id": "x"\n}, {\n  "id": "y"\n}, {\n  "id": "z"\n}]'),
        ('{"a":{"id":"x"}}', [{"a": {"id": "x"}}, 2], '[{"a":{"id":"x"}},\n2]'),
        ('{"a":"\\u00e4"}', {"a": "\\u00e4", "b": "ö"}, '{"a":"\\\\u00e4","b":"\\u00f6"}'),
        ('{"a":"ä"}', {"a": "ä", "b": "ö\ud800"}, '{"a":"ä","b":"ö\\ud800"}'),
        ("[1,2,3]", [], "[]"),
        ('[NaN, 1e400, -0.0]', [float("nan"), float("inf"), 0.0], "[NaN, 1e400, 0.0]"),
    ],
)  # fmt: skip
def test_new_parts_are_written_as_their_neighbours_are(text: str, value: Any, wanted: str):
    assert patch_json(text.encode(), value).decode() == wanted


def test_the_blocks_of_a_new_element_are_laid_out_as_in_the_one_before_it():
    text = '[\n  {"id": "x",\n   "policy": {"a": true}}\n]\n'
    value = [{"id": "x", "policy": {"a": True}}, {"id": "y", "policy": {"a": False}}]
    assert '"policy": {"a": false}' in patch_json(text.encode(), value).decode()


def test_bytes_that_are_no_text_survive():
    text = b'{"a":"\xff\xed\xa0\x80","b":1}'
    value = json.loads(text.decode("utf-8", "surrogateescape"))
    assert patch_json(text, value | {"b": 2}) == text.replace(b"1", b"2")


@pytest.mark.parametrize("codec", ["utf-16", "utf-32"])
def test_wide_encodings_stay(codec: str):
    assert patch_json('{"a":"ä"}'.encode(codec), {"a": "ö"}) == '{"a":"ö"}'.encode(codec)


def test_lines_that_are_no_json_stay_where_they_are():
    text = b'\xef\xbb\xbf{"id":"a"}\r\n\r\n  {"id":\r\n{"id":"b","n":1.0}  \r\n'
    values, numbers = lines_of(text.decode())
    assert numbers == [1, 3, 4]
    assert values == [{"id": "a"}, UNREAD, {"id": "b", "n": 1.0}]
    assert patch_json_lines(text, values) == text
    values[0]["v"] = True
    values.append({"id": "c"})
    wanted = text.replace(b'"a"}', b'"a","v":true}').rstrip(b" \r\n") + b'\r\n{"id":"c"}  \r\n'
    assert patch_json_lines(text, values) == wanted


def test_a_file_without_a_newline_at_its_end_gets_none():
    assert patch_json_lines(b'{"id":"a"}', [{"id": "a"}, {"id": "b"}]) == b'{"id":"a"}\n{"id":"b"}'


def test_elements_without_ids_are_told_apart_by_place():
    text = b"[{ }, {  }, {   }]"
    assert patch_json(text, [{}, {"a": 1}, {}]) == b'[{ }, {"a": 1}, {   }]'


_OBJECTS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("abcde")}, optional={"n": st.integers(0, 2), "b": st.lists(_LEAVES, max_size=2)}
    ),
    max_size=6,
)


@given(_OBJECTS, _OBJECTS, st.sampled_from([None, 2, "\t"]))
def test_elements_may_come_go_move_and_share_ids(old: list[Any], new: list[Any], indent: int | str | None):
    text = json.dumps({"x": old, "y": 1}, indent=indent).encode()
    assert exactly_same(_loads(patch_json(text, {"x": new, "y": 1})), {"x": new, "y": 1})


def test_untouched_elements_keep_their_bytes_wherever_they_go():
    text = b'[{"id":"a", "n":1.0},  {"id" : "b"},\n{"id":"c","n":1e0}]'
    a, b, c = json.loads(text)
    written = patch_json(text, [c, {"id": "new"}, a, b | {"n": 1}])
    assert b'{"id":"c","n":1e0}' in written or b'{"id":"a", "n":1.0}' in written
    assert b'{"id" : "b", "n" : 1}' in written


def test_what_is_nested_deeply_is_kept_beside_an_edit():
    text = b'{"a":' + b"[" * 400 + b" " + b"]" * 400 + b',"b":1}'
    value = json.loads(text)
    value["b"] = 2
    assert patch_json(text, value) == text.replace(b"1", b"2")


def test_many_that_are_alike_are_written_in_reasonable_time():
    messages: list[Any] = [{"content": "ok"} if n % 2 else {"content": f"c{n}"} for n in range(20_000)]
    text = json.dumps(messages, indent=1).encode()
    wanted = [{**messages[0], "visibility": "global"}, *messages[1:], {"content": "more"}]
    start = time.thread_time()
    written = patch_json(text, wanted)
    assert time.thread_time() - start < 30  # minutes, where each is compared with each
    assert json.loads(written) == wanted
    assert written.startswith(b'[\n {\n  "content": "c0",\n  "visibility": "global"\n },\n')

"""What a result holds: text, table, JSON, other blocks, within bounds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.payloads.record_tables import MAX_CELL, MAX_ROWS, table_in
from inspector.protocol.payloads.result_content import MAX_DECODED, MAX_KEPT, content_of, pretty_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def result(*texts: str, **more: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text} for text in texts], **more}


def test_plain_text_is_text_and_nothing_else():
    content = content_of(result("line one", "line two"))
    assert (content.text, content.table, content.json, content.record_count) == ("line one\nline two", None, None, None)
    assert content.lines == ["line one", "line two"]


@pytest.mark.parametrize("key", ["records", "data", "anything"])
def test_an_array_of_flat_objects_is_a_table(key: str):
    schema = {"columns": [{"key": "title", "type": "string"}]}
    rows = [{"id": 1, "title": "a", "done": True}, {"id": 2.5, "title": None, "tags": ["x", "y"]}]
    content = content_of(result(json.dumps({"schema": schema, key: rows, "pagination": {"page": 1}}, indent=2)))
    table = content.table
    assert table is not None
    assert table.columns == ("id", "title", "done", "tags")
    assert table.rows == (("1", "a", "true", ""), ("2.5", "", "", "x, y"))
    assert table.numeric == (True, False, False, False)
    assert content.record_count == 2
    assert content.json is not None
    assert content.json.startswith('{\n  "schema"')


def test_known_names_win_over_longer_arrays():
    found = table_in({"log": [{"a": 1}] * 5, "records": [{"b": 1}]})
    assert found is not None
    assert found.columns == ("b",)


def test_a_table_is_bounded_and_says_how_many_there_were():
    found = table_in([{"n": n, "long": "x" * 9_000} for n in range(MAX_ROWS + 7)])
    assert found is not None
    assert (len(found.rows), found.total, len(found.rows[0][1])) == (MAX_ROWS, MAX_ROWS + 7, MAX_CELL)


@pytest.mark.parametrize("value", [[], [1, 2], [{}], [{"a": {"b": 1}}], {"a": 1}, "text", None, [{"a": 1}, 2]])
def test_what_is_no_table(value: object):
    assert table_in(value) is None


def test_other_blocks_are_words():
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 4_000}
    link = {"type": "resource_link", "name": "notes", "uri": "file:///notes.txt"}
    held = {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}
    content = content_of({"content": [image, link, held, 7]})
    assert content.text == "inside"
    assert content.others == ("image, image/png, 3.0 kB", "resource_link, notes, file:///notes.txt", "7")


def test_the_first_block_of_json_is_the_table_and_all_blocks_are_the_text():
    content = content_of(result('{"records": [{"id": 1}]}', "Now show the picker."))
    assert content.record_count == 1
    assert content.text.endswith("Now show the picker.")


def test_structured_content_stands_where_the_text_is_no_json():
    content = content_of(result("2 rows", structuredContent={"rows": [{"id": 1}, {"id": 2}]}))
    assert (content.text, content.record_count) == ("2 rows", 2)


def test_a_result_without_blocks_is_json():
    content = content_of({"tools": [{"name": "grep", "description": "find"}], "_meta": {"x": 1}})
    assert content.table is not None
    assert content.table.rows == (("grep", "find"),)
    assert "_meta" not in (content.json or "")


def test_text_above_a_megabyte_is_neither_decoded_nor_kept():
    content = content_of(result("[" + "1," * MAX_DECODED + "1]"))
    assert content.value is None
    assert len(content.text) == MAX_KEPT
    assert content.elided == "Only the first 65.5 kB of 2.1 MB are shown; Raw has the message."


def test_failures_are_flagged():
    assert content_of(result("no", isError=True)).failed
    assert not content_of(result("no", isError="true")).failed


@given(JSON)
def test_anything_is_read_without_an_exception(value: object):
    for shape in (value, {"content": value}, {"content": [value]}, {"messages": value}, result(json.dumps(value))):
        content = content_of(shape)
        assert content.json is None or isinstance(content.json, str)
        assert content.table is None or all(len(row) == len(content.table.columns) for row in content.table.rows)


@given(JSON)
def test_indented_json_is_as_python_writes_it(value: object) -> None:
    assert pretty_json(value) == json.dumps(value, ensure_ascii=False, indent=2)


def test_half_a_surrogate_pair_is_written_as_it_is() -> None:
    assert pretty_json(["\ud800"]) == '[\n  "\ud800"\n]'

"""Blocks, outlines, joined frames and listings: readable, bounded, and never in the way of odd input."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.payloads.content_blocks import MAX_ENCODED, block_of, is_markdown
from inspector.protocol.payloads.outline import outline_lines
from inspector.protocol.payloads.result_content import content_of
from inspector.protocol.payloads.server_listings import listing_in
from inspector.protocol.payloads.stream_chunks import MAX_JOINED, join_frames
from tests.strategies import share_of_examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def lines(values: dict[str, object]) -> list[str]:
    return [f"{'  ' * line.depth}{line.name}: {line.text}" for line in outline_lines(values)[0]]


# Outline


def test_plain_values_are_one_line_each():
    assert lines({"path": "/a", "deep": True, "n": 1.5, "none": None, "end": "x\n"}) == [
        "path: /a", "deep: true", "n: 1.5", "none: null", "end: x⏎",
    ]  # fmt: skip


def test_what_is_nested_stands_below_its_name():
    region = {"x": 10, "y": 20, "width": 300, "of": "the window"}
    assert lines({"region": region, "steps": [{"do": "read the whole file", "to": "/a"}, 2]}) == [
        "region: 4 entries", "  x: 10", "  y: 20", "  width: 300", "  of: the window",
        "steps: 2 entries", "  1: 2 entries", "    do: read the whole file", "    to: /a", "  2: 2",
    ]  # fmt: skip


def test_a_small_object_and_plain_lists_stay_on_one_line():
    assert lines({"deep": {"a": 1}, "tags": ["a", "b"], "none": [], "pairs": ["a, b", "c"]}) == [
        'deep: {"a":1}', "tags: a, b", "none: []", "pairs: a, b\nc",
    ]  # fmt: skip


def test_json_in_a_string_is_read():
    findings = json.dumps([{"finding": "Health takes longest on this page", "category": "pattern"}])
    assert lines({"findings": findings})[:3] == [
        "findings: 1 entry", "  1: 2 entries", "    finding: Health takes longest on this page",
    ]  # fmt: skip
    assert outline_lines({"findings": findings})[0][0].copy == findings


def test_an_outline_is_bounded_and_says_what_is_left_out():
    shown, hidden = outline_lines({f"k{n}": n for n in range(100)}, limit=10)
    assert (len(shown), hidden) == (10, 90)
    long, _ = outline_lines({"all": [{"n": n, "text": "long enough for its own lines"} for n in range(100)]}, limit=10)
    assert len(long) <= 14
    assert long[-1].text.endswith("more, see Tree")


@share_of_examples(3)
@given(st.dictionaries(st.text(), JSON))
def test_any_object_has_an_outline(values: dict[str, object]):
    shown, hidden = outline_lines(values, limit=20)
    assert hidden >= 0
    assert len(shown) <= 40


# Blocks


def test_an_image_knows_its_type_size_and_bytes():
    block = block_of({"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"hello").decode()})
    assert (block.is_picture, block.size, block.data()) == (True, 5, b"hello")
    assert block.describe() == "image, image/png, 5 B"


def test_a_resource_gives_what_it_embeds():
    block = block_of({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "x"}})
    assert (block.uri, block.mime, block.text) == ("file:///a", "text/plain", "x")


def test_a_link_gives_name_description_and_stated_size():
    block = block_of({"type": "resource_link", "uri": "u", "name": "n", "description": "d", "size": 12})
    assert (block.name, block.description, block.size, block.data()) == ("n", "d", 12, None)


@pytest.mark.parametrize("data", ["no base64 !", "a" * (MAX_ENCODED + 1)])
def test_data_that_cannot_be_decoded_is_none(data: str):
    assert block_of({"type": "image", "data": data}).data() is None


@given(JSON)
def test_any_value_is_a_block(value: object):
    block = block_of(value)
    block.data()
    assert isinstance(block.describe(), str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Plan\n\n1. read", True), ("It is **done**.", True), ("```\nx\n```", True), ("[a](https://x.org)", True),
        ("| a | b |\n|---|---|\n| 1 | 2 |", True), ("Plain words, 2 * 3 * 4.", False), ("- a\n- b", False),
        ("# a comment\nx = 1", False), ("", False),
        ("- `a` is new\n- b", True), ("Run `make` and `make test`.", True), ("Run `make`.", False),
        ("# reads\nimport os\n\n# writes\nx = 1\ny = 2\n", False),
        ("#!/bin/sh\n# first\n\n# then\nset a;\nif x; then\nfi", False),
        ("# Result\n\nAll is well.", True), ("a[0](x y)", False),
    ],
)  # fmt: skip
def test_markdown_is_told_by_how_it_is_written(text: str, expected: bool):
    assert is_markdown(text) is expected


def test_structured_content_beside_other_text_is_kept():
    content = content_of({"content": [{"type": "text", "text": "12 degrees"}], "structuredContent": {"t": 12}})
    assert (content.text, content.structured, content.value) == ("12 degrees", {"t": 12}, {"t": 12})


def test_structured_content_that_the_text_repeats_is_not_said_twice():
    content = content_of({"content": [{"type": "text", "text": '{"t": 12}'}], "structuredContent": {"t": 12}})
    assert content.structured is None


def test_blocks_keep_their_order_and_resources_declare_markdown():
    content = content_of({"contents": [{"uri": "file:///a.md", "mimeType": "text/markdown", "text": "x"}]})
    assert [block.uri for block in content.blocks] == ["file:///a.md"]
    assert content.markdown


# Frames


def test_tokens_flow_and_states_stand_aside():
    frames = [{"type": "status", "value": "thinking"}, {"type": "token", "value": "The "},
              {"type": "token", "value": "brief"}, {"type": "thought", "value": "I need notes"},
              {"type": "progress", "value": "done"}]  # fmt: skip
    joined = join_frames(json.dumps(frame).encode() for frame in frames)
    assert (joined.text, joined.notes, joined.chunks) == ("The brief\nI need notes", ("thinking", "done"), True)


def test_text_is_joined_before_it_is_read():
    data = "Linking é".encode()
    assert join_frames([data[:-1], data[-1:]]).text == "Linking é"
    assert join_frames([data[:-1]]).text == "Linking "


def test_bytes_stay_bytes():
    joined = join_frames([b"\xff\xfe", b"\x00"])
    assert (joined.text, joined.data) == ("", b"\xff\xfe\x00")


def test_joining_is_bounded():
    joined = join_frames([b"x" * (MAX_JOINED - 1), b"yy", b"z"])
    assert (len(joined.text), joined.left_out) == (MAX_JOINED, 1)


@given(st.lists(st.binary()))
def test_any_frames_are_joined(frames: list[bytes]):
    joined = join_frames(frames)
    assert joined.left_out <= sum(map(len, frames))
    assert joined.chunks or not joined.data or joined.data == b"".join(frames)


# Listings


def test_tools_are_listed_with_the_names_of_what_they_take():
    schema = {"properties": {"pattern": {}, "path": {}}, "required": ["pattern"]}
    found = listing_in({"tools": [{"name": "grep", "description": "Finds\n lines.", "inputSchema": schema}]})
    assert found is not None
    assert (found[0], found[1].columns) == ("tools", ("name", "arguments", "description"))
    assert found[1].rows == (("grep", "pattern, path?", "Finds lines."),)


@given(JSON)
def test_any_result_may_be_no_listing(value: object):
    for result in (value, {"tools": value, "prompts": [value]}):
        found = listing_in(result)
        if found is not None:
            listed: Any = result
            assert found[1].total == len(listed[found[0]])

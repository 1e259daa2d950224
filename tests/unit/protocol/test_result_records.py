"""How many records a result lists."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.protocol.result_records import RecordCounts, count_records, may_hold_json


def text(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({}, (0, 0)),
        (text("found 12 files"), (0, 0)),
        (text([{}] * 6), (6, 6)),
        (text({"records": ["a"] * 6}), (0, 6)),
        (text({"paths": ["a"] * 6}), (0, 0)),
        (text({"data": {"items": [{}] * 3}, "more": [{}] * 4}), (4, 4)),
        (text("[1, 2"), (0, 0)),
        ({"structuredContent": {"results": [{}] * 7}, **text([{}] * 9)}, (7, 7)),
        ({"structuredContent": None, **text([{}] * 9)}, (9, 9)),
        ({"content": "none"}, (0, 0)),
    ],
)
def test_records_are_counted(result: dict[str, Any], found: tuple[int, int]) -> None:
    assert count_records(result) == RecordCounts(*found)


@pytest.mark.parametrize("written", ['{"text": "[1]"}', '{"text":"\\n {}"}', '[{"type":"text","text" : "  {"}]'])
def test_texts_that_begin_as_json_are_told_as_written(written: str) -> None:
    assert may_hold_json(written.encode())


def test_other_texts_are_not() -> None:
    assert not may_hold_json(b'{"text":"see [1]","other":"[1]"}')

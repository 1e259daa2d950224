"""A search looks into messages, not into what a log or capture writes around them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.compile import compile_filter
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery
from inspector.filters.visible import VisibleRows
from tests.builders import delivered, document_of, envelope, received

CHAT = envelope("chat", {"text": "hello"}, sender="lead", id="m1")
ABOUT = envelope("chat", {"text": "what is a space_id?"}, sender="lead", id="m2")


def with_text(document: CaptureDocument, text: str) -> list[int]:
    rows = np.arange(len(document.analysis))
    return rows[compile_filter(json.dumps(text)).mask(document.analysis, rows)].tolist()


def found(document: CaptureDocument, text: str, *, is_pattern: bool = False) -> list[int]:
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(""), None)
    search = FindSearch(rows, FindQuery(text, is_pattern=is_pattern))
    while not search.step():
        pass
    return search.hits.tolist()


@pytest.mark.parametrize("word", ["space_id", "outbound", "websocket", "space\\w{2}d"])
def test_what_a_gateway_logs_around_a_message_is_not_searched(word: str) -> None:
    around = {"space_id": "demo", "direction": "outbound", "transport": "websocket"}
    lines = [{**received(CHAT), **around}, {**delivered(CHAT, "coder"), **around}, {**received(ABOUT), **around}]
    document = document_of(*lines)
    expected = [1] if word.startswith("space") else []
    assert found(document, word, is_pattern="\\" in word) == expected
    if "\\" not in word:
        assert with_text(document, word) == expected
    assert with_text(document, "HELLO") == found(document, "hello") == [0]


def test_nor_what_a_capture_or_another_tool_writes() -> None:
    frame, escaped = json.dumps(CHAT, separators=(",", ":")), json.dumps(json.dumps(CHAT))
    document = document_of(
        '{"ctxcap":1,"created":"2026-01-05T09:00:00.000Z"}',
        f'{{"t":1767603600000000000,"dir":"in","src":0,"frame":{frame}}}',
        f'{{"t":1767603600100000000,"dir":"in","src":0,"text":{escaped}}}',
        f'{{"time":"2026-01-05T09:00:00Z","dir":"in","note":"a {{ brace","message":{frame}}}',
        f"2026-01-05T09:00:00.123Z gateway src dir {frame}",
    )
    for word in ("dir", "src", "17676", "frame", "brace", "gateway"):
        assert with_text(document, word) == found(document, word) == [], word
    assert with_text(document, "hello") == found(document, "hello") == [0, 1, 2, 3]


def test_a_long_message_is_searched_window_by_window_without_its_line() -> None:
    long = envelope("chat", {"text": "x" * (1 << 20) + " needle"})
    document = document_of({**received(long), "space_id": "demo", "end": "tail"})
    assert found(document, "needle") == [0]
    assert found(document, "space_id") == found(document, "tail") == []
    assert with_text(document, "needle") == [0]
    assert with_text(document, "space_id") == []

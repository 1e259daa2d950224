"""One value of many payloads: what each payload says by itself, whatever line it stands in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters.record_prefilter import key_hint
from inspector.store.messages import adjacent_reads
from inspector.store.messages.payload_values import PayloadValues, value_at_path
from tests.builders import clean_up, document_of, envelope, received
from tests.strategies import logs

PATHS = (
    ("text",), ("kind",), ("method",), ("params",), ("params", "name"), ("params", "0"), ("participant", "id"),
    ("result", "_meta", "context"), ("result", "_meta", "contextHints", "0", "tool"), ("0",), ("id",), ("id", "a"),
    ("payload",), ('"',), ("",), ("value",), ("event",),
)  # fmt: skip


def slowly(document: CaptureDocument, path: tuple[str, ...]) -> list[object]:
    return [value_at_path(document.capture.records.payload(row), path) for row in range(len(document.capture))]


def together(document: CaptureDocument, path: tuple[str, ...], rows: Any = None) -> tuple[list[object], list[int]]:
    """The values, and the messages it was asked about one by one."""
    capture, asked = document.capture, list[int]()

    def otherwise(row: int) -> object:
        asked.append(row)
        return value_at_path(capture.records.payload(row), path)

    rows = np.arange(len(capture)) if rows is None else np.array(rows, np.int64)
    held = PayloadValues(path).read_batches(capture, rows, otherwise)
    return [value for run in held for value in run.value_per_message()], asked


@given(logs, st.sampled_from(PATHS))
def test_any_log_gives_what_its_payloads_give(data: bytes, path: tuple[str, ...]) -> None:
    document = document_of(envelope(), data)
    assert together(document, path)[0] == slowly(document, path)
    clean_up()


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "grep", "arguments": [{"a": None}, 2]}}
LINES = {
    "envelopes": lambda one: one,
    "a gateway's log": received,
    "a capture": lambda one: {"t": 1_767_603_600_000_000_000, "dir": "in", "src": 0, "frame": one},
    "a capture of bytes": lambda one: {"t": 1_767_603_600_000_000_000, "dir": "out", "bin": True, "frame": one},
}


@pytest.mark.parametrize("around", LINES.values(), ids=LINES)
@pytest.mark.parametrize("path", [("method",), ("params", "name"), ("params", "arguments", "0", "a"), ("nothing", "x")])
def test_usual_lines_are_read_together(around: Any, path: tuple[str, ...]) -> None:
    document = document_of(*(json.dumps(around(envelope("mcp/request", CALL))) for _ in range(3)))
    values, asked = together(document, path)
    assert values == slowly(document, path) == [value_at_path(CALL, path)] * 3
    assert asked == []


@pytest.mark.parametrize("around", ["envelopes", "a capture"])
def test_json_rpc_is_its_own_payload(around: str) -> None:
    document = document_of(LINES[around](CALL), LINES[around](envelope("chat", {"method": 7})))
    assert together(document, ("method",)) == (["tools/call", 7], [])


def test_values_are_the_same_where_most_lines_have_one() -> None:
    document = document_of(*(envelope("chat", {"a" if n % 9 else "b": n % 5 or None}) for n in range(90)))
    hint = key_hint(("a",))
    assert hint is not None
    with (
        patch.object(hint, "match_lines", wraps=hint.match_lines) as looked,
        patch.object(adjacent_reads, "_MAX_READ", 900),
    ):
        held = PayloadValues(("a",), hint.match_lines).read_batches(document.capture, np.arange(90), lambda row: 1 / 0)
        values = [value for run in held for value in run.value_per_message()]
    assert values == slowly(document, ("a",))
    assert 0 < looked.call_count < 90 / 5  # not asked of lines of which most have it


def test_what_is_unusual_is_asked_about_one_by_one() -> None:
    document = document_of(
        envelope("chat", {"text": "a"}),
        '{"kind":"chat","payload":{"text":"half a \\ud800"}}',
        envelope("chat", "no object"),
        {"message": envelope("chat", {"text": "in another's line"})},
        envelope("chat", {"text": "b"}),
        envelope("chat", {"text": "x" * (1 << 20)}),
        "no JSON",
    )
    values, asked = together(document, ("text",))
    assert values == slowly(document, ("text",))
    assert values[:5] == ["a", "half a \ud800", None, "in another's line", "b"]
    assert asked == [1, 2, 3, 5, 6]


def test_messages_may_be_asked_for_in_any_order() -> None:
    document = document_of(*(envelope("chat", {"n": n}) for n in range(6)))
    assert together(document, ("n",), [4, 1, 1, 3])[0] == [4, 1, 1, 3]
    assert together(document, ("n",), [])[0] == []


def test_a_file_that_became_shorter_has_no_values(tmp_path: Path) -> None:
    document = document_of(*(envelope("chat", {"n": n}) for n in range(6)))
    source = document.capture.sources[0]
    with source.path.open("r+b") as file:
        file.truncate(int(document.capture.columns["offset"][2]) + 9)
    assert together(document, ("n",))[0] == [0, 1, None, None, None, None]

"""Envelopes decoded together: every field says what it says of each message by itself, whatever its line is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from inspector.analysis.arrays.field_columns import Decoded
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELDS
from tests.builders import clean_up, document_at, document_of, envelope, received
from tests.samples import LINE_SAMPLES
from tests.strategies import logs
from tests.unit.store.messages.test_payload_values import CALL, LINES

_DECODED = [field for field in FIELDS if isinstance(field.column(CaptureDocument().analysis), Decoded)]


def _same_in_blocks(document: CaptureDocument) -> None:
    """Columns read in turns, in their order and not, give what each message gives alone."""
    analysis, rows = document.analysis, np.arange(len(document.capture))
    columns = [column for field in _DECODED if isinstance(column := field.column(analysis), Decoded)]
    for some in (rows, rows[::-2]):
        document.capture.records.decoded_fields.clear()
        together = list(zip(*(column.values(some) for column in columns), strict=True))
        document.capture.records.decoded_fields.clear()
        assert together == [tuple(column.value(row) for column in columns) for row in some.tolist()]


@given(logs)
def test_any_log_says_the_same(data: bytes) -> None:
    _same_in_blocks(document_of(envelope(), data))
    clean_up()


@pytest.mark.parametrize("path", LINE_SAMPLES, ids=lambda path: path.stem)
def test_samples_of_formats_say_the_same(path: Path) -> None:
    _same_in_blocks(document_at(path))


@pytest.mark.parametrize("around", LINES.values(), ids=LINES)
@pytest.mark.parametrize(
    "one",
    [
        envelope("mcp/request", CALL), envelope(context="a/b", correlation_id=["x", 1]), envelope(id=None),
        envelope(id=7),
        envelope(context={"id": "c", "parent": "p"}), envelope(correlation_id="x"), envelope(payload=[1]), CALL,
        {"kind": "chat", "payload": None}, {"kind": "chat", "correlationId": "x", "payload": {"text": "t"}},
        {"kind": "chat", "payload": {"text": "t", "context": "in/payload"}}, {"kind": 1, "id": "x"},
    ],
)  # fmt: skip
def test_odd_envelopes_say_the_same(around: Any, one: dict[str, Any]) -> None:
    _same_in_blocks(document_of(*(json.dumps(around(line)) for line in (envelope(), one, one, envelope()))))


def test_frames_say_the_same() -> None:
    usual = {"t": 1_767_600_000_000_000_000, "dir": "in", "src": 0, "bin": True}
    texts = ("#s#plain", '#s#{"type":"token","context":"r","value":"x"}', "#s##", "#s#é\ud83d", "##", "#s", "s#x#")
    lines = [usual | {"text": text} for text in texts]
    lines += [usual | {"b64": "I3Mj/w=="}, usual | {"text": "#s#x", "more": 1}, usual | {"text": "#s#x", "src": "odd"}]
    bare = ["#s#bare", "#s#", json.dumps({"type": "Buffer", "data": [35, 115, 35, 120]})]
    _same_in_blocks(document_of('{"ctxcap":1}', *map(json.dumps, lines), *bare))


def test_of_usual_messages_no_record_is_read() -> None:
    document = document_of(*(received(envelope(payload={"text": str(number)})) for number in range(600)))
    document.capture.records.read_record = lambda message: pytest.fail(f"{message} was read alone")  # pyright: ignore
    column = FIELDS[[field.name for field in FIELDS].index("text")].column(document.analysis)
    assert isinstance(column, Decoded)
    assert list(column.values(np.arange(600))) == [str(number) for number in range(600)]
    assert len(document.capture.records.decoded_fields) <= 3 * 256

"""Values of payloads: what the bytes of a record say beforehand leaves nothing out, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.payloads import payload_field
from inspector.filters.sorting import SortBy, Sorting, sort_key
from inspector.filters.strings import quote
from inspector.store.messages import payload_values
from tests.builders import clean_up, document_of, envelope

_TRANSCRIPT = (
    Path(__file__).parents[2]
    / "data/transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10/subagents/agent-a5510de.jsonl"
)
_KEYS = st.sampled_from(("a", "b", 'q"', "é", "0", "s/t", "back\\slash"))
_TEXTS = st.sampled_from(("x", "X", "xy", 'say "hi"', "é", "É", "a/b", "a\\b", "line\nend", "\U0001f600", ""))
_VALUES = st.recursive(
    st.one_of(_TEXTS, st.integers(-2, 2), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_KEYS, inner, max_size=2)),
    max_leaves=5,
)
_PAYLOADS = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=3), min_size=1, max_size=6)
_PATHS = st.lists(_KEYS, min_size=1, max_size=2)


def _holds(symbol: str, value: object, text: str) -> bool:
    if isinstance(value, list):
        return any(_holds(symbol, one, text) for one in value if not isinstance(one, list))
    if not isinstance(value, str):
        return False
    return text in value if symbol == "contains" else value == text


def _written(payloads: list[dict[str, Any]], folder: Path, *, ascii_only: bool, inside: bool) -> CaptureDocument:
    """A log of envelopes; `inside` another format's line."""
    lines = [envelope("chat", payload, id=f"m{n}") for n, payload in enumerate(payloads)]
    logged = [{"timestamp": "2026-01-05T09:00:00Z", "event": "received", "envelope": line} for line in lines]
    path = folder / "log.jsonl"
    text = "".join(json.dumps(line, ensure_ascii=ascii_only) + "\n" for line in (logged if inside else lines))
    path.write_text(text, encoding="utf-8")
    document = CaptureDocument()
    document.load(path)
    return document


@pytest.mark.parametrize("inside", [False, True], ids=["envelopes", "gateway log"])
@given(
    payloads=_PAYLOADS, path=_PATHS, text=_TEXTS, symbol=st.sampled_from(("==", "contains", "in")),
    ascii_only=st.booleans(),
)  # fmt: skip
def test_a_filter_says_what_each_value_says(
    inside: bool,
    tmp_path_factory: pytest.TempPathFactory,
    payloads: list[dict[str, Any]],
    path: list[str],
    text: str,
    symbol: str,
    ascii_only: bool,
) -> None:
    document = _written(payloads, tmp_path_factory.mktemp("log"), ascii_only=ascii_only, inside=inside)
    field, rows = payload_field(tuple(path)), np.arange(len(document.capture))
    operand = f"{{{quote(text)}}}" if symbol == "in" else quote(text)
    values = [field.value(document.analysis, row) for row in rows.tolist()]
    mask = compile_filter(f"{field.name} {symbol} {operand}").mask(document.analysis, rows)
    assert mask.tolist() == [_holds(symbol, value, text) for value in values]
    present = compile_filter(field.name).mask(document.analysis, rows)
    assert present.tolist() == [value is not None for value in values]
    sorting = Sorting(document.analysis, SortBy(field), rows.astype(np.uint32))
    keys = [sort_key(field, value) for value in values]
    expected = sorted(rows.tolist(), key=lambda row: (keys[row] is None, keys[row] or (0, 0)))
    assert run_to_end(sorting.find_order()).tolist() == expected
    document.capture.close()


def test_records_without_the_key_are_not_decoded() -> None:
    document = document_of(*(envelope("chat", {"text": "x"} if n % 10 else {"rare": n}) for n in range(50)))
    with patch.object(payload_values, "decode_all", side_effect=payload_values.decode_all) as read:
        assert np.flatnonzero(compile_filter("payload.rare > 20").mask(document.analysis, np.arange(50))).tolist() == [
            30,
            40,
        ]
        assert sum(len(call.args[1]) for call in read.call_args_list) == 5
        compile_filter('payload.text contains "nowhere"').mask(document.analysis, np.arange(50))
        assert sum(len(call.args[1]) for call in read.call_args_list) == 5
    clean_up()


def test_what_a_transcript_means_has_values_that_its_lines_have_not() -> None:
    document = CaptureDocument()
    document.load(_TRANSCRIPT)
    rows = np.arange(len(document.capture))
    for key in {key for row in rows.tolist() for key in document.capture.records.payload(row)}:
        field = payload_field((key,))
        values = [field.value(document.analysis, row) for row in rows.tolist()]
        present = compile_filter(field.name).mask(document.analysis, rows)
        assert present.tolist() == [value is not None for value in values], key
    calls = compile_filter('payload.method == "tools/call"').mask(document.analysis, rows)
    requests = compile_filter('kind == "mcp/request"').mask(document.analysis, rows)
    assert calls.any()
    assert calls.tolist() == requests.tolist()
    document.close()

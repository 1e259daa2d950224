"""Filters on messages above 1 MB see what stands in them, not only what their head shows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from inspector.filters import compile_filter, payloads
from tests.builders import document_of, envelope

_ROWS = ["x" * 50] * 30_000


def shown(filter_: str, *payloads: dict[str, Any]) -> list[int]:
    document = document_of(*(envelope("chat", payload) for payload in payloads))
    mask = compile_filter(filter_).mask(document.analysis, np.arange(len(payloads)))
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ('payload.flag == "yes"', [0, 1]),
        ("!payload.flag", []),
        ("payload.rows.29999", [0]),
        ("payload.rows.30000", []),
        ("payload.rows.first", []),
        ("payload.deep.key == 7", [0]),
        ("payload.gone.key", []),
        ('text contains "tail"', [0, 1]),
        ('payload.text matches "^tail"', [0, 1]),
        ("payload.rows", [0, 1]),
    ],
)
def test_what_stands_behind_the_head_counts(filter_: str, expected: list[int]) -> None:
    rest = {"flag": "yes", "text": "tail words"}
    assert shown(filter_, {"rows": _ROWS, **rest, "deep": {"key": 7}}, {"rows": ["x"], **rest}) == expected


def test_a_value_that_is_too_large_is_as_its_head_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "_MAX_DECODED", 1 << 10)
    assert shown("payload.rows", {"rows": _ROWS, "text": "x"}) == [0]
    assert shown('payload.text contains "xy"', {"rows": _ROWS, "text": "x" * 2000 + "y"}) == [0]


def test_an_expression_that_takes_too_long_for_a_value_does_not_match_it() -> None:
    document = document_of(*(envelope("chat", {"text": text}) for text in ("a  ", " " * 60_000 + "x", "b ")))
    filter_ = compile_filter(r'text matches "\\s+$"')
    began = time.thread_time()
    assert np.flatnonzero(filter_.mask(document.analysis, np.arange(3))).tolist() == [0, 2]
    assert filter_.timeout_count == 1
    assert time.thread_time() - began < 4

"""Texts that hold JSON: values in them are found, shown, masked and hinted at like others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from inspector.filters.compile import compile_filter
from inspector.filters.errors import FilterError
from inspector.filters.naming import field_named
from tests.builders import document_of, envelope

TEXT = json.dumps({"status": "ok", "é": "ü", "rows": [{"id": 7}], "env": [{"name": "API_KEY", "value": "abcdef1234"}]})
DOCUMENT = [
    envelope("chat", {"text": TEXT}),
    envelope("chat", {"text": "no JSON, status ok"}),
    envelope("chat", {"text": TEXT, "fill": "x" * 1_100_000}),  # of a big one only the head is decoded
    envelope("chat", {"text": {"status": "ok"}}),
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('json(payload.text).status == "ok"', [0, 2, 3]),
        ('json(payload.text)."é" == "ü"', [0, 2]),  # written otherwise in the record
        ("json(payload.text).rows.0.id in {7, 8}", [0, 2]),
        ("json(payload.text).rows.1", []),
        ("json(payload.text)", [0, 2, 3]),
        ("!json(payload.text)", [1]),
        ("payload.text.status", [3]),
    ],
)
def test_values_in_texts_are_found(text: str, shown: list[int]) -> None:
    analysis = document_of(*DOCUMENT).analysis
    mask = compile_filter(text).mask(analysis, np.arange(len(DOCUMENT)))
    assert np.flatnonzero(mask).tolist() == shown


def test_they_are_columns_and_secrets_among_them_are_known() -> None:
    analysis = document_of(*DOCUMENT[:1]).analysis
    field = field_named("json(payload.text).rows.0.id")
    assert (field.name, field.label, field.value(analysis, 0)) == ("json(payload.text).rows.0.id", "id", 7)
    assert field_named("json(payload.text).env.0.value").secret_at(analysis, 0) is not None
    assert field_named("json(payload.text).status").secret_at(analysis, 0) is None
    assert field_named("json(payload.text).api_key").secret == "api_key"


@pytest.mark.parametrize("text", ["json(kind) == 1", "json(payload.a", "json()", "json(payload.a)b", 'json("a")'])
def test_what_it_cannot_be_is_an_error(text: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_filter(text)
    assert str(raised.value)

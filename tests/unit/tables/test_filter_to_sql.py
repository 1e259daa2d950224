"""A filter as a condition of SQL means what the filter means."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters import FilterError, compile_filter
from inspector.filters.ast import (
    And,
    BooleanValue,
    Comparison,
    Expression,
    FieldName,
    Membership,
    Not,
    NumberValue,
    Or,
    Presence,
    StringValue,
)
from inspector.filters.fields import FIELDS
from inspector.filters.page import _EXAMPLES, _LANGUAGE
from inspector.filters.stacked_conditions import resolve_variables
from inspector.settings.model import DEFAULT_PRESETS
from inspector.tables import Database
from inspector.tables.database import QueryInputs
from inspector.tables.filter_to_sql import condition_of
from tests.builders import document_at, document_of, envelope
from tests.commands import asked, printed
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES, sample
from tests.strategies import IDS, NAMES, TOOLS, conversations, share_of_examples

_DATA = ROOT / "tests/data"
_DOCS = [text for text, _ in (*_LANGUAGE, *_EXAMPLES)] + [
    resolve_variables(preset.filter, "review-7") for preset in DEFAULT_PRESETS
]
_REFUSED = {text for text in _DOCS if text.startswith(('"', "json(", "write "))}


class Both:
    """A document that is asked the same by filter and by SQL."""

    def __init__(self, document: CaptureDocument) -> None:
        self.document = document
        self.database = Database()
        names = frozenset(column for column in _ALL if column != "info")
        self.database.load(document, QueryInputs({"messages": names}, checked=True, counted=True))

    def filtered(self, text: str) -> list[int]:
        rows = np.arange(len(self.document.analysis))
        return (np.flatnonzero(compile_filter(text).mask(self.document.analysis, rows)) + 1).tolist()

    def selected(self, text: str) -> list[int]:
        sql = f"SELECT no FROM messages WHERE {condition_of(compile_filter(text))} ORDER BY no"
        return [no for (no,) in self.database.run_query(sql)]

    def close(self) -> None:
        self.database.close()


_ALL = [field.name.replace(".", "_") for field in FIELDS]


def same(document: CaptureDocument, texts: Iterable[str]) -> None:
    both = Both(document)
    try:
        for text in texts:
            assert both.selected(text) == both.filtered(text), (text, condition_of(compile_filter(text)))
    finally:
        both.close()


# Random filters over random captures

_WORDS = st.sampled_from(
    (
        *IDS, *NAMES, *TOOLS, "", "a%", "a_b", "*", "r*", "?", "mcp/*", "mcp/request", "mcp/request:tools/call:*",
        "it's", "x:y",
    )
)  # fmt: skip
_NUMBERS = st.integers(-3, 5) | st.sampled_from([0.5, 120, 1000, 10**30, -(10**30), 1e20])
_TIMES = st.sampled_from(
    ("2026-01-05", "2026-01-05T09:00:03Z", "2026-01-05T09:00:03.000000001Z", "1500-01-01", "9999-12-31")
)
_PATTERNS = st.sampled_from(["a", "^a", "b$", ".", "[ab]{2}", "", r"\d+", r"\w\s?\w", r"(?i)LEAD|files", r"[^\d]$"])
_TEXTS = ("from", "to", "kind", "kind.raw", "method", "target", "tool", "text", "context", "badge", "id", "correlation")
_INTEGERS = ("no", "size", "context.depth", "answered", "answers", "latency", "consumes")


def _name(field: str) -> FieldName:
    return FieldName(tuple(field.split(".")))


Terms: TypeAlias = "st.SearchStrategy[Expression]"


def _compared(fields: Iterable[str], operators: Iterable[str], values: st.SearchStrategy[Any]) -> Terms:
    return st.builds(Comparison, st.sampled_from(list(fields)).map(_name), st.sampled_from(list(operators)), values)


_ORDER = ("==", "!=", "<", "<=", ">", ">=")
_STRINGS = st.builds(StringValue, _WORDS)
_PATHS = ("under", "below", "above", "childof")
_SEVERITIES = st.builds(StringValue, st.sampled_from(["note", "warning", "error"]))
_PAYLOAD = st.builds(FieldName, st.sampled_from(
    (("payload", "text"), ("payload", "params", "name"), ("payload", "a", "0"), ("payload", "event"))
))  # fmt: skip
_IN_PAYLOADS = _STRINGS | st.builds(NumberValue, st.integers(0, 3))
_TERMS: Terms = st.one_of(
    st.builds(Presence, st.sampled_from([field.name for field in FIELDS if field.name != "info"]).map(_name)),
    _compared(_TEXTS, ("==", "!=", "contains", "like"), _STRINGS),
    _compared(_TEXTS, ("matches",), st.builds(StringValue, _PATTERNS)),
    _compared(_INTEGERS, _ORDER, st.builds(NumberValue, _NUMBERS)),
    _compared(("time", "ts"), _ORDER, st.builds(StringValue, _TIMES)),
    _compared(("context", "context.parent"), _PATHS, st.builds(StringValue, st.sampled_from(IDS))),
    _compared(("error",), ("==", "!="), st.builds(BooleanValue, st.booleans())),
    _compared(("finding.severity",), _ORDER, _SEVERITIES),
    st.builds(Membership, st.sampled_from(_TEXTS).map(_name), st.lists(_STRINGS, min_size=1, max_size=3).map(tuple)),
    st.builds(Comparison, _PAYLOAD, st.sampled_from(("==", "!=", "<")), _IN_PAYLOADS),
    st.builds(Presence, _PAYLOAD),
)
_EXPRESSIONS = st.recursive(
    _TERMS,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=4,
)


@given(conversations, st.lists(_EXPRESSIONS, min_size=6, max_size=6))
@share_of_examples(2)
def test_any_filter_means_the_same_in_sql(lines: list[dict[str, object]], expressions: list[Expression]) -> None:
    document = document_of(*lines)
    run_to_end(document.postponed_checks())
    same(document, [str(expression) for expression in expressions])
    document.close()


@pytest.mark.parametrize("name", ["formats/gateway-log.jsonl", "formats/mew-v0.3.jsonl", "formats/json-rpc.jsonl"])
def test_filters_of_presets_and_pages_mean_the_same(name: str) -> None:
    same(document_at(sample(name)), [text for text in _DOCS if text not in _REFUSED])


def _logs() -> list[Path]:
    found = (path for folder in ("recordings", "captures", "transcripts") for path in (_DATA / folder).rglob("*"))
    logs = (*found, *FORMAT_SAMPLES.values())
    return sorted(path for path in logs if path.name.partition(".")[2] in ("jsonl", "ctxcap", "json"))


@pytest.mark.real
@pytest.mark.parametrize("path", _logs(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_they_mean_the_same_in_all_recordings(path: Path) -> None:
    document = document_at(path)
    document.count_tokens()
    same(document, [text for text in _DOCS if text not in _REFUSED])


def test_payload_values_know_their_types() -> None:
    payloads = [
        {"a": 1},
        {"a": "1"},
        {"a": True},
        {"a": None},
        {"a": [1, "x"]},
        {"a": []},
        {"a": {"0": 2}},
        {"a": [[3], 2.5]},
        {},
    ]
    document = document_of(*(envelope(payload=one) for one in payloads))
    texts = ["payload.a == 1", 'payload.a == "1"', "payload.a == true", "payload.a", "!payload.a", "payload.a.0 >= 2",
             'payload.a in {1, "x", true}', "payload.a > 2", 'payload.a contains "x"', "payload.a != 1"]  # fmt: skip
    same(document, texts)


@pytest.mark.parametrize(
    ("text", "wrong", "says"),
    [
        ('kind == "chat" && "timed out"', '"timed out"', "no search through all"),
        ('!json(payload.text).status == "ok"', 'json(payload.text).status == "ok"', "a text that is JSON"),
        ('error || text matches "(?<=a)b"', 'text matches "(?<=a)b"', "no expression with"),
        (r'text matches "\\bword"', r'text matches "\\bword"', "no expression with"),
        ('payload."a*" == 1', 'payload."a*" == 1', "no path with such a key"),
    ],
)
def test_what_sql_cannot_say_is_refused_with_its_place(text: str, wrong: str, says: str) -> None:
    with pytest.raises(FilterError, match=says) as caught:
        condition_of(compile_filter(text))
    error = caught.value
    assert text[error.position : error.position + error.length] == wrong


def test_the_pages_that_are_refused_are_these() -> None:
    for text in _DOCS:
        if text in _REFUSED:
            with pytest.raises(FilterError):
                condition_of(compile_filter(text))
        else:
            condition_of(compile_filter(text))


def test_the_command_prints_the_condition_alone() -> None:
    assert printed("explain-filter", 'kind == "chat" && !context', "--sql") == "kind = 'chat' AND context IS NULL\n"
    assert printed("explain-filter", "", "--sql") == "true\n"
    found = asked("explain-filter", 'error && "x"', "--sql")
    assert found.exit_code == 2
    assert '  error && "x"\n           ^^^' in found.stderr

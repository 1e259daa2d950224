"""Properties: no text crashes, canonical text is stable, masks agree with the slow evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters import FilterError, parse
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
    TextSearch,
)
from inspector.store.messages.payload_values import OPEN_JSON
from tests.unit.filters.reference import FIELDS, Slow, analysis_of, compiled

WORDS = st.sampled_from(["", "a", "b", "ab", "A", "a/b", "a/b/c", "ab/c", "*", "a*", "?", "*/b*", "mcp/request", "x:y"])
PATHS = st.sampled_from(["a", "a/b", "a/b/c", "ab", "ab/c", "b"])
INTEGERS = st.integers(-3, 3) | st.sampled_from([1000, 10**30, -(10**30)])
NUMBERS = INTEGERS | st.sampled_from([0.5, -0.5, 1.0, 2.5, 1e20])
TIMES = st.sampled_from(["2026-01-05", "2026-01-05T09:00:00Z", "2026-01-05T10:00:00+01:00", "1900-01-01", "9999-12-31"])
KEYS = st.sampled_from(["a", "0", "odd key"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(0.5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)

ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "from": WORDS,
            "to": st.lists(WORDS, max_size=3),
            "kind": st.sampled_from(["chat", "mcp/request", "a", "a/b"]),
            "method": st.sampled_from(["tools/call", "b", "a"]),
            "context": PATHS,
            "size": st.integers(-3, 3) | st.just(1000),
            "latency": st.sampled_from([0.5, -0.5, 1.0, 1000.0]),
            "time": st.sampled_from([0, 1767571200 * 10**9, 1767603600 * 10**9]),
            "error": st.booleans(),
            "delivered": st.booleans(),
            "badge": st.lists(WORDS, max_size=2),
            "text": WORDS,
            "payload": st.dictionaries(st.sampled_from(["a", "0"]), JSON, max_size=2),
            "record": st.sampled_from([b"", b"A b", b"ab/c"]),
        },
    ),
    max_size=12,
)

TEXT_OPERATORS = ["==", "!=", "contains", "like", "matches"]
ORDER_OPERATORS = ["==", "!=", "<", "<=", ">", ">="]
PATTERNS = st.sampled_from(["a", "^a", "b$", ".", "[ab]{2}", ""])


def name(*path: str) -> FieldName:
    return FieldName(path)


@st.composite
def text_terms(draw: st.DrawFn) -> Expression:
    field = draw(st.sampled_from(["from", "to", "kind", "badge", "text", "context"]))
    operator = draw(st.sampled_from(TEXT_OPERATORS))
    value = draw(PATTERNS if operator == "matches" else WORDS)
    return Comparison(name(field), operator, StringValue(value))


@st.composite
def payload_terms(draw: st.DrawFn) -> Expression:
    steps = ["a", "0", "1", "odd key", OPEN_JSON]
    path = name("payload", "a", *draw(st.lists(st.sampled_from(steps), max_size=3)))
    value = draw(
        st.builds(StringValue, WORDS) | st.builds(NumberValue, NUMBERS) | st.builds(BooleanValue, st.booleans())
    )
    if isinstance(value, BooleanValue):
        return Comparison(path, draw(st.sampled_from(["==", "!="])), value)
    if draw(st.booleans()):
        return Membership(path, (value, BooleanValue(True), StringValue("a")))
    return Comparison(path, draw(st.sampled_from(ORDER_OPERATORS)), value)


def comparisons(fields: list[str], operators: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(Comparison, st.sampled_from(fields).map(name), st.sampled_from(operators), values)


def sets_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, min_size=1, max_size=3).map(tuple)


TERMS: st.SearchStrategy[Expression] = st.one_of(
    st.builds(Presence, st.sampled_from([*FIELDS]).map(name)),
    st.builds(TextSearch, st.sampled_from(["a", "B", "", "b/c"])),
    text_terms(),
    payload_terms(),
    comparisons(["no", "size", "latency"], ORDER_OPERATORS, st.builds(NumberValue, NUMBERS)),
    comparisons(["size"], ORDER_OPERATORS, st.builds(NumberValue, INTEGERS, st.sampled_from(["k", "KiB", "B"]))),
    comparisons(["time"], ORDER_OPERATORS, st.builds(StringValue, TIMES)),
    comparisons(["context"], ["under", "below", "above", "childof"], st.builds(StringValue, PATHS)),
    comparisons(["error", "delivered"], ["==", "!="], st.builds(BooleanValue, st.booleans())),
    st.builds(Membership, st.just(name("to")), sets_of(st.builds(StringValue, WORDS))),
    st.builds(Membership, st.just(name("size")), sets_of(st.builds(NumberValue, NUMBERS))),
)


def junctions(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operands = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.builds(Not, inner) | st.builds(And, operands) | st.builds(Or, operands)


EXPRESSIONS = st.recursive(TERMS, junctions, max_leaves=6)
PIECES = st.sampled_from(
    [
        "kind",
        "from",
        "to",
        "size",
        "time",
        "error",
        "context",
        "badge",
        "payload.a",
        "payload",
        "no",
        "==",
        "!=",
        "<",
        ">",
        ">=",
        "&&",
        "||",
        "!",
        "(",
        ")",
        "{",
        "}",
        ",",
        "in",
        "contains",
        "matches",
        "like",
        "under",
        "below",
        "above",
        "childof",
        "and",
        "or",
        "not",
        '"',
        "'",
        "\\",
        ".",
        "$",
        "$context",
        "5",
        "10kB",
        "1e9",
        "true",
        "chat",
        '"x"',
        "'y",
        "z'",
        "a/b",
        '"2026-01-05"',
        '"("',
        "\x00",
        "é",
    ]
)
TEXTS = st.text(max_size=60) | st.lists(PIECES, max_size=12).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces))
)


@given(EXPRESSIONS, ROWS)
def test_mask_equals_the_slow_evaluation(expression: Expression, rows: list[dict[str, Any]]) -> None:
    chosen = compiled(str(expression))
    mask = chosen.mask(analysis_of(rows), np.arange(len(rows)))
    assert mask.dtype == np.bool_
    assert mask.tolist() == [Slow(row, at + 1).holds(chosen.expression) for at, row in enumerate(rows)]


@given(EXPRESSIONS, ROWS, st.data())
def test_any_rows_give_the_full_mask_there(
    expression: Expression, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    chosen, analysis = compiled(str(expression)), analysis_of(rows)
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=15)) if rows else []
    part = chosen.mask(analysis, np.array(some, np.int64))
    full = compiled(str(expression)).mask(analysis, np.arange(len(rows)))
    assert part.tolist() == full[np.array(some, np.int64)].tolist()


@given(EXPRESSIONS, ROWS, st.integers(0, 12))
def test_a_filter_in_use_goes_on_as_the_capture_grows(
    expression: Expression, rows: list[dict[str, Any]], cut: int
) -> None:
    chosen, analysis = compiled(str(expression)), analysis_of(rows[:cut])
    first = chosen.mask(analysis, np.arange(len(analysis.rows))).tolist()
    analysis.append(*rows[cut:])
    later = chosen.mask(analysis, np.arange(len(first), len(rows))).tolist()
    full = compiled(str(expression)).mask(analysis, np.arange(len(rows))).tolist()
    assert first + later == full


@given(EXPRESSIONS)
def test_canonical_text_reads_back(expression: Expression) -> None:
    parsed = parse(str(expression))
    assert parse(str(parsed)) == parsed
    assert str(parse(str(parsed))) == str(parsed)


@given(TEXTS)
def test_no_text_gives_anything_but_a_filter_or_a_filter_error(text: str) -> None:
    error = None
    try:
        chosen = compiled(text, selected_context="a/b")
    except FilterError as caught:
        error = caught
    else:
        assert parse(str(chosen.expression) if chosen.expression else "") == chosen.expression
        assert chosen.mask(analysis_of([{"from": "a"}, {}]), np.arange(2)).shape == (2,)
    if error is not None:
        assert 0 <= error.position <= len(text)
        assert 0 <= error.length <= len(text) - error.position
        assert error.message.endswith(".")
        assert "\n" not in error.message

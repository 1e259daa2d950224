"""Tests of `inspector.filters.plain_words`: words without operators are searched for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters import FilterError, compile_filter, parse
from inspector.filters.explain import explain
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.plain_words import SUGGESTED_FILTERS, as_filter, plain_words
from inspector.filters.stacked_conditions import FilterStack, negate_filter
from inspector.tables.filter_to_sql import condition_of
from tests.builders import clean_up, document_of, envelope

SEARCHES = [
    ("write hello", '"write" && "hello"', "Searching for the words write hello. For a field, write field == value."),
    ("hello", '"hello"', "Searching for the word hello. For a field, write field == value."),
    ("failed", '"failed"', "Searching for the word failed. For failures: error"),
    ("Rejected", '"Rejected"', 'Searching for the word Rejected. For rejections: state == "rejected"'),
    ("thought", '"thought"', 'Searching for the word thought. For thoughts: kind == "reasoning/thought"'),
    ("failed calls", '"failed" && "calls"', "Searching for the words failed calls. For failures: error"),
    ("tool Bash", '"tool" && "Bash"', 'Searching for the words tool Bash. Did you mean tool == "Bash"?'),
    ("text hello", '"text" && "hello"', 'Searching for the words text hello. Did you mean text contains "hello"?'),
    ("a or b", '"a" && "or" && "b"', 'Searching for the words a or b. Did you mean "a" || "b"?'),
    ("not found", '"not" && "found"', "Searching for the words not found. For a field, write field == value."),
    ("latecny", '"latecny"', "Searching for the word latecny. Did you mean the field latency?"),
    ("42", '"42"', "Searching for the word 42. For the message of this number: no == 42"),
    ('"two words" don\'t', '"two words" && "don\'t"', None),
    ("error: file not found", '"error:" && "file" && "not" && "found"', None),
    ("rm -rf /tmp/x", '"rm" && "-rf" && "/tmp/x"', None),
]


@pytest.mark.parametrize(("text", "filter_", "note"), SEARCHES)
def test_words_are_searched_for(text: str, filter_: str, note: str | None) -> None:
    found = compile_filter(text)
    assert (found.text, str(found.expression)) == (text, filter_)
    assert note is None or str(found.note) == note
    assert explain(found).splitlines()[:2] == [str(found.note), filter_]
    assert as_filter(text, FIELD_BY_NAME) == filter_


def test_messages_with_all_words_are_found() -> None:
    document = document_of(
        *(envelope(payload={"text": text}) for text in ("Write: hello", "write bye", "HELLO, and rewrite", "no"))
    )
    rows = np.arange(len(document.capture))
    assert compile_filter("write hello").mask(document.analysis, rows).tolist() == [True, False, True, False]


@pytest.mark.parametrize("text", [
    "error", "no", "payload.text", "!error", "not error", "error and tool", "tool == Bash", '"hello"', "'a' && \"b\"",
    "latency > 2s", "no in {1, 2}", "kind like mcp/*",
])  # fmt: skip
def test_a_filter_stays_what_it_was(text: str) -> None:
    found = compile_filter(text)
    assert (found.note, found.expression) == (None, parse(text))


@pytest.mark.parametrize("text", [
    "tool ==", "kind is chat", "tool contains", "payload", "$context", "hello && tool", "foo()", "ls | grep",
    "file contains error", "tool ~ x", "'open",
])  # fmt: skip
def test_an_attempt_at_a_filter_is_not_searched_for(text: str) -> None:
    with pytest.raises(FilterError):
        compile_filter(text)


@pytest.mark.parametrize(("text", "meant"), [
    ("tool:Bash", 'tool == "Bash"'), ("tool:Bash hello", 'tool == "Bash" && "hello"'), ("no:5", "no == 5"),
    ('from:"A B" kind:chat', 'from == "A B" && kind == "chat"'), ("payload.a:b", 'payload.a == "b"'),
])  # fmt: skip
def test_a_field_with_a_colon_is_offered_with_an_operator(text: str, meant: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_filter(text)
    error = raised.value
    assert error.replacement is not None
    assert text[: error.position] + error.replacement + text[error.position + error.length :] == meant
    assert compile_filter(meant).expression is not None


@pytest.mark.parametrize("text", sorted(filter_ for _, filter_ in SUGGESTED_FILTERS.values()))
def test_what_is_offered_for_a_word_is_a_filter(text: str) -> None:
    assert compile_filter(text).note is None


@pytest.mark.parametrize(("text", "note"), [
    ("latency > 0.3", "0.3 without a unit is 0.3 ms. For seconds: latency > 0.3s"),
    ("first_token >= 2 && error", "2 without a unit is 2 ms. For seconds: first_token >= 2s && error"),
    ("latency > 300", "None"), ("latency > 0.3s", "None"), ("latency > 0", "None"), ("size > 2", "None"),
    ("http.first_ms > 2", "None"),
])  # fmt: skip
def test_a_small_duration_without_a_unit_asks_for_one(text: str, note: str) -> None:
    assert str(compile_filter(text).note) == note


@pytest.mark.parametrize(("spaced", "joined"), [
    ("latency > 2 s", "latency > 2s"), ("latency in {1 s, 2.5 min}", "latency in {1s, 2.5min}"),
    ("size > 2 MB && error", "size > 2MB && error"), ("http.whole_ms > 3 s", "http.whole_ms > 3s"),
])  # fmt: skip
def test_a_unit_may_stand_behind_a_blank(spaced: str, joined: str) -> None:
    assert str(compile_filter(spaced).expression) == str(compile_filter(joined).expression)


def test_words_are_joined_with_conditions() -> None:
    stack = FilterStack().with_condition("error").with_text("write hello")
    assert stack.combined == 'error && "write" && "hello"'
    assert FilterStack(text="write hello").with_besides("tool").combined == '("write" && "hello") || tool'
    assert negate_filter("hello") == '!"hello"'


def test_sql_says_that_it_cannot_search() -> None:
    with pytest.raises(FilterError, match="no search through all") as raised:
        condition_of(compile_filter("write hello"))
    assert raised.value.replacement == 'text contains "write" && text contains "hello"'


@given(st.text(max_size=30))
def test_any_text_is_words_a_filter_or_an_error(text: str) -> None:
    try:
        words = plain_words(text, FIELD_BY_NAME)
    except FilterError as error:
        compile_filter(error.replacement or "replacement ==")
    else:
        assert words is None or parse(words.filter) is not None


_WORD = st.text("abÄé1", min_size=2, max_size=3)


@given(
    st.lists(st.lists(_WORD, max_size=4).map(" ".join), min_size=1, max_size=6), st.lists(_WORD, min_size=1, max_size=3)
)
def test_words_find_what_a_plain_reader_finds(texts: list[str], words: list[str]) -> None:
    """No other field of these messages holds one of the letters."""
    lines = [{"kind": "chat", "from": "you", "to": ["me"], "id": f"m{'x' * n}", "payload": {"text": text}}
             for n, text in enumerate(texts)]  # fmt: skip
    document = document_of(*lines)
    try:
        found = compile_filter(" ".join(f'"{word}"' for word in words)).mask(document.analysis, np.arange(len(lines)))
    finally:
        clean_up()
    expected = [all(word.casefold() in text.casefold() for word in words) for text in texts]
    assert found.tolist() == expected

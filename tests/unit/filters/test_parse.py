"""Syntax: canonical text, and the sentence and place of each syntax error."""

from __future__ import annotations

import pytest

from inspector.filters import FilterError, parse
from inspector.filters.parse import MAX_DEPTH, MAX_LENGTH

CANONICAL = [
    ("kind==chat", 'kind == "chat"'),
    ("size gt 10kB", "size > 10kB"),
    ("a or b and not c", "a || b && !c"),
    ("(a || b) && ((c))", "(a || b) && c"),
    ("a && (b && c)", "a && b && c"),
    ("!a == 1", "!(a == 1)"),
    ("not not a", "!!a"),
    ("!(a && b)", "!(a && b)"),
    ("a in {x,'y z',3}", 'a in {"x", "y z", 3}'),
    ("error == true", "error == true"),
    ('error == "true"', 'error == "true"'),
    ("context under $context", "context under $context"),
    ("payload.a.0.'odd key'", 'payload.a.0."odd key"'),
    ('payload."plain"', "payload.plain"),
    ("'it\\'s \"x\"'", '"it\'s \\"x\\""'),
    ('"\\u00e9\\ud83d\\ude00\\n\\u202e\\ud800"', '"é😀\\n\\u202e\\ud800"'),
    (r'text matches "\d+\.log"', r'text matches "\\d+\\.log"'),
    ("time >= 2026-01-05T09:00:00Z", 'time >= "2026-01-05T09:00:00Z"'),
    ("notable.in", "notable.in"),
    ("latency > -1.50ms", "latency > -1.5ms"),
    ("no == 1e3", "no == 1000.0"),
    ("id == 3f2a", 'id == "3f2a"'),
    ("a\n&&\tb", "a && b"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL, ids=[text for text, _ in CANONICAL])
def test_canonical_text_is_stable(text: str, canonical: str) -> None:
    expression = parse(text)
    assert str(expression) == canonical
    assert parse(canonical) == expression


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_the_empty_filter_is_none(text: str) -> None:
    assert parse(text) is None


ERRORS = [
    ("(a", (0, 1), "This parenthesis is never closed.", None),
    ("a && (", (5, 1), "This parenthesis is never closed.", None),
    ("a)", (1, 1), "This parenthesis has no opening one.", None),
    ("()", (0, 2), "The parentheses are empty.", None),
    ('a == "b', (5, 2), "This quote is never closed.", None),
    ("payload.'x", (8, 2), "This quote is never closed.", None),
    ("a &&", (4, 0), "The filter ends where a field is missing.", None),
    ("a ==", (4, 0), "A value is missing at the end.", None),
    ("a in {}", (2, 5), "The set is empty, so it matches no message.", None),
    ("a in {x", (7, 0), "The set is never closed; } is missing.", None),
    ("a in {x,", (8, 0), "The set is never closed; a value or } is missing.", None),
    ("a in {x y}", (8, 1), 'A comma or } is expected before "y".', None),
    ("a in b", (5, 1), 'A set in braces is expected after in, not "b".', None),
    ("a == {b}", (5, 1), "A set of values goes only with in.", None),
    ("a = 1", (2, 1), '"=" is not an operator.', "=="),
    ("a & b", (2, 1), '"&" is not an operator.', "&&"),
    ("a is b", (2, 2), '"is" is not an operator.', "=="),
    ("a contain b", (2, 7), '"contain" is not an operator.', "contains"),
    ("a AND b", (2, 3), '"AND" is not an operator.', "&&"),
    ("NOT a", (0, 3), '"NOT" is not an operator.', "not"),
    ("a == b == c", (7, 2), 'A comparison cannot be compared again with "==".', None),
    ("a == b c", (7, 1), '&& or || is expected before "c".', None),
    ("== b", (0, 2), 'The operator "==" needs a field before it.', None),
    ("a == not", (5, 3), '"not" is a word of the filter language.', '"not"'),
    ("a under $here", (8, 5), "There is no variable $here.", "$context"),
    ("/var/log", (0, 8), 'A field is expected here, not "/var/log".', '"/var/log"'),
    ("a.", (1, 1), "A dot in a field needs names on both sides.", None),
    ("payload." + "9" * 5000, (0, 5008), "A name in the field is longer than 1,000 characters.", None),
    ("a == 1e999", (5, 5), "The number is too large.", '"1e999"'),
    ("no == " + "9" * 41, (6, 41), "The number is longer than 40 characters.", '"' + "9" * 41 + '"'),
    ("a" * 10_001, (10_000, 1), "The filter is 10,001 characters long; at most 10,000 are read.", None),
    ("(" * 9_999, (100, 1), "The filter is nested deeper than 100 levels.", None),
    ("!" * 9_999, (100, 1), "The filter is nested deeper than 100 levels.", None),
]


@pytest.mark.parametrize(("text", "place", "message", "replacement"), ERRORS, ids=[text[:20] for text, *_ in ERRORS])
def test_syntax_error(text: str, place: tuple[int, int], message: str, replacement: str | None) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    error = caught.value
    assert (error.message, error.position, error.length, error.replacement) == (message, *place, replacement)


def test_a_suggestion_is_part_of_the_text_of_an_error() -> None:
    with pytest.raises(FilterError, match=r'"=" is not an operator\. Did you mean ==\?'):
        parse("a = 1")


def test_deepest_nesting_is_read_written_and_compared() -> None:
    text = "(a || b && " * (MAX_DEPTH - 1) + "!c" + ")" * (MAX_DEPTH - 1)
    expression = parse(text)
    assert parse(str(expression)) == expression


def test_longest_chain_is_read() -> None:
    text = "||".join(["a"] * (MAX_LENGTH // 3))
    assert str(parse(text)).count("a") == MAX_LENGTH // 3

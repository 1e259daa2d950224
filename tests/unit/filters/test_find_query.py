"""What find in view looks for: which records hold it, and where in a text it is."""

from __future__ import annotations

import gc
import json
import re
import time
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters import find_query, patterns
from inspector.filters.find_query import FindQuery
from inspector.filters.patterns import PatternError, PatternFinder, compile_pattern
from inspector.filters.time_limit import TookTooLongError, limited_time

_PIECES = st.sampled_from(
    (
        *(
            "a",
            "A",
            "k",
            "K",
            "i",
            "I",
            "ß",
            "İ",
            "\u0131",
            "é",
            "É",
            "日",
            "\ufffd",
            '"',
            "/",
            "\\",
            " ",
            "\n",
            "\x7f",
        ),
        *("\u017f", "\u212a", "\ufb00", "\U0001f600", "ann", '\\"', "\\n", "\\u004b", "\\u00e9", "\\ud83d"),
    )
)
_TEXTS = st.lists(_PIECES, max_size=6).map("".join)
_PATTERNS = st.lists(
    st.one_of(
        st.sampled_from(("a", "A", "kk", "ann", "I", "é", "日")),
        st.sampled_from(
            (
                "a*",
                ".",
                "(ann)+",
                "[aé\u0131]",
                "(?i)kk",
                "(?i:an)",
                "^",
                "$",
                r"\s",
                "(k|ss)",
                "(?:ann|kk|a\\\\n)",
                "(ann|)",
                "(?:ann|é)",
                "(?:an){1,2}",
                "k?",
                '"',
                r"\\",
            )
        ),
    ),
    max_size=4,
).map("".join)


def _written(text: str, depth: int, ascii_only: bool) -> bytes:
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=ascii_only)
    return text.encode("utf-8", "surrogatepass")


def laid_out(records: list[bytes], between: bytes) -> tuple[bytes, np.ndarray, np.ndarray]:
    starts, data = [], b""
    for record in records:
        data += between
        starts.append(len(data))
        data += record
    ends = [start + len(record) for start, record in zip(starts, records, strict=True)]
    return data, np.array(starts, np.int64), np.array(ends, np.int64)


@given(st.lists(_TEXTS, max_size=5), _TEXTS, _PATTERNS, st.booleans(), st.integers(1, 3), st.booleans())
def test_what_a_string_in_a_record_holds_is_not_left_out(
    texts: list[str], needle: str, pattern: str, match_case: bool, depth: int, ascii_only: bool
) -> None:
    records = [_written(text, depth, ascii_only) for text in texts]
    queries = [FindQuery(needle, match_case)] if needle else []
    with suppress(re.error):
        re.compile(pattern)
        queries.append(FindQuery(pattern, match_case, is_pattern=True))
    for query in queries:
        finder, locate = query.finder(), query.locator()
        lines = laid_out(records, b"x")
        found = (finder.search_records(*lines) == 1) | finder.may_match_strings(records)
        assert not [text for text, is_found in zip(texts, found, strict=True) if locate(text) and not is_found]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        (FindQuery("ab"), "abABcab", [(0, 2), (2, 4), (5, 7)]),
        (FindQuery("ab", match_case=True), "abABcab", [(0, 2), (5, 7)]),
        (FindQuery("strasse"), "die Straße", [(4, 10)]),
        (FindQuery("s"), "ß", [(0, 1)]),
        (FindQuery("i"), "İx", [(0, 1)]),
        (FindQuery("aa"), "aaaaa", [(0, 2), (2, 4)]),
        (FindQuery("x"), "", []),
        (FindQuery(r"\d+", is_pattern=True), "a12b3", [(1, 3), (4, 5)]),
        (FindQuery("x*", is_pattern=True), "axxb", [(1, 3)]),
        (FindQuery("ABC", is_pattern=True), "abc", [(0, 3)]),
        (FindQuery("ABC", match_case=True, is_pattern=True), "abc", []),
        (FindQuery("^b", is_pattern=True), "a\nb", [(2, 3)]),
    ],
)
def test_places_in_a_text(query: FindQuery, text: str, expected: list[tuple[int, int]]) -> None:
    assert query.locator()(text) == expected


@given(_TEXTS, _TEXTS.filter(bool), st.booleans())
def test_places_hold_what_was_looked_for(text: str, needle: str, match_case: bool) -> None:
    folded = needle if match_case else needle.casefold()
    places = FindQuery(needle, match_case=match_case).locator()(text)
    last = 0
    for start, stop in places:
        piece = text[start:stop]
        assert last <= start < stop
        last = stop
        assert folded in (piece if match_case else piece.casefold())
    assert bool(places) == (folded in (text if match_case else text.casefold()))


@pytest.mark.parametrize(
    ("text", "sentence", "offset"),
    [("a(b", "A ( is not closed.", 1), ("*", "A repetition has no character", 0), ("[", "A [ is not closed.", 0)],
)
def test_what_is_no_expression_is_said(text: str, sentence: str, offset: int) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(text, match_case=False)
    assert caught.value.message.startswith(sentence)
    assert caught.value.offset == offset


def test_an_expression_that_is_too_long_is_refused() -> None:
    with pytest.raises(PatternError, match="longer than"):
        compile_pattern("a" * 1001, match_case=False)


def test_matching_ends_in_time() -> None:
    evil, record = "(a+)+$", b"a" * 40 + b"b"
    started = time.thread_time()
    with pytest.raises(TookTooLongError):
        PatternFinder(evil)(record)
    assert FindQuery(evil, is_pattern=True).locator()(record.decode()) == []
    assert time.thread_time() - started < 20


@pytest.mark.parametrize(
    ("text", "taken"), [("(a+)+", False), ("(a|b+)*", False), ("(?:a{2,}b)*", False), ("a+b+", True), ("(ab)+", True)]
)
def test_without_a_time_limit_no_repetition_is_repeated(
    text: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "HAS_LIMIT", False)
    if taken:
        compile_pattern(text, match_case=False)
    else:
        with pytest.raises(PatternError, match="may take for ever"):
            compile_pattern(text, match_case=False)


def test_long_texts_are_searched_to_their_end() -> None:
    record = b"x" * 200_000 + b"needle 42"
    assert PatternFinder(r"needle \d+$")(record)
    assert PatternFinder(r"[n]eedle \d")(record)


def test_one_dear_text_does_not_darken_the_others() -> None:
    locate = FindQuery(r"(a+)+\d", is_pattern=True).locator()
    assert locate("a" * 40 + "b") == []
    assert locate("aa1") == [(0, 3)]
    with patch.object(find_query, "limited_time", side_effect=AssertionError("tried again")):
        assert locate("a" * 40 + "b") == []


def test_garbage_is_not_looked_for_on_the_time_of_an_expression() -> None:
    with limited_time(10):
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(TookTooLongError), limited_time(0.01):
        re.search("(a+)+$", "a" * 60 + "b")
    assert gc.isenabled()
    gc.disable()
    try:
        with limited_time(10):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()

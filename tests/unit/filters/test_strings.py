"""Quoted strings, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.strings import quote, unescape

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("plain", "plain"),
        (r"\n\t\r\"\'\\\/", "\n\t\r\"'\\/"),
        (r"\d\.\b\u12", r"\d\.\b\u12"),
        (r"\u00e9", "é"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud800x", "\ud800x"),
        ("end\\", "end\\"),
    ],
)
def test_unescape(body: str, value: str) -> None:
    assert unescape(body)[0] == value


def test_offsets_point_into_the_written_text() -> None:
    assert unescape(r"a\n\u00e9b") == ("a\néb", [0, 1, 3, 9, 10])


@given(ANY_TEXT)
def test_quote_reads_back(value: str) -> None:
    normal = unescape(quote(value)[1:-1])[0]
    assert unescape(quote(normal)[1:-1])[0] == normal
    assert normal.encode("utf-16", "surrogatepass") == value.encode("utf-16", "surrogatepass")


@given(ANY_TEXT)
def test_quoted_text_is_harmless_to_show(value: str) -> None:
    assert not any(character in quote(value) for character in "\n\r\x00\x1b\u202e\u2028\ufeff")

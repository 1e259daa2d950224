"""Texts of nodes are those that were given, in some bytes each."""

from __future__ import annotations

import tracemalloc
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.arrays import text_column
from inspector.analysis.arrays.text_column import TextColumn

_TEXTS = st.text(max_size=6) | st.text("ab\ud83d\U0001f600", max_size=4)


@given(
    st.lists(_TEXTS),
    st.lists(st.tuples(st.integers(0, 9), _TEXTS)),
    st.sampled_from((1, 3, 1000)),
    st.text("ab\ud83d", max_size=2),
)
def test_it_is_a_list_of_texts(given_: list[str], put: list[tuple[int, str]], at_once: int, start: str) -> None:
    with patch.object(text_column, "_WRITE_BATCH", at_once):
        texts, plain = TextColumn(), list(given_)
        for text in given_:
            texts.append(text)
    for place, text in put:
        if place < len(plain):
            texts[place] = plain[place] = text
    assert list(texts) == plain
    assert texts[1:] == plain[1:]
    for first in range(len(plain) + 1):
        assert texts.with_prefix(start, first).tolist() == [text.startswith(start) for text in plain[first:]]
    assert [texts[-place] for place in range(1, len(plain) + 1)] == plain[::-1]


def test_half_characters_are_kept() -> None:
    texts = TextColumn()
    texts.append("\ud83d")
    assert texts[-1] == "\ud83d"


def test_a_name_takes_some_bytes() -> None:
    tracemalloc.start()
    try:
        texts = TextColumn()
        for number in range(10_000):
            texts.append(f"part-{number:x}")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 26 * len(texts)


def test_a_text_that_is_changed_again_and_again_takes_no_more() -> None:
    texts = TextColumn()
    for number in range(3_000):
        texts.append(str(number))
    tracemalloc.start()
    try:
        for number in range(3_000):
            texts[7] = f"renamed {number}"
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (texts[7], texts[8]) == ("renamed 2999", "8")
    assert held < 10_000

"""Lines of compared texts: they break between words, and their marks follow."""

from __future__ import annotations

from itertools import chain

import pytest

from inspector.present.compared_texts import difference_lines

ONE = "The invoice rounds each line, the order the sum: that is the cent. I'll round each line."
OTHER = "Order and cart round the sum alike. I'll round with more digits."


@pytest.mark.parametrize("width", [12, 24, 35, 200])
def test_lines_break_between_words_and_keep_every_character(width: int) -> None:
    lines = difference_lines(ONE, OTHER, width)
    for side, text in enumerate((ONE, OTHER)):
        parts = [line.sides[side] for line in lines]
        assert "".join(parts) == text
        assert all(len(part) <= width for part in parts)
        assert set(chain.from_iterable(part.split() for part in parts)) == set(text.split())


def test_marks_stay_on_their_words() -> None:
    lines = difference_lines("aaaa bbbb cccc dddd", "aaaa bbbb xxxx dddd", 10)
    marked = [line.sides[0][start:stop] for line in lines for start, stop in line.spans[0]]
    assert marked == ["cccc"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    lines = difference_lines("a" * 25, "b", 10)
    assert [line.sides[0] for line in lines] == ["a" * 10, "a" * 10, "a" * 5]

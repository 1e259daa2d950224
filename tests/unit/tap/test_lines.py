"""Lines of bytes cut anywhere, and what is lost of them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.tap.recorder import LineMaker

DATA = st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\xff", b'{"a":1}']), max_size=30).map(b"".join)


@given(DATA, st.lists(st.integers(0, 60), max_size=8))
def test_lines_of_bytes_cut_anywhere_are_those_of_the_whole(data: bytes, cuts: list[int]) -> None:
    maker = LineMaker()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    lines = [line for start, stop in pairwise(places) for line in maker.feed(data[start:stop])]
    assert [*lines, maker.rest()] == data.split(b"\n")
    assert maker.take_loss() == (0, 0)


def test_what_is_lost_takes_the_line_it_tears_with_it() -> None:
    maker = LineMaker()
    assert maker.feed(b"one\ntw") == [b"one"]
    maker.lose(7, 1)  # "o\nthree"
    assert maker.take_loss() == (0, 0)  # not before the line's end
    assert maker.feed(b"3\nfour\n") == [b"four"]
    assert maker.take_loss() == (2 + 7 + 2, 2)
    assert maker.take_loss() == (0, 0)


def test_what_follows_a_loss_that_ends_with_a_line_is_kept() -> None:
    maker = LineMaker()
    maker.lose(4, 1, torn=False)
    assert maker.take_loss() == (4, 1)
    assert maker.feed(b"whole\n") == [b"whole"]


def test_a_line_that_is_too_long_is_lost_alone() -> None:
    maker = LineMaker(longest_bytes=4)
    assert maker.feed(b"a\n12") == [b"a"]
    assert maker.feed(b"345") == []
    assert maker.feed(b"6\nb\n") == [b"b"]
    assert maker.take_loss() == (7, 1)


def test_a_torn_line_at_the_end_is_counted() -> None:
    maker = LineMaker()
    maker.lose(3, 0)
    assert maker.rest() == b""
    assert maker.take_loss() == (3, 1)

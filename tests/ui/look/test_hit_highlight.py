"""What is lit of a text that is shown cut."""

from __future__ import annotations

import pytest

from inspector.ui.look.hit_highlight import HitHighlight


@pytest.mark.parametrize(
    ("places", "expected"),
    [([(0, 2)], [(0, 2)]), ([(3, 7)], [(3, 5)]), ([(5, 8)], []), ([(8, 9)], []), ([(1, 2), (6, 8)], [(1, 2)])],
)
def test_the_dots_are_never_lit(places: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    hits = HitHighlight()
    hits.locate = lambda _text: places
    assert hits.places("0123456789", "01234…") == expected

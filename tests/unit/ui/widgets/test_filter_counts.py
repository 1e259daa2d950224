"""What the filter bar says of numbers."""

from __future__ import annotations

import pytest

from inspector.ui.widgets.filter_counts import FilterCounts


@pytest.mark.parametrize(
    ("counts", "written", "said"),
    [
        (FilterCounts(), False, ("", False)),
        (FilterCounts(5, 5), False, ("", False)),
        (FilterCounts(5, 5, filtered=True), False, ("5 of 5", False)),
        (FilterCounts(3, 1_216), False, ("3 of 1,216", False)),
        (FilterCounts(3, 1_216), True, ("", False)),
        (FilterCounts(0, 1_216, filtered=True), False, ("no match in 1,216", True)),
        (FilterCounts(0, 1_216, narrowed=True), False, ("no match in 1,216", True)),
        (FilterCounts(0, 1_216, filtered=True), True, ("", False)),
        (FilterCounts(0, 0, filtered=True), False, ("0 of 0", False)),
        (FilterCounts(0, 9, filtered=True, busy=0.5, found=31), False, ("31 so far", False)),
        (FilterCounts(9, 9, busy=0.5), False, ("", False)),
        (FilterCounts(9, 9, would_match=4), True, ("4 matches", False)),
        (FilterCounts(9, 9, would_match=0), True, ("0 matches", True)),
        (FilterCounts(9, 9, would_match=0), False, ("", False)),
    ],
)
def test_it_says_what_is_known_of_what_the_bar_holds(
    counts: FilterCounts, written: bool, said: tuple[str, bool]
) -> None:
    assert counts.in_words(written=written) == said

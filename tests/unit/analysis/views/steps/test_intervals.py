"""Unions, overlaps and gaps of intervals agree with counting moment by moment."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.steps.intervals import idle_gaps, overlap_counts, union_lengths

_spans = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 9)), max_size=12)


@given(_spans)
def test_a_moment_counts_once_in_a_union(spans: list[tuple[int, int, int]]) -> None:
    groups, starts, lengths = (np.array([one[n] for one in spans], np.int64) for n in range(3))
    found = union_lengths(groups, starts, starts + lengths, 3)
    for group in range(3):
        moments = {at for g, start, length in spans if g == group for at in range(start, start + length)}
        assert found[group] == len(moments)


@given(_spans)
def test_overlaps_are_counted_within_a_group(spans: list[tuple[int, int, int]]) -> None:
    groups, starts, lengths = (np.array([one[n] for one in spans], np.int64) for n in range(3))
    expected = [
        sum(g == group and a < start + length and start < a + n for group, a, n in spans) for g, start, length in spans
    ]
    assert overlap_counts(groups, starts, starts + lengths).tolist() == expected


def test_gaps_are_between_covered_times() -> None:
    starts, stops = np.array([0, 3, 40, 20]), np.array([10, 4, 41, 22])
    assert idle_gaps(starts, stops, 10).tolist() == [[10, 20], [22, 40]]
    assert idle_gaps(starts, stops, 11).tolist() == [[22, 40]]

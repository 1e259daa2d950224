"""Messages per stretch of time: the same as counting them one by one, in whatever order and portions they came."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.timeline.rates import BIN_WIDTHS_NS, FAMILIES, FamilyTimes, bin_width
from inspector.analysis.views.timeline.track_marks import Window
from inspector.formats.kind_families import family_of
from tests.builders import document_of, envelope

KINDS = ("chat", "mcp/request", "reasoning/thought", "system/presence", "no/such/kind")
MS, SECOND, HOUR, DAY = 1_000_000, 1_000_000_000, 3600 * 1_000_000_000, 86_400 * 1_000_000_000


@pytest.mark.parametrize(
    ("span", "width", "bin_ns"),
    [
        (1 * MS, 1_000, 1 * MS), (100 * SECOND, 900, 1 * SECOND), (60 * SECOND, 900, 500 * MS),
        (8 * HOUR, 700, 5 * 60 * SECOND), (400 * DAY, 700, 4 * DAY),
    ],
)  # fmt: skip
def test_bars_stand_for_round_stretches(span: int, width: int, bin_ns: int) -> None:
    assert bin_width(span, width) == bin_ns
    assert list(BIN_WIDTHS_NS) == sorted(set(BIN_WIDTHS_NS))


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 500)), min_size=1, max_size=40),
    st.integers(1, 40), st.integers(-20, 400), st.integers(1, 300), st.integers(1, 60),
)  # fmt: skip
def test_bars_are_those_counted_slowly(
    said: list[tuple[str, int]], portion: int, left: int, span: int, width: int
) -> None:
    document = document_of(*(envelope(kind) for kind, _ in said))
    times = np.array([time for _, time in said], np.int64)
    held = FamilyTimes(document.capture)
    for stop in range(portion, len(times) + portion, portion):
        held.update(times[:stop])
    bins = held.bins(Window(left, left + span, 100), 7, width)
    assert bins.edges[0] <= left
    assert bins.edges[-1] >= left + span
    assert ((bins.edges - 7) % width == 0).all()
    kinds = [document.capture.string("kind", row) or "" for row in range(len(said))]
    for place, one in enumerate(FAMILIES):
        own = [int(time) for time, kind in zip(times, kinds, strict=True) if family_of(kind) is one]
        slow = [sum(a <= time < b for time in own) for a, b in zip(bins.edges, bins.edges[1:], strict=False)]
        assert bins.counts[place].tolist() == slow
        assert held.counts[place] == len(own)
    assert bins.totals.sum() == bins.counts.sum()

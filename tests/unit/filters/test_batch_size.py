"""How many messages are decoded between two looks at the clock."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.batch_size import Pace


@given(st.lists(st.integers(1, 3 << 20), min_size=1, max_size=40), st.lists(st.floats(0, 0.1), max_size=8))
def test_slices_cover_everything_and_none_holds_many_bytes(lengths: list[int], took: list[float]) -> None:
    pace, ends, at = Pace(), np.cumsum(lengths), 0
    for seconds in took:
        pace.note_duration(seconds)
    while at < len(lengths):
        stop = pace.slice_end(at, ends)
        assert stop > at
        assert stop == at + 1 or sum(lengths[at:stop]) <= 2 << 20
        at = stop
    assert at == len(lengths)


def test_slices_grow_while_they_are_quick_and_shrink_where_they_are_dear() -> None:
    pace, ends = Pace(), np.arange(1, 10_001)
    first = pace.slice_end(0, ends)
    pace.note_duration(0.0001)
    assert pace.slice_end(0, ends) == 4 * first
    for _ in range(10):
        pace.note_duration(0.0001)
    most = pace.slice_end(0, ends)
    assert 4 * first < most < 10_000
    pace.note_duration(0.02)
    assert pace.slice_end(0, ends) < most / 5
    for _ in range(10):
        pace.note_duration(1.0)
    assert pace.slice_end(0, ends) == 1

"""Lists of rows by owner, as a dict of lists has them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.arrays.rows_by_key import NO_ENTRY, RowLists


@given(st.lists(st.tuples(st.sampled_from([0, 1, 500]), st.integers(0, 3))), st.integers(0, 30))
def test_they_are_lists(steps: list[tuple[int, int]], below: int) -> None:
    lists, plain, row = RowLists(), dict[int, list[int]](), 0
    for owner, further in steps:
        row += further
        lists.add(owner, row)
        plain.setdefault(owner, []).append(row)
    for owner in (0, 1, 500, 9_000):
        known = plain.get(owner, [])
        assert lists.last_rows(owner, 1_000) == known
        assert lists.last_rows(owner, 2) == known[-2:]
        assert lists.last(owner, below) == max((one for one in known if one < below), default=NO_ENTRY)

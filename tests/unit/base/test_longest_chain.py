"""Longest chain of pairs of places."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.base.longest_chain import longest_chain


@given(st.integers(0, 7).flatmap(lambda count: st.permutations(range(count))))
def test_no_chain_is_longer(places: list[int]) -> None:
    pairs = list(enumerate(places))
    found = longest_chain(pairs)
    assert set(found) <= set(pairs)
    assert all(one < other and place < later for (one, place), (other, later) in pairwise(found))
    longer = combinations(pairs, len(found) + 1)
    assert not any(all(before[1] < after[1] for before, after in pairwise(chain)) for chain in longer)

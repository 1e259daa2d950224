"""Ordered sets of nodes below an owner."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.base import siblings as siblings_module
from inspector.base.siblings import Siblings


def test_order_is_that_of_coming() -> None:
    siblings = Siblings()
    for node in (5, 3, 9):
        siblings.add(1, node)
    siblings.remove(1, 5)
    siblings.add(1, 5)
    assert (siblings[1], list(siblings.each(1)), siblings.any(1)) == ([3, 9, 5], [3, 9, 5], True)
    assert (siblings[2], siblings.any(2), siblings.get(2, (7,)), siblings.get(1)) == ([], False, (7,), [3, 9, 5])


def test_what_was_handed_out_stays() -> None:
    siblings = Siblings()
    siblings.add(1, 5)
    before = siblings[1]
    assert siblings[1] is before
    siblings.add(1, 6)
    assert (before, siblings[1]) == ([5], [5, 6])
    siblings.remove(1, 5)
    siblings.remove(1, 6)
    assert (siblings[1], siblings.any(1)) == ([], False)
    siblings.add(1, 7)
    siblings.clear(1)
    assert siblings[1] == []


def test_those_that_came_last_are_found_from_the_end() -> None:
    siblings = Siblings()
    for node in (4, 7, 2, 9):
        siblings.add(1, node)
    siblings.remove(1, 2)
    assert (siblings.last(1, 2), siblings.last(1, 9), siblings.last(1, 0)) == ([7, 9], [4, 7, 9], [])
    assert siblings.last(5, 1) == []


def test_many_come_at_once_in_their_order() -> None:
    siblings = Siblings()
    siblings.add(1, 9)
    siblings.add_all(np.array([1, 0, 1]), np.array([2, 5, 0]))
    siblings.add_all(np.array([], np.int64), np.array([], np.int64))
    assert (siblings[1], siblings[0], siblings.count(1)) == ([9, 2, 0], [5], 3)


def test_owners_without_new_nodes_leave_those_of_others_waiting() -> None:
    siblings = Siblings()
    with patch.object(siblings_module.np, "argsort", wraps=np.argsort) as sorting:
        for node in range(100):
            siblings.add(0, node)
            assert (siblings.any(node + 1), list(siblings.each(node + 1)), siblings.count(node + 1)) == (False, [], 0)
    assert not sorting.called
    assert siblings[0] == [*range(100)]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.booleans(), st.booleans()), max_size=60),
    st.sampled_from((1, 3, 1000)),
)
def test_rows_are_lists(steps: list[tuple[int, int, bool, bool]], at_once: int) -> None:
    with patch.object(siblings_module, "_WRITE_BATCH", at_once):
        children = Siblings()
        both, plain = (children, Siblings(children)), ([[] for _ in range(4)], [[] for _ in range(4)])
        place: dict[int, tuple[int, int]] = {}
        for node, owner, to_root, asked in steps:  # a node leaves the row it is in, and goes to the end of another
            if node in place:
                which, of = place[node]
                both[which].remove(of, node)
                plain[which][of].remove(node)
            place[node] = (int(to_root), owner)
            if asked:
                both[to_root].add_all(np.array([owner]), np.array([node]))
            else:
                both[to_root].add(owner, node)
            plain[to_root][owner].append(node)
            if asked:
                assert both[to_root][owner] == plain[to_root][owner]
        for siblings, lists in zip(both, plain, strict=True):
            assert [siblings[owner] for owner in range(4)] == lists
            assert [siblings.count(owner) for owner in range(4)] == [*map(len, lists)]
            assert [siblings.last(owner, 2) for owner in range(4)] == [one[-2:] for one in lists]

"""Ordered sets of nodes below an owner."""

from __future__ import annotations

from inspector.analysis.node_index import Siblings


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

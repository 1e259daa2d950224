"""Sums over branches of a tree."""

from __future__ import annotations

from array import array
from itertools import count

import numpy as np
import pytest

from inspector.analysis.passes.contexts import subtree_sums
from inspector.analysis.passes.contexts.node_facts import MAIN
from inspector.analysis.passes.contexts.subtree_sums import SubtreeSums


def chain(length: int) -> SubtreeSums:
    """Each node below the one before; every node holds one."""
    parent = array("i", range(-1, length - 1))
    sums = SubtreeSums(parent, array("i", [1] * length), lambda: array("i", range(length)))
    sums.carried.extend([0] * length)
    for node in range(length):
        sums.add(node, 1)
    return sums


def test_sums_of_a_chain() -> None:
    assert list(chain(4).read()) == [4, 3, 2, 1]


def test_a_long_chain_is_summed_once() -> None:
    length = 20_000
    assert list(chain(length).read()) == list(range(length, 0, -1))


def test_nothing_is_added_to_main() -> None:
    sums = chain(2)
    sums.read()
    sums.add(MAIN, 5)
    sums.add(0, 0)
    assert (list(sums.read()), sums.take_buffered(0)) == ([2, 1], 0)


def test_what_waits_can_be_forgotten() -> None:
    sums = chain(2)
    assert sums.take_buffered(1) == 1
    assert list(sums.read()) == [1, 0]


def test_several_are_added_at_once() -> None:
    sums = chain(3)
    sums.read()
    sums.add_to_nodes(np.array([0, 1]), np.array([7, 5]))
    assert list(sums.read()) == [15, 7, 1]


def test_views_of_a_tree_that_takes_long_get_the_sums_of_a_moment_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtree_sums.time, "thread_time", count(0.0, 1e9).__next__)
    sums = chain(1_000)
    assert sums.recent()[0] == 1_000
    sums.add(999, 1)
    assert (sums.recent()[0], sums.is_behind) == (1_000, True)
    assert (sums.read()[0], sums.is_behind) == (1_001, False)
    assert sums.recent()[0] == 1_001

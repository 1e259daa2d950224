"""Sets of names by number, without an object for each."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.store.columns.intern_table import InternTable
from inspector.store.columns.name_sets import NameSets

_SETS = st.none() | st.lists(st.text(max_size=2), min_size=1, max_size=4).map(tuple)


def test_ids_and_names() -> None:
    table = NameSets(InternTable(""))
    assert table.intern_all([("a", "b"), None, ("b",), ("a", "b")]).tolist() == [1, 0, 2, 1]
    assert table.intern_all([("b", "a"), ("b",), None]).tolist() == [3, 2, 0]
    assert list(table) == [(), ("a", "b"), ("b",), ("b", "a")]
    assert (table[-1], len(table)) == (("b", "a"), 4)


def test_which_hold_a_name() -> None:
    table = NameSets(InternTable(""))
    table.intern_all([("a", "b"), ("b",), ("c", "a")])
    assert table.sets_with_name("a").tolist() == [False, True, False, True]
    assert not table.sets_with_name("never").any()
    assert not table.sets_with_name(None).any()


@given(st.lists(st.lists(_SETS, max_size=6), max_size=5))
def test_the_same_ids_as_a_table_of_tuples(batches: list[list[tuple[str, ...] | None]]) -> None:
    compact, plain = NameSets(InternTable("")), InternTable[tuple[str, ...]](())
    for batch in batches:
        assert compact.intern_all(batch).tolist() == plain.intern_all(batch, len(batch)).tolist()
    assert list(compact) == list(plain)


def test_sets_of_forty_names_take_a_number_a_name() -> None:
    table, names = NameSets(InternTable("")), [f"agent-{number}" for number in range(1_000)]
    table.intern_all([(name,) for name in names])
    tracemalloc.start()
    try:
        for first in range(0, 900, 10):
            sets = [tuple(names[(first + step * start) % 1_000] for step in range(40)) for start in range(1, 20, 2)]
            table.intern_all(sets)
            del sets
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 300 * 900, "bytes a set"


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=12), st.data())
def test_which_sets_have_a_name(values: list[list[str]], data: st.DataObject) -> None:
    strings = InternTable("")
    sets = NameSets(strings)
    ids = sets.intern_all([tuple(value) for value in values]).tolist()
    asked = data.draw(st.lists(st.tuples(st.sampled_from([0, *ids]), st.sampled_from("abcdefgz")), max_size=30))
    names = np.array([strings.intern(name) for _, name in asked], np.uint32)
    have = sets.contain_names(np.array([place for place, _ in asked], np.uint32), names)
    assert have.tolist() == [name in sets[place] for place, name in asked]


def test_large_sets_are_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.store.columns.name_sets._NAMES_PER_BLOCK", 3)
    strings = InternTable("")
    sets = NameSets(strings)
    ids = sets.intern_all([("a", "b", "c", "d"), ("a",), ("d", "b"), None, ("b",)])
    b = np.full(len(ids), strings.find("b"), np.int64)
    assert sets.contain_names(ids, b).tolist() == [True, False, True, False, True]

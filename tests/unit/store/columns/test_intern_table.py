"""Interned values: ids by the order first seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.store.columns.intern_table import InternTable


def test_ids_and_values() -> None:
    table: InternTable[str] = InternTable("")
    assert [table.intern(value) for value in ("a", "b", "a", None, "", "a")] == [1, 2, 1, 0, 3, 1]
    assert list(table) == ["", "a", "b", ""]
    assert (table[2], table[-1], len(table)) == ("b", "", 4)
    assert [table.find(value) for value in ("b", "", "never")] == [2, 3, None]


def test_finding_interns_nothing() -> None:
    table: InternTable[str] = InternTable("")
    assert table.find("a") is None
    assert len(table) == 1


@given(st.lists(st.none() | st.text(max_size=2), max_size=30))
def test_all_at_once_is_one_by_one(values: list[str | None]) -> None:
    one, all_ = InternTable(""), InternTable("")
    assert [one.intern(v) for v in values] == all_.intern_all(values, len(values)).tolist()
    assert list(one) == list(all_)


def test_tuples() -> None:
    table: InternTable[tuple[str, ...]] = InternTable(())
    assert table.intern_all([("a",), None, ("a", "b"), ("a",)], 4).tolist() == [1, 0, 2, 1]

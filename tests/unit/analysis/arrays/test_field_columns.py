"""Values read one by one from each kind of column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, LazyArray, Numbers

COLUMNS: list[tuple[str, Column, list[object]]] = [
    ("interned", Interned(np.array([1, 0, 2, 1], np.uint32), ["?", "a", ""]), ["a", None, "", "a"]),
    ("sets", InternedSets(np.array([1, 0], np.uint32), [(), ("a", "b")]), [["a", "b"], []]),
    ("integers", Numbers(np.array([3, -1], np.int64), absent=-1), [3, None]),
    ("all present", Numbers(np.array([0, 7], np.uint32)), [0, 7]),
    ("floats", Numbers(np.array([1.5, np.nan, 0.0])), [1.5, None, 0.0]),
    ("floats with a sentinel", Numbers(np.array([1.5, -1.0, np.nan]), absent=-1.0), [1.5, None, None]),
    ("flags", Flags(np.array([5, 1, 4], np.uint8), 4), [True, None, True]),
    ("worked out", Interned(LazyArray(3, lambda rows: np.arange(3)[rows]), ["?", "a", "b"]), [None, "a", "b"]),
    ("decoded", Decoded(lambda message: [message], 2), [[0], [1]]),
    ("nothing", Interned(np.zeros(0, np.uint32), [""]), []),
]


@pytest.mark.parametrize(("column", "values"), [case[1:] for case in COLUMNS], ids=[case[0] for case in COLUMNS])
def test_values(column: Column, values: list[object]) -> None:
    assert [column.value(message) for message in range(len(column))] == values


def test_numbers_are_those_of_python() -> None:
    assert type(Numbers(np.array([1], np.uint32)).value(0)) is int
    assert type(Numbers(np.array([1], np.float32)).value(0)) is float


def test_a_list_belongs_to_the_caller() -> None:
    column = InternedSets(np.array([1], np.uint32), [(), ("a",)])
    column.value(0).append("b")
    assert column.value(0) == ["a"]


@pytest.mark.parametrize("column", [case[1] for case in COLUMNS if isinstance(case[1], Numbers)])
@pytest.mark.parametrize("rows", [slice(0, 2), np.array([1, 0, 1])], ids=["slice", "places"])
def test_present_agrees_with_value(column: Numbers, rows: slice | np.ndarray) -> None:
    places = np.arange(len(column))[rows]
    assert column.present(rows).tolist() == [column.value(place) is not None for place in places.tolist()]


def test_a_lazy_array_works_out_no_more_than_is_asked_for() -> None:
    asked: list[Any] = []

    def at(rows: slice | NDArray[Any]) -> NDArray[Any]:
        asked.append(rows)
        return np.arange(10)[rows] * 2

    lazy = LazyArray(10, at)
    assert (len(lazy), lazy[3], lazy[2:4].tolist(), lazy[np.array([1, 9])].tolist()) == (10, 6, [4, 6], [2, 18])
    assert [a if isinstance(a, slice) else a.tolist() for a in asked] == [slice(3, 4), slice(2, 4), [1, 9]]

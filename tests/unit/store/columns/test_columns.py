"""Arrays that grow together, against plain ones."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector.store.columns.columns as columns_module
from inspector.store.columns.columns import GrowingColumns, locate_rows

NUMBERS = st.one_of(st.just(3), st.integers(0, 300), st.integers(0, 2**17), st.integers(0, 2**64 - 1))
"""Mostly the same, now and then one that a narrow column cannot hold."""
BATCHES = st.lists(st.lists(st.tuples(NUMBERS, st.integers(-(2**63), 2**63 - 1)), max_size=40), max_size=8)


@given(BATCHES, st.booleans())
def test_appends(batches: list[list[tuple[int, int]]], alike: bool) -> None:
    columns = GrowingColumns({"a": np.uint64, "b": np.int64, "c": np.int64, "d": np.uint8}, like={"c": "b"})
    for batch in batches:
        a, b = np.array([a for a, _ in batch], np.uint64), np.array([b for _, b in batch], np.int64)
        columns.append({"a": a, "b": b, "c": b if alike else b ^ 1, "d": 7}, len(batch))
    expected = [pair for batch in batches for pair in batch]
    assert columns["a"].tolist() == [a for a, _ in expected]
    assert columns["b"].tolist() == [b for _, b in expected]
    assert columns["c"].tolist() == [b if alike else b ^ 1 for _, b in expected]
    assert columns["d"].tolist() == [7] * len(expected)
    assert len(columns) == len(expected)


@given(st.lists(st.tuples(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 10**6), NUMBERS), max_size=5))))
def test_puts(steps: list[tuple[int, list[tuple[int, int]]]]) -> None:
    columns = GrowingColumns({"a": np.uint64, "b": np.int32})
    plain: list[int] = []
    for count, puts in steps:
        columns.append({"a": 3, "b": -1}, count)
        plain += [3] * count
        for place, value in puts if plain else ():
            columns.replace("a", place % len(plain), value)
            plain[place % len(plain)] = value
    assert columns["a"].tolist() == plain
    assert (columns["b"] == -1).all()


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 10**6), NUMBERS), max_size=60))
def test_long_columns_are_copied_bit_by_bit(steps: list[tuple[int, int, int]]) -> None:
    with patch.multiple(columns_module, _MAX_SINGLE_COPY=8, _INITIAL_CAPACITY=60):
        columns = GrowingColumns({"a": np.uint64, "b": np.int32})
        plain: list[int] = []
        for count, place, value in steps:
            start = columns.append({"a": np.arange(count), "b": np.arange(count)}, count)
            plain += range(count)
            assert columns["b"].tolist() == plain
            if plain:
                columns.replace("b", [place % len(plain), -1], [place, start])
                columns.replace("a", place % len(plain), value % 7)
                plain[place % len(plain)], plain[-1] = place, start
        assert columns["b"].tolist() == plain


def test_puts_many() -> None:
    columns = GrowingColumns({"a": np.uint32, "b": np.int32})
    columns.append({"a": 0, "b": -1}, 5)
    columns.replace("a", np.array([1, 3]), np.array([9, 70_000]))
    columns.replace("b", slice(2, 4), 8)
    columns.replace("b", np.array([], np.int64), np.array([], np.int64))
    assert columns["a"].tolist() == [0, 9, 0, 70_000, 0]
    assert columns["b"].tolist() == [-1, -1, 8, 8, -1]


@pytest.mark.parametrize(
    ("values", "itemsize"), [([5] * 9, 1), ([5, 255], 1), ([5, 256], 2), ([5, 65_536], 4), ([5, 2**32], 8)]
)
def test_keeps_as_narrow_as_the_values(values: list[int], itemsize: int) -> None:
    columns = GrowingColumns({"a": np.uint64, "wide": np.uint32}, least={"wide": np.uint16})
    columns.append({"a": np.array(values, np.uint64), "wide": 1})
    assert (columns["a"].tolist(), columns["a"].itemsize, columns["wide"].itemsize) == (values, itemsize, 2)


def test_what_never_differed_takes_no_memory() -> None:
    columns = GrowingColumns({"a": np.uint32, "b": np.int64, "c": np.int64}, like={"c": "b"})
    for place in range(4):
        columns.append({"a": 70_000, "b": np.full(9, place), "c": np.full(9, place)}, 9)
    assert (columns["a"].strides, columns["a"].tolist()) == ((0,), [70_000] * 36)
    assert np.shares_memory(columns["b"], columns["c"])


def test_views_are_not_written_to() -> None:
    columns = GrowingColumns({"a": np.uint32})
    columns.append({"a": np.arange(4)})
    with pytest.raises(ValueError, match="read-only"):
        columns["a"][0] = 1


@given(
    st.lists(st.integers(-300, 2**33), max_size=20),
    st.sets(st.integers(0, 255), max_size=20),
    st.sampled_from((np.uint8, np.uint16, np.uint32, np.int32, np.int64)),
)
def test_places_among_ascending_numbers_of_any_width(asked: list[int], known: set[int], dtype: type) -> None:
    ascending = sorted(known)
    places, there = locate_rows(np.array(asked, np.int64), np.array(ascending, dtype))
    assert there.tolist() == [number in known for number in asked]
    assert [ascending[place] for place in places[there].tolist()] == [number for number in asked if number in known]

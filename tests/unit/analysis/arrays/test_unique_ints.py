"""Distinct numbers against `numpy.unique`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.arrays.unique_ints import are_among, are_any_of, sorted_unique, unique_with_places


@given(
    st.lists(st.integers(0, 9) | st.integers(1 << 40, (1 << 40) + 3), max_size=30),
    st.sampled_from([np.int64, np.uint64]),
    st.booleans(),
)
def test_it_is_what_unique_says(numbers: list[int], dtype: type[np.integer], shifted: bool) -> None:
    keys = np.array(numbers, dtype)
    if shifted and dtype is np.int64:
        keys = keys - 5
    for found, plain in zip(
        unique_with_places(keys), np.unique(keys, return_index=True, return_inverse=True), strict=True
    ):
        assert found.tolist() == plain.tolist()
    codes = [-1, 3, 1 << 40]
    assert are_any_of(keys, codes).tolist() == np.isin(keys.astype(np.int64), codes).tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_greatest_numbers_keep_their_value(dtype: type[np.integer]) -> None:
    most = np.iinfo(dtype).max
    keys = np.array([most, most - 1, most], dtype)
    assert unique_with_places(keys)[0].tolist() == [most - 1, most]


_rows = st.lists(st.integers(0, 40), max_size=12)


@given(st.lists(_rows | _rows.map(lambda rows: sorted({*rows})), min_size=1, max_size=3))
def test_rows_come_once_ascending(parts: list[list[int]]) -> None:
    arrays = [np.array(rows, np.int64) for rows in parts]
    assert sorted_unique(*arrays).tolist() == np.unique(np.concatenate(arrays)).tolist()


@given(_rows, _rows)
def test_which_are_among_a_few(many: list[int], few: list[int]) -> None:
    numbers, some = np.array(many, np.uint64), np.array(few, np.uint64)
    assert are_among(numbers, some).tolist() == np.isin(numbers, some).tolist()

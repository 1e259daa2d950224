"""Arrays that grow together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.capture.columns import GrowingColumns


@given(st.lists(st.lists(st.integers(0, 9), max_size=700), max_size=8))
def test_appends(batches: list[list[int]]) -> None:
    columns = GrowingColumns({"a": np.uint8, "b": np.int64})
    for batch in batches:
        columns.append({"a": np.array(batch, np.uint8), "b": -np.array(batch, np.int64)})
    expected = [value for batch in batches for value in batch]
    assert columns["a"].tolist() == expected
    assert columns["b"].tolist() == [-value for value in expected]
    assert len(columns) == len(expected)


def test_extends_with_a_fill() -> None:
    columns = GrowingColumns({"a": np.int32})
    assert columns.extend(3, {"a": -1}) == 0
    assert columns.extend(2, {"a": 7, "unknown": 1}) == 3
    assert columns["a"].tolist() == [-1, -1, -1, 7, 7]


def test_views_are_written_through() -> None:
    columns = GrowingColumns({"a": np.uint32})
    columns.extend(4, {"a": 0})
    columns["a"][2:] |= np.uint32(5)
    columns.extend(5_000, {"a": 1})
    assert columns["a"][:5].tolist() == [0, 0, 5, 5, 1]

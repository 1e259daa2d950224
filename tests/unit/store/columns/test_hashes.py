"""The index of ids, against a dict."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inspector.store.columns.hashes as hashes_module
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_bytes, hash_text

BATCHES = st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=12)
"""Hashes by batch; rows count through all of them. 0 is NO_HASH."""


def index_of(batches: list[list[int]]) -> tuple[HashIndex, dict[int, list[int]]]:
    index = HashIndex()
    rows: dict[int, list[int]] = {}
    row = 0
    for batch in batches:
        index.add(np.array(batch, np.uint64), np.arange(row, row + len(batch), dtype=np.uint32))
        for value in batch:
            rows.setdefault(value, []).append(row)
            row += 1
    rows.pop(NO_HASH, None)
    return index, rows


@given(BATCHES)
def test_rows_of_a_hash(batches: list[list[int]]) -> None:
    index, rows = index_of(batches)
    assert {value: index.rows_of(value) for value in range(1, 7)} == {
        value: rows.get(value, []) for value in range(1, 7)
    }


@given(BATCHES, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 150)), max_size=20))
def test_latest_below(batches: list[list[int]], probes: list[tuple[int, int]]) -> None:
    index, rows = index_of(batches)
    hashes = np.array([value for value, _ in probes], np.uint64)
    before = np.array([limit for _, limit in probes], np.int64)
    expected = [max((r for r in rows.get(value, []) if r < limit), default=NO_ROW) for value, limit in probes]
    assert index.latest_rows(hashes, before).tolist() == expected


def test_runs_stay_few() -> None:
    index = HashIndex()
    for row in range(2_000):
        index.add(np.array([row + 1], np.uint64), np.array([row], np.uint32))
    assert len(index._runs) < 12
    assert index.rows_of(1_500) == [1_499]


@given(BATCHES, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 150)), max_size=20))
def test_short_runs_find_the_same(batches: list[list[int]], probes: list[tuple[int, int]]) -> None:
    with patch.object(hashes_module, "_MAX_RUN_LENGTH", 8):  # long runs have filters
        test_latest_below.hypothesis.inner_test(batches, probes)  # type: ignore[attr-defined]  # hypothesis's own
        test_rows_of_a_hash.hypothesis.inner_test(batches)  # type: ignore[attr-defined]


def test_no_run_grows_beyond_what_is_merged_quickly() -> None:
    index = HashIndex()
    for start in range(0, 1_000_000, 90_000):
        rows = np.arange(start, start + 90_000, dtype=np.uint32)
        index.add(rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1), rows)
    assert max(map(len, index._runs)) <= hashes_module._MAX_RUN_LENGTH


@pytest.mark.parametrize("text", ["", "a", "käse", "\ud800", "\0", "x" * 10_000])
def test_text_hashes(text: str) -> None:
    assert hash_text(text) == hash_text(text) != NO_HASH
    assert hash_text(text) == hash_bytes(text.encode("utf-8", "surrogatepass"))
    assert hash_text(text) != hash_text(text + "x")

"""The filter for hashes never misses one that was seen, and is wrong about few."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.findings import senders
from inspector.analysis.findings.senders import SeenHashes

hashes = st.lists(st.integers(0, 6) | st.integers(0, 2**64 - 1), max_size=40)


@given(st.lists(hashes, max_size=6))
def test_what_was_seen_is_never_missed(batches: list[list[int]]) -> None:
    filter_, before = SeenHashes(), list[int]()
    for batch in batches:
        every = np.array(before + batch, np.uint64)
        places = set(filter_.add(every[len(before) :], every).tolist())
        for place, value in enumerate(batch):
            assert place in places or not value or value not in before + batch[:place]
            assert value or place not in places
        before += batch


def test_few_new_ones_look_as_if_seen() -> None:
    values = np.random.default_rng(7).integers(1, 2**64 - 1, 200_000, np.uint64)
    filter_, wrong = SeenHashes(), 0
    for start in range(0, len(values), 20_000):
        wrong += len(filter_.add(values[start : start + 20_000], values[: start + 20_000]))
    assert wrong < len(values) * 0.05


def test_all_in_one_slot() -> None:
    """Hashes that share their low bits share a slot of the table."""
    values = np.arange(1, 200, dtype=np.uint64) << np.uint64(56)
    filter_ = SeenHashes()
    filter_.add(values, values)
    assert filter_.add(values, np.concatenate((values, values))).tolist() == list(range(len(values)))
    assert senders._SHARED_SLOT in filter_._table  # pyright: ignore[reportPrivateUsage]

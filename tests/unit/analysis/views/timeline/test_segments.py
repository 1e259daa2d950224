"""The order of messages on their tracks, made in blocks, against a plain sort."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.timeline import segments
from inspector.analysis.views.timeline.segments import sort_messages
from inspector.base.slices import run_to_end

messages = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 2)), max_size=40)


@given(messages, st.integers(1, 9), st.booleans())
def test_in_blocks_of_any_size_the_order_is_that_of_a_plain_sort(
    said: list[tuple[int, int, int]], at_once: int, ascending: bool
) -> None:
    tracks, times, families = (np.array([one[n] for one in said], np.int64) for n in range(3))
    times = np.sort(times) if ascending else times
    rows = np.arange(len(said)) * 3
    plain = np.lexsort((rows, times, tracks))

    with patch.object(segments, "_MESSAGES_PER_STEP", at_once):
        found = run_to_end(sort_messages(rows, tracks, times, families.astype(np.uint8), 6))

    assert found.rows.tolist() == rows[plain].tolist()
    assert found.times.tolist() == times[plain].tolist()
    other = np.diff(families[plain]) != 0
    assert np.diff(found.changes).tolist() == other.astype(int).tolist()
    assert [found.part(track) for track in range(6)] == [
        (int(np.searchsorted(tracks[plain], track)), int(np.searchsorted(tracks[plain], track, side="right")))
        for track in range(6)
    ]

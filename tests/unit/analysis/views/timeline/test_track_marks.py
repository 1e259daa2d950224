"""Marks: each message in exactly one, none that touch at few, counts that stand still."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.timeline.context_bars import MAX_ROWS, RowPacker
from inspector.analysis.views.timeline.segments import Segment, sort_messages
from inspector.analysis.views.timeline.track_marks import CELL_PX, Window, marks_of, short_count
from inspector.base.slices import run_to_end


def segments_of(times: list[int], families: list[int], parts: int) -> list[Segment]:
    rows = np.arange(len(times))
    return [
        run_to_end(sort_messages(some, np.zeros(len(some), np.int64), np.array(times, np.int64)[some],
                       np.array(families, np.uint8)[some], 1))
        for some in np.array_split(rows, parts)
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 1)), max_size=400), st.integers(1, 3))
def test_each_message_is_in_one_mark_of_its_family(messages: list[tuple[int, int]], parts: int) -> None:
    times, families = [one[0] for one in messages], [one[1] for one in messages]
    window = Window(0, 1_000_000, 500)
    marks = marks_of(segments_of(times, families, parts), 0, window, lambda row: families[row])
    assert sum(mark.count for mark in marks) == len(messages)
    assert all(one.x <= other.x for one, other in pairwise(marks))
    for mark in marks:
        assert -CELL_PX <= mark.x - mark.first_x <= CELL_PX or mark.count > 1
        if mark.count == 1:
            assert mark.x == pytest.approx(times[mark.row] / window.ns_per_px)


@given(st.lists(st.integers(0, 1_000_000), max_size=100))
def test_a_count_of_one_family_says_so(times: list[int]) -> None:
    segments = segments_of(times, [3] * len(times), 2)
    assert all(mark.one_family for mark in marks_of(segments, 0, Window(0, 1_000_000, 300), lambda _: 3))


def test_marks_that_would_touch_are_one_count() -> None:
    segments = segments_of([100_000, 101_000, 900_000], [0, 1, 1], 1)
    marks = marks_of(segments, 0, Window(0, 1_000_000, 1_000), lambda row: [0, 1, 1][row])
    assert [(mark.count, mark.one_family, mark.row) for mark in marks] == [(2, False, 0), (1, True, 2)]


def test_counts_stand_still_while_the_window_moves() -> None:
    segments = segments_of(list(range(0, 1_000_000, 100)), [0] * 10_000, 1)
    before = marks_of(segments, 0, Window(200_000, 700_000, 500), lambda _: 0)
    after = marks_of(segments, 0, Window(201_000, 701_000, 500), lambda _: 0)
    inside = {(round(mark.x), mark.count) for mark in before if 60 < mark.x < 440}
    assert inside
    assert inside <= {(round(mark.x) + 1, mark.count) for mark in after}


def test_hidden_messages_are_told_from_shown_ones() -> None:
    segments = segments_of([0, 500_000], [0, 0], 1)
    for segment in segments:
        segment.mark_shown(np.array([True, False]))
    marks = marks_of(segments, 0, Window(0, 1_000_000, 500), lambda _: 0)
    assert [mark.hidden for mark in marks] == [False, True]


def test_times_far_out_of_the_calendar_do_no_harm() -> None:
    bounds = np.iinfo(np.int64)
    times = [int(bounds.min) + 1, 0, int(bounds.max)]
    marks = marks_of(segments_of(times, [0] * 3, 1), 0, Window(-(10**6), 10**6, 500), lambda _: 0)
    assert [mark.row for mark in marks] == [1]


@pytest.mark.parametrize(
    ("count", "words"), [(7, "7"), (999, "999"), (1_000, "1k"), (1_216, "1.2k"), (31_000, "31k"), (2_400_000, "2.4M")]
)
def test_counts_are_short(count: int, words: str) -> None:
    assert short_count(count) == words


def test_what_finds_no_room_shares_the_last_row() -> None:
    packer = RowPacker()
    rows = [packer.place(0, 10, -1) for _ in range(20)]
    assert rows[:MAX_ROWS] == list(range(MAX_ROWS))
    assert set(rows[MAX_ROWS:]) == {MAX_ROWS - 1}

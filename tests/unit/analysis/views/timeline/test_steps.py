"""Lines in steps: what is drawn against a slow and plain count of pixel columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.timeline.steps import column_edges, columns_of, nice_ticks, outline
from inspector.analysis.views.timeline.track_marks import Window

STEPS = st.lists(st.tuples(st.integers(0, 2_000), st.integers(-50, 50), st.integers(0, 9)), max_size=40)


def slowly(
    times: list[int], values: list[int], window: Window
) -> tuple[int, list[tuple[int, int, int, int]]]:  # fmt: skip
    """The value at the left edge, and of each column with steps: column, least, greatest, last."""
    edges = column_edges(window).tolist()
    before = [value for time, value in zip(times, values, strict=True) if time < edges[0]]
    found: list[tuple[int, int, int, int]] = []
    for column, (left, right) in enumerate(pairwise(edges)):
        inside = [value for time, value in zip(times, values, strict=True) if left <= time < right]
        if inside:
            found.append((column, min(inside), max(inside), inside[-1]))
    return before[-1] if before else 0, found


@given(STEPS, st.integers(-100, 2_100), st.integers(1, 2_500), st.integers(1, 60))
def test_columns_are_those_counted_slowly(steps: list[tuple[int, int, int]], left: int, span: int, width: int) -> None:
    times = sorted(time for time, _, _ in steps)
    lines = np.array([[value for _, value, _ in steps], [value for _, _, value in steps]], np.int64).reshape(2, -1)
    window = Window(left, left + span, width)
    found = columns_of(np.array(times, np.int64), lines, window)
    for line in range(2):
        before, columns = slowly(times, lines[line].tolist(), window)
        assert found.before[line] == before
        drawn = zip(found.x, found.low[line], found.high[line], found.last[line], strict=True)
        assert [tuple(map(int, one)) for one in drawn] == columns
    assert found.steps == sum(window.left_ns <= time < int(column_edges(window)[-1]) for time in times)


@given(STEPS, st.integers(1, 60))
def test_an_outline_goes_from_edge_to_edge_in_steps(steps: list[tuple[int, int, int]], width: int) -> None:
    times = np.array(sorted(time for time, _, _ in steps), np.int64)
    lines = np.array([[value for _, value, _ in steps]], np.int64)
    columns = columns_of(times, lines, Window(0, 2_001, width))
    x, y = outline(columns, 0, 0, width)
    assert (x[0], x[-1]) == (0, width)
    assert (np.diff(x) >= 0).all()
    assert ((np.diff(x) == 0) | (np.diff(y) == 0)).all()  # never aslant
    if len(times):
        assert y[-1] == lines[0, -1]
        assert (y.min(), y.max()) == (min(0, lines.min()), max(0, lines.max()))


def test_edges_of_long_and_late_times_stay_in_order() -> None:
    for window in (Window(0, 10**18, 1_280), Window(2**63 - 10**12, 2**63 + 10**15, 900), Window(-(2**62), 2**62, 7)):
        edges = column_edges(window)
        assert edges[0] == window.left_ns
        assert (np.diff(edges) >= 0).all()


@pytest.mark.parametrize(
    ("most", "room", "ticks"),
    [
        (0, 4, [0, 1]), (1, 4, [0, 1]), (9, 4, [0, 5, 10]), (19_600, 4, [0, 5_000, 10_000, 15_000, 20_000]),
        (32_000, 3, [0, 20_000, 40_000]), (1_000_000, 5, [0, 200_000, 400_000, 600_000, 800_000, 1_000_000]),
    ],
)  # fmt: skip
def test_ticks_are_round(most: int, room: int, ticks: list[int]) -> None:
    assert nice_ticks(most, room) == ticks

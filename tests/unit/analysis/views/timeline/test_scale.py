"""The scale of an axis: which silences it leaves out, and that times and places go to and fro."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.analysis.views.timeline.scale import MIN_SPAN_DIVISOR, Silences, TimeScale

S = 1_000_000_000
FAR = 2**62 - 1


def breaks_of(times: list[int], parts: int = 1) -> list[tuple[int, int]]:
    silences = Silences()
    for some in np.array_split(np.array(times, np.int64), parts):
        silences.feed(some)
    return [(one.start_ns, one.end_ns) for one in silences.breaks()]


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        pytest.param([0, 1.51, 1.52, 1.53, 1.54], [(0, 1.51)], id="slow start"),
        pytest.param([0, 1, 2, 60, 61, 62, 120, 121], [(2, 60), (62, 120)], id="two pauses"),
        pytest.param([0, 1, 2, 3, 4], [], id="even"),
        pytest.param([0, 10], [], id="two messages"),
        pytest.param([0, 5, 10], [], id="three at equal distances"),
        pytest.param([0, 3, 6, 10, 13], [], id="nothing takes a third"),
        pytest.param([5, 5, 5], [], id="at once"),
        pytest.param([0, 0, 100, 100], [], id="nothing else passes"),
    ],
)
def test_silences_that_take_more_than_a_third_are_left_out(
    seconds: list[float], found: list[tuple[float, float]]
) -> None:
    times = [round(one * S) for one in seconds]
    assert breaks_of(times) == [(round(a * S), round(b * S)) for a, b in found]


FEW = st.lists(st.integers(0, 50), min_size=1, max_size=30)
WILD = st.lists(st.one_of(st.integers(0, 1_000), st.integers(-FAR, FAR)), min_size=1, max_size=30)


@given(FEW, st.integers(1, 5))
def test_any_batches_and_any_order_find_the_same(times: list[int], parts: int) -> None:
    assert breaks_of(times, parts) == breaks_of(sorted(times))


@given(st.one_of(FEW, WILD))
def test_what_is_left_takes_no_third(times: list[int]) -> None:
    found = breaks_of(times)
    ordered = np.unique(np.array(times, np.int64))
    gaps = {(int(a), int(b)) for a, b in pairwise(ordered)}
    assert set(found) <= gaps
    span = max(times) - min(times) - sum(b - a for a, b in found)
    rest = sorted(b - a for a, b in gaps - set(found))
    if rest and len(found) < 12 and rest[-1] * MIN_SPAN_DIVISOR > span:  # too few others to tell it from them
        assert rest[-1] * (len(times) - 2 - len(found)) <= 2 * (span - rest[-1]) or span == rest[-1]


@example([FAR, 804, -1420992], [155_465_148_756])
@example([-FAR, FAR], [FAR - 1])
@given(st.one_of(FEW, WILD), st.lists(st.integers(-FAR, FAR), max_size=20))
def test_times_and_places_go_to_and_fro(times: list[int], more: list[int]) -> None:
    silences = Silences()
    silences.feed(np.array(times, np.int64))
    scale = TimeScale(silences.breaks())
    asked = sorted({*times, *more})
    places = [scale.place(ns) for ns in asked]
    assert places == sorted(places)
    assert all(scale.time(scale.place(ns)) == ns for ns in times)
    many = scale.places(np.array(asked, np.int64))
    assert np.abs(many.astype(np.float64) - np.array(places, np.float64)).max() <= max(1, 2.0**-50 * FAR)
    assert (np.diff(many) >= 0).all()
    back = scale.times(np.array([scale.place(ns) for ns in times], np.int64))
    assert back.tolist() == times


def test_a_break_is_narrow_and_nothing_outside_of_it_is_squeezed() -> None:
    silences = Silences()
    silences.feed(np.array([0, S, 2 * S, 1_000 * S, 1_001 * S, 1_002 * S]))
    scale = TimeScale(silences.breaks())
    assert scale.place(2 * S) - scale.place(0) == 2 * S
    assert scale.place(1_002 * S) - scale.place(1_000 * S) == 2 * S
    assert scale.place(1_000 * S) - scale.place(2 * S) == 4 * S // 20
    assert list(scale.unbroken_parts(S, 1_001 * S)) == [(S, 2 * S), (1_000 * S, 1_001 * S)]


def test_the_longest_of_very_many_are_found() -> None:
    steps = np.random.default_rng(1).integers(1, 1_000, 60_000)
    steps[[7, 30_000, 59_998]] = 50_000_000, 60_000_000, 70_000_000
    times = np.cumsum(steps)
    found = breaks_of(times.tolist())
    assert [end - start for start, end in found] == [50_000_000, 60_000_000, 70_000_000]

"""The time axis: what is shown stays within the capture, zooming leaves a time where it is, ticks are round."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from inspector.analysis.views.timeline.message_positions import PER_MESSAGE
from inspector.analysis.views.timeline.scale import Silences
from inspector.present.time_ranges import since_words
from inspector.ui.panels.timeline.axis import LEAST_SPAN_NS, TimeAxis

SECOND = 1_000_000_000


def axis_of(seconds: float) -> TimeAxis:
    axis = TimeAxis()
    axis.set_capture(1_767_600_000 * SECOND, 1_767_600_000 * SECOND + round(seconds * SECOND))
    return axis


def words(axis: TimeAxis, width: int = 900) -> list[str]:
    return [text for _, text in axis.ticks(width)]


@pytest.mark.usefixtures("qapp")
def test_ticks_are_round_and_say_what_they_need_to() -> None:
    axis = axis_of(62)
    assert words(axis) == ["0 s", "10 s", "20 s", "30 s", "40 s", "50 s", "60 s"]
    assert words(axis_of(314))[:2] == ["0 s", "60 s"]
    axis.show(axis.first_ns, axis.first_ns + LEAST_SPAN_NS)
    assert words(axis)[:2] == ["0.0000 s", "0.0002 s"]
    assert words(axis_of(9 * 86_400))[:2] == ["0:00 h", "48:00 h"]


@pytest.mark.usefixtures("qapp")
@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(-0.5, 1.5), st.floats(-2, 2)), max_size=8))
def test_whatever_is_done_the_view_stays_at_the_capture(steps: list[tuple[float, float, float]]) -> None:
    axis = axis_of(60)
    low, high = axis.left_ns, axis.right_ns
    for factor, share, by in steps:
        axis.zoom(factor, axis.left_ns + round(axis.span_ns * share))
        axis.pan(by)
        assert low <= axis.left_ns < axis.right_ns <= high
        assert axis.span_ns >= LEAST_SPAN_NS
        ns = np.array([axis.left_ns, axis.right_ns])
        assert axis.xs_of(ns, 900).tolist() == pytest.approx([axis.x_of(int(one), 900) for one in ns])
        assert axis.ns_at(axis.x_of(axis.left_ns, 900), 900) == axis.left_ns


@pytest.mark.usefixtures("qapp")
def test_zooming_leaves_the_time_pointed_at_where_it_is() -> None:
    axis = axis_of(60)
    about = axis.first_ns + 20 * SECOND
    before = axis.x_of(about, 900)
    axis.zoom(4, about)
    assert axis.x_of(about, 900) == pytest.approx(before, abs=0.01)


def test_zooming_beside_the_end_leaves_it_in_sight(qapp: QApplication) -> None:
    axis = axis_of(100)
    for _ in range(12):
        axis.zoom(1.25, axis.last_ns - axis.span_ns // 25)
    span = axis.span_ns
    assert axis.at_end
    assert span < 10_000_000_000

    axis.set_capture(axis.first_ns, axis.last_ns + 3_000_000_000)

    assert axis.at_end
    assert axis.span_ns == span
    assert axis.right_ns - axis.last_ns < span // 10


def test_the_brush_goes_both_ways(qapp: QApplication) -> None:
    axis, chosen = axis_of(60), []
    axis.brush_committed.connect(lambda first, last: chosen.append((first, last)))
    late, early = axis.first_ns + 9 * SECOND, axis.first_ns + 3 * SECOND
    axis.set_brush((late, early))
    axis.commit_brush()
    assert chosen == [(early, late)]
    assert axis.brushed is None


@pytest.mark.usefixtures("qapp")
def test_times_at_the_ends_of_what_64_bits_hold_do_no_harm() -> None:
    axis = TimeAxis()
    axis.set_capture(-(2**63) + 1, 2**63 - 1)
    assert axis.ticks(900)
    assert np.isfinite(axis.xs_of(np.array([-(2**63) + 1, 0, 2**63 - 1]), 900)).all()
    axis.zoom(10, 0)
    assert axis.ticks(900)


@pytest.mark.parametrize(
    ("ns", "step", "of", "text"),
    [
        (40_900_000_000, 1_000_000, 0, "40.900 s"),
        (3_900 * SECOND, 60 * SECOND, 7_000 * SECOND, "3,900 s"),
        (3_900 * SECOND, 60 * SECOND, 7_200 * SECOND, "1:05 h"),
        (-3_903_250_000_000, 10_000_000, 7_200 * SECOND, "\N{MINUS SIGN}1:05:03.25 h"),
        (0, 86_400 * SECOND, 86_400 * SECOND, "0:00 h"),
    ],
)
def test_times_in_words(ns: int, step: int, of: int, text: str) -> None:
    assert since_words(ns, step, of_ns=of) == text


def broken() -> TimeAxis:
    axis = TimeAxis()
    silences = Silences()
    silences.feed(np.array([0, 1, 2, 900, 901, 902]) * SECOND)
    axis.set_capture(0, 902 * SECOND, silences.breaks())
    return axis


@pytest.mark.usefixtures("qapp")
def test_a_long_silence_is_left_out_and_said() -> None:
    axis = broken()
    ((left, right),) = axis.breaks_shown(900)
    assert right - left < 90
    assert axis.x_of(2 * SECOND, 900) == pytest.approx(left)
    said = [words for _, _, words in axis.labels(900, lambda words: 7 * len(words))]
    assert said[0] == "14 min 58 s left out"
    assert {"1.0 s", "902.0 s"} & set(said)
    axis.zoom(4, 901 * SECOND)
    assert axis.left_ns > 2 * SECOND
    axis.fit()
    axis.set_capture(0, 902 * SECOND)
    assert axis.breaks_shown(900) == []
    assert axis.shows_all


@pytest.mark.usefixtures("qapp")
@given(
    st.lists(st.integers(0, 100_000), min_size=2, max_size=30), st.floats(0.2, 5), st.floats(0, 1),
    st.integers(60, 2_000), st.booleans(),
)  # fmt: skip
def test_no_label_touches_another(times: list[int], factor: float, share: float, width: int, counts: bool) -> None:
    axis, silences = TimeAxis(), Silences()
    silences.feed(np.array(times) * 1_000_000_000)
    axis.count_messages(counts)
    axis.set_capture(min(times) * SECOND, max(times) * SECOND, silences.breaks())
    axis.zoom(factor, axis.ns_at(share, 1))
    boxes = sorted((left, right) for left, right, _ in axis.labels(width, lambda words: 6.5 * len(words), (40, 90)))
    for (_, right), (left, _) in pairwise([*boxes]):
        assert right < left
    assert all(right <= 40 or left >= 90 for left, right in boxes)


@pytest.mark.usefixtures("qapp")
def test_by_message_round_numbers_are_named() -> None:
    axis = TimeAxis()
    axis.count_messages(True)
    axis.set_capture(0, 192 * PER_MESSAGE)
    assert words(axis)[:3] == ["No. 50", "No. 100", "No. 150"]
    axis.zoom(1e9, 0)
    assert words(axis) == ["No. 1"]


@pytest.mark.usefixtures("qapp")
def test_a_silence_is_labelled_at_its_gap_beside_times() -> None:
    axis = broken()
    most = 0
    for width in range(300, 1_000, 10):
        labels = axis.labels(width, lambda words: 6.5 * len(words))
        [(left, right)] = [(left, right) for left, right, words in labels if "left out" in words]
        middle = sum(axis.breaks_shown(width)[0]) / 2
        assert left <= middle <= right
        most = max(most, abs(left + right - 2 * middle))
    assert most > 20, "it makes room for a time"

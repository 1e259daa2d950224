"""What is brushed chooses the messages the timeline draws there, those without a time among them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.timeline.message_positions import MessageTimes
from inspector.analysis.views.timeline.range_condition import MAX_RUNS, time_condition
from inspector.filters.compile import compile_filter
from inspector.protocol.timestamps import format_time
from tests.builders import document_of, envelope

START = 1767603600_000_000_000
SECOND = 1_000_000_000


def chosen(seconds: list[int | None], first: int, last: int) -> tuple[list[int], list[int]]:
    """What the condition chooses of messages at some seconds, and what stands there."""
    stamps = [None if at is None else format_time(START + at * SECOND) for at in seconds]
    document = document_of(*(envelope("chat", ts=stamp) for stamp in stamps))
    times = MessageTimes(document.capture)
    times.update(len(document.capture))
    begin, end = START + first * SECOND, START + last * SECOND
    condition = time_condition(times, begin, end)
    assert condition is not None
    rows = np.arange(len(seconds))
    found = compile_filter(condition).mask(document.analysis, rows)
    return rows[found].tolist(), np.flatnonzero((times.values >= begin) & (times.values <= end)).tolist()


@pytest.mark.parametrize(("first", "last"), [(1, 2), (2, 2), (0, 9), (2, 3)])
def test_messages_without_a_time_are_chosen_with_those_before_them(first: int, last: int) -> None:
    found, drawn = chosen([None, 0, 1, None, None, 2, 3, None, 9], first, last)
    assert found == drawn


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_what_is_chosen_is_what_is_drawn(seconds: list[int | None], one: int, other: int) -> None:
    seconds = [0, *seconds]
    found, drawn = chosen(seconds, min(one, other), max(one, other))
    assert found == drawn


def test_where_all_have_times_the_condition_names_times_alone() -> None:
    document = document_of(envelope("chat"), envelope("chat"))
    times = MessageTimes(document.capture)
    times.update(2)
    condition = time_condition(times, START, START + SECOND)
    assert condition == 'time >= "2026-01-05T09:00:00.000Z" && time <= "2026-01-05T09:00:01.000Z"'
    assert time_condition(times, START, START) == 'time == "2026-01-05T09:00:00.000Z"'
    assert time_condition(times, START + 1, START) is None


def test_a_condition_stays_short() -> None:
    seconds = [at for pair in range(4 * MAX_RUNS) for at in (pair % 2, None)]
    stamps = [None if at is None else format_time(START + at * SECOND) for at in seconds]
    document = document_of(*(envelope("chat", ts=stamp) for stamp in stamps))
    times = MessageTimes(document.capture)
    times.update(len(document.capture))
    condition = time_condition(times, START, START)
    assert condition is not None
    assert condition.count("||") == MAX_RUNS

"""A chosen range: its condition, the time of steps within it, and the sentence about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.analysis.views.steps.step_columns import StepKind
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.time_split import TimeSplit, clipped, split_time
from inspector.present.step_texts import RangeFigures, range_sentence
from inspector.present.time_ranges import is_range, range_bounds
from tests.unit.analysis.views.steps.test_step_tree import analysis_of, session

_S = 1_000_000_000
_RANGE = 'time >= "2026-11-28T10:00:00Z" && time <= "2026-11-28T10:00:02.5Z"'


def test_a_condition_tells_its_bounds() -> None:
    first, last = range_bounds(_RANGE) or (0, 0)
    assert last - first == 2_500_000_000
    assert is_range(_RANGE)
    assert is_range("no >= 2 && no <= 4")
    assert range_bounds("no >= 2 && no <= 4") is None
    assert not is_range('tool == "Bash"')


def test_steps_count_for_their_time_within_the_range(tmp_path: Path) -> None:
    table = step_table(analysis_of(tmp_path, session().records))
    models = np.flatnonzero(table.kinds == StepKind.MODEL)
    longest = models[np.argmax(table.took_ns[models])]
    start, took = int(table.starts_ns[longest]), int(table.took_ns[longest])
    within = clipped(table, start, start + took // 2)
    assert split_time(table, np.array([longest])) == (took, 0, 0, 0)
    assert split_time(within, np.array([longest])) == (took // 2, 0, 0, 0)
    assert split_time(within, np.arange(len(table))).total == took // 2


def test_a_range_is_described() -> None:
    split = TimeSplit(41 * _S, 33 * _S, 0)
    assert range_sentence(RangeFigures(74 * _S, 30, 12, split, 4_200, 0.48)) == (
        "Selected 1 min 14 s: 12 steps, model 41.0 s, tools 33.0 s, 4.2k tokens, $0.480"
    )
    assert range_sentence(RangeFigures(None, 3, 1, TimeSplit(0, 0, 0), 0, None)) == "Selected 3 messages: 1 step"
    assert range_sentence(RangeFigures(_S, 1, 0, TimeSplit(0, 0, 0), 0, None)) == "Selected 1.0 s: 1 message"
    assert range_sentence(RangeFigures(None, 3, 0, TimeSplit(0, 0, 0), 0, None)) == "Selected 3 messages"

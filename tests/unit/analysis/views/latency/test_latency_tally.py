"""Latency kept in step: the same figures as looking at every message, in any batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.analysis.views.latency import latency_tally
from inspector.analysis.views.latency.latency import latency_by_participant, latency_by_tool
from inspector.analysis.views.latency.latency_tally import LatencyTally
from tests.builders import GrowingLog, clean_up, document_of, tool_call, tool_result


def at(milliseconds: int) -> str:
    return f"2026-01-05T09:{milliseconds // 60_000:02d}:{milliseconds // 1_000 % 60:02d}.{milliseconds % 1_000:03d}Z"


def same(tally: LatencyTally, log: GrowingLog) -> bool:
    while not tally.step():
        pass
    analysis = log.document.analysis
    found = [{one.name: one.latency for one in tally.by(what)} for what in ("tool", "participant")]
    return found == [latency_by_tool(analysis), latency_by_participant(analysis)]


def answered(took: int, tool: str = "grep", **fields: Any) -> list[dict[str, Any]]:
    ask = tool_call(tool, ts=at(1_000), **fields)
    return [ask, tool_result(ask, ts=at(1_000 + took))]


@given(st.lists(st.tuples(st.integers(0, 5_000), st.sampled_from(["grep", "stat"])), max_size=20), st.integers(1, 7))
def test_the_same_as_all_at_once_in_any_batches(calls: list[tuple[int, str]], size: int) -> None:
    log = GrowingLog()
    tally = LatencyTally(log.document.analysis)
    lines = [line for took, tool in calls for line in answered(took, tool)]
    try:
        for start in range(0, len(lines), size):
            for changes in log.write(*lines[start : start + size]):
                tally.note_changed(changes.changed)
            assert same(tally, log)
    finally:
        clean_up()


def test_the_slowest_answer_leads_to_its_message() -> None:
    document = document_of(*answered(10), *answered(70), *answered(30))
    tally = LatencyTally(document.analysis)
    assert tally.step()
    assert [(one.name, one.latency.longest, one.slowest) for one in tally.by("tool")] == [("grep", 70.0, 3)]


def test_a_request_that_comes_after_its_answer_has_all_counted_again() -> None:
    log = GrowingLog()
    tally = LatencyTally(log.document.analysis)
    ask, answer = answered(50)
    log.write(*answered(10), answer)
    assert same(tally, log)
    changes = log.write(ask)
    tally.note_changed(changes[0].changed)
    assert tally.is_behind
    assert same(tally, log)
    assert tally.by("tool")[0].latency.count == 2


def test_changes_that_are_none_to_latency_cost_nothing() -> None:
    log = GrowingLog()
    tally = LatencyTally(log.document.analysis)
    log.write(*answered(10), *answered(20))
    assert same(tally, log)
    for changed in (NO_ROWS, NO_ROWS + 0, *(change.changed for change in log.write(tool_call("stat")))):
        tally.note_changed(changed)
    tally.note_changed(np.arange(4))
    assert tally._fed == 4


def test_it_goes_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency_tally, "_MESSAGES_PER_STEP", 3)
    document = document_of(*(line for took in range(10) for line in answered(took)))
    tally = LatencyTally(document.analysis)
    steps = 1
    while not tally.step():
        assert tally.by("tool") == []
        steps += 1
    assert steps == 7
    assert tally.by("tool")[0].latency.count == 10

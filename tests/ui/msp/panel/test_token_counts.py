"""Texts are counted by a process of its own, which is replaced when it dies and ends with whoever asked."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.tokens.worker import CountingProcess
from inspector.ui.msp.panel import token_counts
from inspector.ui.msp.panel.token_counts import TokenCounts
from tests.ui.budgeting import set_budgets


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> TokenCounts:
    set_budgets(monkeypatch, counting_start_ms=0)
    return TokenCounts()


@pytest.mark.real
def test_counts_come_from_another_process(counts: TokenCounts, qtbot: QtBot) -> None:
    with qtbot.waitSignal(counts.came):
        assert counts.count_of_text("what is a kelvin?") is None
        assert counts.or_nothing("another") == 0
        assert counts.counting
    assert counts.count_of_text("what is a kelvin?") == 6
    assert counts.count_of_text("") == 0
    counts.stop()


def test_nothing_is_counted_that_is_not_wanted(counts: TokenCounts) -> None:
    counts.set_wanted(False)
    assert counts.count_of_text("text") is None
    assert not counts.counting
    counts.set_wanted(True)
    counts.count_of_text("text")
    counts.count_here()
    assert counts.count_of_text("text") == 1
    counts.stop()


@pytest.mark.real
def test_a_process_that_dies_is_replaced(counts: TokenCounts, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CountingProcess] = []

    def started() -> CountingProcess:
        made.append(CountingProcess())
        if len(made) == 1:
            made[0].end_process()  # before it brings anything back
        return made[-1]

    monkeypatch.setattr(token_counts, "CountingProcess", started)
    with qtbot.waitSignal(counts.came):
        counts.count_of_text("first")
    assert len(made) == 2
    assert counts.count_of_text("first") == 1
    counts.stop()

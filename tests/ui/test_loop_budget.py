"""Two slices of work do not come in the same turn of the loop."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QAbstractEventDispatcher
from pytestqt.qtbot import QtBot

from inspector.ui import budgets, loop_budget
from inspector.ui.loop_budget import turn_of_loop


def test_what_nobody_waits_for_gets_a_turn_of_its_own(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "current", budgets.Budgets())
    now_s = time.perf_counter() + 10.0  # after what earlier tests have asked for
    monkeypatch.setattr(loop_budget, "time", type("Clock", (), {
        "thread_time": staticmethod(lambda: now_s), "perf_counter": staticmethod(lambda: now_s)}))  # fmt: skip
    turn, dispatcher = turn_of_loop(), QAbstractEventDispatcher.instance()
    assert turn is turn_of_loop()
    assert dispatcher is not None
    dispatcher.awake.emit()
    assert not turn.is_taken
    now_s += 0.01  # a log was read
    assert turn.is_taken
    assert not turn.may_take()
    dispatcher.awake.emit()
    assert turn.is_taken, "it was asked for by what may not take the one before"
    assert turn.may_take()
    assert not turn.is_taken, "little was done in it"
    now_s += 0.01
    assert not turn.may_take()
    dispatcher.awake.emit()
    now_s += 1.0
    dispatcher.awake.emit()
    assert not turn.is_taken, "what asked for it has gone"
    turn.claim()
    assert turn.is_taken, "something is to be painted"
    assert turn.may_take()
    granted: list[bool] = []
    for _ in range(6):  # traffic floods in
        dispatcher.awake.emit()
        now_s += 0.01
        granted.append(turn.may_take())
    assert granted == [False] * 4 + [True, False], "nobody is refused for ever"
    monkeypatch.undo()
    dispatcher.awake.emit()

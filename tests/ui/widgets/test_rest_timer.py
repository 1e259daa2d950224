"""Quick repeats of a call: the first is made at once, then only the last."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.ui import intervals
from inspector.ui.widgets.rest_timer import RestTimer


@pytest.fixture
def calls() -> list[int]:
    return []


def test_repeats_are_made_once_after_the_pause(calls: list[int], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    owner = QObject()
    timer = RestTimer(lambda: calls.append(1), owner)
    monkeypatch.setattr(intervals, "REST_MS", 3_600_000)
    for _ in range(60):
        timer.call()
    assert (len(calls), timer.is_waiting) == (1, True)
    monkeypatch.setattr(intervals, "REST_MS", 0)
    timer.call()
    qtbot.waitUntil(lambda: len(calls) == 2)
    assert not timer.is_waiting


def test_calls_after_the_pause_are_made_at_once(calls: list[int]) -> None:
    owner = QObject()
    timer = RestTimer(lambda: calls.append(1), owner)
    for _ in range(3):  # the pause is 0 in tests
        timer.call()
    assert len(calls) == 3


def test_a_stopped_timer_makes_no_call(calls: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    owner = QObject()
    timer = RestTimer(lambda: calls.append(1), owner)
    monkeypatch.setattr(intervals, "REST_MS", 3_600_000)
    timer.call()
    timer.call()
    timer.stop()
    assert (len(calls), timer.is_waiting) == (1, False)

"""What the checks put off is done while the window is at rest, and a check that failed is said once."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt, QTimer
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.filters.search import Search
from inspector.ui import budgets
from inspector.ui.app.application import Application
from inspector.ui.features.opening import Opening
from tests.builders import GrowingLog, envelope, received
from tests.ui.budgeting import set_budgets
from tests.ui.find import child
from tests.ui.waiting import pass_time
from tests.ui.windows import panes_of, window_on


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each slice may take, as the document was told; three are needed each time."""
    asked: list[float] = []

    def look_further(_document: CaptureDocument, until: float) -> bool:
        asked.append(until - time.perf_counter())
        return len(asked) % 3 == 0

    monkeypatch.setattr(CaptureDocument, "run_postponed_checks", look_further)
    return asked


def test_it_goes_on_until_nothing_is_left_and_again_when_messages_came(
    application: Application, qtbot: QtBot, slices: list[float]
) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    window = window_on(application, log.document)
    qtbot.waitUntil(lambda: len(slices) == 3)
    assert not window.deferred_checks.active
    assert max(slices) <= budgets.current.background_slice_s
    qtbot.wait(3 * budgets.current.background_ms)
    assert len(slices) == 3
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: len(slices) == 6)
    assert not window.deferred_checks.active


def test_it_waits_while_a_log_is_read_and_ends_with_the_window(
    application: Application, qtbot: QtBot, slices: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    monkeypatch.setattr(Opening, "reading", True)
    window = window_on(application, log.document)
    qtbot.wait(3 * budgets.current.background_ms)
    assert not slices
    monkeypatch.setattr(Opening, "reading", False)
    child(window.deferred_checks, QTimer).timeout.emit()
    assert len(slices) == 1
    assert window.deferred_checks.active
    window.close()
    qtbot.wait(3 * budgets.current.background_ms)
    assert len(slices) == 1


def test_it_waits_while_the_user_waits_for_a_search(
    application: Application, qtbot: QtBot, slices: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    window = window_on(application, log.document)
    panes = panes_of(window)
    with monkeypatch.context() as held:
        held.setattr(Search, "step", lambda _search, _until: False)
        set_budgets(held, rest_s=3_600.0)
        panes.filter_state.apply_filter('"slow"')
        pass_time(3 * budgets.current.background_ms)
        assert panes.awaited
        assert not slices
    qtbot.waitUntil(lambda: panes.rows.filter.text == '"slow"')
    assert not panes.awaited
    qtbot.waitUntil(lambda: len(slices) == 3)


def test_a_search_that_never_ends_does_not_keep_it_waiting_for_ever(
    application: Application, qtbot: QtBot, slices: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Search, "step", lambda _search, _until: False)
    set_budgets(monkeypatch, rest_s=0.0)
    log = GrowingLog()
    log.write(received(envelope()))
    panes = panes_of(window_on(application, log.document))
    panes.filter_state.apply_filter('"slow"')
    qtbot.waitUntil(lambda: len(slices) == 3)
    assert panes.awaited


@pytest.mark.usefixtures("slices")
def test_traffic_does_not_put_off_what_is_due(application: Application) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    window = window_on(application, log.document)
    timer = child(window.deferred_checks, QTimer)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.start(3_600_000)
    pass_time(30)
    left = timer.remainingTime()
    assert left < 3_600_000
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    assert timer.remainingTime() <= left


def test_a_check_that_failed_is_said_once(application: Application) -> None:
    log = GrowingLog()
    log.write(received(envelope()))
    window = window_on(application, log.document)
    log.document.analysis.findings.failed["streams"] = 1
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    notice = window.notices.notice("checks-failed")
    assert notice is not None
    assert notice.text.startswith("The checks of streams ended at No. 1 ")
    assert notice.text.count("streams") == 1
    notice.closed.emit()
    log.write(received(envelope()))
    panes_of(window).bridge.flush()
    pass_time(3 * budgets.current.background_ms)
    assert window.notices.notice("checks-failed") is None

"""When views that fell behind are made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.widgets.refresh_throttle import RefreshThrottle
from tests.ui.find import child

LONG_MS = 3_600_000


class View(QWidget):
    """Counts how often it is made anew; `steps` at a time where there are any."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.ended = self.steps = 0

    def refresh(self) -> Iterator[int] | None:
        if self.steps:
            return self.in_steps()
        self.begun += 1
        self.ended += 1
        return None

    def in_steps(self) -> Iterator[int]:
        self.begun += 1
        for _ in range(self.steps):
            yield 0
        self.ended += 1


@pytest.fixture
def view(qtbot: QtBot) -> View:
    view = View()
    qtbot.addWidget(view)
    return view


def test_a_hidden_view_is_refreshed_once_it_is_shown(view: View) -> None:
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    throttle.request()
    throttle.run()
    assert not throttle.waiting
    assert view.begun == 0
    view.show()
    assert view.begun == 1
    view.hide()
    view.show()
    assert view.begun == 1, "nothing was asked for meanwhile"


def test_it_may_be_painted_first(view: View, qtbot: QtBot) -> None:
    RefreshThrottle(view, view.refresh, lambda: 0, shown_ms=0)
    view.show()
    assert view.begun == 0
    qtbot.waitUntil(lambda: view.begun == 1)


def test_requests_are_put_together_and_wait_for_one_another(view: View, qtbot: QtBot) -> None:
    throttle = RefreshThrottle(view, view.refresh, lambda: LONG_MS)
    view.show()
    for _ in range(3):
        throttle.request()
    assert throttle.stale
    assert throttle.waiting
    qtbot.wait(5)
    assert view.begun == 1
    throttle.run()
    assert view.begun == 2
    assert not throttle.stale
    assert not throttle.waiting


def test_the_first_request_after_a_rest_is_met_at_once(view: View, qtbot: QtBot) -> None:
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    view.show()
    throttle.request()
    qtbot.waitUntil(lambda: view.begun == 2)


def test_the_more_a_refresh_costs_the_rarer_it_is(view: View) -> None:
    throttle = RefreshThrottle(view, view.refresh, lambda: 1_000, rest=4)
    view.show()
    throttle.rest_for(3.0)
    throttle.request()
    assert 11_000 < child(throttle, QTimer).interval() <= 12_000


def test_what_is_asked_for_during_a_long_refresh_is_done_after_it(view: View, qtbot: QtBot) -> None:
    view.steps = 3
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    view.show()
    assert throttle.working
    throttle.request()
    throttle.request()
    assert (view.begun, view.ended) == (1, 0)
    qtbot.waitUntil(lambda: view.ended == 2)
    assert not throttle.working
    assert not throttle.waiting
    assert not throttle.stale


@pytest.mark.parametrize("interrupt", [RefreshThrottle.run, lambda throttle: throttle.run_in(0)])
def test_a_long_refresh_can_begin_again(view: View, qtbot: QtBot, interrupt: Callable[[RefreshThrottle], None]) -> None:
    view.steps = 3
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    view.show()
    interrupt(throttle)
    qtbot.waitUntil(lambda: view.ended == 1)
    assert view.begun == 2


def test_a_long_refresh_is_dropped_when_the_view_is_hidden(view: View, qtbot: QtBot) -> None:
    view.steps = 3
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    view.show()
    view.hide()
    assert throttle.stale
    assert not throttle.working
    assert not throttle.waiting
    view.show()
    qtbot.waitUntil(lambda: view.ended == 1)
    assert view.begun == 2


def test_figures_that_are_no_widget_are_always_in_sight(view: View, qtbot: QtBot) -> None:
    throttle = RefreshThrottle(QObject(view), view.refresh, lambda: 0)
    throttle.request()
    qtbot.waitUntil(lambda: view.begun == 1)
    assert not throttle.stale
    assert not throttle.waiting


def test_it_waits_until_there_is_something_to_show(view: View, qtbot: QtBot) -> None:
    ready = False
    throttle = RefreshThrottle(view, view.refresh, lambda: 0, ready=lambda: ready)
    view.show()
    throttle.request()
    assert not throttle.waiting
    ready = True
    throttle.request_if_stale()
    qtbot.waitUntil(lambda: view.begun == 1)
    throttle.request_if_stale()
    assert not throttle.waiting, "it is not stale"


def test_once_stopped_it_refreshes_nothing(view: View) -> None:
    view.steps = 1
    throttle = RefreshThrottle(view, view.refresh, lambda: 0)
    view.show()
    throttle.stop()
    throttle.request()
    throttle.run()
    throttle.run_in(0)
    assert not throttle.working
    assert not throttle.waiting
    assert view.ended == 0

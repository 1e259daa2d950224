"""The timeline with answers that come after the call, as from an engine process."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from inspector.ui.app.application import Application
from inspector.ui.panels.timeline.panel import TimelinePanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.late_answers import LateAnswers
from tests.ui.panels.timeline.test_panel import at, counts, lines, names, place_of, time_of
from tests.ui.windows import panes_of, window_on


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> LateAnswers:
    return LateAnswers(monkeypatch)


def opened(window: MainWindow, late: LateAnswers) -> TimelinePanel:
    late.settle()
    window.show()
    window.actions_by_id["view.timeline"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    late.settle(lambda: bool(panel.view.picture.lanes))
    return panel


def test_lanes_and_items_are_found(application: Application, late: LateAnswers) -> None:
    window = window_on(application, document_of(*lines()))
    panel = opened(window, late)
    assert (names(panel), counts(panel)) == (["lead", "human", "files"], [5, 1, 1])
    QTest.mouseMove(panel.view, place_of(panel, 7))
    late.settle(panel.view.card.isVisible)
    assert "No. 7" in panel.view.card.lines[2]
    QTest.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=place_of(panel, 2))
    late.settle()
    assert (panel.view.current, panel.axis.cursor_ns) == (1, time_of(panel, 2))
    panel.view.setFocus()
    for key, number in ((Qt.Key.Key_Up, 3), (Qt.Key.Key_Up, 1), (Qt.Key.Key_Right, 5), (Qt.Key.Key_Down, 6)):
        QTest.keyClick(panel.view, key)
        late.settle()
        assert panel.view.current == number - 1
    assert panel.view.accessibleDescription().startswith("Lane lead. No. 6, 60.000 s.")


def test_choices_and_zoom_are_drawn_when_they_arrive(application: Application, late: LateAnswers) -> None:
    window = window_on(application, document_of(*lines()))
    panel = opened(window, late)
    whole = panel.view.grab().toImage()
    panel.head.by.choose("context")
    assert names(panel) == ["lead", "human", "files"], "the present ones stay"
    assert panel.view.grab().toImage() == whole
    late.settle()
    assert names(panel) == ["main", "why-1"]
    panel.head.by.choose("participant")
    for _ in range(5):
        panel.axis.zoom(1.5, time_of(panel, 5))
        panel.view.grab()
    late.settle()
    assert (panel.view.picture.left_ns, panel.view.picture.right_ns) == (panel.axis.left_ns, panel.axis.right_ns)
    panel.axis.fit()
    panes_of(window).plot_choices.space_by("message")
    assert panel.view.grab().toImage().size() == whole.size()
    late.settle()
    assert panel.strip.words() == "No. 1 to 7 of 7"
    assert panel.axis.shows_all
    panes_of(window).plot_choices.space_by("time")
    late.settle()
    assert panel.view.grab().toImage() == whole


def test_filters_and_traffic_come_into_the_lanes(application: Application, late: LateAnswers) -> None:
    log = GrowingLog()
    log.write(*lines())
    window = window_on(application, log.document)
    panel = opened(window, late)
    begin, end = place_of(panel, 2) - QPoint(15, 0), place_of(panel, 4) + QPoint(15, 0)
    QTest.mousePress(panel.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, begin)
    QTest.mouseMove(panel.view, end)
    QTest.mouseRelease(panel.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, end)
    late.settle()
    marks = [one.mark for track in panel.view.picture.tracks.values() for one in track.marks]
    assert {mark.row + 1 for mark in marks if not mark.hidden} == {2, 3, 4}
    panel.head.shown.choose("table")
    late.settle()
    assert counts(panel) == [1, 1, 1]
    panes_of(window).filter_state.clear()
    panel.head.shown.choose("all")
    log.write(envelope(sender="late", ts=at(100)))
    panes_of(window).bridge.flush()
    late.settle(lambda: len(names(panel)) == 4)
    assert (names(panel)[-1], panel.axis.shows_all) == ("late", True)


def test_a_picture_by_time_that_arrives_after_a_choice_is_not_taken_for_one_by_message(
    application: Application, late: LateAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(window_on(application, document_of(*lines())), late)
    taken: list[tuple[bool, bool | None]] = []
    take = panel.view._set_bar

    def note() -> None:
        taken.append((panel.view.picture.right_ns < 10**17, panel.view._counts))
        take()

    monkeypatch.setattr(panel.view, "_set_bar", note)
    panel.view.refresh()
    panel.head.spacing_chosen.emit("message")
    late.settle(lambda: len(taken) > 1)
    assert taken[0] == (False, False)
    assert all(is_by_message is counts for is_by_message, counts in taken)

"""Tabbed panes: a key brings one in front with the keyboard, and hides the one that is in front."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.base.slices import run_to_end
from inspector.engine.requests.finding_rows import Grouping
from inspector.ui.app.application import Application
from inspector.ui.docview.panel import MESSAGES, OVERVIEW, Area, Panel
from inspector.ui.docview.panes import Panes
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.docks import is_in_front
from inspector.ui.window.layout import fitting
from inspector.ui.window.main_window import MainWindow
from inspector.ui.window.panels import PANELS
from tests.builders import document_of, envelope
from tests.ui.engines import client_of
from tests.ui.find import child
from tests.ui.windows import bury, panes_of, story, window_on

pytestmark = pytest.mark.styled


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    with qtbot.waitExposed(window):
        window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


BELOW = [one for one in PANELS if one.area is Area.BOTTOM]


def press(window: MainWindow, name: str) -> None:
    window.actions_by_id[name].trigger()
    QApplication.processEvents()


def front(window: MainWindow) -> list[str]:
    shown = [title for title, dock in window.docks.items() if not dock.isHidden()]
    bottom = [one.title for one in BELOW]
    return [title for title in shown if title in bottom and is_in_front(window, window.docks[title])]


def test_a_button_shows_and_hides_all_of_an_edge(window: MainWindow) -> None:
    button = child(window, QToolButton, "tool.view.edge_bottom")
    press(window, "view.marks")
    press(window, "analyze.latency")
    press(window, "view.marks")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert [one.title for one in BELOW if not window.docks[one.title].isHidden()] == []
    assert not button.isChecked()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert {one.title for one in BELOW if not window.docks[one.title].isHidden()} == {"Marks", "Latency"}
    assert front(window) == ["Marks"]
    left = child(window, QToolButton, "tool.view.edge_left")
    QTest.mouseClick(left, Qt.MouseButton.LeftButton)
    assert (window.docks["Contexts"].isHidden(), window.docks["Participants"].isHidden()) == (True, True)


def test_a_key_brings_a_pane_in_front_of_the_others_and_hides_it_only_there(window: MainWindow) -> None:
    panes = panes_of(window)
    press(window, "view.marks")
    assert front(window) == ["Marks"]
    press(window, "view.findings")
    assert front(window) == ["Findings"]
    assert panes.findings.view.hasFocus()
    press(window, "view.marks")
    assert front(window) == ["Marks"]
    assert window.actions_by_id["view.findings"].isChecked(), "it is open, behind the marks"
    press(window, "view.findings")
    assert front(window) == ["Findings"]
    assert window.actions_by_id["view.findings"].isChecked()
    press(window, "view.findings")
    assert window.docks["Findings"].isHidden()
    assert not window.actions_by_id["view.findings"].isChecked()
    assert panes.messages.view.hasFocus(), "the keyboard goes back to the table"


def test_panes_at_the_bottom_are_reached_left_and_closed(window: MainWindow, subtests: pytest.Subtests) -> None:
    for one in BELOW:
        with subtests.test(one.title):
            _reach_leave_and_close(window, one)


def _reach_leave_and_close(window: MainWindow, one: Panel[Panes]) -> None:
    panes, dock = panes_of(window), window.docks[one.title]
    assert one.id not in panes.made, "made when it is shown first"
    assert next(known for known in ACTIONS if known.id == one.action).on is not None
    press(window, "go.first")
    press(window, "view.timeline")
    press(window, one.action)
    panel: Any = panes.made[one.id]
    assert panel in panes.bottom, "in Panes.bottom: it hears of changes, and what it asks for is done"
    assert dock in [area for area, _ in window.pane_focus.stops()], "F6 comes to it"
    assert panel.isAncestorOf(QApplication.focusWidget() or window), "its focusProxy takes the keyboard"
    while dock.isAncestorOf(QApplication.focusWidget() or window):
        window.focusNextPrevChild(True)
    assert window.docks["Details"].isAncestorOf(QApplication.focusWidget() or window), "Tab goes on to the details"
    panel.left.emit()
    shown = window.center.currentWidget()
    assert shown is not None
    assert shown.isAncestorOf(QApplication.focusWidget() or window), "the view in the middle has the keyboard back"
    panel.close_requested.emit()
    assert dock.isHidden()
    assert not window.actions_by_id[one.action].isChecked()


def test_a_pane_that_is_shown_late_knows_what_came_before(window: MainWindow) -> None:
    panes = panes_of(window)
    panes.go_to(5)
    press(window, "edit.mark")
    window.actions_by_id["view.marks"].trigger()
    assert panes.marks.view.selected is not None, "the note of the current message"
    assert panes.marks.actions(), "keys that count in panes"
    panes.messages.view.setFocus()
    press(window, "edit.mark")
    assert panes.marks.view.empty_text.startswith("No marks yet. ")
    shown: list[int] = []
    panes.selection_changed.connect(shown.append)
    panes.marks.message_requested.emit(2)
    assert shown == [2]
    assert panes.findings.source.choice.grouping is Grouping(window.application.settings.findings_by)


def test_what_is_shown_anew_leaves_nothing_of_what_was_there(window: MainWindow) -> None:
    press(window, "view.findings")
    press(window, "view.marks")
    panes_of(window).marks.close_requested.emit()
    for _ in range(3):
        window.show_anew(client_of(story(), window))
        bury()
    assert len(window.findChildren(QWidget, "findingsHead")) == 1
    assert panes_of(window).made["findings"].isVisible()
    assert window.findChildren(QWidget, "marksHead") == []
    press(window, "view.marks")
    assert panes_of(window).marks.head.isVisible()


def title_of(window: MainWindow, name: str) -> QLabel:
    label = window.findChild(QLabel, f"{name}HeadTitle")
    assert label is not None
    return label


def test_the_title_of_a_pane_is_said_once(window: MainWindow) -> None:
    """By its head, or by its tab where it lies on another one."""
    press(window, "go.first")
    press(window, "edit.mark")
    press(window, "view.marks")
    marks = title_of(window, "marks")
    assert marks.isVisible()
    press(window, "view.findings")
    findings = title_of(window, "findings")
    assert not findings.isVisible()
    press(window, "view.marks")
    assert not marks.isVisible()
    panel = panes_of(window).marks
    assert shown(panel.head) == ["1 mark"], "a number alone would not say of what"
    window.docks["Marks"].setFloating(True)
    QApplication.processEvents()
    assert marks.isVisible()
    assert findings.isVisible(), "it stands alone"
    window.docks["Marks"].setFloating(False)
    QApplication.processEvents()
    assert not marks.isVisible()
    panel.close_requested.emit()
    assert findings.isVisible()


def test_a_pane_is_floated_moved_and_closed_without_a_pointer(window: MainWindow, qtbot: QtBot) -> None:
    def find(words: str) -> None:
        card = window.command_palette.card
        card.open()
        QTest.keyClicks(card.field, words)
        line = card.list.line()
        assert line is not None
        assert line.title == words
        QTest.keyClick(card.field, Qt.Key.Key_Return)
        QApplication.processEvents()

    press(window, "view.findings")
    press(window, "view.marks")
    findings, marks = window.docks["Findings"], window.docks["Marks"]
    find("Float Marks")
    assert marks.isFloating()
    find("Dock Marks")
    assert not marks.isFloating()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    panes_of(window).marks.setFocus()
    find("Move Marks to the right")
    assert window.dockWidgetArea(marks) is Qt.DockWidgetArea.RightDockWidgetArea
    assert title_of(window, "findings").isVisible()
    find("Move Marks to the bottom")
    assert findings in window.tabifiedDockWidgets(marks)
    assert front(window) == ["Marks"]
    find("Close Marks")
    assert marks.isHidden()
    assert not window.actions_by_id["view.marks"].isChecked()


def shown(head: QWidget) -> list[str]:
    return [label.text() for label in head.findChildren(QLabel) if label.isVisible() and label.text()]


def test_a_window_stands_whole_on_the_screen_with_its_title_bar() -> None:
    assert fitting(QSize(1280, 800), QSize(1920, 1080)) == QSize(1280, 800)
    fitted = fitting(QSize(1280, 800), QSize(1280, 800))
    assert fitted.height() < 780
    assert fitted.width() <= 1280


def test_at_200_percent_a_window_stands_on_a_small_screen(application: Application, qtbot: QtBot) -> None:
    most = fitting(QSize(9_999, 9_999), QSize(1280, 800))
    application.theme.set_zoom(2.0)
    window = application.new_window()
    window.resize(most)

    def fits(what: str) -> None:
        QApplication.processEvents()
        least = window.minimumSizeHint()
        assert least.width() <= most.width(), f"{what} needs {least.width()}"
        assert least.height() <= most.height(), f"{what} needs {least.height()}"

    with qtbot.waitExposed(window):
        window.show()
    fits("the start page")
    run_to_end(window.showing(client_of(story(), window)))
    press(window, "go.last")
    for one in ACTIONS:
        if one.id.startswith("details."):
            press(window, one.id)
            fits(one.id)
    press(window, "details.overview")
    for one in BELOW:
        press(window, one.action)
        for view in ("view.timeline", "view.model_sees", "view.messages"):
            press(window, view)
            fits(f"{one.title} below {view}")
        press(window, "edit.find")
        fits(f"{one.title} and what is found")
        panes_of(window).messages.find_bar.closed.emit()
        window.docks[one.title].hide()
    assert window.size() == most, "it never had to grow"
    window.close()
    application.theme.set_zoom(1.0)


def _shown_sides(window: MainWindow) -> list[str]:
    return [title for title in ("Contexts", "Participants", "Details") if not window.docks[title].isHidden()]


def test_panes_without_a_choice_are_hidden_until_there_is_one(
    application: Application, lands_as_set: None, qtbot: QtBot
) -> None:
    window = window_on(application, document_of(envelope("chat", {"text": "a"}), envelope("chat", {"text": "b"})))
    window.resize(1280, 800)
    window.show()
    window.center.show_view(MESSAGES)
    qtbot.waitUntil(lambda: _shown_sides(window) == ["Details"])
    press(window, "view.contexts")
    qtbot.waitUntil(lambda: "Contexts" in _shown_sides(window))
    window.center.show_view(OVERVIEW)
    assert _shown_sides(window) == []
    window.center.show_view(MESSAGES)
    other = window_on(application, story())
    other.center.show_view(MESSAGES)
    assert _shown_sides(other) == ["Contexts", "Participants", "Details"]

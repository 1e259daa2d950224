"""Panes that lie on one another: a key brings one in front with the keyboard, and hides the one that is in front."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.ui.actions import ACTIONS
from inspector.ui.docks import BOTTOM, DOCKS, Dock, is_in_front
from inspector.ui.layout import fitting
from inspector.ui.main_window import MainWindow
from inspector.ui.pane_focus import stops
from tests.ui.windows import panes_of


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    with qtbot.waitExposed(window):
        window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


BELOW = [one for one in DOCKS if one.area is BOTTOM]


def press(window: MainWindow, name: str) -> None:
    window.actions_by_id[name].trigger()
    QApplication.processEvents()


def front(window: MainWindow) -> list[str]:
    shown = [title for title, dock in window.docks.items() if not dock.isHidden()]
    bottom = [one.title for one in BELOW]
    return [title for title in shown if title in bottom and is_in_front(window, window.docks[title])]


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


@pytest.mark.parametrize("one", BELOW, ids=lambda one: one.title)
def test_a_pane_at_the_bottom_is_reached_left_and_closed(window: MainWindow, one: Dock) -> None:
    panes, dock = panes_of(window), window.docks[one.title]
    panel: Any = one.panel(panes)
    assert panel in panes.bottom, "in Panes.bottom: it hears of changes, and what it asks for is done"
    assert next(known for known in ACTIONS if known.id == one.switch).checkable
    press(window, "go.first")
    press(window, "view.timeline")
    press(window, one.switch)
    assert dock in [area for area, _ in stops(window)], "F6 comes to it"
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
    assert not window.actions_by_id[one.switch].isChecked()


def test_a_window_stands_whole_on_the_screen_with_its_title_bar() -> None:
    assert fitting(QSize(1280, 800), QSize(1920, 1080)) == QSize(1280, 800)
    fitted = fitting(QSize(1280, 800), QSize(1280, 800))
    assert fitted.height() < 780
    assert fitted.width() <= 1280

"""Zoom and density on long logs and on the widths of panes."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.bench.generate import write_envelopes
from tests.builders import document_at, log_file
from tests.ui.window.test_stable_positions import drag_edge_of_details
from tests.ui.windows import panes_of, story, window_on


def _seconds_of_a_step(application: Application, messages: int) -> float:
    """The shortest time in which a larger zoom, and then Comfortable, is shown."""
    path = log_file(b"")
    write_envelopes(path, messages)
    window = window_on(application, document_at(path))
    taken: list[float] = []
    for percent in (110, 120, 130):
        started = time.perf_counter()
        window.theme.set_zoom(percent / 100)
        QApplication.processEvents()
        taken.append(time.perf_counter() - started)
    window.theme.set_zoom(1)
    started = time.perf_counter()
    window.theme.set_density("comfortable")
    taken.append(time.perf_counter() - started)
    window.theme.set_density("compact")
    window.close()
    return min(taken[:3]) + taken[3]


def test_time_of_zoom_and_density_grows_no_faster_than_the_log(application: Application) -> None:
    few, many = (_seconds_of_a_step(application, messages) for messages in (10_000, 40_000))
    assert many < 6 * few, "four times as many rows; 16 times as long where rows are resized one by one"


@pytest.mark.styled
def test_no_table_raises_its_least_height_of_rows_when_it_grows(application: Application) -> None:
    """Qt then resizes every row by itself, and moves all that follow."""
    window: MainWindow = window_on(application, story())
    window.show()
    for action in ACTIONS:
        if action.id.startswith("analyze.") and action.on is not None:
            window.actions_by_id[action.id].trigger()
    QApplication.processEvents()
    tables = {table.objectName(): table for table in window.findChildren(QTableView)}
    assert len(tables) >= 8
    least = {name: table.verticalHeader().minimumSectionSize() for name, table in tables.items()}
    rows = {name: table.verticalHeader().defaultSectionSize() for name, table in tables.items()}
    window.theme.set_zoom(1.5)
    assert {name: table.verticalHeader().minimumSectionSize() for name, table in tables.items()} == least
    grown = {name for name, table in tables.items() if table.verticalHeader().defaultSectionSize() > rows[name]}
    assert grown == tables.keys()


def _sides(window: MainWindow) -> tuple[int, int]:
    QApplication.processEvents()
    QApplication.processEvents()
    return window.docks["Contexts"].width(), window.docks["Details"].width()


def _zoom(window: MainWindow, *steps: int) -> None:
    for step in steps:
        window.settings_editing.zoom_by(step)
        QApplication.processEvents()


@pytest.mark.styled
@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("dragged", [0, 90])
def test_zoom_in_and_back_leaves_the_widths_of_panes(
    application: Application, qtbot: QtBot, width: int, dragged: int
) -> None:
    window = window_on(application, story())
    window.resize(width, 800)
    window.show()
    QApplication.processEvents()
    if dragged:
        drag_edge_of_details(window, qtbot, -dragged)
    before = _sides(window)
    for steps in ([10] * 5, [10] * 10, [-10] * 2, [10, 10, -10, 10]):
        _zoom(window, *steps)
        window.settings_editing.zoom_reset()
        assert _sides(window) == before
        assert not window.docks["Details"].isHidden()
    assert window.width() == width


@pytest.mark.styled
def test_panes_that_fit_stay_at_150_percent(application: Application) -> None:
    window = window_on(application, story())
    window.show()
    _zoom(window, *[10] * 5)
    left, _right = _sides(window)
    assert [window.docks[title].isHidden() for title in ("Contexts", "Participants", "Details")] == [0, 0, 1]
    assert left >= 225


@pytest.mark.styled
@pytest.mark.parametrize("by_key", [False, True])
def test_details_without_room_are_shown_below_once_a_message_is_chosen(application: Application, by_key: bool) -> None:
    window = window_on(application, story())
    window.resize(1000, 700)
    window.show()
    QApplication.processEvents()
    details, view = window.docks["Details"], panes_of(window).messages.view
    assert details.isHidden()
    assert window.actions_by_id["view.details"].text() == "&Details (below the messages)"
    if by_key:
        view.selection.choose_row(3)
        QTest.keyClick(view, Qt.Key.Key_Return)
    else:
        at = view.visualRect(view.messages.index(3, Column.MESSAGE)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QApplication.processEvents()
    assert details.isVisible()
    assert window.dockWidgetArea(details) == Qt.DockWidgetArea.BottomDockWidgetArea
    assert (details.width() > 600, details.height() > 180) == (True, True)
    window.resize(1280, 800)
    assert _sides(window) == (212, 312)
    assert window.dockWidgetArea(details) == Qt.DockWidgetArea.RightDockWidgetArea
    assert window.actions_by_id["view.details"].text() == "&Details"
    window.resize(1000, 700)
    assert details.isHidden()
    window.actions_by_id["view.details"].trigger()
    assert details.isVisible()
    window.actions_by_id["view.details"].trigger()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 60))
    assert details.isHidden(), "the user has hidden them"

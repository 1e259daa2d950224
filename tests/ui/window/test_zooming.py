"""Zoom and density on long logs and on the widths of panes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.row_painter import RowPainter
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.bench.generate import write_envelopes
from tests.builders import document_at, log_file
from tests.ui.window.test_stable_positions import drag_edge_of_details
from tests.ui.windows import panes_of, story, window_on

_COUNTED = (
    (MessageTableModel, "data"), (MessageTableModel, "headerData"), (RowPainter, "paint"),
    (MessageView, "sizeHintForColumn"), (MessageView, "paintEvent"),
)  # fmt: skip


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the table's functions, once for each call."""
    noted: list[str] = []
    for owner, name in _COUNTED:
        function = getattr(owner, name)

        def count(*arguments: Any, function: Callable[..., Any] = function) -> Any:
            noted.append(function.__qualname__)
            return function(*arguments)

        monkeypatch.setattr(owner, name, count)
    return noted


def _work_of_a_step(application: Application, messages: int, calls: list[str]) -> tuple[Counter[str], int]:
    """Calls of the table's functions, and rows resized one by one, while a larger zoom and Comfortable are shown."""
    path = log_file(b"")
    write_envelopes(path, messages)
    window = window_on(application, document_at(path))
    window.show()
    QApplication.processEvents()
    resized = [QSignalSpy(table.verticalHeader().sectionResized) for table in window.findChildren(QTableView)]
    calls.clear()
    window.theme.set_zoom(1.1)
    QApplication.processEvents()
    window.theme.set_density("comfortable")
    QApplication.processEvents()
    counted = Counter(calls)
    window.theme.set_zoom(1)
    window.theme.set_density("compact")
    assert panes_of(window).messages.view.model().rowCount() == messages
    window.close()
    return counted, sum(spy.count() for spy in resized)


@pytest.mark.styled
def test_work_of_zoom_and_density_is_that_of_the_rows_on_screen(application: Application, calls: list[str]) -> None:
    _work_of_a_step(application, 100, calls)  # fills caches of fonts and icons
    few, many = (_work_of_a_step(application, messages, calls) for messages in (100, 20_000))
    assert few[0]["RowPainter.paint"] > 0
    for name, count in many[0].items():
        assert count < 1.5 * few[0][name] + 5, name
    assert many[1] <= few[1], "rows are not resized one by one"


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
    assert len(tables) >= 5
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
@pytest.mark.parametrize(
    ("width", "dragged"),
    [(1280, 90), (1920, 0), *(pytest.param(*other, marks=pytest.mark.sweep) for other in ((1280, 0), (1920, 90)))],
)
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
    for steps in ([50], [50, 50], [-10] * 2, [10, 10, -10, 10]):
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

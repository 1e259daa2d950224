"""Zoom and density on long logs and on the widths of panes."""

from __future__ import annotations

import time

import pytest
from PySide6.QtWidgets import QApplication, QTableView

from inspector.ui.app.application import Application
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.bench.generate import write_envelopes
from tests.builders import document_at, log_file
from tests.ui.windows import story, window_on


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

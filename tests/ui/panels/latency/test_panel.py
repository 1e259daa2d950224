"""The latency table: figures, sorting, links, filters, following the traffic; only while it is seen."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.panels.latency.model import Column, milliseconds
from inspector.ui.panels.latency.panel import LatencyPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_at, document_of, envelope, tool_call, tool_result
from tests.pages import ROOT
from tests.ui.windows import numbers, panel_of, panes_of, window_on


def answered(took_ms: int, tool: str = "grep", to: str = "files") -> list[dict[str, Any]]:
    ask = tool_call(tool, to=to, ts="2026-01-05T09:00:00.000Z")
    whole, rest = divmod(took_ms, 1_000)
    return [ask, tool_result(ask, ts=f"2026-01-05T09:00:{whole:02d}.{rest:03d}Z")]


def opened(window: MainWindow) -> LatencyPanel:
    window.show()
    window.actions_by_id["analyze.latency"].trigger()
    return panel_of(panes_of(window), "latency", LatencyPanel)


@pytest.fixture
def window(application: Application) -> MainWindow:
    lines = [*answered(10), *answered(90), *answered(20), *answered(1_500, "stat", "other"), envelope()]
    return window_on(application, document_of(*lines))


def texts(panel: LatencyPanel) -> list[list[str]]:
    model = panel.model
    return [[str(model.index(row, column).data()) for column in Column] for row in range(model.rowCount())]


def test_it_is_asked_for_in_the_menu_and_says_its_figures(window: MainWindow) -> None:
    assert window.docks["Latency"].isHidden()
    panel = opened(window)
    assert texts(panel) == [
        ["grep", "3", "20 ms", "", "", "90 ms", "2 below 32 ms, 1 below 100 ms", "4"],
        ["stat", "1", "1.5 s", "", "", "1.5 s", "1 below 3.2 s", "8"],
    ]
    assert panel.head.count() == "4 answers"
    panel.choice.buttons["By participant"].click()
    assert [row[0] for row in texts(panel)] == ["files", "other"]
    assert panel.model.headerData(0, Qt.Orientation.Horizontal) == "Participant"
    window.actions_by_id["analyze.latency"].trigger()
    assert window.docks["Latency"].isHidden()


def test_a_click_on_a_head_sorts_and_the_selected_row_stays(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.view.selectRow(0)
    heads = panel.view.horizontalHeader()
    place = heads.sectionViewportPosition(Column.P95) + 10
    for wanted in (["grep", "stat"], ["stat", "grep"]):
        qtbot.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=heads.rect().topLeft() + _at(place))
        assert sorted(row[0] for row in texts(panel)) == ["grep", "stat"]
        found = [row[0] for row in texts(panel)]
        ascending = heads.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        assert found == (["grep", "stat"] if ascending else ["stat", "grep"]), wanted
        assert panel.model.rows[panel.view.currentIndex().row()].name == "grep"


def _at(x: int) -> Any:
    from PySide6.QtCore import QPoint

    return QPoint(x, 5)


def test_enter_and_the_link_go_to_the_slowest_answer(window: MainWindow, qtbot: QtBot) -> None:
    panel, panes = opened(window), panes_of(window)
    panel.view.selectRow(0)
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert panes.messages.current_message() == 3
    rect = panel.view.visualRect(panel.model.index(1, Column.SLOWEST))
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert panes.messages.current_message() == 7


def test_the_menu_filters(window: MainWindow) -> None:
    panel = opened(window)

    def choose(row: int, words: str) -> None:
        next(action for action in panel.view.menu_for(row).actions() if action.text() == words).trigger()

    assert panel.view.menu_for(0).actions()[0].text() == "Go to the slowest answer, No. 4"
    choose(0, "Filter by this")
    assert window.filter_bar.text() == 'tool == "grep" && latency'
    assert numbers(window) == [2, 4, 6]
    choose(0, "Filter by answers slower than p95")
    assert numbers(window) == [4]
    panel.choice.buttons["By participant"].click()
    choose(1, "Filter by this")
    assert numbers(window) == [8]


def test_it_follows_the_traffic_and_rests_when_hidden(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "FIGURES_MS", 10)
    log = GrowingLog()
    window = window_on(application, log.document)
    panel = opened(window)
    assert panel.view.empty_text == "No answer with known times in 0 messages."
    log.write(*answered(10))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: texts(panel)[0][1] == "1" if texts(panel) else False)
    window.actions_by_id["analyze.latency"].trigger()
    log.write(*answered(30))
    panes_of(window).bridge.flush()
    assert panel.latest.is_stale
    assert not panel.latest.is_pending  # nobody sees it
    window.actions_by_id["analyze.latency"].trigger()
    assert texts(panel) == [["grep", "2", "20 ms", "", "", "30 ms", "2 below 32 ms", "4"]]


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.04, "0.0 ms"), (9.94, "9.9 ms"), (73.4, "73 ms"), (1_240.0, "1.2 s"), (-3.0, "\N{MINUS SIGN}3.0 ms")],
)
def test_figures(value: float, said: str) -> None:
    assert milliseconds(value) == said


def test_columns_that_few_answers_cannot_fill_are_left_out_until_there_are_more(application: Application) -> None:
    few = window_on(application, document_of(*(line for n in range(3) for line in answered(n + 1))))
    view = opened(few).view
    assert [view.isColumnHidden(column) for column in (Column.P50, Column.P95, Column.P99)] == [False, True, True]
    many = window_on(application, document_of(*(line for n in range(120) for line in answered(n + 1))))
    view = opened(many).view
    assert [view.isColumnHidden(column) for column in (Column.P50, Column.P95, Column.P99)] == [False, False, False]


def test_calls_of_models_have_a_grouping_of_their_own(application: Application) -> None:
    document = document_at(ROOT / "tests/data/otlp/pydantic-ai-1.0.18-v1-events-attribute.jsonl")
    panel = opened(window_on(application, document))
    panel.choice.buttons["By model"].click()
    assert [row[:3] for row in texts(panel)] == [["scripted-large", "2", "26 ms"], ["scripted-small", "1", "8.2 ms"]]
    assert panel.model.headerData(0, Qt.Orientation.Horizontal) == "Model"
    assert panel.view.filter_for(0) == 'model == "scripted-large"'

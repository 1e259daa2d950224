"""The steps as the user meets them: tab, tree, waterfall, sorting, selection, filter, keys."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engine.requests.steps import RowKind
from inspector.ui.app.application import Application
from inspector.ui.panels.steps.model import StepColumn
from inspector.ui.panels.steps.panel import StepsPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.ui.windows import in_turn, panes_of, window_on
from tests.unit.analysis.views.steps.test_step_tree import session


@pytest.fixture
def window(application: Application, tmp_path: Path) -> MainWindow:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in session().records))
    return window_on(application, document_at(path))


def opened(window: MainWindow, qtbot: QtBot) -> StepsPanel:
    window.show()
    window.actions_by_id["view.steps"].trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, StepsPanel)
    settle(panel, qtbot)
    return panel


def settle(panel: StepsPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: panel.latest.is_current)
    qtbot.waitUntil(lambda: all(panel.model.text_of(place) is not None for place in panel.model.visible.tolist()))


def lines(panel: StepsPanel) -> list[str]:
    model = panel.model
    return [
        "  " * int(model.rows.depths[place]) + model.cell(place, StepColumn.STEP) for place in model.visible.tolist()
    ]


def press(panel: StepsPanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.view, key)


def titles_have_room(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    window.resize(1280, 800)
    QApplication.processEvents()
    assert panel.view.columnWidth(StepColumn.STEP) >= 300
    assert panel.view.columnWidth(StepColumn.BARS) >= 200


def costs_have_room(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    rows = panel.model.rows
    small = np.where(np.arange(len(rows.dollars)) == 0, 0.0000459, 12.0)
    head = msgspec.structs.replace(rows.head, dollars=12.0)
    panel.model.show(msgspec.structs.replace(rows, dollars=small, head=head), panel.model.question)
    room = panel.view.columnWidth(StepColumn.COST) - 2 * 8
    assert QFontMetrics(window.theme.theme.font("body")).horizontalAdvance("$0.0000459") <= room


def the_head_shows_whole_words(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    figures, metrics = panel.head.figures, QFontMetrics(window.theme.theme.font("small"))
    head = msgspec.structs.replace(
        figures.figures, models=3, model_calls=1_065, calls=1_056, failed=12, rejected=12, cached=219_100, dollars=12.5,
        person_ns=10**12, allowed_ns=10**12,
    )  # fmt: skip
    for wide in (1280, 1920):
        window.resize(wide, 800)
        panel.head.show_figures(head, head)
        QApplication.processEvents()
        assert all(metrics.horizontalAdvance(line) <= figures.width() for line in figures.shown_lines()[1:])
        assert "12 failed" in figures.shown_lines()[2]


def start_again(window: MainWindow) -> None:
    panes_of(window).filter_state.apply_filter("")


def rows_are_a_tree(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    assert [one.replace("\N{MULTIPLICATION SIGN}", "x") for one in lines(panel)] == [
        "Turn 1  read the three files", "  thinking, then Read x3", "  Read  x3 /work/a  3 at once", "  All read.",
        "Turn 2  run the tests", "  calls Bash", "  Bash  make test", "  They fail.",
    ]  # fmt: skip
    assert panel.head.figures.lines()[0].endswith("at work")
    assert "4 tool calls, 1 failed" in panel.head.figures.lines()[2]
    assert f"Steps {panel.model.rows.head.steps}" in window.view_head.tabs.words()


def joined_rows_open(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    panel.view.setCurrentIndex(panel.model.index(2, 0))
    press(panel, Qt.Key.Key_Right)
    settle(panel, qtbot)
    assert len(lines(panel)) == 11
    press(panel, Qt.Key.Key_Down, Qt.Key.Key_Left)
    assert panel.view.currentIndex().row() == 2
    press(panel, Qt.Key.Key_Left)
    assert len(lines(panel)) == 8


def a_click_selects_the_message(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    place = panel.view.visualRect(panel.model.index(6, StepColumn.STEP)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panes_of(window).messages.current_message() == int(panel.model.rows.messages[panel.model.visible[6]])
    bars = panel.view.visualRect(panel.model.index(5, StepColumn.BARS)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=bars)
    assert panel.view.currentIndex().row() == 5


def a_message_selected_elsewhere_is_selected_here(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    answer = int(panel.model.rows.last_messages[panel.model.visible[6]])
    panes_of(window).go_to(answer)
    assert panel.view.currentIndex().row() == 6


def a_click_on_a_head_sorts(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    head = panel.view.heads
    x = head.sectionViewportPosition(StepColumn.TOOK) + 10
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)
    took = panel.model.rows.took_ns.tolist()
    assert took == sorted(took, reverse=True)
    assert RowKind.TURN not in panel.model.rows.kinds
    x = head.sectionViewportPosition(StepColumn.STEP) + 10
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)
    assert RowKind.TURN in panel.model.rows.kinds


def a_sort_shows_the_top_until_the_user_scrolls(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1000, 420)
    panel = opened(window, qtbot)
    view, bar = panel.view, panel.view.verticalScrollBar()
    view.setFixedHeight(110)
    QApplication.processEvents()
    view.setCurrentIndex(panel.model.index(1, 0))  # a fast step, far down among the slow ones
    x = view.heads.sectionViewportPosition(StepColumn.TOOK) + 10
    QTest.mouseClick(view.heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)
    assert bar.maximum() > 0
    assert bar.value() == 0
    view.setCurrentIndex(panel.model.index(panel.model.rowCount() - 1, 0))
    QTest.mouseClick(view.heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)
    QTest.mouseClick(view.heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)
    assert view.currentIndex().row() > 1
    assert bar.value() == 0
    bar.triggerAction(bar.SliderAction.SliderToMaximum)
    panel.latest.request_now()
    settle(panel, qtbot)
    assert bar.value() > 0
    view.setMaximumHeight(16_777_215)
    view.setMinimumHeight(0)
    x = view.heads.sectionViewportPosition(StepColumn.STEP) + 10
    QTest.mouseClick(view.heads.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
    settle(panel, qtbot)


def groups_are_chosen(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    panel.head.grouping.choose("tool")
    settle(panel, qtbot)
    assert [one.replace("\N{MULTIPLICATION SIGN}", "x").split("  ")[0] for one in lines(panel)] == [
        "model x4", "Read", "Bash",
    ]  # fmt: skip
    panel.head.grouping.choose("turn")
    settle(panel, qtbot)


def the_filter_of_the_window_is_respected(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    panes_of(window).filter_state.apply_filter('tool == "Bash"')
    qtbot.waitUntil(lambda: panel.latest.is_current and len(panel.model.rows.kinds) == 3)
    settle(panel, qtbot)
    assert lines(panel) == ["Turn 2  run the tests", "  calls Bash", "  Bash  make test"]
    assert panel.head.context.figures.steps == 8


def idle_time_is_left_out(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    (gap,) = panel.axis.scale.breaks
    assert gap.silence_ns >= 590 * 10**9
    panel.head.idle.choose("0")
    settle(panel, qtbot)
    assert not panel.axis.scale.breaks
    panel.head.idle.choose("60")
    settle(panel, qtbot)


def keys_zoom_and_move(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    span = panel.axis.span_ns
    press(panel, Qt.Key.Key_W, Qt.Key.Key_W)
    assert panel.axis.span_ns < span
    left = panel.axis.left_ns
    press(panel, Qt.Key.Key_D)
    assert panel.axis.left_ns > left
    press(panel, Qt.Key.Key_F)
    assert panel.axis.shows_all


def brush(panel: StepsPanel, first: float, last: float) -> None:
    """Drags over a part of the context strip, in shares of its width."""
    strip = panel.head.context
    begin, end = (QPoint(round(share * strip.width()), 20) for share in (first, last))
    QTest.mousePress(strip, Qt.MouseButton.LeftButton, pos=begin)
    QTest.mouseMove(strip, end)
    QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=end)


def selected_words(window: MainWindow) -> str:
    return next((words for words in window.status.words() if words.startswith("Selected")), "")


def a_brush_filters_by_its_range(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    brush(panel, 0.01, 0.33)
    assert "time >= " in panes_of(window).filter_state.filter.text
    qtbot.waitUntil(lambda: panel.latest.is_current and len(panel.model.rows.kinds) < 11)
    qtbot.waitUntil(lambda: "step" in selected_words(window))
    assert "model" in selected_words(window)


def another_brush_takes_the_place_of_the_first(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    brush(panel, 0.01, 0.33)
    settle(panel, qtbot)
    brush(panel, 0.6, 0.99)
    assert panes_of(window).filter_state.filter.text.count("time >= ") == 1
    qtbot.waitUntil(lambda: panel.latest.is_current and panel.model.rows.head.steps > 0)


def escape_ends_the_range(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    for widget in (panel.view, panel.head.context):
        brush(panel, 0.01, 0.33)
        qtbot.waitUntil(lambda: bool(selected_words(window)))
        widget.setFocus()
        QTest.keyClick(widget, Qt.Key.Key_Escape)
        assert not panes_of(window).filter_state.filter.text
        qtbot.waitUntil(lambda: panel.latest.is_current and panel.model.rows.head.steps == 8)
        assert not selected_words(window)


def back_ends_the_range(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    panes_of(window).go_to(3)
    brush(panel, 0.6, 0.99)
    qtbot.waitUntil(lambda: bool(selected_words(window)))
    window.actions_by_id["go.back"].trigger()
    assert not panes_of(window).filter_state.filter.text
    assert panes_of(window).messages.current_message() == 3
    qtbot.waitUntil(lambda: not selected_words(window))


def enter_shows_the_message_in_another_view(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, qtbot)
    panel.view.setCurrentIndex(panel.model.index(1, 0))
    press(panel, Qt.Key.Key_Return)
    assert window.center.current != "steps"
    assert panes_of(window).messages.current_message() == int(panel.model.rows.messages[panel.model.visible[1]])


def time_at_work_has_no_waits_for_a_person(window: MainWindow, qtbot: QtBot) -> None:
    figures = opened(window, qtbot).head.figures
    title = figures.lines()[0]
    figures.show_figures(msgspec.structs.replace(figures.figures, person_ns=103_000_000_000))
    assert figures.lines()[0] == title
    assert figures.lines()[1].endswith("decisions 1 min 43 s")


def names_of_spans_are_plain_text_in_the_tooltip(window: MainWindow, qtbot: QtBot) -> None:
    strip = opened(window, qtbot).head.context
    strip.show_figures(msgspec.structs.replace(strip.figures, path_words="Critical path: <b>span</b> 90 %"))
    assert "&lt;b&gt;span&lt;/b&gt;" in strip.toolTip()


test_steps = in_turn(
    (
        rows_are_a_tree, titles_have_room, joined_rows_open, a_click_selects_the_message,
        a_message_selected_elsewhere_is_selected_here,
        a_click_on_a_head_sorts, a_sort_shows_the_top_until_the_user_scrolls, groups_are_chosen,
        the_filter_of_the_window_is_respected, idle_time_is_left_out,
        keys_zoom_and_move, a_brush_filters_by_its_range, another_brush_takes_the_place_of_the_first,
        escape_ends_the_range, back_ends_the_range, enter_shows_the_message_in_another_view,
        time_at_work_has_no_waits_for_a_person, names_of_spans_are_plain_text_in_the_tooltip, costs_have_room,
        the_head_shows_whole_words,
    ),
    start_again,
)  # fmt: skip

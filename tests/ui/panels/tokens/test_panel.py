"""The tokens panel as the user meets it: figures in four ways, of everything or what is shown, filters, the plot."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from inspector.analysis.views.model_context import Reader
from inspector.document.document import CaptureDocument
from inspector.engine.requests.tokens import RowTarget, TokenRowTarget
from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.panels.tokens.model import Column, percent
from inspector.ui.panels.tokens.panel import TokensPanel
from inspector.ui.widgets import latest_answer
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.pages import ROOT
from tests.ui.find import child
from tests.ui.panels.growth.test_panel import at
from tests.ui.slow_answers import answer_slowly, step_until
from tests.ui.windows import in_turn, numbers, panel_of, panes_of, theme_of, window_on
from tests.waste import listed


@pytest.fixture
def window(application: Application) -> MainWindow:
    """1 chat of human; 2 and 3 a call of grep in why-1/files; 4 a thought in why-1."""
    ask = tool_call("grep", context="why-1/files", ts=at(10))
    answer = tool_result(ask, "one two three four five six", context="why-1/files", sender="files", ts=at(20))
    document = document_of(
        envelope("chat", {"text": "Hello"}, sender="human", ts=at(0)), ask, answer,
        envelope("reasoning/thought", {"message": "Look first"}, context="why-1", ts=at(30)),
    )  # fmt: skip
    document.analysis.tokens.count_now(range(4))
    return window_on(application, document)


def opened(window: MainWindow, *, wide: bool = False) -> TokensPanel:
    window.resize(1_900 if wide else 1_100, 900)
    window.show()
    window.actions_by_id["analyze.tokens"].trigger()
    panel = panel_of(panes_of(window), "tokens", TokensPanel)
    panel.refresh()
    return panel


def filter_of(window: MainWindow, name: str) -> str:
    """The filter that a row's menu offers."""
    panel, found = panel_of(panes_of(window), "tokens", TokensPanel), list[RowTarget]()
    key = next(one.key for one in panel.model.rows if one.name == name)
    panes_of(window).client.send_request(TokenRowTarget(panel.way, below=True, key=key), found.append)
    return found[0].filter


def rows(panel: TokensPanel) -> dict[str, tuple[str, str]]:
    """Tokens and messages by name."""
    model = panel.model
    cells = [[str(model.index(row, column).data()) for column in Column] for row in range(model.rowCount())]
    return {name: (tokens, messages) for name, _, tokens, _, messages in cells}


def said_at(panel: TokensPanel, ns: int) -> str:
    """What the plot says of a time that is pointed at."""
    assert panel.canvas is not None
    panel.axis.set_cursor(ns)
    return panel.canvas.accessibleDescription()


def tokens(window: MainWindow, *messages: int) -> str:
    held = window.document.analysis.tokens.columns["tokens"]
    return f"{sum(int(held[number - 1]) for number in messages):,}"


def figures_by_tool_context_participant_and_kind(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    assert panel.head.count() == f"{tokens(window, 1, 2, 3, 4)}, estimate (cl100k_base)"
    assert rows(panel) == {"grep": (tokens(window, 2, 3), "2"), "everything else": (tokens(window, 1, 4), "2")}
    panel.choice.buttons["By context"].click()
    assert panel.below.isVisible()
    assert rows(panel)["all contexts"] == (tokens(window, 1, 2, 3, 4), "4")
    assert rows(panel)["why-1"] == (tokens(window, 2, 3, 4), "3")
    panel.below.click()
    assert rows(panel)["why-1"] == (tokens(window, 4), "1")
    assert rows(panel)["main"] == (tokens(window, 1), "1")
    panel.choice.buttons["By participant"].click()
    assert not panel.below.isVisible()
    assert rows(panel)["lead"] == (tokens(window, 2, 4), "2")
    panel.choice.buttons["By kind"].click()
    assert rows(panel)["chat"] == (tokens(window, 1), "1")


def the_sum_says_that_it_is_not_what_stays_in_a_context(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    sum_of_all = child(panel.head, QLabel, "tokensHeadCount")
    assert sum_of_all.text() == panel.head.count() != ""
    assert sum_of_all.toolTip().endswith("Model sees shows the tokens in a model's context.")


def of_what_is_shown_goes_with_the_filter(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.shown.click()
    panes_of(window).filter_state.apply_filter('from == "lead"')
    left = {"grep": (tokens(window, 2), "1"), "everything else": (tokens(window, 4), "1")}
    qtbot.waitUntil(lambda: rows(panel) == left)
    panes_of(window).filter_state.apply_filter('from == "nobody"')
    qtbot.waitUntil(lambda: rows(panel) == {})
    assert panel.view.empty_text == "No visible message."
    panel.shown.click()
    assert rows(panel)["grep"][1] == "2"


def test_enter_double_click_and_menu_filter(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.view.selectRow(panel.model.row_of(0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert window.filter_bar.text() == "!tool"
    assert numbers(window) == [1, 4]
    grep = next(row for row, one in enumerate(panel.model.rows) if one.name == "grep")
    place = panel.view.visualRect(panel.model.index(grep, 0)).center()
    QTest.mouseDClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert numbers(window) == [2, 3]
    panel.choice.buttons["By context"].click()
    row = next(row for row, one in enumerate(panel.model.rows) if one.name == "why-1")
    actions = {action.text(): action for action in panel.view.menu_for(row).actions()}
    assert {"Filter by this", "And this", "And not this"} <= set(actions)
    actions["Filter by this"].trigger()
    assert window.filter_bar.text() == 'context under "why-1"'
    assert numbers(window) == [2, 3, 4]


def with_room_there_is_a_plot_that_can_be_brushed(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, wide=True)
    qtbot.waitUntil(lambda: panel.canvas is not None and panel.canvas.isVisible())
    canvas = panel.canvas
    assert canvas is not None
    canvas.grab()
    said = said_at(panel, panel.axis.first_ns + 25 * 10**9).split(". ")
    assert said[:3] == [
        f"grep {tokens(window, 2, 3)}", f"everything else {tokens(window, 1)}",
        f"tokens so far {tokens(window, 1, 2, 3)}",
    ]  # fmt: skip
    assert ". ".join(said[3:]).startswith("No. 3")
    for key in (Qt.Key.Key_Home, Qt.Key.Key_B, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(canvas, key)
    assert numbers(window) == [1, 2]


def a_time_that_does_not_fit_at_the_plots_end_is_left_out(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, wide=True)
    qtbot.waitUntil(lambda: panel.canvas is not None and panel.canvas.isVisible())
    canvas = panel.canvas
    assert canvas is not None
    seconds = 10**9
    panel.axis.show(panel.axis.first_ns, panel.axis.first_ns + 20 * seconds + seconds // 20)
    QApplication.processEvents()
    at_end = [x for ns, _ in panel.axis.ticks(canvas.axis_width) if (x := panel.axis.x_of(ns, canvas.axis_width)) > 0]
    assert canvas.axis_width - 4 < max(at_end) <= canvas.axis_width

    picture = canvas.grab().toImage()

    plain = {theme_of(panel).color(token).rgb() for token in ("surface.base", "line.hair")}
    last = range(picture.height() - 24, picture.height())
    assert {picture.pixel(picture.width() - 1, y) for y in last} <= plain


def test_definitions_of_tools_stand_apart_from_what_is_no_tool(application: Application) -> None:
    document = document_of(*listed("grep", "stat"), envelope("chat", {"text": "Hello"}))
    document.count_tokens()
    window = window_on(application, document)
    panel = opened(window)
    assert rows(panel) == {
        "tool definitions": (tokens(window, 1, 2), "2"), "everything else": (tokens(window, 3), "1"),
    }  # fmt: skip
    definitions, rest = (filter_of(window, name) for name in ("tool definitions", "everything else"))
    panes_of(window).filter_state.apply_filter(definitions)
    assert numbers(window) == [1, 2]
    panes_of(window).filter_state.apply_filter(rest)
    assert numbers(window) == [3]


def by_participant_is_what_each_sent_and_leads_to_what_its_model_sees(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.choice.buttons["By participant"].click()
    heading = panel.model.headerData(Column.NAME, Qt.Orientation.Horizontal)
    tip = panel.model.headerData(Column.NAME, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert (heading, "written by each" in str(tip)) == ("Sent by", True)
    row = next(row for row, one in enumerate(panel.model.rows) if one.name == "lead")
    tip = panel.model.index(row, Column.NAME).data(Qt.ItemDataRole.ToolTipRole)
    assert "Tokens it wrote" in tip
    next(action for action in panel.view.menu_for(row).actions() if action.objectName() == "modelSees").trigger()
    assert window.center.current == "model_sees"
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    assert panel.context_state.seen.reader == Reader(0, "lead")


def test_contexts_are_told_apart_and_their_sum_stays_on_top(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.choice.buttons["By context"].click()
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        for column in (Column.NAME, Column.TOKENS, Column.MESSAGES):
            panel.view.sortByColumn(column, order)
            assert panel.model.rows[0].name == "all contexts"
    (files,) = (one for one in panel.model.rows if one.name == "files")
    assert files.whole_name == "why-1 / files"


def bars_are_shares_of_the_whole(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.choice.buttons["By kind"].click()
    assert panel.model.rows[0].share < 0.9
    box = panel.view.visualRect(panel.model.index(0, Column.BAR))
    image = panel.view.viewport().grab().toImage()
    middle = box.center().y()
    left, right = panel.view.paddings(Column.BAR)
    last = QColor(image.pixel(box.right() - right - 2, middle))
    assert last == QColor(image.pixel(box.right() - right - 4, middle))
    assert last != QColor(image.pixel(box.left() + left + 4, middle)), "the greatest does not fill the track"


def the_plots_cursor_goes_with_the_selected_message(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window, wide=True)
    qtbot.waitUntil(lambda: panel.canvas is not None and panel.canvas.isVisible())
    canvas = panel.canvas
    assert canvas is not None
    times = [int(ns) for ns in window.document.capture.columns["time_ns"][:4]]
    QTest.mouseMove(canvas, QPoint(canvas.head + canvas.axis_width // 2, 60))
    panes_of(window).go_to(1)
    assert panel.axis.cursor_ns == times[1]
    panes_of(window).go_to(3)
    assert panel.axis.cursor_ns == times[3]
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert panel.axis.cursor_ns == times[3], "where the pointer came in is over"


def test_it_follows_the_traffic_and_rests_when_hidden(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "FIGURES_MS", 10)
    log = GrowingLog()
    window = window_on(application, log.document)
    panel = opened(window)
    assert panel.view.empty_text == "No message yet."
    log.write(tool_call("grep"))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: rows(panel) == {"grep": ("…", "1")})
    assert panel.head.count().endswith("not counted yet")
    window.actions_by_id["analyze.tokens"].trigger()
    log.write(tool_call("stat"))
    panes_of(window).bridge.flush()
    assert not panel.latest.is_pending
    window.actions_by_id["analyze.tokens"].trigger()
    qtbot.waitUntil(lambda: len(rows(panel)) == 2)


@pytest.mark.parametrize(("share", "said"), [(0, "0 %"), (0.004, "<1 %"), (0.024, "2.4 %"), (0.41, "41 %")])
def test_shares(share: float, said: str) -> None:
    assert percent(share) == said


def test_of_many_messages_it_is_added_up_a_little_at_a_time(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latest_answer, "UPDATING_MS", 0)
    panel = opened(window, wide=True)
    qtbot.waitUntil(lambda: panel.canvas is not None and panel.canvas.isVisible() and panel.latest.is_current)
    answer_slowly(monkeypatch, panes_of(window).client)
    panel.choice.buttons["By kind"].click()
    step_until(lambda: panel.head.count() == "adding up")
    assert "grep" in rows(panel)
    log = window.document.analysis.tokens
    qtbot.waitUntil(lambda: "chat" in rows(panel))
    assert rows(panel)["chat"] == (tokens(window, 1), "1")
    assert panel.head.count().startswith(f"{log.total:,}")
    qtbot.waitUntil(lambda: f"tokens so far {log.total:,}" in said_at(panel, panel.axis.last_ns))


def test_messages_that_come_do_not_have_it_begin_again(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what the table shows nothing was ever said while messages came faster than they were added up."""
    panel = opened(window)
    qtbot.waitUntil(lambda: panel.latest.is_current)
    answer_slowly(monkeypatch, panes_of(window).client)
    panes = panes_of(window)
    panel.choice.buttons["By kind"].click()
    panel.shown.click()
    for _ in range(200):
        panes.counts_changed.emit()
        qtbot.wait(5)
        if "chat" in rows(panel):
            break
    assert "chat" in rows(panel)
    panes.filter_state.apply_filter('kind == "chat"')
    qtbot.waitUntil(lambda: list(rows(panel)) == ["chat"])


def begun_again(window: MainWindow) -> None:
    """Everything is shown, and the panel adds it up by tool, in the order it does so at first."""
    panes_of(window).filter_state.clear()
    window.docks["Tokens"].hide()
    panel = panel_of(panes_of(window), "tokens", TokensPanel)
    panel.choice.buttons["By tool"].click()
    panel.view.sortByColumn(Column.TOKENS, Qt.SortOrder.DescendingOrder)
    panel.axis.fit()


test_figures_filters_and_the_plot = in_turn([
    figures_by_tool_context_participant_and_kind, the_sum_says_that_it_is_not_what_stays_in_a_context,
    of_what_is_shown_goes_with_the_filter, bars_are_shares_of_the_whole,
    with_room_there_is_a_plot_that_can_be_brushed, a_time_that_does_not_fit_at_the_plots_end_is_left_out,
    the_plots_cursor_goes_with_the_selected_message,
    by_participant_is_what_each_sent_and_leads_to_what_its_model_sees,
], begun_again)  # fmt: skip


def test_reported_tokens_come_before_the_estimate(application: Application) -> None:
    document = CaptureDocument()
    document.load(ROOT / "tests/data/captures/model-wire.jsonl")
    document.count_tokens()
    panel = opened(window_on(application, document))
    said = panel.head.count()
    assert said.startswith("Reported by models: ")
    assert 0 < said.index("tokens out") < said.index("estimate")

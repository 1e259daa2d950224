"""What must not move, and what must stay marked, while messages come and panes are shown, as somebody sees it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar, QTabWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.views.account.unanswered import PENDING_FILTER
from inspector.base.paths import config_folder
from inspector.document.document import CaptureDocument
from inspector.filters.visible import Scope
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.details.chain_view import ThreadView
from inspector.ui.panels.details.section import Page
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, received, tool_call, tool_result
from tests.findings import at
from tests.ui.find import child
from tests.ui.windows import panes_of, story, window_on

pytestmark = pytest.mark.styled

Make = Callable[[CaptureDocument], MainWindow]


@pytest.fixture
def make(application: Application) -> Make:
    return lambda document: window_on(application, document)


def many(count: int = 200) -> list[dict[str, object]]:
    return [received(envelope("chat", {"text": f"said {n}"})) for n in range(count)]


def top_of(panes: Panes, message: int) -> int:
    """Where a message's row stands on the screen."""
    view = panes.messages.view
    row = panes.rows.row_of(message)
    assert row is not None
    return view.viewport().mapToGlobal(QPoint(0, view.rowViewportPosition(row))).y()


def click_row(panes: Panes, message: int) -> None:
    view = panes.messages.view
    row = panes.rows.row_of(message)
    assert row is not None
    place = QPoint(300, view.rowViewportPosition(row) + 8)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def heights(thread: ThreadView) -> list[int]:
    """How high its first two rows are in panes of many widths."""
    return [thread.row_height(row, width) for row in range(2) for width in range(240, 480, 8)]


# The layout


def drag_edge_of_details(window: MainWindow, qtbot: QtBot, by: int) -> None:
    """Drag the left edge of the details, as the pointer does."""
    details = window.docks["Details"]
    edge = QPoint(details.x() - 1, details.y() + details.height() // 2)
    QTest.mousePress(window, Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(window, edge + QPoint(by, 0))
    qtbot.wait(30)
    QTest.mouseRelease(window, Qt.MouseButton.LeftButton, pos=edge + QPoint(by, 0))
    qtbot.wait(30)


def restarted(application: Application, wide: bool, qtbot: QtBot, details: int | None = None) -> tuple[int, int]:
    """Widths at the sides in a window that is opened as it was closed, on a screen of either size."""
    QSettings(str(config_folder() / "layout.ini"), QSettings.Format.IniFormat).remove("geometry")
    window = window_on(application, story())
    if wide:
        window.resize(1920, 1200)
    qtbot.wait(30)
    if details is not None:
        drag_edge_of_details(window, qtbot, window.docks["Details"].width() - details)
    found = window.docks["Contexts"].width(), window.docks["Details"].width()
    window.close()
    return found


def test_default_widths_are_those_of_each_screen(qapp: QApplication, qtbot: QtBot) -> None:
    application = Application(qapp, theme="light", bundled_fonts=True)
    assert restarted(application, True, qtbot) == (288, 484)
    assert restarted(application, False, qtbot) == (212, 312)
    assert restarted(application, False, qtbot) == (212, 312)
    assert restarted(application, True, qtbot) == (288, 484)
    application.theme.dispose()


def test_widths_somebody_dragged_stay(qapp: QApplication, qtbot: QtBot) -> None:
    application = Application(qapp, theme="light", bundled_fonts=True)
    assert restarted(application, False, qtbot, details=430)[1] == 430
    assert restarted(application, False, qtbot)[1] == 430
    application.theme.dispose()


def test_a_window_that_jumps_to_another_size_takes_its_widths(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    for width, sides in ((1920, (288, 484)), (1280, (212, 312)), (1000, (212, 312)), (1920, (288, 484))):
        window.resize(width, 800)
        qtbot.wait(30)
        assert (window.docks["Contexts"].width(), window.docks["Details"].width()) == sides


def test_panes_that_lie_on_one_another_have_their_tabs_on_top(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    for area in (Qt.DockWidgetArea.BottomDockWidgetArea, Qt.DockWidgetArea.LeftDockWidgetArea):
        assert window.tabPosition(area) is QTabWidget.TabPosition.North
    window.docks["Findings"].show()
    window.docks["Latency"].show()
    qtbot.wait(30)
    assert child(window, QTabBar, "dockTabs").mapTo(window, QPoint()).y() < window.docks["Findings"].y() + 1


# Following and holding still


def test_clicking_the_last_row_pauses_following(make: Make) -> None:
    log = GrowingLog()
    log.write(*many())
    panes = panes_of(make(log.document))
    panes.bridge.flush()
    panes.messages.go_to_last()
    assert panes.messages.following
    click_row(panes, 199)
    assert not panes.messages.following
    before = top_of(panes, 199)
    log.write(*many(10))
    panes.bridge.flush()
    assert top_of(panes, 199) == before
    panes.messages.go_to_last()
    assert panes.messages.following


def test_a_notice_moves_no_row(make: Make, qtbot: QtBot) -> None:
    window = make(document_of(*many()))
    panes = panes_of(window)
    panes.go_to(100)
    qtbot.wait(30)
    before = top_of(panes, 100)
    window.notices.show_sentence("Something is to be said.")
    qtbot.wait(30)
    assert top_of(panes, 100) == before
    window.notices.dismiss("message")
    qtbot.wait(30)
    assert top_of(panes, 100) == before


def test_a_notice_leaves_the_first_row_of_a_log_in_sight(make: Make, qtbot: QtBot) -> None:
    """A session that is opened says at once that its sub-agents lie in other files."""
    window = make(document_of(*many()))
    view = panes_of(window).messages.view
    window.notices.show_sentence("Something is to be said.")
    qtbot.wait(30)
    assert view.rowAt(0) == 0
    assert view.rowViewportPosition(0) == 0


def test_hidden_calls_that_come_in_move_no_row(make: Make, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(*many(3), *(received(envelope("chat", context="why")) for _ in range(200)))
    panes = panes_of(make(log.document))
    panes.bridge.flush()
    panes.filter_state.set_scope(
        Scope(int(log.document.capture.columns["space"][10]), log.document.analysis.contexts.node_of(10))
    )
    panes.go_to(100)
    qtbot.wait(30)
    before = top_of(panes, 100)
    log.write(received(tool_call("search", context="other")))
    panes.bridge.flush()
    qtbot.wait(30)
    assert panes.rows.hidden_calls() == (1, 0)
    assert top_of(panes, 100) == before


def test_what_is_said_of_hidden_calls_moves_no_row_of_a_short_log(make: Make, qtbot: QtBot) -> None:
    panes = panes_of(make(story()))
    qtbot.wait(30)
    before = top_of(panes, 0)
    panes.filter_state.apply_filter('kind == "chat"')
    qtbot.wait(30)
    assert panes.rows.hidden_calls() == (2, 0)
    assert top_of(panes, 0) == before


def test_notices_of_the_window_stand_under_the_tabs(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    window.notices.show_sentence("Exported 9 messages.")
    qtbot.wait(30)
    tabs, said = window.view_head.tabs, window.notices.notice("message")
    assert said is not None
    assert said.isVisible()
    assert said.mapTo(window, QPoint()).y() >= tabs.mapTo(window, QPoint(0, tabs.height())).y()


def test_a_step_that_comes_later_moves_no_line_of_a_reasoning(make: Make, qtbot: QtBot) -> None:
    start = envelope("reasoning/start", {"message": "Find the slow part"}, id="why", ts=at(0))
    words = "One has to look at every part of it before anything can be said about which of them is the slow one. "
    thought = envelope("reasoning/thought", {"message": words}, context="why", ts=at(1))
    log = GrowingLog()
    log.write(received(start), received(thought))
    panes = panes_of(make(log.document))
    panes.bridge.flush()
    panes.go_to(0)
    before = heights(child(panes.details, ThreadView))
    log.write(received(envelope("reasoning/thought", {"message": "So"}, context="why", ts=at(1499))))
    panes.bridge.flush()
    qtbot.wait(600)
    threads = [view for view in panes.details.findChildren(ThreadView) if view.isVisible()]
    assert len(threads[0].rows) == 3
    assert heights(threads[0]) == before


def test_in_how_many_messages_nothing_was_found_keeps_up(make: Make, qtbot: QtBot) -> None:
    log = GrowingLog()
    window = make(log.document)
    panes = panes_of(window)
    window.docks["Findings"].show()
    assert panes.findings.view.empty_text == "No findings so far in 0 messages."
    log.write(*(received(envelope("chat", {"text": f"said {n}"}, ts=None)) for n in range(7)))
    panes.bridge.flush()
    qtbot.waitUntil(lambda: panes.findings.view.empty_text == "No findings so far in 7 messages.")


# One number for one word


def test_problems_are_the_same_number_wherever_they_are_counted(make: Make, qtbot: QtBot) -> None:
    call = tool_call("search", context="why", ts=at(0), sender="a", to="b")
    twice = [received(envelope("mcp/response", {}, correlation_id=["never"], context="why", ts=at(n))) for n in (1, 2)]
    lost = received(envelope("mcp/response", {}, correlation_id=["never"], ts=at(3)), space_id="other")
    document = document_of(received(call), *twice, lost, received(envelope("chat", ts=at(100))))
    window = make(document)
    panes = panes_of(window)
    qtbot.wait(50)
    found = document.analysis.findings.found
    status = next(words for words in window.status.words() if "problem" in words)
    panes.filter_state.apply_filter("finding.severity >= warning")
    number = len(panes.rows.visible)
    assert len(found) > number > 1
    assert status == f"{number} problems"
    chip = next(chip for chip in window.presets.bar.chips() if chip.preset.name == "Problems")
    assert chip.count == number
    model = panes.contexts.model
    spaces = [row for row in range(model.rowCount()) if model.node(row) is None]
    assert sum(model.tally(row).problems for row in spaces) == number
    said = f"{number} messages with a problem: "
    assert said in chip.toolTip()
    assert said in child(window, StatusButton, "statusProblems").toolTip()


# A message that leaves the view


def test_the_details_stay_with_a_request_that_is_answered(make: Make) -> None:
    call, other = tool_call("search"), tool_call("other")
    log = GrowingLog()
    log.write(*many(50), received(call), received(other))
    panes = panes_of(make(log.document))
    panes.bridge.flush()
    panes.filter_state.apply_filter(PENDING_FILTER)
    click_row(panes, 50)
    log.write(received(tool_result(call, "found")))
    panes.bridge.flush()
    assert panes.rows.visible.tolist() == [51]
    assert panes.details.message == 50
    assert panes.messages.current_message() == 50
    log.write(received(tool_result(other, "found")))
    panes.bridge.flush()
    assert panes.details.message == 50
    assert panes.messages.empty.text.startswith("No message is waiting for an answer. Clear the filter")
    panes.filter_state.apply_filter("")
    view = panes.messages.view
    row = panes.rows.row_of(50)
    assert panes.details.message == 50
    assert row is not None
    assert 0 <= view.rowViewportPosition(row) <= view.viewport().height() - 24


def test_the_row_after_one_that_left_is_the_next(make: Make) -> None:
    calls = [tool_call(f"t{n}") for n in range(4)]
    log = GrowingLog()
    log.write(*map(received, calls))
    panes = panes_of(make(log.document))
    panes.bridge.flush()
    panes.filter_state.apply_filter(PENDING_FILTER)
    click_row(panes, 1)
    log.write(received(tool_result(calls[1], "found")))
    panes.bridge.flush()
    panes.messages.step(1)
    assert panes.details.message == 2


def test_a_filter_that_matches_nothing_and_goes_leaves_the_view_where_it_was(make: Make, qtbot: QtBot) -> None:
    panes = panes_of(make(document_of(*many())))
    panes.go_to(100)
    before = top_of(panes, 100)
    panes.filter_state.apply_filter('kind == "nothing"')
    qtbot.wait(30)
    assert panes.messages.empty.text.startswith("No message matches this filter.")
    panes.filter_state.apply_filter("")
    assert panes.messages.current_message() == 100
    assert top_of(panes, 100) == before


# Keyboard


def names_of_a_round(window: MainWindow, steps: int = 60) -> list[str]:
    names: list[str] = []
    for _ in range(steps):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
        assert focus is not None
        assert focus.isVisible()
        if names and isinstance(focus, FilterEditor):
            break
        names.append(focus.objectName())
    return names


def test_a_round_of_tab_goes_through_the_window_as_it_is_read(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    window.resize(1280, 900)
    window.docks["Findings"].show()
    panes = panes_of(window)
    panes.go_to(4)
    window.activateWindow()
    qtbot.wait(50)
    child(window, FilterEditor).setFocus()
    names = names_of_a_round(window)
    assert "dockTabs" not in names
    order = ["presetChip", "contextsExpand", "contextsFind", "contextTree", "participantsList", "messageTable",
             "findings.error", "findings.warning", "findings.note", "findingsMore", "findingsClose", "findingsList",
             "detailTabs"]  # fmt: skip
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    assert names.index("detailTabs") < names.index("statusProblems")


def test_backtab_goes_the_other_way(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    window.activateWindow()
    qtbot.wait(50)
    panes = panes_of(window)
    panes.messages.setFocus()
    QTest.keyClick(panes.messages.view, Qt.Key.Key_Tab)
    there = QApplication.focusWidget()
    assert there is not None
    QTest.keyClick(there, Qt.Key.Key_Backtab)
    assert QApplication.focusWidget() is panes.messages.view


def test_the_detail_tabs_show_that_they_have_the_keyboard(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    window.activateWindow()
    qtbot.wait(50)
    panes = panes_of(window)
    panes.go_to(0)
    tabs, ring = panes.details.tabs, window.theme.theme.color("accent.ring").rgb()
    edge = QPoint(tabs.tabRect(0).left(), tabs.height() // 2)
    tabs.setFocus()
    assert tabs.grab().toImage().pixel(edge + QPoint(1, 0)) == ring
    panes.messages.setFocus()
    assert tabs.grab().toImage().pixel(edge + QPoint(1, 0)) != ring


# What is picked


def test_a_participant_is_marked_as_long_as_the_details_show_it(make: Make) -> None:
    panes = panes_of(make(story()))
    view = panes.participants.view
    panes.go_to(0)
    row = view.visualRect(panes.participants.model.index(0, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert isinstance(panes.details.place, ParticipantPlace)
    assert view.selectionModel().isRowSelected(0)
    click_row(panes, 4)
    assert not view.selectionModel().hasSelection()
    panes.go_back()
    assert isinstance(panes.details.place, ParticipantPlace)
    assert view.selectionModel().isRowSelected(0)
    panes.show_context(panes.details.place.space, -1)
    assert not view.selectionModel().hasSelection()


def test_the_tree_marks_the_context_whose_page_is_shown(make: Make) -> None:
    panes = panes_of(make(story()))
    panes.go_to(0)
    contexts, model = panes.contexts, panes.contexts.model
    row = next(
        row for row in range(model.rowCount()) if model.node(row) == panes.client.document.analysis.contexts.node_of(4)
    )
    contexts.view.scope_asked.emit(row)
    assert isinstance(panes.details.place, ContextPlace)
    contexts.clear_scope()
    assert isinstance(panes.details.place, ContextPlace)
    assert contexts.view.marked_row == row
    click_row(panes, 0)
    assert model.node(contexts.view.marked_row) == -1


def test_back_returns_to_where_a_page_was_scrolled_to(make: Make, qtbot: QtBot) -> None:
    window = make(story())
    window.resize(1500, 420)
    panes = panes_of(window)
    panes.go_to(0)
    panes.show_context(
        int(panes.client.document.capture.columns["space"][4]), panes.client.document.analysis.contexts.node_of(4)
    )
    qtbot.wait(50)
    page = child(panes.details, Page, "contextPage")
    page.verticalScrollBar().setValue(60)
    assert page.verticalScrollBar().value() == 60
    click_row(panes, 2)
    panes.show_context(int(panes.client.document.capture.columns["space"][4]), -1)
    qtbot.wait(30)
    panes.go_back()
    panes.go_back()
    qtbot.wait(50)
    assert isinstance(panes.details.place, ContextPlace)
    assert page.verticalScrollBar().value() == 60

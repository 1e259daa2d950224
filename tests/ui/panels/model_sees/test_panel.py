"""What a model sees, as the user meets it: tab, moments, rows, comparing, copying, export, live traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.seen_contexts import DescribeEntries, ShowSeenContext, WriteContext
from inspector.filters.scope import Scope
from inspector.present.places import ParticipantPlace
from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.panels.model_sees import context_export
from inspector.ui.panels.model_sees.panel import NOBODY, WORKING, ModelSeesPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_at, document_of, envelope, tool_call, tool_result
from tests.transcribed import ClaudeSession
from tests.ui.find import child
from tests.ui.held_requests import hold_requests
from tests.ui.slow_answers import answer_slowly, step_until
from tests.ui.waiting import pass_time
from tests.ui.windows import application_of, ask_engine, in_turn, panes_of, window_on

HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
TRANSIENT = {"context": {"lifecycle": "transient", "summary": "15 visits"}}
CONSUMED = {"context": {"consumed": True}}
WIRE = Path(__file__).parents[3] / "data" / "captures" / "model-wire.jsonl"
SECRET = "sk-abcdefghijkl0123456789MNOPQRSTuv"


def lines() -> list[dict[str, Any]]:
    """1 to 6 the loop of lead: hint, page, store; 7 of human; 8 for others; 9 a report; 10 forgets two; 11 of lead."""
    step, search, store = tool_call("get_step"), tool_call("search"), tool_call("store")
    status = {"tokens": 900, "max_tokens": 1000, "messages_in_context": 12}
    return [
        step, tool_result(step, meta=HINT), search, tool_result(search, "visit " * 200, meta=TRANSIENT),
        store, tool_result(store, meta=CONSUMED), envelope("chat", {"text": f"Key {SECRET}"}, sender="human"),
        envelope("chat", {"text": "Psst"}, sender="human", to=["writer"]),
        envelope("participant/status", status, sender="lead"),
        envelope("participant/forget", {"direction": "oldest", "entries": 2}, sender="human", to=["lead"]),
        envelope("chat", {"text": "Done"}),
    ]  # fmt: skip


def counted(document: CaptureDocument) -> CaptureDocument:
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    return document


@pytest.fixture
def window(application: Application) -> MainWindow:
    return window_on(application, counted(document_of(*lines())))


def opened(window: MainWindow) -> ModelSeesPanel:
    window.show()
    window.actions_by_id["view.model_sees"].trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    return panel


def listed(panel: ModelSeesPanel) -> list[int]:
    return [int(message) + 1 for message in panel.source.messages]


def select(window: MainWindow, number: int, qtbot: QtBot) -> None:
    """Select a message elsewhere, and wait until this view has gone there."""
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    panes_of(window).go_to(number - 1)
    qtbot.waitUntil(lambda: not child(panel, QTimer, "followTimer").isActive())


def press(panel: ModelSeesPanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.view, key)


def row_of(panel: ModelSeesPanel, number: int) -> int:
    return panel.source.row_of(("", number - 1))


def click(panel: ModelSeesPanel, number: int) -> None:
    panel.view.executeDelayedItemsLayout()
    place = panel.view.visualRect(panel.model.index(row_of(panel, number), 0)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, place.y()))


def it_shows_what_stands_in_the_context_at_the_end(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)

    assert "Model sees" in window.view_head.tabs.words()
    assert listed(panel) == [3, 4, 5, 6, 7, 11]
    assert panel.head.moment_label.text() == "at the end, No. 11"
    assert panel.head.reader.words == "lead"
    page = panel.source.line(row_of(panel, 4))
    assert (page.text, page.state) == ("15 visits", "collapsed")
    assert "No. 6 consumed it" in page.why


def test_of_many_messages_it_is_worked_out_a_little_at_a_time(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_slowly(monkeypatch, panes_of(window).client)
    panel = opened(window)
    assert (listed(panel), panel.view.empty_text) == ([], WORKING)
    qtbot.waitUntil(lambda: listed(panel) == [3, 4, 5, 6, 7, 11])
    panel.head.options["collapsing"].trigger()
    panel.show_at(6)
    qtbot.waitUntil(lambda: panel.head.moment_label.text() == "at No. 7")
    assert panel.source.line(row_of(panel, 4)).state != "collapsed"


@pytest.mark.parametrize("turns", range(25))
def test_another_moment_may_be_asked_for_while_one_is_worked_out(turns: int) -> None:
    """Just before the end it was taken for the one that was worked out."""
    engine = Engine()
    number = engine.adopt(counted(document_of(*lines())))
    cancelled = engine.begin(number, ShowSeenContext())
    for _ in range(turns):
        next(cancelled, None)
    cancelled.close()
    seen = engine.answer_request(number, ShowSeenContext(message=3))
    entries = engine.answer_request(number, DescribeEntries(seen.list_number, tuple(seen.messages.tolist())))
    assert (seen.message, [one.entry.message for one in entries]) == (3, [0, 1, 2, 3])


def test_what_came_while_it_is_worked_out_is_shown_soon(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time to look again had come before it was done, and nothing renewed it later."""
    monkeypatch.setattr(intervals, "FIGURES_MS", 10)
    log = GrowingLog()
    log.write(*lines())
    window = window_on(application, log.document)
    answer_slowly(monkeypatch, panes_of(window).client)
    release = hold_requests(monkeypatch, ShowSeenContext)
    panel = opened(window)
    assert panel.latest.is_pending, "it is not done"
    log.write(envelope("chat", {"text": "More"}))
    panes_of(window).bridge.flush()
    release()
    qtbot.waitUntil(lambda: panel.head.moment_label.text() == "at the end, No. 12")


def reported_figures_stand_apart_from_the_estimate(window: MainWindow, qtbot: QtBot) -> None:
    figures = opened(window).figures.figures

    assert figures is not None
    assert figures.now < 100 < figures.saved
    assert figures.reported == "900 of 1,000 tokens, 12 messages in context\nreported with No. 9"
    assert "estimate (cl100k_base)" in figures.accessible_text
    assert "900" not in f"{figures.now} {figures.whole}"
    assert "900 of 1,000 tokens" in opened(window).figures.toolTip()  # where there is no room for it beside them


def the_moment_goes_with_what_is_selected_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)

    select(window, 4, qtbot)

    assert listed(panel) == [1, 2, 3, 4]
    assert panel.head.moment_label.text() == "at No. 4"
    assert panel.source.line(3).text.startswith("visit visit")


def selecting_a_row_selects_the_message_and_leaves_the_moment(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 11, qtbot)

    click(panel, 4)

    assert panes_of(window).messages.current_message() == 3
    assert listed(panel) == [3, 4, 5, 6, 7, 11]
    assert panel.head.moment_label.text() == "at No. 11"
    press(panel, Qt.Key.Key_Down)
    assert panes_of(window).messages.current_message() == 4


def a_held_moment_stays(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 6, qtbot)

    panel.head.hold.click()
    select(window, 2, qtbot)

    assert panel.head.moment_label.text() == "at No. 6"
    press(panel, Qt.Key.Key_H)
    assert panel.head.moment_label.text() == "at No. 2"


def stepping_goes_to_the_messages_that_change_the_context(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 7, qtbot)
    seen: list[str] = []

    for key in ("]", "]", "]", "[", "["):
        QTest.keyClicks(panel.view, key)
        seen.append(panel.head.moment_label.text())

    assert seen == ["at No. 10", "at No. 11", "at No. 11", "at No. 10", "at No. 7"]
    assert panes_of(window).messages.current_message() == 6


def what_is_out_is_listed_with_its_reason(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)

    panel.head.out.click()

    assert listed(panel) == list(range(1, 12))
    assert panel.source.line(0).why == "No. 10 told it to forget. No report confirms that it did. *"
    assert panel.source.line(7).why.startswith("Addressed to others.")
    assert panel.source.line(0).tokens == ""
    window.grab()


def options_change_what_stands_there(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    before = panel.figures.figures

    panel.head.options["collapsing"].trigger()

    after = panel.figures.figures
    assert before is not None
    assert after is not None
    assert after.now == after.whole == before.whole
    assert panel.head.assume.words == "own reasoning"


def test_another_participant_is_chosen_from_the_menu(window: MainWindow) -> None:
    other = tool_call("search", sender="writer")
    window = window_on(application_of(window), counted(document_of(*lines(), other)))
    panel = opened(window)
    panel.head.reader.menu_of_options.aboutToShow.emit()

    next(a for a in panel.head.reader.menu_of_options.actions() if a.text() == "writer").trigger()

    assert panel.head.reader.words == "writer"
    assert listed(panel) == [7, 8, 11, 12]


def two_moments_are_compared(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 4, qtbot)

    panel.head.compare.click()
    assert panel.comparing.figure.text() == "Compared with No. 4"
    select(window, 11, qtbot)

    marks = [(number, panel.source.line(row).mark) for row, number in enumerate(listed(panel))]
    assert marks == [(1, "went"), (2, "went"), (4, "collapsed"), (5, "came"), (6, "came"), (7, "came"), (11, "came")]
    assert panel.comparing.figure.text().startswith("\N{MINUS SIGN}")
    change = panel.context_state.seen.change
    assert change is not None
    totals = f"from No. 4 ({change.earlier.total} tokens) to No. 11 ({change.later.total} tokens): "
    assert f"{totals}4 came, 2 went, 1 collapsed" in panel.comparing.hint.text
    window.grab()
    panel.comparing.reach.click()
    assert listed(panel) == [1, 2, 3, 4, 5, 6, 7, 11]
    press(panel, Qt.Key.Key_Escape)
    assert not panel.comparing.isVisible()
    assert not panel.head.compare.isChecked()
    assert listed(panel) == [3, 4, 5, 6, 7, 11]


def a_held_moment_is_compared_with_what_is_selected_next(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 4, qtbot)
    press(panel, Qt.Key.Key_H)
    press(panel, Qt.Key.Key_C)
    assert "Select a second message" in panel.comparing.hint.text
    select(window, 11, qtbot)
    assert panel.comparing.hint.text.startswith("from No. 4 (")
    press(panel, Qt.Key.Key_Escape)
    assert panel.head.moment_label.text() == "at No. 4", "it is held still"


def an_entry_of_the_list_can_be_what_a_moment_is_compared_with(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 11, qtbot)
    press(panel, Qt.Key.Key_C)
    row = listed(panel).index(4)
    place = panel.view.visualRect(panel.view.model().index(row, 0)).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: panel.context_state.seen.change is not None)
    assert panel.comparing.hint.text.startswith("from No. 4 (")


def comparing_with_a_later_moment_says_the_same(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    press(panel, Qt.Key.Key_C)

    select(window, 4, qtbot)

    change, figures = panel.context_state.seen.change, panel.figures.figures
    assert change is not None
    assert figures is not None
    assert panel.comparing.hint.text.startswith(f"from No. 4 ({change.earlier.total} tokens) to No. 11 (")
    assert panel.head.moment_label.text() == "at No. 4"
    assert figures.now == change.earlier.total != change.later.total


def what_a_row_changed_stands_in_its_line(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 4, qtbot)
    press(panel, Qt.Key.Key_C)
    select(window, 11, qtbot)
    change = panel.context_state.seen.change
    assert change is not None

    lines = [panel.source.line(row) for row in range(len(panel.source))]

    assert sum(line.change or 0 for line in lines) == change.tokens
    page = panel.source.line(row_of(panel, 4))
    assert page.change is not None
    assert page.change < -100
    assert page.tokens == f"\N{MINUS SIGN}{-page.change}"
    assert panel.heads.titles[3] == "Change"
    window.grab()


def the_largest_entries_are_listed_first(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 4, qtbot)
    at = {span.column.title: span.left + span.width // 2 for span in panel.heads.spans()}
    tokens = QPoint(at["Tokens"], panel.heads.height() // 2)

    QTest.mouseClick(panel.heads, Qt.MouseButton.LeftButton, pos=tokens)

    sizes = [panel.source.line(row).entry.tokens or 0 for row in range(len(panel.source))]
    assert sizes == sorted(sizes, reverse=True)
    assert listed(panel)[0] == 4
    assert [row_of(panel, number) for number in listed(panel)] == list(range(len(sizes)))
    assert panel.view.currentIndex().row() == 0
    window.grab()
    press(panel, Qt.Key.Key_S)
    assert listed(panel) == [1, 2, 3, 4]
    panel.head.more.aboutToShow.emit()
    assert not panel.more.largest.isChecked()
    panel.more.largest.trigger()
    assert listed(panel)[0] == 4
    QTest.mouseClick(panel.heads, Qt.MouseButton.LeftButton, pos=QPoint(at["No."], tokens.y()))
    assert listed(panel) == [1, 2, 3, 4]


def what_is_reported_and_in_no_traffic_is_said(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    select(window, 9, qtbot)
    figures = panel.figures.figures
    assert figures is not None
    QApplication.processEvents()
    high = panel.figures.height()

    (line,) = figures.lines
    assert line[0] == (
        f"{900 - figures.now} of the 900 reported tokens are not in the log, such as system prompt, tool definitions "
        "or an earlier conversation."
    )
    assert line[0] in panel.figures.accessibleName()
    select(window, 4, qtbot)
    qtbot.waitUntil(lambda: panel.figures.height() < high)


def test_return_opens_the_details(window: MainWindow) -> None:
    panel = opened(window)
    window.docks["Details"].hide()
    click(panel, 5)

    press(panel, Qt.Key.Key_Return)

    assert window.docks["Details"].isVisible()
    assert panes_of(window).messages.current_message() == 4


def test_the_menu_of_a_row(window: MainWindow) -> None:
    panel = opened(window)
    menu = panel.menu_for(row_of(panel, 4))
    actions = {action.objectName(): action for action in menu.actions()}

    actions["copy.text"].trigger()
    assert QGuiApplication.clipboard().text() == "15 visits"
    assert actions["go.because"].text() == "Go to No. 6, which collapsed it"
    actions["go.because"].trigger()
    assert panes_of(window).messages.current_message() == 5
    actions["filter.listed"].trigger()
    assert panes_of(window).filter_state.filter.text == "no in {3, 4, 5, 6, 7, 11}"
    actions["moment"].trigger()
    assert panel.head.moment_label.text() == "at No. 4"
    menu.deleteLater()


def test_moving_over_rows_a_filter_hides_does_not_clear_it(window: MainWindow) -> None:
    panel = opened(window)
    panes_of(window).filter_state.apply_filter('kind == "chat"')

    press(panel, Qt.Key.Key_Home, Qt.Key.Key_Down)

    assert panes_of(window).filter_state.filter.text == 'kind == "chat"'
    click(panel, 5)
    assert panes_of(window).filter_state.filter.text == ""


def messages_json_is_copied_with_secrets_masked(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)

    panel.more.copy.trigger()

    made = json.loads(QGuiApplication.clipboard().text())
    assert [message["role"] for message in made["messages"]] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]
    assert made["messages"][1]["content"] == "15 visits"
    assert SECRET not in QGuiApplication.clipboard().text()
    assert panel.notices.isVisible()


@pytest.mark.parametrize("secrets", [False, True])
def test_messages_json_is_exported(window: MainWindow, qtbot: QtBot, tmp_path: Path, secrets: bool) -> None:
    panel, target = opened(window), tmp_path / "seen.json"

    (panel.more.unmasked if secrets else panel.more.export).trigger()
    dialog = panel.findChild(QFileDialog, "modelSeesExportDialog")
    assert dialog is not None
    dialog.fileSelected.emit(str(target))
    dialog.close()
    qtbot.waitUntil(lambda: not panel.context_export.working)

    assert len(json.loads(target.read_text())["messages"]) == 6
    assert (SECRET in target.read_text()) is secrets
    assert [path.name for path in tmp_path.iterdir()] == ["seen.json"]


def test_an_export_can_be_cancelled(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = opened(window)
    assert panel.context_state.shown is not None
    answer_slowly(monkeypatch, panes_of(window).client)
    hold_requests(monkeypatch, WriteContext)
    monkeypatch.setattr(intervals, "QUIET_S", 0.0)

    panel.context_export.export(panel.context_state.shown, tmp_path / "seen.json", 6, secrets=False)
    step_until(lambda: panel.notices.notice("model-sees") is not None)
    notice = panel.notices.notice("model-sees")
    assert notice is not None
    assert notice.links == ["Cancel"]
    next(link for link in notice.findChildren(QAbstractButton) if link.accessibleName() == "Cancel").click()

    assert not panel.context_export.working
    assert notice.text == "Export cancelled. No file was written."
    step_until(lambda: not list(tmp_path.iterdir()))


def test_an_export_that_fails_says_why(window: MainWindow, tmp_path: Path) -> None:
    panel = opened(window)
    assert panel.context_state.shown is not None

    panel.context_export.export(panel.context_state.shown, tmp_path / "nowhere" / "seen.json", 6, secrets=False)

    notice = panel.notices.notice("model-sees")
    assert notice is not None
    assert "could not be written" in notice.text


def test_the_action_shows_the_context_the_message_fits_best(window: MainWindow) -> None:
    other = tool_call("search", sender="writer")
    window = window_on(application_of(window), counted(document_of(*lines(), other, tool_result(other))))
    window.show()
    panes_of(window).go_to(12)

    window.actions_by_id["go.model_sees"].trigger()
    QApplication.processEvents()

    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    assert (panel.head.reader.words, panel.head.moment_label.text()) == ("writer", "at No. 13")


def test_the_menus_of_a_message_and_of_a_participant_lead_here(window: MainWindow) -> None:
    window.show()
    panes = panes_of(window)
    menu = panes.messages.view.menu.build(3, 2)
    next(action for action in menu.actions() if action.objectName() == "sees").trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    assert panel.head.moment_label.text() == "at No. 4"

    window.actions_by_id["view.messages"].trigger()
    names = [name for _, name in panes.participants.source.keys]
    of_lead: QMenu = panes.participants.menu_for(names.index("lead"))
    next(action for action in of_lead.actions() if action.text() == "Show in Model sees").trigger()

    assert window.center.currentWidget() is panel
    assert panel.head.reader.words == "lead"


def the_page_of_a_participant_leads_here(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    panes = panes_of(window)
    panes.show_place(ParticipantPlace(0, "lead"))

    link = panes.details.findChild(QAbstractButton, "modelSees")
    assert link is not None
    link.click()

    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    assert panel.head.reader.words == "lead"


def test_the_model_of_a_selected_context_is_shown(application: Application, qtbot: QtBot) -> None:
    main, agent = ClaudeSession(), ClaudeSession(agent="a1")
    main.prompt("count the files")
    called = main.call("Agent", {"description": "count them", "prompt": "count", "subagent_type": "Explore"})
    agent.second = main.second
    agent.prompt("count")
    agent.result(agent.call("Bash", {"command": "ls"}), "a b")
    agent.text("Two.")
    main.result(called, "Two.", toolUseResult={"agentId": "a1"})
    main.text("Two files.")
    window = window_on(application, counted(document_of(*main.records, *agent.records)))
    panes, panel = panes_of(window), opened(window)

    def space_and_node(document: CaptureDocument) -> tuple[int, int]:
        analysis = document.analysis
        prompt = next(row for row in range(len(analysis)) if analysis.contexts.node_of(row) != MAIN)
        return int(analysis.capture.columns["space"][prompt]), analysis.contexts.node_of(prompt)

    space, node = ask_engine(window, space_and_node)
    assert panel.head.reader.words == "claude"

    def shows(name: str) -> bool:
        return panel.head.reader.words == name

    panes.contexts.selected.emit(space, node)
    qtbot.waitUntil(lambda: shows("Explore: count them"))
    panes.contexts.selected.emit(space, MAIN)
    qtbot.waitUntil(lambda: shows("claude"))
    tree = panes.contexts
    row = next(row for row in range(tree.model.rowCount()) if tree.model.node(row) == node)
    tree.menu_for(row).filter_chosen.emit("kind", "replace")
    qtbot.waitUntil(lambda: shows("Explore: count them"))
    panes.contexts.selected.emit(space, MAIN)
    qtbot.waitUntil(lambda: shows("claude"))
    panes.filter_state.set_scope(Scope(space, node))
    qtbot.waitUntil(lambda: shows("Explore: count them"))
    panes.filter_state.set_scope(None)
    qtbot.waitUntil(lambda: shows("claude"))


def test_too_many_entries_are_not_copied(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = opened(window)
    monkeypatch.setattr(context_export, "COPIED_MOST", 3)
    QGuiApplication.clipboard().setText("before")

    panel.more.copy.trigger()

    notice = panel.notices.notice("model-sees")
    assert notice is not None
    assert notice.text == "6 entries are too many to copy. Export them to a file instead."
    assert QGuiApplication.clipboard().text() == "before"


def test_requests_to_a_model_are_compared_and_say_why_a_cache_was_missed(application: Application) -> None:
    window = window_on(application, counted(document_at(WIRE)))
    panel = opened(window)
    panel.show_at(35)
    figures = panel.figures.figures
    assert figures is not None
    assert [lead for lead, _ in figures.lines[:2]] == [
        "No. 35 sends 9 entries and 3 tools: 3 added, 1 compacted since No. 25.",
        "968 of 1,289 tokens read from a cache, 318 written to it (reported with No. 45).",
    ]
    pills = {
        panel.source.line(row).entry.message + 1: panel.source.line(row).pills for row in range(len(listed(panel)))
    }
    assert {number: [one.word for one in found] for number, found in pills.items() if found} == {
        3: ["cache 5m"], 40: ["not cached from here"], 44: ["cache 5m"],
    }  # fmt: skip
    QTest.keyClick(panel.view, Qt.Key.Key_R)
    assert {number: panel.source.line(row).mark for row, number in enumerate(listed(panel))} == {
        13: "went", 34: "came", 40: "came", 44: "came",
    }  # fmt: skip
    assert panel.head.compare.isChecked()


def test_without_a_reader_it_says_so(application: Application) -> None:
    panel = opened(window_on(application, document_of()))

    assert panel.view.empty_text == NOBODY
    assert panel.head.reader.words == "no participant"
    panel.step(1)
    panel.head.compare.click()
    panel.more.copy.trigger()
    assert not panel.figures.isVisible()


def test_figures_say_that_tokens_are_still_counted(application: Application) -> None:
    panel = opened(window_on(application, document_of(*lines())))

    figures = panel.figures.figures
    assert figures is not None
    assert "still counting" in figures.aside
    assert panel.source.line(0).tokens == "counting"


def test_it_follows_live_traffic_at_the_end(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "FIGURES_MS", 10)
    log = GrowingLog()
    log.write(*lines())
    panel = opened(window_on(application, log.document))
    assert panel.head.moment_label.text() == "at the end, No. 11"

    log.write(envelope("chat", {"text": "One more"}))

    qtbot.waitUntil(lambda: panel.head.moment_label.text() == "at the end, No. 12")
    assert listed(panel)[-1] == 12


def test_what_is_not_in_the_traffic_stays_said_while_what_came_later_is_counted(application: Application) -> None:
    log = GrowingLog()
    log.write(*lines())
    log.document.analysis.tokens.count_now(range(11))
    panel = opened(window_on(application, log.document))
    known = panel.figures.figures
    assert known is not None
    assert known.lines

    log.write(envelope("chat", {"text": "One more"}))
    panel.refresh()

    now = panel.figures.figures
    assert now is not None
    assert now.counting
    assert now.lines == known.lines


def test_it_stays_where_one_scrolled_while_traffic_comes(application: Application) -> None:
    log = GrowingLog()
    log.write(*lines(), *(envelope("chat", {"text": "word"}) for _ in range(100)))
    panel = opened(window_on(application, log.document))
    bar = panel.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 500
    panes_of(application.windows[0]).go_to(100)
    panel.refresh()
    bar.setValue(300)

    log.write(envelope("chat", {"text": "One more"}))
    panel.refresh()

    assert bar.value() == 300


@pytest.mark.parametrize("listed", [True, False])
def test_what_it_opens_at_is_in_sight_whatever_else_takes_room(application: Application, listed: bool) -> None:
    said = [envelope("chat", {"text": f"Say {n}"}, sender="human", to=["lead"]) for n in range(80)]
    other = envelope("chat", {"text": "Psst"}, sender="human", to=["writer"])
    window = window_on(application, counted(document_of(*lines(), *said, other)))
    panes_of(window).go_to(len(lines()) + len(said) - listed)
    view = opened(window).view
    QApplication.processEvents()
    last = view.visualRect(view.model().index(view.model().rowCount() - 1, 0))
    assert last.bottom() <= view.viewport().height()
    assert view.verticalScrollBar().value() > 0


def test_at_the_end_what_comes_is_brought_into_sight(application: Application) -> None:
    log = GrowingLog()
    log.write(*lines(), *(envelope("chat", {"text": "word"}) for _ in range(100)))
    panel = opened(window_on(application, log.document))
    bar = panel.view.verticalScrollBar()
    before = bar.maximum()

    log.write(envelope("chat", {"text": "One more"}))
    panel.refresh()

    assert bar.value() == bar.maximum() > before


def test_what_is_not_seen_is_not_worked_out(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = opened(window)
    window.actions_by_id["view.messages"].trigger()
    monkeypatch.setattr(panel.context_state, "question", lambda: pytest.fail("worked out unseen"))

    panes_of(window).go_to(3)
    panes_of(window).bridge.flush()
    pass_time(60)


def test_hostile_text_is_shown_plain_and_secrets_are_masked(application: Application) -> None:
    said = envelope("chat", {"text": f"<b>x</b>\u202e {SECRET}"}, sender="human")
    panel = opened(window_on(application, counted(document_of(tool_call("a"), said))))

    line = panel.source.line(1)
    assert line.text.startswith("<b>x</b>⟨U+202E⟩")
    assert SECRET not in line.text + line.tip + line.copied


def every_part_has_a_name(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    head = panel.head
    parts = (panel, head, head.reader, head.assume, head.hold, head.compare, head.out, head.more_button)
    for part in (*parts, panel.figures, panel.comparing, panel.heads, panel.view):
        assert part.objectName()
        assert part.accessibleName()
    spoken = panel.model.data(panel.model.index(1, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert isinstance(spoken, str)
    assert spoken.startswith("No. 4, tool, collapsed, 15 visits")


def test_it_paints_in_any_width(window: MainWindow) -> None:
    panel = opened(window)
    panel.head.compare.click()
    panel.head.out.click()
    for width in (300, 520, 728, 1400):
        panel.resize(width, 500)
        assert not panel.grab().isNull()


def begun_again(window: MainWindow) -> None:
    """The view as it opens, at the moment that was looked at last."""
    panel, head = opened(window), opened(window).head
    panes_of(window).filter_state.clear()
    for switch in (head.compare, head.hold, head.out):
        if switch.isChecked():
            switch.click()
    if not head.options["collapsing"].isChecked():
        head.options["collapsing"].trigger()
    panel.view.setFocus()


test_what_stands_there_and_what_is_compared = in_turn([
    it_shows_what_stands_in_the_context_at_the_end, reported_figures_stand_apart_from_the_estimate,
    what_is_out_is_listed_with_its_reason, options_change_what_stands_there, every_part_has_a_name,
    messages_json_is_copied_with_secrets_masked, comparing_with_a_later_moment_says_the_same,
    the_moment_goes_with_what_is_selected_elsewhere, selecting_a_row_selects_the_message_and_leaves_the_moment,
    a_held_moment_stays, stepping_goes_to_the_messages_that_change_the_context, two_moments_are_compared,
    a_held_moment_is_compared_with_what_is_selected_next,
    an_entry_of_the_list_can_be_what_a_moment_is_compared_with, what_a_row_changed_stands_in_its_line,
    the_largest_entries_are_listed_first, what_is_reported_and_in_no_traffic_is_said,
    the_page_of_a_participant_leads_here,
], begun_again)  # fmt: skip

"""The findings panel in its window: what it lists, what a click or a key does, what it says is hidden."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from inspector.analysis.findings import Severity
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.engine.requests.finding_rows import Grouping
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.panels.findings.panel import FindingsPanel
from inspector.ui.widgets.notice import Notice
from inspector.ui.widgets.preset_chip import PresetChip
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.engines import client_of
from tests.ui.find import child
from tests.ui.windows import in_turn, numbers, panes_of, story, window_on

KEYS, LEFT = Qt.Key, Qt.MouseButton.LeftButton


def wandering() -> dict[str, Any]:
    """An answer to nothing: the warning `response-without-request`."""
    return envelope("mcp/response", {"result": {}}, sender="files", to=["lead"], correlation_id=["never-asked"])


def dangling(**fields: Any) -> dict[str, Any]:
    """A note: `correlation-dangling`."""
    return envelope("chat", {"text": "As I said"}, correlation_id=["never-said"], **fields)


def forged() -> dict[str, Any]:
    """An error: `system-from-participant`."""
    return envelope("system/presence", {"event": "join", "participant": {"id": "ghost"}})


def trouble() -> CaptureDocument:
    """No. 2 an error, 3 and 5 warnings, 4 a note in `why-1`, 1 and 6 are fine."""
    return document_of(
        envelope(), forged(), wandering(), dangling(context="why-1a2b3c"), wandering(), envelope(),
    )  # fmt: skip


@pytest.fixture
def window(application: Application, qtbot: QtBot) -> MainWindow:
    """A window on `trouble`, with the findings shown."""
    return opened(application, trouble(), qtbot)


def opened(application: Application, document: CaptureDocument, qtbot: QtBot) -> MainWindow:
    window = window_on(application, document)
    window.resize(1280, 800)
    QAbstractItemModelTester(
        panes_of(window).findings.model, QAbstractItemModelTester.FailureReportingMode.Fatal, window
    )
    with qtbot.waitExposed(window):
        window.show()
    window.actions_by_id["view.findings"].trigger()
    qtbot.waitUntil(panes_of(window).findings.isVisible)
    return window


def panel_of(window: MainWindow) -> FindingsPanel:
    return panes_of(window).findings


def listed(window: MainWindow) -> list[str]:
    """What the list says, a row a line."""
    model = panel_of(window).model
    source = panel_of(window).source
    lines = [(source.finding(row), model.index(row, 0).data()) for row in range(model.rowCount())]
    return [text if one is None else f"{one.line.code} {one.line.context} {one.line.number}" for one, text in lines]


def click(window: MainWindow, row: int, qtbot: QtBot) -> None:
    view = panel_of(window).view
    qtbot.mouseClick(view.viewport(), LEFT, pos=view.visualRect(panel_of(window).model.index(row, 0)).center())


def key(window: MainWindow, pressed: Qt.Key, qtbot: QtBot) -> None:
    qtbot.keyClick(panel_of(window).view, pressed)


def current(window: MainWindow) -> int | None:
    """Number of the message selected in the table."""
    message = panes_of(window).messages.current_message()
    return None if message is None else message + 1


def switch(window: MainWindow, severity: Severity, qtbot: QtBot) -> None:
    toggle = panel_of(window).head.toggles[severity]
    qtbot.mouseClick(toggle, LEFT, pos=QPoint(4, toggle.height() // 2))


ALL = [
    "system-from-participant main No. 2",
    "Response without a request, 2",
    "response-without-request main No. 3",
    "response-without-request main No. 5",
    "correlation-dangling why-1a2b3c No. 4",
]


def findings_stand_worst_first_and_in_groups_where_a_code_was_found_twice(window: MainWindow, qtbot: QtBot) -> None:
    assert listed(window) == ALL


def test_it_is_hidden_until_asked_for_and_its_switches_agree(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, trouble())
    with qtbot.waitExposed(window):
        window.show()
    action = window.actions_by_id["view.findings"]
    assert window.docks["Findings"].isHidden()
    assert not action.isChecked()
    qtbot.mouseClick(child(window, StatusButton, "statusProblems"), LEFT)
    assert panel_of(window).isVisible()
    assert action.isChecked()
    qtbot.mouseClick(child(window, QToolButton, "findingsClose"), LEFT)
    assert window.docks["Findings"].isHidden()
    assert not action.isChecked()
    qtbot.mouseClick(child(window, QToolButton, "tool.view.edge_bottom"), LEFT)
    assert listed(window) == ALL


def a_click_selects_the_message_and_the_table_marks_the_finding(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 3, qtbot)
    assert current(window) == 5
    panes_of(window).go_to(3)
    assert panel_of(window).view.currentIndex().row() == 4
    panes_of(window).go_to(0)
    assert panel_of(window).view.currentIndex().row() == -1


def test_keys_walk_open_close_and_leave(window: MainWindow, qtbot: QtBot) -> None:
    panel_of(window).view.setFocus()
    key(window, KEYS.Key_Down, qtbot)
    assert current(window) == 2
    key(window, KEYS.Key_Down, qtbot)
    assert current(window) == 2  # a head is about no message
    key(window, KEYS.Key_Left, qtbot)
    assert listed(window) == [ALL[0], ALL[1], ALL[4]]
    key(window, KEYS.Key_Down, qtbot)
    assert current(window) == 4
    key(window, KEYS.Key_Up, qtbot)
    key(window, KEYS.Key_Return, qtbot)
    assert listed(window) == ALL
    key(window, KEYS.Key_Right, qtbot)
    assert current(window) == 3
    key(window, KEYS.Key_Left, qtbot)
    assert panel_of(window).view.currentIndex().row() == 1
    key(window, KEYS.Key_End, qtbot)
    assert current(window) == 4
    key(window, KEYS.Key_Escape, qtbot)
    assert panes_of(window).messages.view.hasFocus()


def test_return_goes_to_the_message(window: MainWindow, qtbot: QtBot) -> None:
    panel_of(window).view.setFocus()
    key(window, KEYS.Key_Down, qtbot)
    key(window, KEYS.Key_Return, qtbot)
    assert panes_of(window).messages.view.hasFocus()
    assert current(window) == 2


def switches_count_and_hide_severities(window: MainWindow, qtbot: QtBot) -> None:
    toggles = panel_of(window).head.toggles
    assert [toggle.words for toggle in toggles.values()] == ["1 error", "2 warnings", "1 note"]
    switch(window, Severity.WARNING, qtbot)
    assert listed(window) == [ALL[0], ALL[4]]
    assert toggles[Severity.WARNING].words == "2 warnings"
    switch(window, Severity.ERROR, qtbot)
    switch(window, Severity.NOTE, qtbot)
    assert listed(window) == []
    assert panel_of(window).view.empty_text == "All findings of this view are switched off above."
    switch(window, Severity.ERROR, qtbot)
    assert listed(window) == [ALL[0]]


def what_the_filter_hides_is_counted_and_can_be_listed(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    panes_of(window).filter_state.apply_filter('kind == "mcp/response"')
    qtbot.waitUntil(lambda: listed(window) == ALL[1:4])
    assert panel.head.hint.text == "in this view; 2 more are hidden by the filter"
    qtbot.mouseClick(panel.head.link, LEFT)
    assert listed(window) == ALL
    assert panel.head.hint.text == "2 of these are hidden by the filter"
    panel.view.setFocus()
    key(window, KEYS.Key_Home, qtbot)
    assert numbers(window) == [3, 5]  # walking over it keeps the filter
    click(window, 0, qtbot)
    qtbot.waitUntil(lambda: current(window) == 2)
    assert numbers(window) == [1, 2, 3, 4, 5, 6]
    window.actions_by_id["go.back"].trigger()


def test_a_narrow_panel_keeps_what_can_be_clicked(window: MainWindow, qtbot: QtBot) -> None:
    head = panel_of(window).head
    panes_of(window).filter_state.apply_filter('kind == "mcp/response"')
    window.docks["Findings"].setFloating(True)
    window.docks["Findings"].resize(340, 200)
    qtbot.waitUntil(lambda: head.width() <= 350 and not head.link.isHidden())
    assert [toggle.shown_words for toggle in head.toggles.values()] == ["0", "2", "0"]
    assert head.link.width() >= head.link.sizeHint().width()
    close = child(window, QToolButton, "findingsClose")
    assert close.geometry().right() <= head.width()
    assert head.link.geometry().right() < close.geometry().left()


def test_an_empty_list_says_why(application: Application, qtbot: QtBot) -> None:
    window = opened(application, document_of(envelope(), envelope()), qtbot)
    assert panel_of(window).view.empty_text == "No findings in 2 messages."


def groups_of_severities_and_none(window: MainWindow, qtbot: QtBot) -> None:
    panel_of(window).group_by(Grouping.SEVERITY)
    assert listed(window) == ["Errors, 1", ALL[0], "Warnings, 2", *ALL[2:4], "Notes, 1", ALL[4]]
    panel_of(window).group_by(Grouping.NONE)
    assert listed(window) == [ALL[0], *ALL[2:]]


def menu_entry(window: MainWindow, row: int, name: str) -> None:
    menu = panel_of(window).menu_for(row)
    action = next(action for action in menu.actions() if action.objectName() == name)
    action.trigger()
    menu.deleteLater()


def the_menu_filters_by_the_code(window: MainWindow, qtbot: QtBot) -> None:
    for name, shown in (
        ("filter.replace", [3, 5]), ("filter.and", [3]), ("filter.or", [1, 2, 3, 5]), ("filter.and_not", [1, 2]),
    ):  # fmt: skip
        panes_of(window).filter_state.clear()
        panes_of(window).filter_state.apply_filter("no < 4")
        panes_of(window).filter_state.apply_filter("no <= 3")
        panel_of(window).refresh()
        menu_entry(window, 1, name)
        assert numbers(window) == shown, name


def a_code_can_be_hidden_and_listed_again(window: MainWindow, qtbot: QtBot) -> None:
    menu_entry(window, 2, "hide")
    assert listed(window) == [ALL[0], ALL[4]]
    assert panel_of(window).head.hint.text == "2 of a hidden code"
    assert panel_of(window).head.toggles[Severity.WARNING].words == "0 warnings"
    restore = next(a for a in panel_of(window).head.menu.actions() if a.objectName() == "restoreCodes")
    restore.trigger()
    assert listed(window) == ALL


def rows_are_copied(window: MainWindow, qtbot: QtBot) -> None:
    panel_of(window).view.setFocus()
    key(window, KEYS.Key_End, qtbot)
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(panel_of(window).view, KEYS.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()))
    copied = QGuiApplication.clipboard().text().split("\t")
    assert [copied[place] for place in (0, 2, 3, 4)] == ["note", "correlation-dangling", "why-1a2b3c", "No. 4"]
    menu_entry(window, 0, "copy.code")
    assert QGuiApplication.clipboard().text() == "system-from-participant"


def all_of_a_code_are_shown_whatever_is_hidden(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window)
    panel.source.choice.codes_off.add("response-without-request")
    switch(window, Severity.WARNING, qtbot)
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    window.docks["Findings"].hide()
    panel.show_code("response-without-request")
    assert panel.isVisible()
    assert set(ALL[1:4]) <= set(listed(window))
    assert panel.head.toggles[Severity.WARNING].isChecked()
    assert panel.source.is_head(panel.view.currentIndex().row())


def test_wire_text_is_plain_and_secrets_are_masked(application: Application, qtbot: QtBot) -> None:
    said = envelope("chat", sender="<b>lead\u202e</b>", correlation_id=["never-said"])
    window = opened(application, document_of(said, dangling(sender="Bearer abcdefgh123456")), qtbot)
    model = panel_of(window).model
    shown = [str(model.index(row, 0).data(role)) for row in range(model.rowCount())
             for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)]  # fmt: skip
    assert not any("\u202e" in text or "abcdefgh" in text for text in shown)
    tips = [str(model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)) for row in range(model.rowCount())]
    assert not any("<b>" in tip or "abcdefgh" in tip for tip in tips)


# Problems elsewhere


def apply_filter(window: MainWindow, text: str, qtbot: QtBot) -> None:
    """Apply a filter and wait for its rows."""
    panes_of(window).filter_state.apply_filter(text)
    qtbot.waitUntil(lambda: panes_of(window).rows.filter.text == text)


def noticed(window: MainWindow, name: str, qtbot: QtBot) -> Notice:
    """The notice, once it is shown."""
    qtbot.waitUntil(lambda: window.notices.notice(name) is not None)
    notice = window.notices.notice(name)
    assert notice is not None
    return notice


def problems_are_counted_in_the_status_bar_and_on_their_preset(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: "3 problems" in window.status.words())
    chips = {chip.preset.name: chip.text() for chip in window.presets.bar.findChildren(PresetChip)}
    assert chips["Problems"] == "Problems  3"
    assert chips["Tools"] == "Tools"


def test_no_problems_are_said_too(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, document_of(envelope()))
    window.status.show_log("test.jsonl", "envelopes")  # which starts the bar anew
    window.document_status.refresh_counts()
    assert "0 problems" in window.status.words()


def the_gutter_shows_the_worst_finding(window: MainWindow, qtbot: QtBot) -> None:
    model = panes_of(window).messages.model
    gutter = [model.index(row, Column.GUTTER).data() for row in range(model.rowCount())]
    assert gutter == ["", "error", "warning", "note", "warning", ""]
    qtbot.waitUntil(lambda: "answers" in (model.index(2, Column.GUTTER).data(Qt.ItemDataRole.ToolTipRole) or ""))


def next_and_previous_problem_go_around(window: MainWindow, qtbot: QtBot) -> None:
    for gone in (2, 3, 5, 2):
        qtbot.keyClick(window, KEYS.Key_F8)
        qtbot.waitUntil(lambda gone=gone: current(window) == gone)
    qtbot.keyClick(window, KEYS.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: current(window) == 5)


def next_problem_says_when_there_is_none_in_view_and_shows_them(window: MainWindow, qtbot: QtBot) -> None:
    apply_filter(window, 'kind == "chat"', qtbot)
    window.actions_by_id["go.problem_next"].trigger()
    notice = noticed(window, "no-problem", qtbot)
    assert notice.text.startswith("No message with a problem is shown; 3 are hidden.")
    panes_of(window).filter_state.clear()
    window.actions_by_id["go.problem_next"].trigger()
    qtbot.waitUntil(lambda: current(window) == 2)
    assert window.notices.notice("no-problem") is None


def what_was_said_of_a_view_goes_with_it(window: MainWindow, qtbot: QtBot) -> None:
    for leave in (
        lambda: panes_of(window).filter_state.clear(),
        lambda: panes_of(window).filter_state.apply_filter("no > 0"),
    ):
        apply_filter(window, 'kind == "chat"', qtbot)
        for action in ("go.problem_next", "go.mark_next"):
            window.actions_by_id[action].trigger()
        noticed(window, "no-problem", qtbot)
        leave()
        assert window.notices.notice("no-problem") is None
        assert window.notices.notice("no-mark") is None


def test_next_problem_says_when_there_is_none_at_all(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, document_of(envelope(), dangling()))
    window.actions_by_id["go.problem_next"].trigger()
    notice = noticed(window, "no-problem", qtbot)
    assert notice.text.startswith("No problem was found in 2 messages.")


# Live


def test_findings_come_and_go_while_one_is_selected(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write({"ctxcap": 1}, *map(framed, (envelope(), wandering(), dangling())))
    window = opened(application, log.document, qtbot)
    panel = panel_of(window)
    click(window, 1, qtbot)
    assert current(window) == 3
    log.write(framed(forged()), framed(wandering()))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: len(listed(window)) == 5)
    assert panel.view.selected == ("correlation-dangling", 2)
    assert panel.view.currentIndex().row() == 4
    qtbot.waitUntil(lambda: "3 problems" in window.status.words())
    log.write(framed(envelope("mcp/request", {"method": "tools/list"}, id="never-asked", to=["files"])))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: not any("response-without-request" in row for row in listed(window)))


def framed(inner: dict[str, Any]) -> dict[str, Any]:
    """A line of a capture of ours; without the sender's clock, which would differ."""
    frame = {name: value for name, value in inner.items() if name != "ts"}
    return {"t": 1_767_600_000_000_000_000, "dir": "in", "src": 0, "frame": frame}


def test_what_stands_at_the_top_stays_there(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write({"ctxcap": 1}, *(framed(dangling()) for _ in range(60)))
    window = opened(application, log.document, qtbot)
    panel = panel_of(window)
    panel.view.expanded.emit(0, True)
    panel.view.verticalScrollBar().setValue(500)
    before = panel.source.rows.key_at(panel.view.row_at(0))
    log.write(*(framed(wandering()) for _ in range(5)), framed(forged()))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: len(listed(window)) == 1 + 6 + 61)
    assert panel.source.rows.key_at(panel.view.row_at(0)) == before


def test_nothing_is_listed_while_nobody_looks(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write({"ctxcap": 1}, framed(wandering()))
    window = opened(application, log.document, qtbot)
    window.docks["Findings"].hide()
    log.write(framed(wandering()))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: "2 problems" in window.status.words())
    assert len(listed(window)) == 1
    window.docks["Findings"].show()
    assert len(listed(window)) == 3


def test_how_they_are_grouped_is_remembered(window: MainWindow, application: Application) -> None:
    head = panes_of(window).findings.head
    next(one for one in head.menu.actions() if one.objectName() == "group.severity").trigger()
    assert application.settings.findings_by == "severity"
    other = application.new_window()
    run_to_end(other.showing(client_of(story(), other)))
    assert panes_of(other).findings.source.choice.grouping is Grouping.SEVERITY


def begun_again(window: MainWindow) -> None:
    """All findings are listed by their codes, all messages are shown, and No. 1 is current."""
    panes, panel = panes_of(window), panel_of(window)
    window.docks["Findings"].show()
    panes.filter_state.clear()
    panes.go_to(0)
    panel.source.choice.everything = False
    panel.source.choice.codes_off.clear()
    for toggle in panel.head.toggles.values():
        toggle.setChecked(True)
    panel.source.choice.severities_off.clear()
    panel.group_by(Grouping.CODE)


test_what_is_listed_and_where_it_leads = in_turn([
    findings_stand_worst_first_and_in_groups_where_a_code_was_found_twice,
    a_click_selects_the_message_and_the_table_marks_the_finding, switches_count_and_hide_severities,
    what_the_filter_hides_is_counted_and_can_be_listed, groups_of_severities_and_none, the_menu_filters_by_the_code,
    a_code_can_be_hidden_and_listed_again, rows_are_copied, all_of_a_code_are_shown_whatever_is_hidden,
    problems_are_counted_in_the_status_bar_and_on_their_preset, the_gutter_shows_the_worst_finding,
    next_and_previous_problem_go_around, next_problem_says_when_there_is_none_in_view_and_shows_them,
    what_was_said_of_a_view_goes_with_it,
], begun_again)  # fmt: skip

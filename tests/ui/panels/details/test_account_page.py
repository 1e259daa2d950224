"""What happened, in the details while nothing is selected: each line leads somewhere, and it keeps up."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.present.account_sentences import AccountLine
from inspector.ui.app.application import Application
from inspector.ui.panels.details.account_page import AccountList
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.ui.windows import numbers, panes_of, window_on
from tests.waste import wasteful


def account(qtbot: QtBot, window: MainWindow) -> AccountList:
    window.show()
    page = panes_of(window).details.account
    assert page is not None
    qtbot.waitUntil(lambda: page.list is not None)
    assert page.list is not None
    return page.list


def said(lines: AccountList) -> list[str]:
    return [str(lines.model().index(row, 0).data()) for row in range(lines.model().rowCount())]


def failing() -> list[dict[str, object]]:
    asked = envelope("chat", {"text": "Fix the timeout"}, sender="human", to=["lead"])
    calls = [tool_call("grep"), tool_call("grep")]
    taken_up = envelope("chat/acknowledge", {}, correlation_id=[asked["id"]])
    return [asked, taken_up, *calls, *(tool_result(call, result={"isError": True}) for call in calls)]


def test_it_is_there_before_anything_is_selected_and_goes_with_a_selection(
    qtbot: QtBot, application: Application
) -> None:
    window = window_on(application, document_of(*failing()))
    lines = account(qtbot, window)
    assert said(lines)[:3] == [
        "Asked: human to lead: “Fix the timeout”", "Done: lead called grep of files twice",
        "Failed: 2 calls failed: grep 2",
    ]  # fmt: skip
    details = panes_of(window).details
    assert details.head.accessibleName().startswith("What happened, 6 messages of 3 participants")
    panes_of(window).go_to(2)
    assert lines.isHidden() or not lines.isVisible()
    window.actions_by_id["view.account"].trigger()
    assert lines.isVisible()
    seen = details.head.grab().toImage()
    details.show_message(None)  # as when a filter that fits nothing takes the selection: the head stays
    assert details.head.grab().toImage() == seen
    assert panes_of(window).messages.current_message() == 2
    panes_of(window).messages.chosen.emit(2)
    assert details.message == 2


def test_the_pointer_leaves_the_hidden_page_and_the_head_of_the_message_stays(
    qtbot: QtBot, application: Application
) -> None:
    window = window_on(application, document_of(*failing()))
    lines = account(qtbot, window)
    details = panes_of(window).details
    panes_of(window).go_to(2)
    qtbot.waitUntil(lambda: details.latest.is_current and not lines.isVisible())
    name = details.head.name
    assert name != "What happened"
    for widget in (lines.viewport(), lines):  # Qt sends it to a widget that is hidden under the pointer
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    assert details.head.name == name


def test_a_line_selects_its_message_or_filters(qtbot: QtBot, application: Application) -> None:
    window = window_on(application, document_of(*failing()))
    lines = account(qtbot, window)
    place = lines.visualRect(lines.model().index(2, 0)).center()
    qtbot.mouseClick(lines.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert numbers(window) == [3, 4]
    lines.setFocus(Qt.FocusReason.TabFocusReason)
    lines.setCurrentIndex(lines.model().index(0, 0))
    qtbot.keyClick(lines, Qt.Key.Key_Return)
    assert panes_of(window).messages.current_message() == 0
    assert not lines.isVisible()
    window.actions_by_id["go.back"].trigger()
    assert lines.isVisible()
    head = panes_of(window).details.head
    assert head.isVisible()
    assert head.name == "What happened"
    window.actions_by_id["go.forward"].trigger()
    assert panes_of(window).details.message == 0
    assert lines.is_link(0, QPoint())


def test_it_keeps_up_with_what_comes(qtbot: QtBot, application: Application) -> None:
    log = GrowingLog()
    window = window_on(application, log.document)
    window.show()
    details = panes_of(window).details
    assert details.empty.isVisible()
    assert details.account is not None
    assert not details.account.isVisible()
    log.write(envelope("chat", {"text": "Hello"}, sender="human"))
    panes_of(window).bridge.flush()
    lines = account(qtbot, window)
    assert said(lines)[0] == "First message: human: “Hello”"
    log.write(tool_call("grep"))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: any(line.startswith("Done: lead called grep") for line in said(lines)))


def test_what_could_be_spared_leads_to_the_panel(qtbot: QtBot, application: Application) -> None:
    document = document_of(*wasteful())
    document.count_tokens()
    window = window_on(application, document)
    lines = account(qtbot, window)
    qtbot.waitUntil(lambda: any("avoidable" in line for line in said(lines)))
    row = next(row for row, line in enumerate(said(lines)) if "avoidable" in line)
    lines.activate_row(row)
    assert not window.docks["Waste"].isHidden()


def test_nothing_moves_while_the_pointer_rests_on_it(qtbot: QtBot, application: Application) -> None:
    log = GrowingLog()
    window = window_on(application, log.document)
    window.show()
    first = tool_call("grep")
    log.write(envelope("chat", {"text": "Hello"}, sender="human"), first, tool_result(first))
    panes_of(window).bridge.flush()
    lines = account(qtbot, window)
    qtbot.waitUntil(lambda: any("called grep" in line for line in said(lines)))
    QApplication.processEvents()  # lays out the list
    before, places = said(lines), [lines.visualRect(lines.model().index(row, 0)) for row in range(len(lines.rows))]
    QTest.mouseMove(lines.viewport(), places[1].center())
    qtbot.waitUntil(lines.underMouse)
    log.write(tool_call("grep"), tool_call("read_file"), envelope("mcp/proposal", {"method": "x"}, sender="lead"))
    panes_of(window).bridge.flush()
    page = panes_of(window).details.account
    assert page is not None
    page.latest.request_now()
    qtbot.waitUntil(lambda: page.latest.is_current)
    held = said(lines)
    assert [line.partition(":")[0] for line in held] == [line.partition(":")[0] for line in before]
    assert [lines.visualRect(lines.model().index(row, 0)) for row in range(len(lines.rows))] == places
    QTest.mouseMove(window, QPoint(2, 2))
    qtbot.waitUntil(lambda: any(line.startswith("Proposed") for line in said(lines)))


def test_the_column_of_words_keeps_its_width(qtbot: QtBot, application: Application) -> None:
    lines = account(qtbot, window_on(application, document_of(*failing())))
    width = lines._about_width(280)
    lines.replace_rows([AccountLine("Done", "a called b once", filter="no == 1")])
    assert lines._about_width(280) == width
    lines.replace_rows([AccountLine("Waiting now", "lead waits for files", message=1)])
    assert lines._about_width(280) == width


def test_figures_are_not_cut_at_1280(qtbot: QtBot, application: Application) -> None:
    lines = account(qtbot, window_on(application, document_of(*failing())))
    figures = "12,609 tokens out, 43 in; 771,366 read from the cache, 1,103,066 written to it, and 12,345 for an hour"
    text = f"101 calls of model: {figures}"
    lines.replace_rows([AccountLine("Reported", text, filter="cost")])
    assert " ".join(lines._lines(0, 270)) == text

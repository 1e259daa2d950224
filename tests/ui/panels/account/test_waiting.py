"""Who waits for whom: what is listed, in which order, where it leads, and what the status bar says of it."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.account import WaitsNow
from inspector.present.call_facts import request_facts
from inspector.present.subject import Subject
from inspector.ui.app.application import Application
from inspector.ui.panels.account.waiting import Column, WaitingPanel
from inspector.ui.widgets.status_bar import StatusBar
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result
from tests.findings import at, gateway
from tests.ui.find import child
from tests.ui.windows import numbers, panes_of, window_on
from tests.waste import wasteful


def opened(window: MainWindow, qtbot: QtBot) -> WaitingPanel:
    window.show()
    window.actions_by_id["analyze.waiting"].trigger()
    panel = panes_of(window).panel("waiting")
    assert isinstance(panel, WaitingPanel)
    qtbot.waitUntil(lambda: panel.latest.is_current)
    return panel


def texts(panel: WaitingPanel) -> list[list[str]]:
    model = panel.model
    return [[str(model.index(row, column).data()) for column in Column] for row in range(model.rowCount())]


def traffic() -> list[dict[str, Any]]:
    params = {"method": "tools/call", "params": {"name": "write_file", "arguments": {}}}
    return [
        envelope("mcp/request", {"method": "tools/list"}, to=["files"], ts=at(0)),
        tool_call("grep", sender="coder", ts=at(2)), envelope("mcp/proposal", params, ts=at(1)),
        tool_call("stat", sender="coder", ts=at(1)), envelope(ts=at(10)),
    ]  # fmt: skip


@pytest.fixture
def document() -> CaptureDocument:
    return document_of(*traffic())


def test_it_lists_the_longest_first_and_discovery_last(
    qtbot: QtBot, application: Application, document: CaptureDocument
) -> None:
    panel = opened(window_on(application, document), qtbot)
    assert texts(panel) == [
        ["lead", "a decision", "write_file", "", "9 s", "3"],
        ["coder", "files", "stat", "", "9 s", "4"],
        ["coder", "files", "grep", "", "8 s", "2"],
        ["lead", "files", "tools/list", "", "10 s", "1"],
    ]
    assert panel.head.count() == "4 waits, 1 of them discovery requests"
    assert panel.model.index(0, Column.WHOM).data(Qt.ItemDataRole.AccessibleTextRole) == "Waits for a decision"


def test_a_row_leads_to_its_message_and_its_menu_filters(
    qtbot: QtBot, application: Application, document: CaptureDocument
) -> None:
    window = window_on(application, document)
    panel = opened(window, qtbot)
    panel.view.selectRow(2)
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert panes_of(window).messages.current_message() == 1
    menu = panel.view.menu_for(2)
    next(action for action in menu.actions() if action.objectName() == "filter.replace").trigger()
    assert numbers(window) == [2, 4]
    menu.close()


def test_a_wait_ends_with_an_answer_a_departure_or_a_new_start(
    qtbot: QtBot, application: Application, subtests: pytest.Subtests
) -> None:
    log = GrowingLog()
    window = window_on(application, log.document)
    panel = opened(window, qtbot)
    for ends in ("answer", "join", "leave"):
        with subtests.test(ends):
            asked = tool_call("grep")
            log.write(asked)
            panes_of(window).bridge.flush()
            qtbot.waitUntil(lambda: [row[2] for row in texts(panel)] == ["grep"])
            moved = gateway("system/presence", {"event": ends, "participant": {"id": "lead"}})
            log.write(tool_result(asked) if ends == "answer" else moved)
            panes_of(window).bridge.flush()
            qtbot.waitUntil(lambda: not texts(panel))
            assert panel.view.empty_text == "No participant waits for an answer or a decision."


def test_who_asked_somebody_who_is_gone_waits_in_vain(qtbot: QtBot, application: Application) -> None:
    left = gateway("system/presence", {"event": "leave", "participant": {"id": "files"}}, ts=at(2))
    document = document_of(tool_call("grep", ts=at(0)), tool_call("stat", to="lead", sender="coder", ts=at(1)), left)
    document.live = True
    panel = opened(window_on(application, document), qtbot)
    assert texts(panel) == [
        ["lead", "files (left)", "grep", "coder", "2 s", "1"], ["coder", "lead", "stat", "", "1 s", "2"],
    ]  # fmt: skip
    told = Engine()
    now = told.answer_request(told.adopt(document), WaitsNow())
    assert now.longest is not None
    assert (now.count, now.longest.short_sentence) == (1, "coder waits for lead, 1 s"), (
        "nobody is told for ever of who is gone"
    )
    words = ["".join(part.text for part in fact.parts) for fact in request_facts(Subject(document, 0))]
    assert words == ["files left or restarted before the answer."]


def test_the_status_bar_says_who_waits_while_traffic_is_live(qtbot: QtBot, application: Application) -> None:
    document = document_of(tool_call("grep", ts=at(0)), tool_call("stat", ts=at(1)))
    document.live = True
    window = window_on(application, document)
    window.show()
    panes = panes_of(window)
    qtbot.waitUntil(lambda: panes.waits.is_current)
    document.analysis.now_ns = int(document.capture.columns["time_ns"][0]) + 34 * 10**9
    panes.waits.request_now()
    qtbot.waitUntil(lambda: panes.waits.is_current)
    status = child(window, StatusBar, "statusBar")
    assert "lead waits for files, 34 s and 1 more" in status.words()
    assert not window.docks["Waiting"].isHidden(), "who waits is the first thing to know of a session that hangs"
    window.docks["Waiting"].hide()
    window.document_status._show_waiting()
    assert window.docks["Waiting"].isHidden(), "who closed it does not get it again"
    status.waiting_clicked.emit()
    assert not window.docks["Waiting"].isHidden()
    document.live = False
    panes.waits.request_now()
    window.document_status._show_waiting()
    assert not any("waits" in words for words in status.words())


def test_it_does_not_cover_what_the_user_has_below(qtbot: QtBot, application: Application) -> None:
    document = document_of(tool_call("grep", ts=at(0)), envelope(ts=at(9)))
    document.live = True
    window = window_on(application, document)
    window.show()
    window.dock_row.bring_up("Findings")
    status = child(window, StatusBar, "statusBar")
    qtbot.waitUntil(lambda: any("waits" in words for words in status.words()))
    assert window.docks["Waiting"].isHidden()


def test_the_status_bar_says_what_could_be_spared(qtbot: QtBot, application: Application) -> None:
    document = document_of(*wasteful())
    document.count_tokens()
    window = window_on(application, document)
    window.show()
    status = child(window, StatusBar, "statusBar")
    qtbot.waitUntil(lambda: any("tokens wasted" in words for words in status.words()))
    status.spared_clicked.emit()
    assert not window.docks["Waste"].isHidden()

"""Calls that failed are no findings about the protocol: they are counted beside the problems, and can be shown."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from inspector.analysis.views.account.account import AccountTally
from inspector.present.account import account_of
from inspector.ui.app.application import Application
from inspector.ui.widgets.notice import Notice
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.find import child
from tests.ui.windows import numbers, texts, window_on


def failed(application: Application) -> MainWindow:
    call, other = tool_call("grep", id="a"), tool_call("read", id="b")
    return window_on(
        application, document_of(call, tool_result(call, result={"isError": True}), other, tool_result(other))
    )


def test_the_status_bar_counts_and_shows_them(application: Application) -> None:
    window = failed(application)
    assert {"1 failure", "0 problems"} <= set(window.status.words())
    QTest.mouseClick(child(window, StatusButton, "statusFailed"), Qt.MouseButton.LeftButton)
    assert numbers(window) == [2]


def test_what_happened_counts_all_in_the_same_words(application: Application) -> None:
    call = tool_call("grep", id="a")
    error = envelope("system/error", {"error": "rate_limited"}, sender="system:gateway")
    document = document_of(call, tool_result(call, result={"isError": True}), error)
    window = window_on(application, document)
    (counted,) = (words for words in window.status.words() if "failure" in words)
    assert counted == "2 failures"
    tally = AccountTally(document.analysis)
    while not tally.step():
        pass
    found = [(line.about, line.text, line.filter) for line in account_of(document, tally).lines if line.tone == "bad"]
    assert found[0] == ("Failures", f"{counted} in all", "error")
    assert [about for about, *_ in found[1:]] == ["Failed", "Errors"]


def test_each_says_which_call_failed(application: Application) -> None:
    call, asked = tool_call("grep", id="a"), envelope("mcp/request:tools/list", {}, id="b")
    wrong = {"isError": True, "content": [{"type": "text", "text": "no such folder"}]}
    refused = envelope("mcp/response", {"error": {"code": -1, "message": "not now"}}, correlation_id=["b"])
    window = window_on(application, document_of(call, tool_result(call, result=wrong), asked, refused))
    shown = [set(line.split(" | ")) for line in texts(window)[1::2]]
    assert "grep  failed: no such folder" in shown[0]
    assert "tools/list  failed: not now" in shown[1]


def test_who_looks_for_problems_is_told_of_them(application: Application) -> None:
    window = failed(application)
    window.actions_by_id["go.problem_next"].trigger()
    notice = window.notices.notice("no-problem")
    assert isinstance(notice, Notice)
    assert notice.text == "No problem was found in 4 messages. 1 of them reports a failure."
    assert notice.links == ["Show failures"]
    window.navigation.show_findings()
    assert window.panes is not None
    said = window.panes.findings.view.empty_text
    assert said == "No findings in 4 messages. 1 of them reports a failure: the filter error shows it."

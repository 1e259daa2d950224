"""The Query panel: asked with the keyboard, answered in the table, its rows lead to messages."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu
from pytestqt.qtbot import QtBot

from inspector.tables.completion import complete_query
from inspector.ui.app.application import Application
from inspector.ui.panels.query.panel import EXAMPLES, QueryPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import numbers, panes_of, window_on


@pytest.fixture
def window(application: Application) -> MainWindow:
    call = tool_call("grep")
    lines: list[Any] = [envelope(payload={"text": f"hello {n}"}) for n in range(600)]
    return window_on(application, document_of(*lines, call, tool_result(call)))


def opened(window: MainWindow) -> QueryPanel:
    window.show()
    window.actions_by_id["analyze.query"].trigger()
    panel = panes_of(window).panel("query")
    assert isinstance(panel, QueryPanel)
    return panel


def ask(panel: QueryPanel, qtbot: QtBot, sql: str) -> None:
    panel.editor.set_text(sql)
    QTest.keyClick(panel.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not panel.is_running, timeout=20_000)


def threads() -> set[str]:
    return {one.name for one in threading.enumerate()}


def press(panel: QueryPanel, name: str) -> None:
    button = panel.head.findChild(QAbstractButton, name)
    assert button is not None
    assert button.isEnabled(), name
    button.click()


def test_a_query_is_answered_and_its_rows_lead_to_messages(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    ask(panel, qtbot, "SELECT no, kind, text FROM messages WHERE text LIKE 'hello 59%' ORDER BY no")
    assert [column.name for column in panel.model.columns] == ["no", "kind", "text"]
    assert panel.model.rowCount() == 11
    assert panel.model.index(0, 2).data() == "hello 59"
    assert "11 rows" in panel.status_label.text()
    panel.message_requested.emit(0)
    panel.view.selectRow(3)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert panes_of(window).messages.current_message() == 592
    press(panel, "queryFilter")
    assert numbers(window) == [60, *range(591, 601)]
    press(panel, "queryCopy")
    assert QGuiApplication.clipboard().text().splitlines()[:2] == ["no\tkind\ttext", "60\tchat\thello 59"]


def test_what_is_wrong_is_said_with_its_place(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    ask(panel, qtbot, "SELECT nix FROM messages")
    assert "nix" in panel.status_label.text()
    assert "(character 8)" in panel.status_label.text()
    (marked,) = panel.editor.extraSelections()
    assert marked.cursor.selectedText() == "nix"  # pyright: ignore[reportAttributeAccessIssue]
    panel.editor.insertPlainText(" ")
    assert panel.editor.extraSelections() == []


def test_a_query_can_be_stopped_and_another_one_asked(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(window)
    answer_slowly(monkeypatch, panes_of(window).client)
    panel.editor.set_text("SELECT count(*) FROM messages, range(1000000) a, range(1000000) b")
    panel.run_query()
    qtbot.wait(300)
    press(panel, "queryStop")
    assert not panel.is_running
    assert "Stopped" in panel.status_label.text()
    ask(panel, qtbot, "SELECT count(*) FROM tool_calls")
    assert panel.model.index(0, 0).data() == "1"
    qtbot.waitUntil(lambda: not {"query", "end of a query"} & threads(), timeout=20_000)


def test_queries_are_remembered_and_kept_but_none_with_a_secret(window: MainWindow, qtbot: QtBot) -> None:
    panel, settings = opened(window), window.application.settings
    press(panel, "queryHistory")
    menu = panel.findChild(QMenu, "queryMenu")
    assert menu is not None
    menu.hide()
    assert [action.text() for action in menu.actions()] == [question for question, _ in EXAMPLES]
    for _, sql in EXAMPLES:
        ask(panel, qtbot, sql)
        assert panel.status_label.property("variant") == "hint", panel.status_label.text()
    settings.query_history.clear()
    ask(panel, qtbot, "SELECT 1 AS one")
    token = "ghp_" + "a1B2c3D4e5" * 4
    ask(panel, qtbot, f"SELECT '{token}'")
    assert settings.query_history == ["SELECT 1 AS one"]
    panel.editor.set_text("SELECT 2 AS two")
    press(panel, "querySave")
    window.name_card.field.setText("Two")
    window.name_card.keep()
    assert [(one.name, one.sql) for one in settings.queries] == [("Two", "SELECT 2 AS two")]
    press(panel, "queryHistory")
    menu = panel.findChild(QMenu, "queryMenu")
    assert menu is not None
    assert [action.text() for action in menu.actions() if action.text()] == ["Two", "SELECT 1 AS one", "Delete “Two”"]
    menu.actions()[0].trigger()
    menu.hide()
    qtbot.waitUntil(lambda: not panel.is_running, timeout=20_000)
    assert [column.name for column in panel.model.columns] == ["two"]


def test_tables_and_columns_are_offered(window: MainWindow, qtbot: QtBot) -> None:
    panel = opened(window)
    panel.editor.setFocus()
    QTest.keyClicks(panel.editor, "SELECT to")
    qtbot.waitUntil(lambda: panel.editor.candidates.labels()[:2] == ["to", "tool"])
    QTest.keyClick(panel.editor, Qt.Key.Key_Down)
    QTest.keyClick(panel.editor, Qt.Key.Key_Tab)
    assert panel.editor.text() == 'SELECT "to"'


@pytest.mark.parametrize(
    ("sql", "offered"),
    [
        ("SELECT * FROM me", "messages"), ("SELECT * FROM messages JOIN tool_", "tool_calls"),
        ("SELECT answ| FROM tool_calls", "answered"), ("SELECT m.ki| FROM messages m", "kind"),
        ("SELECT qua", "quantile_cont("), ("SELECT 'ki", None), ("SELECT proposal_state", None),
    ],
)  # fmt: skip
def test_what_is_offered(sql: str, offered: str | None) -> None:
    place = sql.find("|") if "|" in sql else len(sql)
    found = [one.label for one in complete_query(sql.replace("|", ""), place).candidates]
    assert offered in found if offered is not None else found == []


def test_the_filter_is_copied_as_sql(window: MainWindow) -> None:
    window.show()
    window.filter_bar.set_applied('kind == "chat" && !context')
    window.actions_by_id["edit.copy_sql"].trigger()
    assert QGuiApplication.clipboard().text() == "kind = 'chat' AND context IS NULL"
    window.filter_bar.set_applied('"hello"')
    window.actions_by_id["edit.copy_sql"].trigger()
    assert QGuiApplication.clipboard().text() == "kind = 'chat' AND context IS NULL"

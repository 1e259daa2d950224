"""Find in view, Tree, Raw and the comparison with answers that arrive later than the request."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engine.requests.comparison import CompareMessages
from inspector.ui.app.application import Application
from inspector.ui.panels.details.difference import TEXT, VALUES, DifferenceDialog
from inspector.ui.panels.details.json_model import JsonRole
from inspector.ui.panels.details.json_tree import TreePage
from inspector.ui.panels.details.raw_page import RawPage
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.ui.docview.test_find_in_view import bar_of, current, lit_rows, look_for, shown
from tests.ui.late_answers import delay_answers
from tests.ui.windows import panes_of, story


@pytest.fixture
def window(application: Application, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    window = shown(application, story())
    panes_of(window).go_to(0)
    delay_answers(monkeypatch, panes_of(window).client)
    return window


def test_hits_are_counted_and_stepped_through(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "slow")
    qtbot.waitUntil(lambda: bar.words == "2 found")
    assert lit_rows(panes_of(window)) == [2, 3]
    for number, words in ((2, "1 of 2"), (3, "2 of 2"), (2, "wrapped, 1 of 2")):
        QTest.keyClick(window, Qt.Key.Key_F3)
        qtbot.waitUntil(lambda wanted=(number, words): (current(window), bar.words) == wanted)
    assert not panes_of(window).find_in_view.busy


def test_the_last_query_counts_and_a_closed_bar_lights_nothing(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "slow")
    bar.editor.setText("LOOK")
    qtbot.waitUntil(lambda: bar.words == "1 found")
    bar.editor.setText("slow")
    QTest.keyClick(bar.editor, Qt.Key.Key_Escape)
    QTest.qWait(50)
    assert bar_of(window).isHidden()
    assert lit_rows(panes_of(window)) == []
    assert panes_of(window).find_in_view.found is None


def test_a_step_to_a_hit_waits_for_it(window: MainWindow, qtbot: QtBot) -> None:
    bar = look_for(window, "slow")
    QTest.keyClick(bar.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: current(window) == 2)
    panes_of(window).messages.step(1)
    qtbot.waitUntil(lambda: bar.words == "2 of 2")


def test_raw_shows_the_last_message_and_selects_a_value(window: MainWindow, qtbot: QtBot) -> None:
    page = RawPage(window.theme, panes_of(window).client, window)
    page.show_message(0)
    page.show_message(1)
    page.choose(["kind"])
    qtbot.waitUntil(lambda: page.text.textCursor().selectedText() == '"chat"')
    page.what.choose("Formatted")
    qtbot.waitUntil(lambda: len(page.text.toPlainText().splitlines()) > 3)
    page.copy.click()
    clipboard = QApplication.clipboard()
    qtbot.waitUntil(lambda: '"chat"' in clipboard.text())


def test_the_tree_selects_a_value_whose_rows_arrive_later(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = {f"list {n}": [{"text": f"{n} {place}"} for place in range(1_000)] for n in range(8)}
    window = shown(application, document_of(envelope("chat", {"text": "x"}), envelope("chat", wide)))
    client = panes_of(window).client
    delay_answers(monkeypatch, client)
    page = TreePage(window.theme, client, window)
    page.show_message(0)
    page.show_message(1)
    page.choose(("payload", "list 7", 3, "text"))
    qtbot.waitUntil(lambda: page.tree.currentIndex().data(JsonRole.PATH) == 'payload."list 7".3.text')
    assert page.tree.filter_of(page.tree.currentIndex()) == 'payload."list 7".3.text == "7 3"'


def test_two_messages_are_compared(window: MainWindow, qtbot: QtBot) -> None:
    dialog = DifferenceDialog(
        window.theme, panes_of(window).client, lambda aspect: CompareMessages(0, 1, aspect), window
    )
    dialog.open()
    qtbot.waitUntil(lambda: dialog.what.choice == TEXT)
    assert dialog.left.accessibleName().startswith("No. 1")
    assert dialog.changes.model().rowCount() == 0
    dialog.what.choose(VALUES)
    qtbot.waitUntil(lambda: dialog.changes.model().rowCount() > 0)
    dialog.reject()

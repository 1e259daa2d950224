"""Plain words, colons and missing units in the filter bar of a window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.widgets.filter_bar import FilterBar
from inspector.ui.widgets.filter_trouble import FilterTrouble
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.ui.find import child
from tests.ui.windows import panes_of, window_on


@pytest.fixture
def window(application: Application, qtbot: QtBot) -> MainWindow:
    texts = ("Write: hello", "write bye", "HELLO, and rewrite", "no")
    window = window_on(application, document_of(*(envelope(payload={"text": text}) for text in texts)))
    with qtbot.waitExposed(window):
        window.show()
        window.activateWindow()
    window.filter_bar.focus_editor()
    return window


def write(bar: FilterBar, text: str) -> None:
    editor = child(bar, QPlainTextEdit)
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Escape) if bar._completing.shown else None


def advice(window: MainWindow) -> str:
    found = window.findChild(FilterTrouble)
    return found.words() if found is not None and found.isVisible() else ""


def test_words_are_searched_for_and_the_bar_says_so(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.filter_bar
    write(bar, "write hello")
    qtbot.waitUntil(lambda: advice(window) != "")
    assert advice(window) == "Searching for the words write hello. For a field, write field == value."
    assert bar.error() is None
    assert bar.property("wrong") != "true"
    qtbot.waitUntil(lambda: bar.counts_text() == "2 matches, Enter to apply")
    QTest.keyClick(child(bar, QPlainTextEdit), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(panes_of(window).rows) == 2)
    assert (bar.text(), bar.applied_text()) == ("write hello", "write hello")
    assert advice(window).startswith("Searching for the words write hello.")
    assert bar.counts_text() == "2 of 4"


def test_tab_takes_the_filter_that_was_meant(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.filter_bar
    for written, meant in (("thought", 'kind == "reasoning/thought"'), ("tool:Bash", 'tool == "Bash"')):
        write(bar, written)
        qtbot.waitUntil(lambda: advice(window) != "")
        QTest.keyClick(child(bar, QPlainTextEdit), Qt.Key.Key_Tab)
        assert bar.text() == meant
    write(bar, "LEAD")
    qtbot.waitUntil(lambda: advice(window) == 'Searching for the word LEAD. Did you mean from == "lead"')
    write(bar, "latency > 0.3")
    qtbot.waitUntil(lambda: advice(window) != "")
    assert advice(window) == "0.3 without a unit is 0.3 ms. For seconds: latency > 0.3s"


def test_words_go_on_as_a_condition(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.filter_bar
    write(bar, "write hello")
    QTest.keyClick(child(bar, QPlainTextEdit), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(panes_of(window).rows) == 2)
    assert [one.text for one in panes_of(window).filter_state.stack.conditions] == ['"write" && "hello"']
    assert bar.text() == ""
    write(bar, "rewrite")
    QTest.keyClick(child(bar, QPlainTextEdit), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(panes_of(window).rows) == 1)

"""Tool aliases in the window: written in the settings, in force at once in every open document."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import ask_engine, panes_of, window_on
from tests.unit.analysis.transient_traffic import Opened, fetch, in_turn, mew, store, workflow


@pytest.fixture
def opened() -> Opened:
    """A proxy prefixes the names in calls, and the hints do not know it."""
    found, stored = fetch(tool="mcp__rune__search_records"), store("mcp__rune__analysis_store")
    return Opened(mew, in_turn(workflow(), found, stored))


def settings_of(window: MainWindow, qtbot: QtBot) -> SettingsDialog:
    window.settings_editing.open()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.enter_page("tools")
    return dialog


def collapsed(window: MainWindow) -> int:
    return ask_engine(window, lambda document: int(document.analysis.transients.totals()["collapsed"]))


def test_a_rule_is_in_force_at_once(application: Application, opened: Opened, qtbot: QtBot) -> None:
    window = window_on(application, opened.document)
    panes_of(window).filter_state.apply_filter('badge == "collapsed"')
    assert len(panes_of(window).rows.visible) == 0
    dialog = settings_of(window, qtbot)
    edit = child(dialog, QPlainTextEdit, "toolNamesRules")
    assert child(dialog, QLabel, "settingsTitle").text() == "Tool names"
    qtbot.keyClicks(edit, "mcp__rune__* = *")
    assert application.settings.tool_aliases == ["mcp__rune__* = *"]
    assert collapsed(window) == 1
    qtbot.waitUntil(lambda: [int(row) for row in panes_of(window).rows.visible] == [3])
    QTest.mouseClick(child(dialog, QAbstractButton, "settingsRestore"), Qt.MouseButton.LeftButton)
    assert (edit.toPlainText(), application.settings.tool_aliases, collapsed(window)) == ("", [], 0)
    dialog.accept()


def test_what_is_no_rule_is_said_and_the_others_hold(application: Application, opened: Opened, qtbot: QtBot) -> None:
    window = window_on(application, opened.document)
    dialog = settings_of(window, qtbot)
    edit = child(dialog, QPlainTextEdit, "toolNamesRules")
    edit.setPlainText("nonsense\nmcp__rune__* = *")
    said = "\n".join(label.text() for label in dialog.findChildren(QLabel) if not label.isHidden())
    assert "Line 1: Write a rule as name = other name" in said
    assert application.settings.tool_aliases == ["mcp__rune__* = *"]
    tried = child(dialog, QLineEdit, "toolNamesTry")
    qtbot.keyClicks(tried, "mcp__rune__search_records")
    said = "\n".join(label.text() for label in dialog.findChildren(QLabel) if not label.isHidden())
    assert "The tool is search_records." in said
    dialog.accept()


def test_rules_are_for_documents_that_come_later_and_for_this_run(application: Application, opened: Opened) -> None:
    application.aliases_here = ["mcp__rune__* = *"]
    assert collapsed(window_on(application, opened.document)) == 1

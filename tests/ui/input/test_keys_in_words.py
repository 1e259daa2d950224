"""A key that was given to something else is named anew wherever a sentence or a button names it."""

from __future__ import annotations

import re

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.panels.start.buttons import ActionCard
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.findings import ask, later
from tests.ui.find import child
from tests.ui.walking import said_by
from tests.ui.windows import document_of, panes_of, window_on

NEW = {
    "go.problem_next": "Ctrl+Alt+1", "edit.mark": "Ctrl+Alt+2", "edit.comment": "Ctrl+Alt+3", "file.open": "Ctrl+Alt+4",
    "edit.find_next": "Ctrl+Alt+5", "edit.find_previous": "Ctrl+Alt+6", "file.connect": "Ctrl+Alt+7",
}  # fmt: skip


@pytest.fixture
def window(application: Application) -> MainWindow:
    made = window_on(application, document_of(ask(), later(31)))
    for name in ("view.findings", "view.marks", "edit.find"):
        made.actions_by_id[name].trigger()
    panes_of(made).go_to(0)
    return made


def words(window: MainWindow, name: str) -> str:
    return child(window, QWidget, name).toolTip()


def details(window: MainWindow) -> str:
    panel = panes_of(window).details
    return " ".join(text for _, text in said_by(panel))


def remap(window: MainWindow) -> None:
    window.application.settings.keys = {name: [key] for name, key in NEW.items()}
    window.apply_settings()


def test_keys_are_named_as_they_are(window: MainWindow, application: Application, qtbot: QtBot) -> None:
    assert words(window, "findNext") == "Next hit (F3)"
    assert "F8 next problem" in details(window)
    remap(window)
    assert words(window, "findNext") == "Next hit (Ctrl+Alt+5)"
    assert words(window, "findPrevious") == "Previous hit (Ctrl+Alt+6)"
    assert panes_of(window).marks.view.empty_text.startswith("No marks yet. Ctrl+Alt+2 marks and Ctrl+Alt+3 comm")
    assert "Ctrl+Alt+1 next problem" in details(window)
    window.next_message.to_mark(1)
    notice = window.notices.notice("no-mark")
    assert notice is not None
    assert notice.text == "No message is marked. Ctrl+Alt+2 marks the current one."


def test_an_action_without_a_key_is_named_without_one(window: MainWindow) -> None:
    window.application.settings.keys = {name: [] for name in NEW}
    window.apply_settings()
    assert words(window, "findNext") == "Next hit"
    assert panes_of(window).marks.view.empty_text == "No marks yet."
    assert "next problem" not in details(window)


def test_the_cards_of_the_start_page_name_them(application: Application) -> None:
    window = application.new_window()
    assert child(window, ActionCard, "start_open").keys == "Ctrl+O"
    remap(window)
    assert child(window, ActionCard, "start_open").keys == "Ctrl+Alt+4"
    assert "Ctrl+Alt+7" in child(window, ActionCard, "start_connect").accessibleDescription()


def test_no_usual_key_is_said_once_all_are_others(window: MainWindow) -> None:
    """Every key that an action has is taken from it: then no word of the window names one."""
    usual = {key.replace("Return", "Enter") for one in ACTIONS for key in one.keys if re.search(r"\+|F\d", key)}
    fixed = {"Ctrl+Left", "Ctrl+Right", "Ctrl+Enter", "Alt+Up", "Alt+Down"}  # of the control itself
    window.application.settings.keys = {one.id: [] for one in ACTIONS}
    window.apply_settings()
    said = [text for _, text in said_by(window)]
    named = re.compile("|".join(rf"(?<![\w+]){re.escape(key)}(?![\w+])" for key in sorted(usual - fixed)))
    assert [text for text in said if named.search(text)] == []

"""The table of actions: each can be done, has keys of its own, and stands in a menu."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from inspector.ui.app.application import Application
from inspector.ui.input.action import MENUS, SESSIONS, Action
from inspector.ui.look import icons
from inspector.ui.panels.details.panel import TABS
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import panes_of

CONVENTIONS = {
    "Ctrl+O": "file.open", "Ctrl+K": "file.connect", "Ctrl+/": "edit.filter", "Ctrl+G": "go.to",
    "Ctrl+Up": "go.previous", "Ctrl+Down": "go.next", "Ctrl+]": "go.chain_next", "Ctrl+[": "go.chain_previous",
    "Alt+Left": "go.back", "Space": "capture.pause", "Ctrl++": "view.zoom_in", "Ctrl+-": "view.zoom_out",
    "Ctrl+0": "view.zoom_reset", "Ctrl+,": "file.preferences",
}  # fmt: skip
"""Keys of docs/design.md 8."""


NEEDS = {"", "document", "filter", "live", "connection", "message", "unsaved", "marks", "undo", "redo", "developer",
         "sessions", "editable", "open_subsession", "mergeable", "own_message", "tabs", "beside"}  # fmt: skip


def test_each_action_can_be_done() -> None:
    def can_be_done(action: Action[MainWindow]) -> bool:
        known = action.menu in MENUS and action.needs in NEEDS and (not action.icon or action.icon in icons.ICONS)
        return known and callable(action.do) and all(not QKeySequence(key).isEmpty() for key in action.keys)

    assert [action.id for action in ACTIONS if not can_be_done(action)] == []


def test_no_key_means_two_things() -> None:
    keys = Counter(QKeySequence(key).toString() for action in ACTIONS for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []
    ids = Counter(action.id for action in ACTIONS)
    assert [name for name, count in ids.items() if count > 1] == []


def test_no_menu_is_long() -> None:
    entries = {menu: {action.submenu or action.id for action in ACTIONS if action.menu == menu} for menu in MENUS}
    assert {menu: len(found) for menu, found in entries.items() if len(found) > 24} == {}
    assert len(entries["&View"]) < 20


def test_no_two_access_keys_of_a_menu_are_alike() -> None:
    for menu in {(action.menu, action.submenu) for action in ACTIONS}:
        letters = Counter(
            action.title[action.title.index("&") + 1].lower()
            for action in ACTIONS
            if (action.menu, action.submenu) == menu and "&" in action.title
        )
        assert [letter for letter, count in letters.items() if count > 1] == [], menu


def test_the_palette_knows_the_words_people_use(window: MainWindow) -> None:
    wanted = {
        "theme": "view.theme_dark", "dark": "view.theme_dark", "black": "view.theme_dark", "font": "view.zoom_in",
        "zoom": "view.zoom_reset", "column": "view.columns", "preferences": "file.preferences",
        "sidebar": "view.edge_left",
    }  # fmt: skip
    for words, action in wanted.items():
        assert action in [line.id for line in window.command_palette.find(words)], words


def test_a_theme_is_chosen_in_the_menu_and_marked(window: MainWindow) -> None:
    window.actions_by_id["view.theme_dark"].trigger()
    assert window.theme.theme.dark
    names = ("view.theme_system", "view.theme_light", "view.theme_dark")
    assert [window.actions_by_id[name].isChecked() for name in names] == [False, False, True]
    window.actions_by_id["view.theme_light"].trigger()
    assert not window.theme.theme.dark
    assert [window.actions_by_id[name].isChecked() for name in names] == [False, True, False]


def test_a_file_cannot_be_disconnected_and_has_no_menu_of_sub_sessions(window: MainWindow) -> None:
    window.document.live = True  # as a pipe, or a file that is followed
    window.action_state.enable()
    assert not window.actions_by_id["capture.disconnect"].isEnabled()
    assert not window.menus[SESSIONS].menuAction().isVisible()


@pytest.mark.parametrize(("key", "action"), CONVENTIONS.items())
def test_the_conventions_hold(key: str, action: str) -> None:
    assert key in next(known for known in ACTIONS if known.id == action).keys


def test_a_start_page_offers_only_what_can_be_done_there(application: Application) -> None:
    window = application.new_window()
    enabled = {name for name, action in window.actions_by_id.items() if action.isEnabled()}
    assert enabled == {action.id for action in ACTIONS if not action.needs}
    assert all(action.toolTip() for action in window.actions_by_id.values())


def test_each_page_of_the_details_is_found_by_its_name(window: MainWindow) -> None:
    panes = panes_of(window)
    for tab in reversed(TABS):  # from one to the next the page is another
        panes.messages.go_to(3)
        panes.show_context(0, 0)
        window.docks["Details"].hide()
        QTest.keySequence(window, QKeySequence("Ctrl+Shift+P"))
        QTest.keyClicks(window.command_palette.card.field, f"page {tab}")
        line = window.command_palette.card.list.line()
        assert line is not None, f"an Action `details.{tab.lower()}` in inspector/ui/window/actions.py"
        QTest.keyClick(window.command_palette.card.field, Qt.Key.Key_Return)
        assert (line.group, line.title) == ("Page of the details", tab)
        assert window.docks["Details"].isVisible()
        assert (panes.details.place, panes.details.message) == (None, 3), tab
        assert panes.details.tabs.currentIndex() == TABS.index(tab)
        focus = QApplication.focusWidget()
        assert focus is not None
        assert panes.details.isAncestorOf(focus), tab


def test_submenus_share_no_access_key_with_what_stands_beside_them(application: Application) -> None:
    window = application.new_window()
    for menu in window.menuBar().findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
        titles = [action.text() for action in menu.actions() if "&" in action.text().replace("&&", "")]
        letters = Counter(QKeySequence.mnemonic(title).toString() for title in titles)
        assert [letter for letter, count in letters.items() if count > 1] == [], menu.title()

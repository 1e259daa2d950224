"""What stands above the table about requests and proposals that the view hides, as a user reads and uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector.ui.app import Application
from inspector.ui.main_window import MainWindow
from inspector.ui.view_head import HIDDEN_CALLS
from inspector.ui.widgets.buttons import LinkButton
from tests.ui.find import child
from tests.ui.windows import numbers, panes_of, story, window_on

CHATS = 'kind == "chat"'


@pytest.fixture
def window(qapp: QApplication) -> Iterator[MainWindow]:
    application = Application(qapp, theme="light", bundled_fonts=True, remembers=False)
    window = window_on(application, story())
    yield window
    window.close()
    application.theme.dispose()


def said(window: MainWindow) -> str:
    notice = window.view_head.notices.notice(HIDDEN_CALLS)
    return "" if notice is None else f"{notice.text} {' '.join(notice.links)}"


def click(window: MainWindow, qtbot: QtBot) -> None:
    notice = window.view_head.notices.notice(HIDDEN_CALLS)
    assert notice is not None
    qtbot.waitUntil(lambda: any(one.isVisible() for one in notice.findChildren(LinkButton)))
    link = next(one for one in notice.findChildren(LinkButton) if one.isVisible())
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)


def editor(window: MainWindow) -> str:
    return child(window, QPlainTextEdit, "filterEditor").toPlainText()


def test_any_filter_that_hides_calls_says_so_and_shows_them_on_a_click(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    assert said(window) == ""
    panes.apply_filter(CHATS)
    assert said(window) == "2 requests are hidden by this view; agents must act on those. Show them"
    panes.go_to(1)
    click(window, qtbot)
    assert numbers(window) == [1, 2, 5, 7, 9]
    assert editor(window) == CHATS, "what the user wrote stays"
    assert panes.messages.current_message() == 1
    assert said(window).endswith("Hide them again")
    click(window, qtbot)
    assert numbers(window) == [1, 2, 9]
    assert said(window).endswith("Show them")


def test_conditions_stay_switches_and_count_what_they_hide(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.stack_filter(CHATS)
    click(window, qtbot)
    chips = window.stacking.bar.chips()
    assert [chip.condition.text for chip in chips] == [CHATS]
    qtbot.waitUntil(lambda: chips[0].hides == 4)
    qtbot.mouseClick(chips[0], Qt.MouseButton.LeftButton)
    assert len(numbers(window)) == 9
    assert said(window) == "", "nothing chooses any more"


def test_a_scope_stays_too(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(0)
    panes.details.scope_requested.emit(0)  # main
    before = panes.scope
    assert before is not None
    assert said(window).startswith("2 requests are hidden")
    click(window, qtbot)
    assert numbers(window) == [1, 2, 3, 5, 7, 9]
    assert window.view_head.scope.isVisible()
    click(window, qtbot)
    assert panes.scope == before
    assert numbers(window) == [1, 2, 3, 9]


def test_a_preset_begins_anew(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).apply_filter(CHATS)
    click(window, qtbot)
    panes_of(window).apply_filter("!context")
    assert said(window).endswith("Show them")

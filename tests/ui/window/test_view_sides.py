"""Tabs of views keep their place while side panes fold and return, as a user switches between the views."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.samples import DATA, sample
from tests.ui.find import child
from tests.ui.windows import story, window_on

pytestmark = pytest.mark.styled
SESSION = DATA / "transcripts/claude-code/00000000-0000-4000-8000-000000000001.jsonl"
SINGLE = sample("formats/codex.jsonl")


def tab_places(window: MainWindow) -> list[int]:
    """The left edges of the tabs in the window."""
    bar = child(window, QTabBar, "viewTabBar")
    left = bar.mapTo(window, QPoint(0, 0)).x()
    return [left + bar.tabRect(index).left() for index in range(bar.count())]


def choose(window: MainWindow, title: str, qtbot: QtBot) -> None:
    """Clicks a tab."""
    bar = child(window, QTabBar, "viewTabBar")
    index = next(n for n in range(bar.count()) if bar.tabText(n) == title)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())
    qtbot.wait(50)


def opened(application: Application, qtbot: QtBot, width: int) -> MainWindow:
    window = window_on(application, document_at(SESSION))
    window.resize(width, 800)
    qtbot.wait(100)
    return window


@pytest.mark.parametrize("width", [900, 1000, 1280, 1920])
def test_tabs_keep_their_place_in_all_views(
    application: Application, lands_as_set: None, qtbot: QtBot, width: int
) -> None:
    window = opened(application, qtbot, width)
    bar = child(window, QTabBar, "viewTabBar")
    titles = [bar.tabText(index) for index in range(bar.count())]
    places = {}
    for title in (*titles, *titles[::-1]):
        choose(window, title, qtbot)
        places[title] = tab_places(window)
    assert len({tuple(place) for place in places.values()}) == 1, places


def test_contexts_fold_in_conversation_unless_the_user_asks_for_them(
    application: Application, lands_as_set: None, qtbot: QtBot
) -> None:
    window = opened(application, qtbot, 1280)
    contexts = window.docks["Contexts"]
    choose(window, "Messages", qtbot)
    assert contexts.isVisible()
    choose(window, "Conversation", qtbot)
    assert not contexts.isVisible()
    window.actions_by_id["view.contexts"].trigger()
    qtbot.wait(50)
    assert contexts.isVisible()
    before = tab_places(window)
    choose(window, "Steps", qtbot)
    assert contexts.isVisible()
    choose(window, "Conversation", qtbot)
    assert contexts.isVisible(), "the user has asked for them"
    assert tab_places(window) == before
    window.actions_by_id["view.contexts"].trigger()
    choose(window, "Steps", qtbot)
    choose(window, "Conversation", qtbot)
    assert not contexts.isVisible(), "the user has hidden them again"


def test_contexts_that_the_user_hides_leave_no_room_before_the_tabs(
    application: Application, lands_as_set: None, qtbot: QtBot
) -> None:
    window = opened(application, qtbot, 1280)
    choose(window, "Messages", qtbot)
    window.actions_by_id["view.edge_left"].trigger()
    qtbot.wait(50)
    places = tab_places(window)
    assert places[0] == 0
    for title in ("Conversation", "Overview", "Steps"):
        choose(window, title, qtbot)
        assert tab_places(window) == places


def test_contexts_stay_in_the_conversation_of_a_gateway(
    application: Application, lands_as_set: None, qtbot: QtBot
) -> None:
    window = window_on(application, story())
    window.resize(1280, 800)
    qtbot.wait(50)
    choose(window, "Conversation", qtbot)
    assert window.docks["Contexts"].isVisible(), "no list of turns replaces them"

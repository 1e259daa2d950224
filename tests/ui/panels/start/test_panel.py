"""Tests of `inspector.ui.panels.start`."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from inspector.base.targets import session_target
from inspector.engine.requests.agent_sessions import NewSession
from inspector.present.formats import day_words
from inspector.settings import ConnectionSettings, RecentFacts, Settings
from inspector.settings.model import Start
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.start.buttons import RecentRow
from inspector.ui.panels.start.panel import NO_SESSIONS, NOTHING_RECENT, StartPage
from inspector.ui.panels.start.recents import recent_file
from tests.ui.find import child


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A gateway log in a folder of its own, written today."""
    folder = tmp_path / "coding-agent"
    folder.mkdir()
    file = folder / "envelope-history.jsonl"
    file.write_bytes(b"x" * 2_800)
    return file


@pytest.fixture
def page(theme_controller: ThemeController, log: Path, qtbot: QtBot) -> StartPage:
    """The page with a connection, a log, and a file that is gone."""
    settings = Settings(
        recent_files=[str(log), str(log.parent / "gone.jsonl")],
        recent_connections=[ConnectionSettings(url="ws://127.0.0.1:8080", space="demo")],
    )
    page = StartPage(theme_controller, settings)
    qtbot.addWidget(page)
    page.resize(1280, 720)
    page.show()
    return page


def find(page: StartPage, name: str) -> QAbstractButton:
    return child(page, QAbstractButton, name)


def recents(page: StartPage) -> list[tuple[str, str]]:
    rows = [row for row in page.findChildren(RecentRow) if not row.isHidden()]
    return [(row.title, row.detail) for row in rows if row.objectName().startswith("startRecent")]


@pytest.mark.parametrize("card", ["open", "connect", "tap", "sessions", "demo", "paste"])
def test_cards_ask(page: StartPage, qtbot: QtBot, card: str) -> None:
    signal = getattr(page, f"{card}_requested")
    with qtbot.waitSignal(signal):
        qtbot.mouseClick(find(page, f"start_{card}"), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(signal):
        qtbot.keyClick(find(page, f"start_{card}"), Qt.Key.Key_Return)


def test_recents_say_only_what_is_known(page: StartPage, log: Path) -> None:
    gateway, file, gone = recents(page)
    assert gateway == ("ws://127.0.0.1:8080", "space demo")
    assert file[0] == "coding-agent/envelope-history.jsonl"
    assert file[1] == "gateway log, 2.8 kB"
    assert gone == ("coding-agent/gone.jsonl", "file not found")


def test_recents_open(page: StartPage, log: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.recent_connection_requested) as connection:
        qtbot.mouseClick(find(page, "startRecent0"), Qt.MouseButton.LeftButton)
    assert connection.args is not None
    assert connection.args[0].space == "demo"
    with qtbot.waitSignal(page.recent_file_requested) as file:
        qtbot.mouseClick(find(page, "startRecent1"), Qt.MouseButton.LeftButton)
    assert file.args == [str(log)]
    assert not find(page, "startRecent2").isEnabled()


def test_newest_sessions_open_with_a_click(page: StartPage, qtbot: QtBot, tmp_path: Path) -> None:
    found = [NewSession(tmp_path / "a.jsonl", "Round once", "Codex", "shop", 0.0, is_running=True)]
    place = find(page, "start_paste").mapTo(page, QPoint())
    page.show_sessions(found)
    row = find(page, "startSession0")
    assert (row.accessibleName(), row.accessibleDescription()) == ("Round once", "Codex · shop · running")
    with qtbot.waitSignal(page.session_requested) as asked:
        qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    assert asked.args == [session_target(tmp_path / "a.jsonl")]
    assert find(page, "start_paste").mapTo(page, QPoint()) == place


def test_the_demo_is_offered_once(page: StartPage, qtbot: QtBot) -> None:
    page.show_sessions([])
    assert child(page, QLabel, "startLooking").text() == NO_SESSIONS
    names = [one.accessibleName() for one in page.findChildren(QAbstractButton) if one.isVisibleTo(page)]
    assert sum("demo" in name for name in names) == 1
    with qtbot.waitSignal(page.demo_requested):
        qtbot.mouseClick(find(page, "start_demo"), Qt.MouseButton.LeftButton)


def test_a_switched_off_lookup_leaves_no_list(theme_controller: ThemeController, qtbot: QtBot) -> None:
    page = StartPage(theme_controller, Settings(start=Start(agent_sessions=False)))
    qtbot.addWidget(page)
    assert not child(page, QLabel, "startSessions").isVisibleTo(page)


def test_clear_asks_and_an_empty_list_says_so(page: StartPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.clear_recent_requested):
        qtbot.mouseClick(child(page, QPushButton, "startClear"), Qt.MouseButton.LeftButton)
    page.show_recents(Settings())
    assert recents(page) == []
    assert not child(page, QPushButton, "startClear").isVisible()
    nothing = child(page, QLabel, "startNothing")
    assert nothing.isVisible()
    assert nothing.text() == NOTHING_RECENT


def test_arrows_walk_and_enter_opens(page: StartPage, qtbot: QtBot) -> None:
    def focused() -> str:
        widget = page.focusWidget()
        assert widget is not None
        return widget.objectName()

    find(page, "start_open").setFocus()
    steps = [
        (Qt.Key.Key_Up, "start_open"),
        (Qt.Key.Key_Down, "start_connect"),
        (Qt.Key.Key_Right, "startRecent1"),
        (Qt.Key.Key_Down, "startRecent1"),
        (Qt.Key.Key_Up, "startRecent0"),
        (Qt.Key.Key_Right, "startRecent0"),
        (Qt.Key.Key_Left, "start_open"),
    ]
    for key, name in steps:
        qtbot.keyClick(page.focusWidget(), key)
        assert focused() == name


def test_paste_key(page: StartPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.paste_requested):
        qtbot.keyClick(find(page, "start_open"), Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


def test_the_first_card_has_the_focus(page: StartPage) -> None:
    assert page.focusWidget() is find(page, "start_open")


def test_days_in_words() -> None:
    now = datetime(2026, 3, 5, 12, 0).astimezone()
    said = [day_words((now - timedelta(days=days)).timestamp(), now) for days in (0, 1, 3, 400)]
    assert said == ["today 12:00", "yesterday", "2 March", "29 January 2025"]


def test_names_of_files(tmp_path: Path) -> None:
    now = datetime.now().astimezone()
    capture = tmp_path / "night.ctxcap"
    capture.write_bytes(b"x")
    os.utime(capture, (now.timestamp(), now.timestamp()))
    assert recent_file(str(capture), now).detail == "recorded capture, 1 B"  # nothing of it is known, nor its day
    known = RecentFacts(messages=1_216, first_ns=int((now - timedelta(days=1)).timestamp() * 1e9))
    assert recent_file(str(capture), now, known).detail == "recorded capture, 1,216 messages, 1 B, yesterday"
    assert recent_file(str(capture), now, RecentFacts(messages=1)).detail == "recorded capture, 1 message, 1 B"
    assert recent_file(str(tmp_path), now, RecentFacts(messages=1)).detail == "1 message", "a folder has no size"
    assert not recent_file("/no\0where", now).there

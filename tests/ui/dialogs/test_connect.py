"""Tests of `inspector.ui.dialogs.connect`."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QLabel, QLineEdit, QMenu, QPushButton, QScrollArea, QToolButton
from pytestqt.qtbot import QtBot

from inspector.settings import ConnectionSettings, Settings
from inspector.sources.connection import Connection
from inspector.ui.dialogs.connect import UNTESTED, ConnectDialog, TestResult
from inspector.ui.features.gateway_window import try_connection
from inspector.ui.look.theme import ThemeController
from tests.numbered import NumberedGateway
from tests.ui.find import child


def opened(qtbot: QtBot, themes: ThemeController, settings: Settings | None = None) -> ConnectDialog:
    dialog = ConnectDialog(themes, settings or Settings())
    dialog.open()
    return dialog


def fill(dialog: ConnectDialog, **values: str) -> None:
    for name, text in values.items():
        child(dialog, QLineEdit, f"connect{name.title()}").setText(text)


def value(dialog: ConnectDialog, name: str) -> str:
    return child(dialog, QLineEdit, f"connect{name}").text()


def line_below(dialog: ConnectDialog, name: str) -> str:
    return child(dialog, QLabel, f"connect{name}Help").text()


def press(qtbot: QtBot, dialog: ConnectDialog, name: str) -> None:
    qtbot.mouseClick(child(dialog, QPushButton, f"connect{name}"), Qt.MouseButton.LeftButton)


def test_connect_gives_what_was_entered(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    fill(dialog, address="gateway.local:8080", space=" demo ", token="hush")
    name = value(dialog, "Participant")
    assert name.startswith("inspector-")
    qtbot.mouseClick(child(dialog, QCheckBox, "connectAnswer"), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(dialog.accepted_connection) as accepted:
        press(qtbot, dialog, "Connect")
    assert accepted.args is not None
    connection = accepted.args[0]
    assert isinstance(connection, Connection)
    assert connection.url == "ws://gateway.local:8080/"
    assert (connection.space, connection.participant) == ("demo", name)
    assert connection.token.get_secret_value() == "hush"
    assert not connection.answer_tools_list
    assert not dialog.isVisible()


@pytest.mark.parametrize(
    ("address", "space", "row", "sentence"),
    [
        ("ftp://x", "demo", "Address", "a gateway address starts with ws or wss"),
        ("ws://x:99999", "demo", "Address", "is no address"),
        ("ws://", "demo", "Address", "names no host"),
        ("ws://x", "  ", "Space", "Enter a space"),
    ],
    ids=["scheme", "port", "host", "space"],
)
def test_what_is_wrong_is_said_in_place(
    theme_controller: ThemeController, qtbot: QtBot, address: str, space: str, row: str, sentence: str
) -> None:
    dialog = opened(qtbot, theme_controller)
    before = dialog.height()
    fill(dialog, address=address, space=space)
    with qtbot.assertNotEmitted(dialog.accepted_connection):
        press(qtbot, dialog, "Connect")
    assert dialog.isVisible()
    assert sentence in line_below(dialog, row)
    assert child(dialog, QLineEdit, f"connect{row}").property("wrong") == "true"
    qtbot.waitUntil(lambda: dialog.height() > before)
    qtbot.keyClicks(child(dialog, QLineEdit, f"connect{row}"), "y")
    assert line_below(dialog, row) == ""
    dialog.reject()


def test_enter_connects(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    fill(dialog, address="ws://x", space="demo")
    with qtbot.waitSignal(dialog.accepted_connection):
        qtbot.keyClick(child(dialog, QLineEdit, "connectSpace"), Qt.Key.Key_Return)


def test_refresh_takes_another_id(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    before = value(dialog, "Participant")
    qtbot.mouseClick(child(dialog, QToolButton, "connectRefresh"), Qt.MouseButton.LeftButton)
    assert value(dialog, "Participant") != before
    dialog.reject()


def test_recent_connections_fill_everything_but_id_and_token(theme_controller: ThemeController, qtbot: QtBot) -> None:
    settings = Settings(
        recent_connections=[
            ConnectionSettings(url="ws://a", space="one"),
            ConnectionSettings(url="wss://b", space="two", participant="old", answer_tools_list=False),
        ]
    )
    dialog = opened(qtbot, theme_controller, settings)
    assert (value(dialog, "Address"), value(dialog, "Space"), value(dialog, "Token")) == ("ws://a", "one", "")
    menu = child(dialog, QMenu, "connectAddressMenu")
    assert [action.text() for action in menu.actions()] == ["ws://a  space one", "wss://b  space two"]
    menu.actions()[1].trigger()
    assert (value(dialog, "Address"), value(dialog, "Space")) == ("wss://b", "two")
    assert value(dialog, "Participant") != "old"
    assert not child(dialog, QCheckBox, "connectAnswer").isChecked()
    dialog.reject()


def test_an_address_given_leads_to_the_space(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    dialog.set_address("ws://given")
    assert value(dialog, "Address") == "ws://given"
    assert dialog.focusWidget() is child(dialog, QLineEdit, "connectSpace")
    dialog.reject()


def test_it_grows_with_the_lines_that_say_what_is_wrong(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    fields = child(dialog, QScrollArea, "connectFields")
    before = dialog.height()
    assert dialog.connection() is None
    qtbot.waitUntil(lambda: dialog.height() > before)
    qtbot.waitUntil(lambda: fields.verticalScrollBar().maximum() == 0)
    dialog.reject()


def test_the_space_an_address_names_is_taken(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    dialog.set_address("ws://given:1?space=demo")
    assert value(dialog, "Space") == "demo"
    address = child(dialog, QLineEdit, "connectAddress")
    address.selectAll()
    qtbot.keyClicks(address, "ws://given:1?space=other")
    address.editingFinished.emit()  # no window is active here, so that no field has the keyboard to lose
    assert value(dialog, "Space") == "other"
    space = child(dialog, QLineEdit, "connectSpace")
    space.selectAll()
    qtbot.keyClicks(space, "mine")
    address.editingFinished.emit()
    assert value(dialog, "Space") == "mine"
    connection = dialog.connection()
    assert connection is not None
    assert connection.space == "mine"
    dialog.reject()


def test_the_token_is_nowhere_to_be_read(theme_controller: ThemeController, qtbot: QtBot) -> None:
    settings = Settings()
    dialog = opened(qtbot, theme_controller, settings)
    fill(dialog, address="ws://x", space="demo", token="hush-hush")
    connection = dialog.connection()
    assert connection is not None
    assert "hush" not in repr(connection)
    assert "hush" not in settings.model_dump_json()
    assert "hush" not in dialog.windowTitle()
    assert child(dialog, QLineEdit, "connectToken").displayText() != "hush-hush"
    dialog.reject()


def test_no_test_button_without_a_test(theme_controller: ThemeController, qtbot: QtBot) -> None:
    dialog = opened(qtbot, theme_controller)
    assert not child(dialog, QPushButton, "connectTest").isVisible()
    dialog.reject()


async def test_a_test_says_in_place_what_came_of_it(
    theme_controller: ThemeController, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConnectDialog, "most_size", lambda _dialog: QSize(1280, 420))
    asked: list[Connection] = []

    async def answer(connection: Connection) -> TestResult:
        asked.append(connection)
        return TestResult(True, "The gateway answered in 12 ms", "mew/v0.4, 4 participants")

    dialog = ConnectDialog(theme_controller, Settings(), test=answer)
    dialog.open()
    fill(dialog, address="ws://x", space="demo")
    press(qtbot, dialog, "Test")
    await dialog.tests_done()
    assert [connection.space for connection in asked] == ["demo"]
    assert child(dialog, QLabel, "connectResultHeadline").text() == "The gateway answered in 12 ms"
    result = child(dialog, QFrame, "connectResult")
    assert result.visibleRegion().boundingRect() == result.rect(), "in sight on a small screen"
    assert value(dialog, "Participant") != asked[0].participant
    dialog.reject()


async def test_testing_keeps_the_focus_and_what_is_corrected_forgets_the_result(
    theme_controller: ThemeController, qtbot: QtBot
) -> None:
    async def answer(connection: Connection) -> TestResult:
        await asyncio.sleep(0)
        return TestResult(False, "There is no such space")

    dialog = ConnectDialog(theme_controller, Settings(), test=answer)
    dialog.open()
    dialog.activateWindow()
    fill(dialog, address="ws://x", space="wrong")
    press(qtbot, dialog, "Test")
    test = child(dialog, QPushButton, "connectTest")
    test.setFocus()
    await dialog.tests_done()
    await asyncio.sleep(0)
    assert dialog.focusWidget() is test
    said, place = child(dialog, QLabel, "connectResultHeadline"), test.pos()
    assert said.text() == "There is no such space"
    qtbot.keyClicks(child(dialog, QLineEdit, "connectSpace"), "x")
    assert said.text() == UNTESTED
    assert test.pos() == place, "what was said moves no button"
    dialog.reject()


async def test_a_space_that_nobody_else_is_in_is_doubted() -> None:
    async with NumberedGateway() as gateway:
        found = await try_connection(Connection(url=gateway.url, space="dmeo"))
    assert found.ok
    assert found.doubtful
    assert found.detail.startswith("No other participant is in the space dmeo. Is the name right? Welcome with")
    assert found.headline.startswith("The gateway answered in ")

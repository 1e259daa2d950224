"""Tests of `inspector.ui.dialogs.save_fields`, through the connect dialog it stands in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from inspector.settings import ConnectionSettings, NamedConnection, Settings
from inspector.settings.credentials import NO_KEYRING, KeyringError, TokenStore, account_name
from inspector.sources.connection import Connection
from inspector.ui.dialogs.connect import (
    TOKEN_HELP,
    TOKEN_STORED,
    TOKEN_STORED_HELP,
    UNTESTED,
    ConnectDialog,
    TestResult,
)
from inspector.ui.dialogs.save_fields import KEEP_HELP, KEEP_UNNAMED, NAME_HELP, NO_NAME, NOT_ALL_HELP, ConnectionSave
from inspector.ui.look.theme import ThemeController
from tests.keyrings import FakeKeyring, KeyringLocked
from tests.ui.find import child
from tests.ui.windows import until

STAGING = NamedConnection(id="0a1b", name="staging", url="ws://a:1", space="one", token="keyring")
PLAIN = NamedConnection(id="2c3d", name="plain", url="ws://b:1", space="two", participant="watcher")


class Desk:
    """A dialog over a keyring, and what it gave."""

    def __init__(
        self, themes: ThemeController, qtbot: QtBot, editing: NamedConnection | None = None,
        opened: Callable[[], FakeKeyring] | None = None,
    ) -> None:  # fmt: skip
        self.qtbot = qtbot
        self.keyring = FakeKeyring()
        self.keyring.entries["Context Inspector", account_name(STAGING)] = "kept-token"
        self.asked: list[Connection] = []
        self.settings = Settings(
            connections=[STAGING.model_copy(), PLAIN.model_copy()],
            recent_connections=[ConnectionSettings(url="ws://c:1", space="three")],
        )
        self.saved: list[ConnectionSave] = []
        self.joined: list[Connection] = []
        self.dialog = ConnectDialog(
            themes, self.settings, test=self.reach, tokens=TokenStore(opened or (lambda: self.keyring)), editing=editing
        )
        self.dialog.saved.connect(self.saved.append)
        self.dialog.accepted_connection.connect(self.joined.append)
        self.dialog.open()

    async def reach(self, connection: Connection) -> TestResult:
        self.asked.append(connection)
        return TestResult(True, "The gateway answered in 12 ms")

    def field(self, name: str) -> QLineEdit:
        return child(self.dialog, QLineEdit, f"connect{name}")

    def type(self, name: str, text: str) -> None:
        self.field(name).clear()
        self.qtbot.keyClicks(self.field(name), text)

    def press(self, name: str) -> None:
        self.qtbot.mouseClick(child(self.dialog, QPushButton, f"connect{name}"), Qt.MouseButton.LeftButton)

    def pick(self, place: int) -> None:
        child(self.dialog, QMenu, "connectAddressMenu").actions()[place].trigger()

    @property
    def box(self) -> QCheckBox:
        return child(self.dialog, QCheckBox, "connectKeep")

    def said(self, name: str) -> str:
        return child(self.dialog, QLabel, f"connect{name}").text()

    async def keyring_found(self) -> None:
        await until(lambda: self.box.isEnabled(), "the keyring")


@pytest.fixture
def desk(theme_controller: ThemeController, qtbot: QtBot) -> Iterator[Desk]:
    desk = Desk(theme_controller, qtbot)
    yield desk
    desk.keyring.gate.set()
    desk.dialog.reject()


async def test_a_name_keeps_the_connection_and_the_keyring_the_token(desk: Desk) -> None:
    assert (desk.box.isEnabled(), desk.said("KeepHelp")) == (False, KEEP_UNNAMED)
    assert desk.said("TokenHelp") == TOKEN_HELP
    desk.type("Token", "hush-hush")
    desk.type("Name", " lab ")
    await desk.keyring_found()
    assert (desk.box.isChecked(), desk.said("KeepHelp")) == (True, KEEP_HELP)
    assert desk.said("TokenHelp") == TOKEN_STORED_HELP
    desk.press("Connect")
    kept = desk.saved[0]
    assert (kept.connection.name, kept.connection.url, kept.connection.space) == ("lab", "ws://c:1", "three")
    assert (kept.connection.token, kept.connection.participant, kept.before) == ("keyring", "", None)
    assert kept.token.get_secret_value() == desk.joined[0].token.get_secret_value() == "hush-hush"
    assert "hush" not in kept.connection.model_dump_json() + repr(kept)
    assert desk.field("Token").text() == ""


async def test_without_a_name_nothing_is_kept(desk: Desk) -> None:
    desk.type("Token", "hush")
    desk.press("Connect")
    assert desk.saved == []
    assert desk.joined[0].token.get_secret_value() == "hush"


async def test_an_unticked_box_asks_each_time(desk: Desk) -> None:
    desk.type("Token", "hush")
    desk.type("Name", "lab")
    await desk.keyring_found()
    desk.qtbot.mouseClick(desk.box, Qt.MouseButton.LeftButton)
    assert desk.said("TokenHelp") == TOKEN_HELP
    desk.press("Connect")
    assert (desk.saved[0].connection.token, bool(desk.saved[0].token)) == ("ask", False)


async def test_a_secret_in_the_address_is_not_kept_and_that_is_said(desk: Desk) -> None:
    desk.type("Name", "lab")
    assert desk.said("NameHelp") == NAME_HELP
    desk.type("Address", "ws://amy:pw@c:1/x?key=hush")
    assert desk.said("NameHelp") == NOT_ALL_HELP
    desk.press("Connect")
    assert desk.saved[0].connection.url == "ws://c:1/x"


async def test_an_id_of_ones_own_is_kept_and_used_again(desk: Desk) -> None:
    desk.type("Name", "lab")
    desk.type("Participant", "watcher-2")
    desk.press("Connect")
    assert desk.saved[0].connection.participant == "watcher-2"
    desk.dialog.set_connection(PLAIN)
    assert desk.field("Participant").text() == "watcher"


async def test_names_are_taken_once(desk: Desk) -> None:
    desk.type("Name", "Staging")
    desk.press("Connect")
    assert desk.said("NameHelp") == "Another connection has the name Staging. Choose another name."
    assert desk.joined == []
    desk.type("Name", "other")
    desk.press("Connect")
    assert len(desk.joined) == 1


async def test_the_list_begins_with_names_and_a_kept_token_need_not_be_typed(desk: Desk) -> None:
    actions = child(desk.dialog, QMenu, "connectAddressMenu").actions()
    assert [action.text() for action in actions] == [
        "staging  ws://a:1  space one", "plain  ws://b:1  space two", "ws://c:1  space three",
    ]  # fmt: skip
    desk.pick(0)
    assert desk.field("Name").text() == "staging"
    assert (desk.field("Token").text(), desk.field("Token").placeholderText()) == ("", TOKEN_STORED)
    desk.press("Connect")
    await until(lambda: desk.joined, "the token")
    assert desk.joined[0].token.get_secret_value() == "kept-token"
    assert (desk.saved[0].connection.token, bool(desk.saved[0].token)) == ("keyring", False)
    assert desk.saved[0].connection.id == STAGING.id


async def test_a_kept_token_goes_to_no_other_gateway(desk: Desk) -> None:
    desk.pick(0)
    desk.type("Address", "ws://evil:1")
    assert desk.said("TokenHelp") == "The saved token is for ws://a:1 and is not sent to other gateways."
    assert desk.field("Token").placeholderText() == ""
    desk.press("Connect")
    assert not desk.joined[0].token
    assert desk.saved[0].connection.token == "none"
    assert desk.keyring.threads == set()


async def test_a_test_uses_the_kept_token(desk: Desk) -> None:
    desk.pick(0)
    desk.press("Test")
    await desk.dialog.tests_done()
    assert desk.asked[0].token.get_secret_value() == "kept-token"
    assert desk.said("ResultHeadline") == "The gateway answered in 12 ms"


async def test_a_locked_keyring_is_said_and_typing_goes_on(desk: Desk) -> None:
    desk.pick(0)
    desk.keyring.error = KeyringLocked("Failed to unlock the collection!")
    desk.press("Connect")
    await desk.dialog.tests_done()
    assert desk.said("ResultHeadline") == "The system keyring is locked. Unlock it and try again, or type the token."
    assert desk.dialog.focusWidget() is desk.field("Token")
    assert desk.joined == []
    desk.type("Token", "typed")
    assert desk.said("ResultHeadline") == UNTESTED
    desk.press("Connect")
    assert desk.joined[0].token.get_secret_value() == "typed"


async def test_no_keyring_is_said_where_the_token_would_be_kept(
    theme_controller: ThemeController, qtbot: QtBot
) -> None:
    desk = Desk(theme_controller, qtbot, opened=_no_keyring)
    desk.type("Token", "hush")
    desk.type("Name", "lab")
    await until(lambda: "No system keyring" in desk.said("KeepHelp"), "the sentence")
    assert not desk.box.isEnabled()
    assert desk.said("TokenHelp") == TOKEN_HELP
    desk.press("Connect")
    assert (desk.saved[0].connection.token, bool(desk.saved[0].token)) == ("ask", False)
    assert desk.joined[0].token.get_secret_value() == "hush"


def _no_keyring() -> FakeKeyring:
    raise KeyringError(NO_KEYRING)


async def test_a_keyring_that_does_not_answer_leaves_the_dialog_alive(desk: Desk) -> None:
    desk.pick(0)
    desk.keyring.gate.clear()
    desk.press("Connect")
    await until(lambda: "Waiting for the system keyring" in desk.said("ResultHeadline"), "the sentence")
    desk.press("Connect")
    desk.type("Token", "typed")
    assert desk.said("ResultHeadline") == UNTESTED
    desk.press("Connect")
    assert desk.joined[0].token.get_secret_value() == "typed"
    desk.keyring.gate.set()
    await asyncio.sleep(0.01)
    assert len(desk.joined) == 1


async def test_editing_saves_and_joins_nothing(theme_controller: ThemeController, qtbot: QtBot) -> None:
    desk = Desk(theme_controller, qtbot, editing=STAGING)
    assert desk.dialog.windowTitle() == "Edit staging"
    desk.type("Name", "")
    desk.press("Save")
    assert desk.said("NameHelp") == NO_NAME
    desk.type("Name", "production")
    desk.type("Space", "two")
    desk.press("Save")
    kept = desk.saved[0]
    assert (kept.connection.id, kept.connection.name, kept.connection.space) == ("0a1b", "production", "two")
    assert (kept.connection.token, kept.before) == ("keyring", STAGING)
    assert desk.joined == []

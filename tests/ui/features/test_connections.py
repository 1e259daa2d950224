"""Tests of `inspector.ui.features.connections` and `inspector.ui.window.recent_menus`: stored connections."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QListView, QMenu, QPushButton, QWidget

from inspector.demo.gateway import DemoGateway
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.settings import load_settings as load_settings
from inspector.settings.credentials import TokenStore, account_name
from inspector.ui.app.application import Application
from inspector.ui.dialogs.connect import ConnectDialog
from inspector.ui.dialogs.connections import ConnectionsDialog
from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.panels.start.buttons import RecentRow
from inspector.ui.window.main_window import MainWindow
from tests.keyrings import FakeKeyring, KeyringLocked
from tests.ui.find import child
from tests.ui.waiting import time_passes
from tests.ui.windows import run_in_window, state_of, until

TOKEN = "s3cr3t-b2f7c1-tok3n"


def desk(application: Application, *connections: NamedConnection) -> tuple[MainWindow, FakeKeyring]:
    """A window on the start page with connections, and the keyring behind it, which holds their tokens."""
    keyring = FakeKeyring()
    for one in connections:
        if one.token == "keyring":
            keyring.entries["Context Inspector", account_name(one)] = TOKEN
    application.tokens = TokenStore(lambda: keyring)
    application.settings.connections = list(connections)
    return application.new_window(), keyring


def open_dialog(window: MainWindow) -> ConnectDialog:
    return next(dialog for dialog in window.findChildren(ConnectDialog) if dialog.isVisible())


def write(dialog: QWidget, name: str, text: str) -> None:
    field = child(dialog, QLineEdit, f"connect{name}")
    field.clear()
    QTest.keyClicks(field, text)


def press(dialog: QWidget, name: str) -> None:
    QTest.mouseClick(child(dialog, QPushButton, name), Qt.MouseButton.LeftButton)


def entries(menu: QMenu) -> list[QAction]:
    menu.aboutToShow.emit()
    return [action for action in menu.actions() if not action.isSeparator()]


def rows(window: MainWindow) -> list[str]:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # rows of an earlier list
    found = window.start_page.findChildren(RecentRow)
    return [row.title for row in found if row.objectName().startswith("startRecent")]


def welcomed(window: MainWindow) -> bool:
    return "system/welcome" in window.document.kind_counts()


async def row_menu(window: MainWindow, place: int) -> dict[str, QAction]:
    """The menu of a line of the start page, opened with the right button."""
    await time_passes(50)  # what was changed is laid out
    page = window.start_page
    row = child(page, RecentRow, f"startRecent{place}")
    middle = row.mapTo(page, row.rect().center())
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(page, QContextMenuEvent(reason, middle, page.mapToGlobal(middle)))
    menu = next(menu for menu in page.findChildren(QMenu) if menu.isVisible())
    found = {action.text().replace("&", ""): action for action in menu.actions()}
    menu.hide()
    return found


def test_kept_in_the_dialog_joined_from_the_menu_and_the_start_page(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        gateway = DemoGateway()
        await gateway.start()
        window, keyring = desk(application)
        window.actions_by_id["file.connect"].trigger()
        dialog = open_dialog(window)
        for name, text in (("Address", gateway.url), ("Space", "demo"), ("Token", TOKEN), ("Name", "lab")):
            write(dialog, name, text)
        await until(child(dialog, QCheckBox, "connectKeep").isEnabled, "the keyring")
        press(dialog, "connectConnect")
        await until(lambda: welcomed(window) and keyring.entries, "the welcome, and the token in the keyring")
        kept = load_settings().settings.connections[0]
        assert (kept.name, kept.space, kept.token) == ("lab", "demo", "keyring")
        assert keyring.entries == {("Context Inspector", account_name(kept)): TOKEN}

        second = application.new_window()
        assert rows(second) == ["lab"]
        QTest.mouseClick(child(second.start_page, RecentRow, "startRecent0"), Qt.MouseButton.LeftButton)
        await until(lambda: welcomed(second), "the welcome of the start page")
        assert second.gateway.connection is not None
        assert second.gateway.connection.token.get_secret_value() == TOKEN

        third = application.new_window()
        next(one for one in entries(third.recent_menus.gateways) if one.text() == "lab").trigger()
        await until(lambda: welcomed(third), "the welcome of the menu")
        assert load_settings().settings.unnamed_connections() == []
        for one in (window, second, third):
            await one.gateway.end_session()
        await gateway.stop()

    run_in_window(qapp, steps)


@pytest.mark.trouble
@pytest.mark.parametrize("error", [KeyringLocked("locked"), OSError("The bus went away")], ids=["locked", "broken"])
def test_a_token_that_is_not_to_be_had_is_asked_for(qapp: QApplication, error: Exception) -> None:
    async def steps(application: Application) -> None:
        window, keyring = desk(application, NamedConnection(name="lab", url="ws://a", space="one", token="keyring"))
        keyring.error = error
        window.connections.join(application.settings.connections[0])
        await until(lambda: window.findChildren(ConnectDialog), "the dialog")
        dialog = open_dialog(window)
        assert "system keyring" in child(dialog, QWidget, "connectResult").accessibleName()
        assert dialog.focusWidget() is child(dialog, QLineEdit, "connectToken")
        assert child(dialog, QLineEdit, "connectName").text() == "lab"
        dialog.reject()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_token_that_cannot_be_kept_is_said_and_asked_for_next_time(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window, keyring = desk(application, NamedConnection(name="lab", url="ws://a", space="one"))
        dialog = window.connections.edit(application.settings.connections[0])
        await until(child(dialog, QCheckBox, "connectKeep").isEnabled, "the keyring")
        keyring.error = KeyringLocked("locked")
        write(dialog, "Token", TOKEN)
        press(dialog, "connectSave")
        await until(lambda: window.notices.notice("keyringTrouble") is not None, "the sentence")
        notice = window.notices.notice("keyringTrouble")
        assert notice is not None
        said = notice.text
        assert (
            said
            == "Saved lab. The system keyring is locked, so the token was not kept. The token is asked for each time."
        )
        assert load_settings().settings.connections[0].token == "ask"
        window.connections.join(application.settings.connections[0])
        open_dialog(window).reject()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_the_window_lives_while_the_keyring_asks_for_its_password(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window, keyring = desk(application, NamedConnection(name="lab", url="ws://a", space="one", token="keyring"))
        keyring.gate.clear()
        window.connections.join(application.settings.connections[0])
        # Until the gate opens: on the loop's thread the keyring would hold all of this up, and let nothing be said.
        await until(lambda: window.notices.notice("keyring") is not None, "the sentence")
        assert not keyring.gate.is_set()
        window.connections.stop_waiting()
        await until(lambda: window.notices.notice("keyring") is None, "the end of the notice")
        keyring.gate.set()
        await asyncio.sleep(0.02)  # what it answers now is not waited for
        assert window.panes is None
        assert window.findChildren(ConnectDialog) == []

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_a_window_may_close_while_the_keyring_is_asked(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window, keyring = desk(application, NamedConnection(name="lab", url="ws://a", space="one", token="keyring"))
        other = application.new_window()
        keyring.gate.clear()
        window.connections.join(application.settings.connections[0])
        dialog = window.connections.edit(application.settings.connections[0])
        write(dialog, "Token", "another")
        box = child(dialog, QCheckBox, "connectKeep")
        box.blockSignals(True)  # as if the keyring had been looked at before it was locked
        box.setEnabled(True)
        box.setChecked(True)
        box.blockSignals(False)
        press(dialog, "connectSave")
        window.close()
        keyring.error = KeyringLocked("locked")
        keyring.gate.set()
        await until(lambda: other.notices.notice("keyringTrouble") is not None, "the sentence in the other window")
        notice = other.notices.notice("keyringTrouble")
        assert notice is not None
        assert notice.text.endswith("The keyring still has the old token.")
        assert load_settings().settings.connections[0].token == "keyring"

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_renamed_edited_and_deleted_in_the_list(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        lab = NamedConnection(name="lab", url="ws://a", space="one", token="keyring")
        window, keyring = desk(application, lab, NamedConnection(name="other", url="ws://b", space="two"))
        window.actions_by_id["file.connections"].trigger()
        listed = child(window, ConnectionsDialog)
        view = child(listed, QListView)
        QTest.keyClick(view, Qt.Key.Key_F2)
        field = child(view, QLineEdit, "rowEditor")
        QTest.keyClicks(field, "production")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: rows(window) == ["production", "other"], "the new name")
        assert account_name(application.settings.connections[0]) in {name for _, name in keyring.entries}

        QTest.mouseClick(child(listed, QWidget, "connectionsEdit"), Qt.MouseButton.LeftButton)
        dialog = child(listed, ConnectDialog)
        write(dialog, "Address", "ws://moved")
        press(dialog, "connectSave")
        await until(lambda: not keyring.entries, "that the token for the old gateway is gone")
        assert load_settings().settings.connections[0].token == "none"

        keyring.entries["Context Inspector", account_name(application.settings.connections[0])] = TOKEN
        application.settings.connections[0].token = "keyring"
        listed.refresh()
        QTest.keyClick(view, Qt.Key.Key_Delete)
        press(child(listed, MessageDialog), "messageAnswer_delete")
        await until(lambda: not keyring.entries, "that the token is gone")
        assert rows(window) == ["other"]
        assert [one.name for one in load_settings().settings.connections] == ["other"]
        listed.reject()

    run_in_window(qapp, steps)


def test_recent_files_in_the_menu(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        log = tmp_path / "night & day.jsonl"
        log.write_text('{"protocol":"mew/v0.4","id":"1","from":"a","kind":"chat","payload":{"text":"x"}}\n')
        application.settings.recent_files = [str(log), str(tmp_path / "gone.jsonl")]
        window, _ = desk(application)
        found = entries(window.recent_menus.files)
        assert [(one.text(), one.isEnabled()) for one in found[:2]] == [
            (f"{tmp_path.name}/night && day.jsonl", True),
            (f"{tmp_path.name}/gone.jsonl, file not found", False),
        ]
        found[0].trigger()
        await until(lambda: window.panes is not None and state_of(window).messages == 1, "the log")
        entries(window.recent_menus.files)[-1].trigger()
        assert load_settings().settings.recent_files == []
        file_menu = window.menuBar().actions()[0].menu()
        assert isinstance(file_menu, QMenu)
        file_menu.aboutToShow.emit()
        assert not window.recent_menus.files.menuAction().isEnabled()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_clearing_keeps_what_has_a_name(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.settings.recent_connections = [
            ConnectionSettings(url="ws://a", space="one"), ConnectionSettings(url="ws://b", space="two"),
        ]  # fmt: skip
        window, _ = desk(application, NamedConnection(name="lab", url="ws://a", space="one"))
        assert rows(window) == ["lab", "ws://b"]
        QTest.mouseClick(child(window.start_page, QPushButton, "startClear"), Qt.MouseButton.LeftButton)
        assert rows(window) == ["lab"]
        assert not child(window.start_page, QPushButton, "startClear").isVisible()

    run_in_window(qapp, steps)


@pytest.mark.trouble
def test_lines_of_the_start_page_have_menus(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        gone = str(tmp_path / "gone.jsonl")
        application.settings.recent_files = [gone]
        application.settings.recent_connections = [ConnectionSettings(url="ws://b", space="two")]
        window, _ = desk(application, NamedConnection(name="lab", url="ws://a", space="one"))
        menu = await row_menu(window, 2)
        assert not menu["Open"].isEnabled()
        menu["Remove from this list"].trigger()
        assert rows(window) == ["lab", "ws://b"]
        (await row_menu(window, 1))["Keep under a name..."].trigger()
        dialog = open_dialog(window)
        assert child(dialog, QLineEdit, "connectAddress").text() == "ws://b"
        dialog.reject()
        (await row_menu(window, 1))["Remove from this list"].trigger()
        (await row_menu(window, 0))["Edit..."].trigger()
        open_dialog(window).reject()
        (await row_menu(window, 0))["Delete..."].trigger()
        press(child(window, MessageDialog), "messageAnswer_delete")
        assert rows(window) == []
        assert load_settings().settings.recent_files == []

    run_in_window(qapp, steps)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes as Linux shows them")
def test_the_token_is_nowhere_but_in_the_keyring(
    qapp: QApplication, user_folders: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Joined, lost, joined again, saved and closed: then every file, log record, process and title is searched."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[str] = []

    async def steps(application: Application) -> None:
        gateway = DemoGateway()
        await gateway.start()
        window, keyring = desk(application)
        window.actions_by_id["file.connect"].trigger()
        dialog = open_dialog(window)
        for name, text in (("Address", gateway.url), ("Space", "demo"), ("Token", TOKEN), ("Name", "lab")):
            write(dialog, name, text)
        await until(child(dialog, QCheckBox, "connectKeep").isEnabled, "the keyring")
        press(dialog, "connectTest")
        await dialog.tests_done()
        press(dialog, "connectConnect")
        await until(lambda: welcomed(window) and keyring.entries, "the welcome")
        other = application.new_window()
        other.connections.join(application.settings.connections[0])
        await until(lambda: welcomed(other), "the welcome of the other window")
        assert keyring.tokens() == [TOKEN]
        seen.extend(_processes())
        seen.extend(_words(window, other))
        # What a gateway of ours got is what was sent: the search would find it if it were anywhere.
        assert other.gateway.connection is not None
        assert other.gateway.connection.token.get_secret_value() == TOKEN
        await other.gateway.end_session()
        await gateway.stop()
        await until(lambda: window.notices.notice("connection") is not None, "the loss")
        seen.extend(_words(window))
        keyring.error = KeyringLocked("locked")
        window.connections.join(application.settings.connections[0])
        await until(lambda: window.findChildren(ConnectDialog), "the question")
        open_dialog(window).reject()
        await window.gateway.end_session()
        seen.extend(_processes())
        seen.extend(_files(user_folders, tmp_path))

    run_in_window(qapp, steps)
    seen.extend(_files(user_folders, tmp_path))
    seen.extend(record.getMessage() + str(record.args) + str(record.exc_text) for record in caplog.records)
    assert any('"ctxcap"' in text for text in seen), "no capture was searched"
    assert any('"connections"' in text for text in seen), "no settings were searched"
    assert any("python" in text for text in seen), "no process was searched"
    for written in (TOKEN, json.dumps(TOKEN)[1:-1], TOKEN.encode().hex()):
        assert [text[:200] for text in seen if written in text] == []


def _files(*folders: Path) -> list[str]:
    return [f"{file}\n{_text_of(file)}" for folder in folders for file in folder.rglob("*") if file.is_file()]


def _processes() -> list[str]:
    own = [str(os.getpid()), *_text_of(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")).split()]
    parts = [Path("/proc", one, part) for one in own for part in ("cmdline", "environ", "comm")]
    return [_text_of(part) for part in (*Path("/proc").glob("[0-9]*/cmdline"), *parts)]


def _text_of(path: Path) -> str:
    """What a file holds; nothing of one that has gone meanwhile, as processes and unfinished files do."""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _words(*windows: MainWindow) -> list[str]:
    """Everything a window says: titles, tooltips, names, texts."""
    said: list[str] = []
    for window in windows:
        for widget in (window, *window.findChildren(QWidget)):
            said += [widget.windowTitle(), widget.toolTip(), widget.accessibleName(), widget.accessibleDescription()]
            text = getattr(widget, "text", None)
            said.append(str(text()) if callable(text) else "")
    return said

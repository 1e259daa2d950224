"""Tests of `inspector.ui.dialogs.connections` and its model."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QListView, QPushButton, QToolButton
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.settings import NamedConnection, Settings
from inspector.ui.dialogs.connections import (
    NO_CONNECTIONS,
    ConnectionsDialog,
)
from inspector.ui.look.theme import ThemeController
from tests.ui.find import child


@pytest.fixture
def settings() -> Settings:
    return Settings(
        connections=[
            NamedConnection(id="a", name="staging", url="ws://a", space="one", token="keyring"),
            NamedConnection(id="b", name="lab\u202e", url="ws://b", space="two", token="ask"),
        ]
    )


@pytest.fixture
def dialog(theme_controller: ThemeController, settings: Settings, qtbot: QtBot) -> ConnectionsDialog:
    dialog = ConnectionsDialog(theme_controller, settings)
    dialog.renamed.connect(lambda chosen, name: setattr(chosen, "name", name))
    dialog.open()
    dialog.activateWindow()
    return dialog


def names(dialog: ConnectionsDialog) -> list[str]:
    model = child(dialog, QListView).model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def press(qtbot: QtBot, dialog: ConnectionsDialog, name: str, kind: type[QPushButton | QToolButton]) -> None:
    qtbot.mouseClick(child(dialog, kind, f"connections{name}"), Qt.MouseButton.LeftButton)


def test_it_lists_name_gateway_and_where_the_token_is(dialog: ConnectionsDialog) -> None:
    view = child(dialog, QListView)
    index = view.model().index(0, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "staging: ws://a, space one, token in the keyring"
    said = view.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "lab\ufffd: ws://b, space two, ask for token"
    assert not view.grab().isNull()
    dialog.reject()


def test_enter_joins_and_closes(dialog: ConnectionsDialog, qtbot: QtBot) -> None:
    view = child(dialog, QListView)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.join_requested) as joined:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert joined.args is not None
    assert joined.args[0].id == "b"
    assert not dialog.isVisible()


def test_f2_renames_in_place(dialog: ConnectionsDialog, settings: Settings, qtbot: QtBot) -> None:
    view = child(dialog, QListView)

    def rename(text: str) -> None:
        qtbot.keyClick(view, Qt.Key.Key_F2)
        field = child(view, QLineEdit, "rowEditor")
        field.selectAll()
        qtbot.keyClicks(field, text)
        qtbot.keyClick(field, Qt.Key.Key_Return)

    rename("production")
    qtbot.waitUntil(lambda: names(dialog)[0] == settings.connections[0].name == "production")
    assert dialog.isVisible()
    rename("  ")
    qtbot.waitUntil(lambda: view.findChild(QLineEdit) is None)
    assert names(dialog)[0] == "production"
    dialog.reject()


def test_two_do_not_get_one_name(dialog: ConnectionsDialog) -> None:
    model = child(dialog, QListView).model()
    assert not model.setData(model.index(1, 0), "STAGING")
    assert names(dialog)[0] == "staging"
    dialog.reject()


def test_edit_and_delete_ask(dialog: ConnectionsDialog, settings: Settings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.edit_requested):
        press(qtbot, dialog, "Edit", QToolButton)
    with qtbot.waitSignal(dialog.delete_requested) as asked:
        qtbot.keyClick(child(dialog, QListView), Qt.Key.Key_Delete)
    assert asked.args == [settings.connections[0]]
    settings.remove_connection("a")
    dialog.refresh()
    assert names(dialog) == ["lab\ufffd"]
    settings.remove_connection("b")
    dialog.refresh()
    assert child(dialog, QListView).accessibleDescription() == NO_CONNECTIONS
    assert not child(dialog, QPushButton, "connectionsConnect").isEnabled()
    assert dialog.current() is None
    dialog.reject()


def test_one_is_added_also_where_there_is_none(
    theme_controller: ThemeController, settings: Settings, qtbot: QtBot
) -> None:
    settings.connections.clear()
    dialog = ConnectionsDialog(theme_controller, settings)
    dialog.open()
    dialog.activateWindow()
    new = child(dialog, QToolButton, "connectionsNew")
    qtbot.waitUntil(new.hasFocus)
    with qtbot.waitSignal(dialog.new_requested):
        qtbot.keyClick(new, Qt.Key.Key_Space)
    dialog.reject()


def test_order_is_changed_at_once(dialog: ConnectionsDialog, settings: Settings, qtbot: QtBot) -> None:
    assert not child(dialog, QToolButton, "connectionsUp").isEnabled()
    with qtbot.waitSignal(dialog.moved):
        press(qtbot, dialog, "Down", QToolButton)
    assert [one.id for one in settings.connections] == ["b", "a"]
    current = dialog.current()
    assert current is not None
    assert current.id == "a"
    assert not child(dialog, QToolButton, "connectionsDown").isEnabled()
    dialog.reject()


def test_the_model_obeys_qt(dialog: ConnectionsDialog, settings: Settings, qtmodeltester: ModelTester) -> None:
    model = child(dialog, QListView).model()
    qtmodeltester.check(model)
    assert model.setData(model.index(0, 0), "staging")
    settings.connections.reverse()
    dialog.refresh()
    settings.connections.clear()
    dialog.refresh()
    assert names(dialog) == []
    dialog.reject()

"""Presets in the window: chips that are dragged, keys, menu, editing, undo, files that are shared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from inspector.settings import DEFAULT_PRESETS, Preset, Settings
from inspector.settings.sharing import FILE_KEY
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.dialogs.share_buttons import ShareButtons
from inspector.ui.widgets.key_field import KeyField
from inspector.ui.widgets.rows.view import RowsView
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at, envelope, lines_of, log_file
from tests.samples import sample
from tests.ui.find import child
from tests.ui.windows import in_turn, numbers, panes_of, story, window_on

KEYS, CONTROL, ALT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    with qtbot.waitExposed(window):
        window.activateWindow()
    return window


def names(window: MainWindow) -> list[str]:
    return [chip.preset.name for chip in window.presets.bar.chips()]


def press(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def chip_of(window: MainWindow, name: str) -> QToolButton:
    return next(chip for chip in window.presets.bar.chips() if chip.preset.name == name)


def everything_shows_everything_and_is_marked_only_then(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    assert chip_of(window, "Everything").isChecked()
    panes.go_to(0)
    panes.details.links.scope_requested.emit(0)  # main
    assert (chip_of(window, "Everything").isChecked(), numbers(window)) == (False, [1, 2, 3, 9])
    panes.filter_state.apply_filter('kind == "chat"')
    QTest.mouseClick(chip_of(window, "Everything"), Qt.MouseButton.LeftButton)
    assert (chip_of(window, "Everything").isChecked(), len(numbers(window))) == (True, 9)
    assert panes.filter_state.scope is None


def undo(window: MainWindow) -> None:
    panes_of(window).messages.setFocus()
    press(window, KEYS.Key_Z, CONTROL)


def opened(window: MainWindow, page: str = "presets") -> SettingsDialog:
    window.actions_by_id[f"view.{page}"].trigger()
    dialogs = [one for one in window.findChildren(SettingsDialog) if one.isVisible()]
    return dialogs[-1]


def keys_of_their_places_apply_presets(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).messages.setFocus()
    press(window, KEYS.Key_2, ALT)
    assert panes_of(window).filter_state.filter.text == "!context"
    press(window, KEYS.Key_7, ALT)  # This context, and no context is selected
    assert panes_of(window).filter_state.filter.text == "!context"
    panes_of(window).go_to(4)
    press(window, KEYS.Key_7, ALT)
    assert panes_of(window).filter_state.filter.text == "context under $context"
    assert numbers(window) == [4, 5, 6, 7, 8]
    press(window, KEYS.Key_1, ALT)
    assert len(numbers(window)) == 9


def test_presets_are_no_earlier_filters(window: MainWindow) -> None:
    press(window, KEYS.Key_2, ALT)
    assert panes_of(window).filter_state.filter.text == "!context"
    assert window.application.settings.filter_history == window.filter_bar.history() == []
    panes_of(window).filter_state.combine_filter('kind == "chat"')
    assert window.application.settings.filter_history == ['kind == "chat"']


def test_the_menu_lists_them_with_their_keys(window: MainWindow) -> None:
    menu = child(window, QMenu, "view.presetMenu")
    said = [(action.text(), action.shortcut().toString(), action.isEnabled()) for action in menu.actions()]
    assert said[0] == ("Everything", "Alt+1", True)
    assert said[6] == ("This context", "Alt+7", False)
    assert said[-1] == ("Problems", "", True)
    menu.actions()[-1].trigger()
    assert panes_of(window).filter_state.filter.text == "finding.severity >= warning"


def test_on_the_start_page_no_preset_can_be_chosen(application: Application) -> None:
    window = application.new_window()
    assert not any(action.isEnabled() for action in window.presets.actions)


def a_moved_chip_stays_where_it_was_put_and_takes_the_key_of_its_place(window: MainWindow, qtbot: QtBot) -> None:
    chip = window.presets.bar.chips()[0]
    chip.setFocus()
    QTest.keyClick(chip, KEYS.Key_Right, CONTROL)
    assert names(window)[:2] == ["Main only", "Everything"]
    assert QApplication.focusWidget() is window.presets.bar.chips()[1]
    press(window, KEYS.Key_1, ALT)
    assert panes_of(window).filter_state.filter.text == "!context"
    assert window.presets.bar.chips()[0].isChecked()
    undo(window)
    assert names(window)[:2] == ["Everything", "Main only"]


def test_every_window_shows_the_same_presets(window: MainWindow, application: Application) -> None:
    other = window_on(application, story())
    window.presets.save("tool")
    window.presets.bar.removed.emit(window.presets.bar.chips()[0].preset)
    mew = {preset.name for preset in DEFAULT_PRESETS if not preset.topics or "mew" in preset.topics} | {"tool"}
    shown = [preset.name for preset in application.settings.presets if preset.name in mew]
    for one in (window, other):
        assert [action.text() for action in one.presets.actions] == shown
    assert shown[0] == "Main only"
    assert shown[-1] == "tool"


def the_filter_in_force_is_saved_by_a_key_under_a_name(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    panes_of(window).messages.setFocus()
    before = len(window.application.settings.presets)
    press(window, KEYS.Key_D, CONTROL)
    field = window.name_card.field
    assert field.hasFocus()
    assert field.selectedText() == 'kind == "chat"'
    assert len(window.application.settings.presets) == before, "nothing is kept unasked"
    QTest.keyClick(field, KEYS.Key_Escape)
    assert window.name_card.isHidden()
    assert len(window.application.settings.presets) == before
    assert panes_of(window).messages.view.hasFocus()
    press(window, KEYS.Key_D, CONTROL)
    QTest.keyClicks(field, "Talk")
    QTest.keyClick(field, KEYS.Key_Return)
    assert window.application.settings.presets[-1] == Preset(name="Talk", filter='kind == "chat"')
    assert window.name_card.isHidden()
    assert window.actions_by_id["edit.undo"].text() == "&Undo add preset Talk"
    undo(window)
    assert len(window.application.settings.presets) == before


def a_second_preset_of_the_same_name_is_told(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    before = len(window.application.settings.presets)
    press(window, KEYS.Key_D, CONTROL)
    field = window.name_card.field
    QTest.keyClicks(field, "tools")
    QTest.keyClick(field, KEYS.Key_Return)
    assert not window.name_card.isHidden()
    assert child(window.name_card, QLabel, "nameTrouble").text().startswith("The preset Tools already exists.")
    assert len(window.application.settings.presets) == before
    field.setText("To\u202eols")
    QTest.keyClick(field, KEYS.Key_Return)
    assert len(window.application.settings.presets) == before, "what is not seen is no part of a name"
    QTest.keyClicks(field, " of mine")
    assert child(window.name_card, QLabel, "nameTrouble").isHidden()
    QTest.keyClick(field, KEYS.Key_Return)
    assert window.application.settings.presets[-1].name == "Tools of mine"


def the_name_card_goes_when_the_user_turns_to_something_else(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    press(window, KEYS.Key_D, CONTROL)
    QTest.mouseClick(panes_of(window).messages.view.viewport(), Qt.MouseButton.LeftButton)
    assert window.name_card.isHidden()
    assert panes_of(window).messages.view.hasFocus()


def a_filter_that_is_a_preset_already_is_not_saved_again(window: MainWindow, qtbot: QtBot) -> None:
    for text, said in (("badge", "This filter is already saved as the preset Collapsible results."),
                       ("", "This filter is already saved as the preset Everything.")):  # fmt: skip
        panes_of(window).filter_state.apply_filter(text)
        press(window, KEYS.Key_D, CONTROL)
        assert window.name_card.isHidden()
        notice = window.notices.notice("message")
        assert notice is not None
        assert notice.text == said if text else "no filter" in notice.text


def edit_opens_the_settings_on_that_preset_and_typing_is_one_step(window: MainWindow, qtbot: QtBot) -> None:
    window.presets.bar.edit_requested.emit(window.presets.bar.chips()[2].preset)
    dialog = next(one for one in window.findChildren(SettingsDialog) if one.isVisible())
    name = child(dialog, QLineEdit, "presetsName")
    assert name.text() == "With reasoning"
    name.selectAll()
    qtbot.keyClicks(name, "Thinking & more")
    assert window.application.settings.presets[2].name == "Thinking & more"
    assert window.presets.bar.chips()[2].text() == "Thinking && more"
    dialog.accept()
    undo(window)
    assert names(window)[2] == "With reasoning"
    press(window, KEYS.Key_Y, CONTROL)
    assert names(window)[2] == "Thinking & more"


# A key each


def give(dialog: SettingsDialog, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> str:
    """Press a key for the selected preset; what is said below the field."""
    QTest.keyClick(child(dialog, KeyField, "presetsKey"), key, modifiers)
    return child(dialog, QLabel, "presetsKeyHelp").text()


def a_preset_gets_a_key_of_its_own(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    child(dialog, RowsView, "presetsList").setCurrentIndex(child(dialog, RowsView, "presetsList").model().index(11, 0))
    assert give(dialog, KEYS.Key_P, ALT | CONTROL) == "Applies the preset from anywhere in the window."
    assert window.application.settings.presets[11].key == "Ctrl+Alt+P"
    assert "Ctrl+Alt+P" in window.presets.bar.chips()[11].toolTip()
    QTest.mouseClick(child(dialog, QToolButton, "presetsKeyClear"), Qt.MouseButton.LeftButton)
    assert window.application.settings.presets[11].key == ""
    dialog.accept()


def a_key_that_is_taken_is_refused_with_a_sentence(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    assert give(dialog, KEYS.Key_F, CONTROL) == "Ctrl+F is the key of Find in view."
    assert give(dialog, KEYS.Key_X, Qt.KeyboardModifier.NoModifier).startswith("X alone types text")
    assert window.application.settings.presets[0].key is None
    assert give(dialog, KEYS.Key_3, ALT) == "Applies the preset from anywhere in the window."
    assert window.presets.actions[0].shortcut().toString() == "Alt+3"
    assert window.presets.actions[2].shortcut().isEmpty()
    QTest.mouseClick(child(dialog, QToolButton, "presetsKeyByPlace"), Qt.MouseButton.LeftButton)
    assert window.presets.actions[0].shortcut().toString() == "Alt+1"
    assert window.presets.actions[2].shortcut().toString() == "Alt+3"
    dialog.accept()


def a_key_given_on_the_page_of_all_keys_goes_with_the_preset(window: MainWindow, qtbot: QtBot) -> None:
    settings = window.application.settings
    settings.keys["preset.Tools"] = ["Ctrl+Alt+T"]
    window.apply_settings()
    window.presets.refresh()
    assert settings.keys == {}
    tools = next(preset for preset in settings.presets if preset.name == "Tools")
    assert tools.key == "Ctrl+Alt+T"
    panes_of(window).messages.setFocus()
    press(window, KEYS.Key_T, CONTROL | ALT)
    assert panes_of(window).filter_state.filter.text == 'kind like "mcp/*"'


# The list in the settings


def rows_are_moved_by_keys_and_by_dragging(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    presets = child(dialog, RowsView, "presetsList")
    presets.setFocus()
    QTest.keyClick(presets, KEYS.Key_Down, ALT)
    assert names(window)[:2] == ["Main only", "Everything"]
    assert presets.currentIndex().row() == 1
    below = presets.visualRect(presets.model().index(3, 0)).bottomLeft() + QPoint(20, -2)
    drop = QDropEvent(
        QPointF(below), Qt.DropAction.MoveAction, QMimeData(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    presets.dropEvent(drop)
    assert names(window)[:4] == ["Main only", "With reasoning", "Inside reasoning", "Everything"]
    QTest.keyClick(presets, KEYS.Key_Delete)
    assert "Everything" not in names(window)
    dialog.accept()
    undo(window)
    assert names(window)[3] == "Everything"


# Sharing


def test_presets_are_written_to_a_file_and_read_by_others(window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "team.json"
    window.application.settings.presets[:] = [Preset(name="Mine", filter="tool", key="Ctrl+Alt+M")]
    window.presets.refresh()
    dialog = opened(window)
    QTest.mouseClick(child(dialog, QToolButton, "presetsAdd"), Qt.MouseButton.LeftButton)
    QTest.mouseClick(child(dialog, QToolButton, "presetsRemove"), Qt.MouseButton.LeftButton)
    child(dialog, QPushButton, "presetsExport").click()
    chooser = child(dialog, QFileDialog, "presetsExportDialog")
    chooser.fileSelected.emit(str(file))
    chooser.close()
    assert child(dialog, QLabel, "presetsStatus").text() == "The presets were written to team.json."
    QTest.mouseClick(child(dialog, QToolButton, "presetsRemove"), Qt.MouseButton.LeftButton)
    assert window.application.settings.presets == []
    child(dialog, QPushButton, "presetsImport").click()
    chooser = child(dialog, QFileDialog, "presetsImportDialog")
    chooser.fileSelected.emit(str(file))
    chooser.close()
    assert child(dialog, QLabel, "presetsStatus").text() == "1 preset added from team.json."
    assert window.application.settings.presets == [Preset(name="Mine", filter="tool", key="Ctrl+Alt+M")]
    child(dialog, ShareButtons, "presetsShare").read(file)
    assert child(dialog, QLabel, "presetsStatus").text() == (
        "Nothing was added from team.json. 1 preset already existed."
    )
    dialog.accept()


def test_what_cannot_be_used_of_a_file_is_said(window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "team.json"
    dialog = opened(window)
    share = child(dialog, ShareButtons, "presetsShare")
    before = len(window.application.settings.presets)
    share.read(file)
    assert share.status.text() == "team.json could not be read: No such file or directory."
    file.write_text("{}")
    share.read(file)
    assert share.status.text() == "team.json is JSON, but holds no presets of this program."
    file.write_text(json.dumps({FILE_KEY: 1, "highlights": [{"name": "x", "filter": "error"}]}))
    share.read(file)
    assert share.status.text() == (
        "team.json holds no presets. It has highlight rules: import them on the Highlight rules page."
    )
    found = [{"name": "Good", "filter": "tool", "key": "Ctrl+F"}, {"name": "Bad", "filter": "fro == 1"}]
    file.write_text(json.dumps({FILE_KEY: 1, "presets": found}))
    share.read(file)
    assert share.status.text().startswith("1 preset added from team.json. Left out: Bad (")
    assert window.application.settings.presets[before:] == [Preset(name="Good", filter="tool", key=None)]
    share.write(tmp_path / "no" / "where.json")
    assert share.status.text() == "where.json could not be written: No such file or directory."
    dialog.accept()


def begun_again(window: MainWindow) -> None:
    """The usual presets, everything shown, the keyboard in the table."""
    settings = window.application.settings
    settings.presets[:] = Settings().presets
    settings.filter_history.clear()
    window.presets.refresh()
    window.activateWindow()
    panes_of(window).filter_state.clear()
    panes_of(window).messages.setFocus()


test_presets = in_turn([
    everything_shows_everything_and_is_marked_only_then, keys_of_their_places_apply_presets,
    a_moved_chip_stays_where_it_was_put_and_takes_the_key_of_its_place,
    the_filter_in_force_is_saved_by_a_key_under_a_name, a_second_preset_of_the_same_name_is_told,
    the_name_card_goes_when_the_user_turns_to_something_else, a_filter_that_is_a_preset_already_is_not_saved_again,
    edit_opens_the_settings_on_that_preset_and_typing_is_one_step, a_preset_gets_a_key_of_its_own,
    a_key_that_is_taken_is_refused_with_a_sentence, rows_are_moved_by_keys_and_by_dragging,
    a_key_given_on_the_page_of_all_keys_goes_with_the_preset,
], begun_again)  # fmt: skip


_OFFERED = {
    "formats/claude-code.jsonl": ["Everything", "Prompts", "Edits", "Commands", "Failed", "Sub-agents", "Problems"],
    "formats/codex.jsonl": ["Everything", "Prompts", "Edits", "Commands", "Failed", "Sub-agents", "Problems"],
    "formats/otlp.jsonl": ["Everything", "Prompts", "Model calls", "Tool calls", "Failed", "Problems"],
    "recordings/mcp/ts1-stdio-filesystem.jsonl": ["Everything", "Tool calls", "Failed", "Notifications", "Problems"],
    "dialects/mew-v0.4.jsonl": [p.name for p in DEFAULT_PRESETS if not p.topics or "mew" in p.topics],
}


@pytest.mark.parametrize("name", _OFFERED)
def test_presets_fit_the_log(application: Application, name: str) -> None:
    window = window_on(application, document_at(sample(name)))
    assert [action.text() for action in window.presets.actions] == _OFFERED[name]
    assert [a.shortcut().toString() for a in window.presets.actions[:3]] == ["Alt+1", "Alt+2", "Alt+3"]
    window.presets.save("size > 7", "Mine")
    assert window.presets.actions[-1].text() == "Mine", "the user's own presets are offered for every log"


def test_presets_follow_live_traffic_and_the_most_frequent_kind_comes_first(
    application: Application, qtbot: QtBot
) -> None:
    path = log_file(b"")
    document = document_at(path)
    window = window_on(application, document)
    assert [action.text() for action in window.presets.actions] == ["Everything", "Problems"]

    def grow(*lines: dict[str, object]) -> list[str]:
        with path.open("ab") as file:
            file.write(lines_of(*lines))
        before = names()
        document.poll()
        panes_of(window).bridge.flush()
        qtbot.waitUntil(lambda: names() != before)
        return names()

    def names() -> list[str]:
        return [action.text() for action in window.presets.actions]

    calls: list[dict[str, object]] = [{"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in range(6)]
    mcp = ["Everything", "Tool calls", "Failed", "Notifications", "Problems"]
    assert grow(*calls) == mcp
    both = grow(*(envelope("chat", {"text": str(n)}) for n in range(30)))
    assert both[:2] == ["Everything", "Main only"]
    assert both[-1] == "Problems"
    assert [name for name in both if name in mcp] == mcp
    assert both.index("Stream frames") < both.index("Tool calls")

"""Tests of `inspector.ui.dialogs.settings_dialog` and its pages."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QWidget,
)
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.settings import DEFAULT_PRESETS, Preset, Settings, default_presets
from inspector.ui.dialogs.display_page import HintsPreview
from inspector.ui.dialogs.presets_page import PresetsPage
from inspector.ui.dialogs.settings_dialog import FurtherPage, SettingsDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp import SUBSESSIONS, TITLE, subsessions_page
from inspector.ui.widgets.scrolled_part import ScrolledPart
from tests.ui.find import child


@pytest.fixture
def settings() -> Settings:
    """The defaults, with one file opened before."""
    return Settings(recent_files=["/a"])


FURTHER = (FurtherPage(SUBSESSIONS, TITLE, subsessions_page),)


@pytest.fixture
def dialog(theme_controller: ThemeController, settings: Settings, qtbot: QtBot) -> SettingsDialog:
    """The dialog, open on Display."""
    dialog = SettingsDialog(theme_controller, settings, further=FURTHER)
    dialog.open()
    return dialog


def click(qtbot: QtBot, dialog: QWidget, name: str) -> None:
    button = child(dialog, QAbstractButton, name)
    # A check box is as wide as its column, but only mark and words take clicks.
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(10, button.height() // 2))


def test_it_is_no_wider_than_a_small_screen_at_200_percent(
    theme_controller: ThemeController, settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SettingsDialog, "most_size", lambda _dialog: QSize(1280, 764))
    theme_controller.set_zoom(2.0)
    dialog = SettingsDialog(theme_controller, settings, further=FURTHER)
    dialog.open()
    assert dialog.width() <= 1280
    dialog.accept()


def test_the_scroll_bar_covers_no_text_at_the_smallest_size(dialog: SettingsDialog) -> None:
    dialog.show_page("presets")
    dialog.resize(dialog.minimumSizeHint())
    QApplication.processEvents()
    area = child(dialog, QScrollArea, "settingsScrolled")
    content = area.widget()
    assert area.verticalScrollBar().isVisible()
    assert content is not None
    assert content.width() <= area.viewport().width()


def test_short_pages_have_no_scroll_bar_because_of_long_ones(dialog: SettingsDialog, qtbot: QtBot) -> None:
    bar = child(dialog, ScrolledPart, "settingsScrolled").verticalScrollBar()
    dialog.resize(800, 480)
    for page in ("start", "contexts"):
        dialog.show_page("presets")
        qtbot.waitUntil(lambda: bar.maximum() > 0)
        dialog.show_page(page)
        qtbot.waitUntil(lambda: bar.maximum() == 0)
    dialog.accept()


def retype(qtbot: QtBot, dialog: SettingsDialog, name: str, text: str) -> None:
    field = child(dialog, QLineEdit, name)
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    qtbot.keyClicks(field, text)


def test_theme_and_density_apply_at_once(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.changed) as changed:
        click(qtbot, dialog, "settingsTheme_dark")
    assert changed.args == [settings]
    assert settings.display.theme == "dark"
    click(qtbot, dialog, "settingsDensity_comfortable")
    assert settings.display.density == "comfortable"
    dialog.accept()


def test_zoom(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    box = child(dialog, QComboBox, "settingsZoom")
    assert box.currentText() == "100 %"
    assert (box.itemText(0), box.itemText(box.count() - 1)) == ("80 %", "200 %")
    with qtbot.waitSignal(dialog.changed):
        qtbot.keyClick(box, Qt.Key.Key_Down)
    assert settings.display.zoom_percent == 110
    dialog.accept()


def test_states_of_rows_can_be_switched_off(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    assert settings.display.show_states
    click(qtbot, dialog, "settingsStates")
    assert not settings.display.show_states
    dialog.accept()


def test_hints_are_shown_by_example(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    preview = child(dialog, HintsPreview)
    assert not preview.shows_hints()
    without = preview.grab().toImage()
    click(qtbot, dialog, "settingsHints")
    assert settings.display.show_context_hints
    assert preview.shows_hints()
    assert preview.grab().toImage() != without
    click(qtbot, dialog, "settingsMotion")
    assert not settings.display.animate
    dialog.accept()


def test_what_others_remember_stays(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    settings.remember_file("/b")
    click(qtbot, dialog, "settingsTheme_dark")
    assert settings.recent_files == ["/b", "/a"]
    dialog.accept()


def test_restore_brings_back_the_page_that_is_shown(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    settings.presets = [Preset(name="mine", filter="badge")]
    click(qtbot, dialog, "settingsTheme_dark")
    click(qtbot, dialog, "settingsHints")
    with qtbot.waitSignal(dialog.changed):
        click(qtbot, dialog, "settingsRestore")
    assert (settings.display.theme, settings.display.show_context_hints) == ("system", False)
    assert child(dialog, QToolButton, "settingsTheme_system").isChecked()
    assert not child(dialog, QCheckBox, "settingsHints").isChecked()
    assert len(settings.presets) == 1
    click(qtbot, dialog, "settingsPage_presets")
    click(qtbot, dialog, "settingsRestore")
    assert [(p.name, p.filter) for p in settings.presets] == [(p.name, p.filter) for p in DEFAULT_PRESETS]
    dialog.accept()


def test_pages_by_keyboard(dialog: SettingsDialog, qtbot: QtBot) -> None:
    title = child(dialog, QLabel, "settingsTitle")
    assert title.text() == "Display"
    qtbot.keyClick(child(dialog, QAbstractButton, "settingsPage_display"), Qt.Key.Key_Down)
    assert title.text() == "Startup"
    dialog.accept()


def test_presets_are_edited(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    click(qtbot, dialog, "settingsPage_presets")
    click(qtbot, dialog, "presetsAdd")
    retype(qtbot, dialog, "presetsName", "Mine")
    retype(qtbot, dialog, "presetsFilter", 'kind == "chat"')
    assert settings.presets[-1] == Preset(name="Mine", filter='kind == "chat"')
    click(qtbot, dialog, "presetsUp")
    assert [preset.name for preset in settings.presets[-2:]] == ["Mine", "Problems"]
    click(qtbot, dialog, "presetsDown")
    assert settings.presets[-1].name == "Mine"
    assert not child(dialog, QToolButton, "presetsDown").isEnabled()
    click(qtbot, dialog, "presetsRemove")
    assert settings.presets == default_presets()
    dialog.accept()


def test_a_wrong_filter_is_said_and_not_kept(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    click(qtbot, dialog, "settingsPage_presets")
    child(dialog, QListView, "presetsList").setCurrentIndex(child(dialog, QListView, "presetsList").model().index(1, 0))
    retype(qtbot, dialog, "presetsFilter", "form == 1")
    assert "form" in child(dialog, QLabel, "presetsFilterHelp").text()
    assert settings.presets[1].filter != "form == 1"
    retype(qtbot, dialog, "presetsName", "")
    assert child(dialog, QLabel, "presetsNameHelp").text() == "Enter a name."
    assert settings.presets[1].name == "Main only"
    dialog.accept()


def test_close(dialog: SettingsDialog, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.finished):
        qtbot.mouseClick(child(dialog, QPushButton, "settingsClose"), Qt.MouseButton.LeftButton)


def test_the_list_of_presets_obeys_qt(
    theme_controller: ThemeController, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    page = PresetsPage(theme_controller, default_presets())
    qtbot.addWidget(page)
    model = child(page, QListView, "presetsList").model()
    qtmodeltester.check(model)
    page.add(Preset(name="new", filter="badge"))
    last = model.rowCount() - 1
    assert model.index(last, 0).data() == "new"
    click(qtbot, page, "presetsUp")
    assert [model.index(row, 0).data() for row in (last - 1, last)] == ["new", default_presets()[-1].name]
    page.replace_item(0, Preset(name="first", filter=""))
    assert model.index(0, 0).data() == "first"
    assert model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "first: all messages, Alt+1"
    click(qtbot, page, "presetsRemove")
    assert model.rowCount() == last
    page.show_items([])
    assert model.rowCount() == 0


def test_rules_and_budget_of_sub_sessions(dialog: SettingsDialog, settings: Settings, qtbot: QtBot) -> None:
    dialog.show_page("subsessions")
    with qtbot.waitSignal(dialog.changed):
        child(dialog, QCheckBox, "settingsRule_include_main_only").click()
    assert settings.merged.include_main_only
    budget = child(dialog, QSpinBox, "settingsBudget")
    with qtbot.waitSignal(dialog.changed):
        qtbot.keyClick(budget, Qt.Key.Key_Up)
    assert settings.subsession_budget == 8_500
    click(qtbot, dialog, "settingsRestore")
    assert settings.subsession_budget == 8_000
    assert not settings.merged.include_main_only
    assert not child(dialog, QCheckBox, "settingsRule_include_main_only").isChecked()
    dialog.accept()

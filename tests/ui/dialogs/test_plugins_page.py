"""Settings > Plug-ins lists plug-ins without running them, and switches them on and off."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QLabel
from pytestqt.qtbot import QtBot

from inspector.plugins import loading
from inspector.plugins.discovery import plugins_folder
from inspector.settings import Settings
from inspector.ui.dialogs.plugins_page import PluginsPage
from inspector.ui.look.theme import ThemeController
from tests.plugins import example, plugin_file
from tests.ui.find import child

pytestmark = pytest.mark.usefixtures("no_plugins_left")


def test_a_plugin_is_switched_on_and_off(qtbot: QtBot, theme_controller: ThemeController) -> None:
    example("repeated_question")
    settings = Settings()
    page = PluginsPage(theme_controller, settings)
    qtbot.addWidget(page)
    box = child(page, QCheckBox, "plugin0")
    assert (box.text(), box.isChecked()) == ("repeated_question 1.0", False)
    place = plugins_folder() / "repeated_question.py"
    assert box.accessibleDescription() == f"Adds checks, fields. File, {place}"
    with qtbot.waitSignal(page.changed):
        box.click()
    assert [one.name for one in settings.plugins] == ["repeated_question"]
    assert box.accessibleDescription() == f"Adds check question-repeated, field question.words. File, {place}"
    with qtbot.waitSignal(page.changed):
        box.click()
    assert settings.plugins == []


def test_errors_and_changes_are_shown(qtbot: QtBot, theme_controller: ThemeController, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    old = plugin_file("toy", "CHECKS = []\n")
    plugin_file("toy", f"open({str(marker)!r}, 'w').close()\nraise ValueError('<b>no</b>')\n")
    settings = Settings(plugins=[old])
    loading.load(settings.plugins)
    page = PluginsPage(theme_controller, settings)
    qtbot.addWidget(page)
    box, error = child(page, QCheckBox, "plugin0"), child(page, QLabel, "plugin0Error")
    assert not box.isChecked()
    assert error.text() == "It has changed since it was switched on; switch it on again to run it."
    assert not marker.exists()
    box.click()
    assert marker.exists()
    assert error.text() == "Its import raised ValueError: <b>no</b>."
    assert not box.isChecked()
    assert settings.plugins == [old]
    page.restore()
    assert settings.plugins == []
    assert error.text() == ""


def test_without_plugins_it_says_where_they_go(qtbot: QtBot, theme_controller: ThemeController) -> None:
    page = PluginsPage(theme_controller, Settings())
    qtbot.addWidget(page)
    assert not child(page, QLabel, "pluginsEmpty").isHidden()

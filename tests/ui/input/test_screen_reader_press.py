"""A screen reader's press: it toggles what can be checked, and no click is heard of. Everything does its thing."""

from __future__ import annotations

import pytest
from PySide6.QtCore import SIGNAL, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDialog, QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.findings import Severity
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.widgets.color_choice import Swatch
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import bury, in_turn, numbers, panes_of

CHATS = 'kind == "chat"'
DIALOGS = (
    "file.preferences", "file.connect", "file.connections", "view.columns", "view.presets",
    "view.highlights", "help.keys", "help.about", "go.to",
)  # fmt: skip
"""Actions that open a dialog; that of the export needs an event loop of asyncio's, and is made of the same fields."""


@pytest.fixture
def window(window: MainWindow) -> MainWindow:
    for name in ("view.findings", "view.marks", "analyze.latency", "edit.find"):
        window.actions_by_id[name].trigger()
    panes_of(window).filter_state.stack_filter(CHATS)
    return window


def press(widget: QWidget) -> None:
    """What a screen reader does to press: the toggle action where there is one."""
    action = QAccessible.queryAccessibleInterface(widget).actionInterface()
    names = action.actionNames()
    name = next(name for name in ("Toggle", "Press", "ShowMenu") if name in names)
    action.doAction(name)


def opened(window: MainWindow, name: str) -> QDialog:
    window.actions_by_id[name].trigger()
    dialogs = [one for one in window.findChildren(QDialog) if one.isVisible()]
    assert dialogs, name
    return dialogs[-1]


def unheard(owner: QWidget) -> list[str]:
    """Buttons that can be checked and act on a click, of which a screen reader's press says nothing."""
    found: list[str] = []
    for button in owner.findChildren(QAbstractButton):
        if not button.isCheckable() or button.objectName().startswith("qt_"):
            continue
        heard = button.receivers(SIGNAL("clicked(bool)"))
        if heard or (button.group() is not None and button.group().receivers(SIGNAL("idClicked(int)"))):
            found.append(f"{type(button).__name__} {button.objectName()}")
    return found


def nameless(owner: QWidget) -> list[str]:
    """What the keyboard reaches and a screen reader has no word for."""
    reached = (
        one for one in owner.findChildren(QWidget)
        if one.isVisible() and one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.focusProxy() is None
        and not isinstance(one.parentWidget(), QComboBox)
    )  # fmt: skip
    names = ((one, QAccessible.queryAccessibleInterface(one)) for one in reached)
    return [
        f"{type(one).__name__} {one.objectName()}"
        for one, face in names
        if face is not None and not face.text(QAccessible.Text.Name).strip()
    ]


def every_switch_of_the_window_hears_a_press(window: MainWindow, qtbot: QtBot) -> None:
    assert unheard(window) == []
    assert nameless(window) == []


def test_every_switch_of_the_dialogs_hears_a_press(window: MainWindow) -> None:
    for name in DIALOGS:
        dialog = opened(window, name)
        assert unheard(dialog) == [], name
        assert nameless(dialog) == [], name
        dialog.reject()
        dialog.deleteLater()
        bury()


def test_the_start_page_has_words_for_everything(application: Application) -> None:
    window = application.new_window()
    assert unheard(window) == []
    assert nameless(window) == []


def a_condition_is_switched(window: MainWindow, qtbot: QtBot) -> None:
    assert numbers(window) == [1, 2, 9]
    press(window.filter_conditions.bar.chips()[0])
    assert len(numbers(window)) == 9
    assert not window.filter_conditions.bar.chips()[0].isChecked()
    press(window.filter_conditions.bar.chips()[0])
    assert numbers(window) == [1, 2, 9]


def a_preset_is_applied(window: MainWindow, qtbot: QtBot) -> None:
    press(next(chip for chip in window.presets.bar.chips() if chip.preset.name == "Inside reasoning"))
    assert panes_of(window).filter_state.filter.text == 'context.type == "reasoning"'


def the_menu_of_more_presets_opens(window: MainWindow, qtbot: QtBot) -> None:
    bar = window.presets.bar
    bar.resize(400, bar.height())
    assert bar.overflowing()
    press(child(bar, QWidget, "presetMore"))
    menu = child(bar, QWidget, "presetMenu")
    qtbot.waitUntil(menu.isVisible)
    menu.close()


def findings_of_a_severity_are_listed_or_not(window: MainWindow, qtbot: QtBot) -> None:
    findings = panes_of(window).findings
    toggle = findings.head.toggles[Severity.NOTE]
    assert Severity.NOTE not in findings.source.choice.severities_off
    press(toggle)
    assert Severity.NOTE in findings.source.choice.severities_off
    press(toggle)
    assert Severity.NOTE not in findings.source.choice.severities_off


def test_settings_are_walked_and_changed(window: MainWindow, application: Application) -> None:
    dialog = opened(window, "file.preferences")
    assert isinstance(dialog, SettingsDialog)
    press(child(dialog, QAbstractButton, "settingsTheme_dark"))
    assert application.settings.display.theme == "dark"
    press(child(dialog, QAbstractButton, "settingsTheme_dark"))  # it holds already
    assert application.settings.display.theme == "dark"
    shown = application.settings.display.show_context_hints
    press(child(dialog, QAbstractButton, "settingsHints"))
    assert application.settings.display.show_context_hints is not shown
    press(child(dialog, QAbstractButton, "settingsPage_highlights"))
    assert child(dialog, QWidget, "settingsTitle").property("text") == "Highlight rules"
    swatch = dialog.findChildren(Swatch)[-1]
    press(swatch)
    assert application.settings.highlights[0].color == swatch.color
    dialog.reject()


def begun_again(window: MainWindow) -> None:
    """One condition is stacked, and nothing else."""
    panes_of(window).filter_state.clear()
    panes_of(window).filter_state.stack_filter(CHATS)


test_a_press_does_what_a_click_does = in_turn([
    every_switch_of_the_window_hears_a_press, a_condition_is_switched, a_preset_is_applied,
    findings_of_a_severity_are_listed_or_not, the_menu_of_more_presets_opens,
], begun_again)  # fmt: skip

"""Tests of `inspector.ui.widgets.preset_bar`."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from inspector.settings import Preset, topics_of
from inspector.settings import default_presets as all_presets
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.preset_bar import PresetBar
from inspector.ui.widgets.preset_chip import DropMark
from tests.ui.find import child


def default_presets() -> list[Preset]:
    """The default presets for logs of MEW."""
    return [preset for preset in all_presets() if not topics_of(preset) or "mew" in topics_of(preset)]


@pytest.fixture
def bar(theme_controller: ThemeController, qtbot: QtBot) -> PresetBar:
    """The default presets on a line that is long enough for all."""
    bar = PresetBar(theme_controller, default_presets())
    qtbot.addWidget(bar)
    bar.resize(1400, 32)
    bar.show()
    return bar


def checked(bar: PresetBar) -> list[str]:
    return [chip.preset.name for chip in bar.chips() if chip.isChecked()]


def test_a_click_chooses_and_marks_nothing_by_itself(bar: PresetBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.chosen) as chosen:
        qtbot.mouseClick(bar.chips()[1], Qt.MouseButton.LeftButton)
    assert chosen.args is not None
    assert chosen.args[0].filter == "!context"
    assert checked(bar) == []


def test_a_preset_may_carry_a_count(bar: PresetBar) -> None:
    bar.set_count("finding.severity >= warning", 1_204)
    problems = bar.chips()[-1]
    assert problems.text() == "Problems  1,204"
    assert problems.accessibleName() == "Problems, 1,204 messages"
    assert problems.width() >= problems.sizeHint().width()
    bar.set_presets(default_presets())
    assert bar.chips()[-1].text() == "Problems  1,204"
    bar.set_count("finding.severity >= warning", 0)
    assert bar.chips()[-1].text() == "Problems"


def test_the_chip_of_the_filter_in_force_is_marked(bar: PresetBar) -> None:
    bar.set_active_filter(" badge ")
    assert checked(bar) == ["Collapsible results"]
    bar.set_active_filter("no such preset")
    assert checked(bar) == []
    bar.set_active_filter("")
    assert checked(bar) == ["Everything"]


def test_presets_on_the_selected_context_wait_for_one(bar: PresetBar) -> None:
    def usable() -> list[str]:
        return [chip.preset.name for chip in bar.chips() if chip.needs_context and chip.isEnabled()]

    assert usable() == []
    waiting = next(chip for chip in bar.chips() if chip.needs_context)
    assert "Select a context" in waiting.toolTip()
    bar.set_context_selected(True)
    assert usable() == ["This context", "Direct children"]


@pytest.mark.parametrize("variant", ["chip", "segment"])
def test_what_cannot_be_pressed_looks_so(
    theme_controller: ThemeController, qtbot: QtBot, qapp: QApplication, variant: str
) -> None:
    button = QToolButton()
    qtbot.addWidget(button)
    button.setProperty("variant", variant)
    button.setText("This context")
    button.show()

    def ink() -> QColor:
        qapp.processEvents()
        return button.palette().color(QPalette.ColorRole.ButtonText)

    assert ink() == theme_controller.theme.color("ink.secondary")
    button.setEnabled(False)
    assert ink() == theme_controller.theme.color("ink.disabled")


def test_what_does_not_fit_goes_into_the_menu(bar: PresetBar, qtbot: QtBot) -> None:
    bar.resize(520, 32)
    shown = [chip.preset.name for chip in bar.chips()]
    hidden = [preset.name for preset in bar.overflowing()]
    assert shown + hidden == [preset.name for preset in default_presets()]
    assert hidden
    assert bar.height() == 32
    assert all(chip.geometry().right() <= bar.width() for chip in bar.chips())
    qtbot.mouseClick(child(bar, QToolButton, "presetMore"), Qt.MouseButton.LeftButton)
    menu = child(bar, QMenu, "presetMenu")
    action = next(action for action in menu.actions() if action.text() == "Collapsible results")
    assert not action.isChecked()
    with qtbot.waitSignal(bar.chosen) as chosen:
        action.trigger()
    menu.close()
    assert chosen.args is not None
    assert chosen.args[0].filter == "badge"


def test_what_is_in_force_or_counts_is_in_sight(bar: PresetBar) -> None:
    bar.resize(520, 32)
    bar.set_count("finding.severity >= warning", 12)
    bar.set_active_filter("badge")
    shown = [chip.preset.name for chip in bar.chips()]
    assert shown[-2:] == ["Collapsible results", "Problems"]
    assert checked(bar) == ["Collapsible results"]
    assert all(chip.geometry().right() <= bar.width() for chip in bar.chips())
    lefts = [chip.x() for chip in bar.chips()]
    assert lefts == sorted(lefts)
    assert not child(bar, QToolButton, "presetMore").isChecked()
    bar.set_active_filter("")
    assert "Collapsible results" not in [chip.preset.name for chip in bar.chips()]


def test_a_chip_is_dropped_before_its_neighbour_in_sight(bar: PresetBar, qtbot: QtBot) -> None:
    bar.resize(520, 32)
    bar.set_active_filter("badge")
    moved, last = bar.chips()[0], bar.chips()[-1]
    with qtbot.waitSignal(bar.moved) as dropped:
        drag(qtbot, bar, 0, QPoint(last.x() - moved.x() - moved.width() // 2, 0))
    others = [preset for preset in default_presets() if preset.name != moved.preset.name]
    assert dropped.args is not None
    assert [preset.name for preset in others].index("Collapsible results") == dropped.args[1]


def test_no_menu_when_all_fit(bar: PresetBar) -> None:
    assert not child(bar, QToolButton, "presetMore").isVisible()
    assert bar.overflowing() == []


def test_plus_asks_to_add(bar: PresetBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.add_requested):
        qtbot.mouseClick(child(bar, QToolButton, "presetAdd"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("words", "signal"), [("Rename...", "rename_requested"), ("Edit...", "edit_requested"), ("Remove", "removed")]
)
def test_context_menu(bar: PresetBar, qtbot: QtBot, words: str, signal: str) -> None:
    chip = bar.chips()[2]
    chip.customContextMenuRequested.emit(chip.rect().center())
    menu = child(chip, QMenu, "presetChipMenu")
    with qtbot.waitSignal(getattr(bar, signal)) as asked:
        next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()
    assert asked.args is not None
    assert asked.args[0].name == "With reasoning"


def test_set_presets_replaces_and_keeps_the_mark(bar: PresetBar) -> None:
    bar.set_active_filter("badge")
    bar.set_presets([Preset(name="A & B", filter="badge"), Preset(name="same", filter="badge")])
    assert checked(bar) == ["A & B"]
    assert bar.contains_filter("badge")
    assert not bar.contains_filter("context")


# Moving


def drag(qtbot: QtBot, bar: PresetBar, number: int, way: QPoint) -> None:
    chip = bar.chips()[number]
    at = chip.rect().center()
    began = chip.mapToGlobal(at)  # the chip moves along
    qtbot.mousePress(chip, Qt.MouseButton.LeftButton, pos=at)
    for part in (0.2, 0.6, 1.0):
        qtbot.mouseMove(chip, chip.mapFromGlobal(began + way * part))
    qtbot.mouseRelease(chip, Qt.MouseButton.LeftButton, pos=chip.mapFromGlobal(began + way))


def test_a_chip_is_dragged_to_another_place(bar: PresetBar, qtbot: QtBot) -> None:
    before = [chip.preset.name for chip in bar.chips()]
    with qtbot.waitSignal(bar.moved) as moved, qtbot.assertNotEmitted(bar.chosen):
        drag(qtbot, bar, 1, QPoint(bar.chips()[2].width() + 10, 3))
    assert moved.args is not None
    assert (moved.args[0].name, moved.args[1]) == (before[1], 2)
    assert not child(bar, DropMark).isVisible()
    with qtbot.waitSignal(bar.moved) as moved:
        drag(qtbot, bar, 3, QPoint(-2000, 0))
    assert moved.args is not None
    assert (moved.args[0].name, moved.args[1]) == (before[3], 0)


def test_a_chip_dropped_far_from_the_bar_stays(bar: PresetBar, qtbot: QtBot) -> None:
    at = bar.chips()[1].pos()
    with qtbot.assertNotEmitted(bar.moved), qtbot.assertNotEmitted(bar.chosen):
        drag(qtbot, bar, 1, QPoint(300, 200))
    assert bar.chips()[1].pos() == at


def test_keys_go_from_chip_to_chip_and_move_them(bar: PresetBar, qtbot: QtBot) -> None:
    bar.activateWindow()
    bar.chips()[0].setFocus()
    qtbot.keyClick(bar.chips()[0], Qt.Key.Key_Right)
    assert bar.chips()[1].hasFocus()
    with qtbot.waitSignal(bar.moved) as moved:
        qtbot.keyClick(bar.chips()[1], Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert moved.args is not None
    assert (moved.args[0].name, moved.args[1]) == ("Main only", 2)
    with qtbot.assertNotEmitted(bar.moved):
        qtbot.keyClick(bar.chips()[0], Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)


def test_keys_are_said_in_the_tooltip(bar: PresetBar) -> None:
    bar.set_presets([Preset(name="Tools <b>", filter="tool")], ["Alt+1"])
    assert "tool\nAlt+1" in bar.chips()[0].toolTip()
    assert bar.chips()[0].accessibleDescription() == "tool, Alt+1"

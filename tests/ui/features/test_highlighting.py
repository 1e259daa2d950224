"""Highlight rules in the window: made from a value or the filter, painted, edited, switched, undone, shared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from inspector.present.message_columns import Column
from inspector.settings import DEFAULT_HIGHLIGHTS, HighlightRule, default_presets
from inspector.settings.sharing import FILE_KEY
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.dialogs.share_buttons import ShareButtons
from inspector.ui.widgets.rows.view import RowsView
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import in_turn, panes_of

KEYS, CONTROL, ALT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
EDGE_X = 2
"""Inside the bar at the left edge of a highlighted row, whether that of the selection stands before it or not."""


@pytest.fixture
def application(application: Application) -> Application:
    application.settings.highlights = []
    return application


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    with qtbot.waitExposed(window):
        window.activateWindow()
    return window


def pixel(window: MainWindow, number: int, x: int) -> QColor:
    """The colour at the middle of a message's row."""
    view = panes_of(window).messages.view
    row = panes_of(window).rows.row_of(number - 1)
    assert row is not None
    picture = view.viewport().grab().toImage()
    return picture.pixelColor(x, view.painter.row_rect(row).center().y())


def edged(window: MainWindow) -> dict[int, str]:
    """The numbers of the rows with a highlight at their edge, with its colour."""
    theme = window.theme.theme
    colors = {theme.color(f"highlight.{name}").name(): name for name in ("rose", "orange", "lime", "teal", "sky")}
    found = {number: pixel(window, number, EDGE_X).name() for number in range(1, 10)}
    return {number: colors[color] for number, color in found.items() if color in colors}


def text_colors(window: MainWindow, number: int) -> set[str]:
    """Every colour in the Message cell of a row."""
    view = panes_of(window).messages.view
    row = panes_of(window).rows.row_of(number - 1)
    assert row is not None
    rect = view.visualRect(view.model().index(row, Column.MESSAGE))
    picture = view.viewport().grab(rect).toImage()
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


def opened(window: MainWindow) -> SettingsDialog:
    window.actions_by_id["view.highlights"].trigger()
    return next(one for one in window.findChildren(SettingsDialog) if one.isVisible())


def a_value_is_highlighted_from_its_menu(window: MainWindow, qtbot: QtBot) -> None:
    view = panes_of(window).messages.view
    menu = view.menu.build(0, Column.KIND)
    next(action for action in menu.actions() if action.objectName() == "filter.highlight").trigger()
    assert [rule.filter for rule in window.application.settings.highlights] == ['kind == "chat"']
    assert edged(window) == {1: "rose", 2: "rose", 9: "rose"}
    assert panes_of(window).filter_state.filter.text == ""
    panes_of(window).messages.setFocus()
    QTest.keyClick(view, KEYS.Key_Z, CONTROL)
    assert edged(window) == {}
    QTest.keyClick(view, KEYS.Key_Y, CONTROL)
    assert edged(window) == {1: "rose", 2: "rose", 9: "rose"}


def the_filter_becomes_a_rule_once_and_the_next_has_another_colour(window: MainWindow, qtbot: QtBot) -> None:
    action = window.actions_by_id["view.highlight_filter"]
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    action.trigger()
    assert window.name_card.field.selectedText() == 'kind == "chat"'
    QTest.keyClick(window.name_card.field, KEYS.Key_Escape)
    assert window.application.settings.highlights == []
    action.trigger()
    QTest.keyClicks(window.name_card.field, "Talk")
    QTest.keyClick(window.name_card.field, KEYS.Key_Return)
    assert window.application.settings.highlights[0].name == "Talk"
    panes_of(window).filter_state.apply_filter("context")
    action.trigger()
    QTest.keyClick(window.name_card.field, KEYS.Key_Return)
    window.application.settings.highlights[0].on = False
    panes_of(window).filter_state.apply_filter('kind == "chat"')
    action.trigger()
    panes_of(window).filter_state.apply_filter("")
    assert [rule.on for rule in window.application.settings.highlights] == [True, True]
    assert edged(window) == {1: "rose", 2: "rose", **dict.fromkeys(range(4, 9), "orange"), 9: "rose"}


def without_a_filter_the_rules_are_opened(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_id["view.highlight_filter"].trigger()
    dialog = next(one for one in window.findChildren(SettingsDialog) if one.isVisible())
    assert child(dialog, QLabel, "settingsTitle").text() == "Highlight rules"
    dialog.accept()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_takes_the_colour_in_both_themes(window: MainWindow, theme: str) -> None:
    window.theme.set_setting("dark" if theme == "dark" else "light")
    color = window.theme.theme.color("highlight.violet").name()
    window.application.settings.highlights.append(
        HighlightRule(name="Chat", filter='kind == "chat"', color="violet", paint="text")
    )
    window.highlighting.refresh()
    assert color in text_colors(window, 2)
    assert color not in text_colors(window, 4)
    assert edged(window) == {}


def a_selected_row_keeps_its_wash(window: MainWindow, qtbot: QtBot) -> None:
    window.highlighting.add("context")
    panes_of(window).go_to(4)
    panes_of(window).messages.setFocus()
    theme = window.theme.theme
    assert pixel(window, 5, 0) == theme.color("accent.ring")
    assert pixel(window, 5, EDGE_X) == theme.color("highlight.rose")
    view = panes_of(window).messages.view
    assert pixel(window, 5, view.columnViewportPosition(Column.MESSAGE) + 1) == theme.color("accent.wash")


def words_say_what_colours_show(window: MainWindow, qtbot: QtBot) -> None:
    window.application.settings.highlights.append(HighlightRule(name="Our <b>chats</b>", filter='kind == "chat"'))
    window.highlighting.refresh()
    index = panes_of(window).messages.model.index(1, Column.GUTTER)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Highlighted: Our <b>chats</b>"
    assert "Highlighted: Our &lt;b&gt;" in index.data(Qt.ItemDataRole.ToolTipRole)


def the_selected_context_is_followed(window: MainWindow, qtbot: QtBot) -> None:
    window.highlighting.add("context under $context")
    assert edged(window) == {}
    panes_of(window).go_to(5)
    assert sorted(edged(window)) == [4, 5, 6, 7, 8]
    panes_of(window).go_to(0)
    assert edged(window) == {}


def marks_highlight_as_they_are_set(window: MainWindow, qtbot: QtBot) -> None:
    window.highlighting.add("mark")
    panes_of(window).go_to(2)
    window.actions_by_id["edit.mark"].trigger()
    assert edged(window) == {3: "rose"}


# The page


def rules_are_made_and_edited(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window)
    QTest.mouseClick(child(dialog, QAbstractButton, "highlightsAdd"), Qt.MouseButton.LeftButton)
    qtbot.keyClicks(child(dialog, QLineEdit, "highlightsName"), "Chats")
    help_line = child(dialog, QLabel, "highlightsFilterHelp")
    assert help_line.text() == "Enter a filter. An empty one highlights no messages."
    qtbot.keyClicks(child(dialog, QLineEdit, "highlightsFilter"), 'kind == "chat"')
    QTest.mouseClick(child(dialog, QAbstractButton, "highlightsColor_teal"), Qt.MouseButton.LeftButton)
    assert edged(window) == {1: "teal", 2: "teal", 9: "teal"}
    QTest.keyClick(child(dialog, QAbstractButton, "highlightsColor_teal"), KEYS.Key_Left)
    assert edged(window) == {1: "lime", 2: "lime", 9: "lime"}
    QTest.mouseClick(child(dialog, QAbstractButton, "highlightsPaint_text"), Qt.MouseButton.LeftButton)
    expected = HighlightRule(name="Chats", filter='kind == "chat"', color="lime", paint="text")
    assert window.application.settings.highlights == [expected]
    qtbot.keyClicks(child(dialog, QLineEdit, "highlightsFilter"), " &&")
    assert help_line.property("variant") == "error"
    assert window.application.settings.highlights == [expected]
    dialog.accept()


def rules_are_switched_moved_and_removed(window: MainWindow, qtbot: QtBot) -> None:
    settings = window.application.settings
    settings.highlights = [rule.model_copy(update={"on": True}) for rule in DEFAULT_HIGHLIGHTS]
    dialog = opened(window)
    rules = child(dialog, RowsView, "highlightsList")
    rules.setFocus()
    QTest.keyClick(rules, KEYS.Key_Space)
    assert [rule.on for rule in settings.highlights] == [False, True, True]
    box = rules.check_box(1)
    assert box is not None
    QTest.mouseClick(rules.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert [rule.on for rule in settings.highlights] == [False, False, True]
    QTest.mouseClick(rules.viewport(), Qt.MouseButton.LeftButton, pos=box.center() + QPoint(90, 0))
    assert [rule.on for rule in settings.highlights] == [False, False, True]
    QTest.keyClick(rules, KEYS.Key_Down, ALT)
    assert [rule.name for rule in settings.highlights] == ["Failed", "Selected context", "Slow answers"]
    QTest.keyClick(rules, KEYS.Key_Delete)
    assert [rule.name for rule in settings.highlights] == ["Failed", "Selected context"]
    QTest.mouseClick(child(dialog, QAbstractButton, "settingsRestore"), Qt.MouseButton.LeftButton)
    assert settings.highlights == list(DEFAULT_HIGHLIGHTS)
    assert settings.presets == default_presets()
    dialog.accept()


def test_rules_are_shared(window: MainWindow, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    window.highlighting.add("context")
    dialog = opened(window)
    share = child(dialog, ShareButtons, "highlightsShare")
    share.write(file)
    QTest.mouseClick(child(dialog, QAbstractButton, "highlightsRemove"), Qt.MouseButton.LeftButton)
    assert edged(window) == {}
    share.read(file)
    assert share.status.text() == "1 rule added from rules.json."
    assert sorted(edged(window)) == [4, 5, 6, 7, 8]
    file.write_text(json.dumps({FILE_KEY: 1, "presets": [{"name": "x", "filter": ""}]}))
    share.read(file)
    assert (
        share.status.text() == "rules.json holds no highlight rules. It has presets: import them on the Presets page."
    )
    dialog.accept()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tint_reaches_from_the_edge_to_behind_the_number(window: MainWindow, theme: str) -> None:
    window.theme.set_setting("dark" if theme == "dark" else "light")
    window.highlighting.add("context")
    view = panes_of(window).messages.view
    colors = window.theme.theme
    assert pixel(window, 5, EDGE_X) == colors.color("highlight.rose")
    number = view.columnViewportPosition(Column.NUMBER)
    tint = pixel(window, 5, number + 1)
    assert tint not in (colors.color("surface.base"), colors.color("highlight.rose"))
    assert {pixel(window, 5, x).name() for x in (6, number - 2, number)} == {tint.name()}


def begun_again(window: MainWindow) -> None:
    """No rules, no filter, the light theme, and the first message is current."""
    window.application.settings.highlights = []
    window.highlighting.refresh()
    window.undo_history.stack.clear()
    panes_of(window).filter_state.clear()
    panes_of(window).go_to(0)


test_rules = in_turn([
    a_value_is_highlighted_from_its_menu, the_filter_becomes_a_rule_once_and_the_next_has_another_colour,
    without_a_filter_the_rules_are_opened, a_selected_row_keeps_its_wash, words_say_what_colours_show,
    the_selected_context_is_followed, marks_highlight_as_they_are_set, rules_are_made_and_edited,
    rules_are_switched_moved_and_removed,
], begun_again)  # fmt: skip

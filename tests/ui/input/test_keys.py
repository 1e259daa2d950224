"""Keys as the user has them: found, changed, in the palette; places gone to; all without a mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QApplication, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from inspector.settings import DEFAULT_PRESETS, Settings
from inspector.ui.app.application import Application
from inspector.ui.dialogs.go_to import GoToDialog, number_in
from inspector.ui.dialogs.key_validation import trouble_with
from inspector.ui.dialogs.keys_dialog import KeysDialog, find_lines
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.input.action import keyed_actions
from inspector.ui.input.keys import Keyed, keys_in_force
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry
from inspector.ui.widgets.key_field import KeyField
from inspector.ui.widgets.palette_card import PaletteCard
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import in_turn, panes_of

KEYS = Qt.Key
CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier,
)  # fmt: skip


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def press(widget: QWidget, keys: str) -> None:
    QTest.keySequence(widget, QKeySequence(keys))


def current(window: MainWindow) -> int:
    message = panes_of(window).messages.current_message()
    return -1 if message is None else message + 1


def titles(card: PaletteCard | KeysDialog | GoToDialog) -> list[str]:
    return [line.title for line in card.list.lines]


# Which keys are in force


def test_no_key_has_two_meanings() -> None:
    known = [Keyed("a", "File", "A", ("Ctrl+A",)), Keyed("b", "File", "B", ("Ctrl+B", "F2")), Keyed("c", "File", "C")]
    assert keys_in_force(known, {}) == {"a": ("Ctrl+A",), "b": ("Ctrl+B", "F2"), "c": ()}
    assert keys_in_force(known, {"c": ["Ctrl+B"]}) == {"a": ("Ctrl+A",), "b": ("F2",), "c": ("Ctrl+B",)}
    assert keys_in_force(known, {"a": ["F3"], "c": ["F3"]})["c"] == ()
    assert keys_in_force(known, {"a": ["", "no key at all"], "gone": ["F4"]})["a"] == ()


def test_keys_are_kept_in_the_settings() -> None:
    settings = Settings(keys={"edit.mark": ["F2"], "edit.find": []})
    assert Settings.model_validate_json(settings.model_dump_json()).keys == {"edit.mark": ["F2"], "edit.find": []}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("Ctrl+J", ""), ("F9", ""), ("", ""), ("Alt+F", "opens the menu File"),
        ("Ctrl+C", "is reserved for text fields"),
        ("Esc", "is reserved for lists"), ("Return", "is reserved for lists"),
        ("J", "types text"), ("Shift+J", "types text"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_had(key: str, words: str) -> None:
    sentence = trouble_with(key, Keyed("edit.mark", "Edit", "Mark"))
    assert words in sentence
    assert bool(sentence) is bool(words)


def test_a_key_that_counts_in_panes_may_be_a_letter() -> None:
    assert trouble_with("P", Keyed("capture.pause", "Capture", "Pause", in_panes=True)) == ""


def test_no_usual_key_is_one_that_cannot_be_had() -> None:
    fixed = {"go.first", "go.last", "go.next", "go.previous"}
    for one in keyed_actions(ACTIONS):
        assert one.id in fixed or [trouble_with(key, one) for key in one.defaults if trouble_with(key, one)] == []


# Actions that come and go


def test_an_action_of_its_own_has_keys_and_is_found(window: MainWindow, qtbot: QtBot) -> None:
    done: list[bool] = []
    action = QAction("Do &it", window)
    action.setObjectName("mine.1")
    action.triggered.connect(lambda: done.append(True))
    window.keys.add_action(action, "Mine", ("Ctrl+F12",))
    press(window, "Ctrl+F12")
    assert done == [True]
    assert window.keys.words("mine.1") == "Ctrl+F12"
    window.keys.apply({"mine.1": ["Ctrl+F11"]})
    press(window, "Ctrl+F11")
    assert done == [True, True]
    window.actions_by_id["help.palette"].trigger()
    QTest.keyClicks(window.command_palette.card.field, "do it")
    assert titles(window.command_palette.card)[0] == "Do it"
    window.command_palette.card.close_card()
    window.keys.release("mine.1")
    press(window, "Ctrl+F11")
    assert done == [True, True]


# The palette


def test_the_palette_does_what_is_looked_for(window: MainWindow, qtbot: QtBot) -> None:
    table = panes_of(window).messages.view
    panes_of(window).go_to(1)
    table.setFocus()
    press(window, "Ctrl+Shift+P")
    card = window.command_palette.card
    assert card.isVisible()
    assert card.field.hasFocus()
    QTest.keyClicks(card.field, "next mess")
    line = card.list.line()
    assert line is not None
    assert (line.title, line.group, line.keys) == ("Next message", "Go", ("Ctrl+Down",))
    QTest.keyClick(card.field, KEYS.Key_Return)
    assert not card.isVisible()
    assert table.hasFocus()
    assert current(window) == 3
    press(window, "Ctrl+Shift+P")
    assert titles(card)[0] == "Next message", "what was done last is on top"
    QTest.keyClick(card.field, KEYS.Key_Escape)
    assert not card.isVisible()


def test_everything_is_in_the_palette(window: MainWindow) -> None:
    window.application.settings.recent_files = ["/logs/night/envelope-history.jsonl"]
    window.resize(1280, 800)  # with room for all panes
    QTest.qWait(1)
    window.command_palette.card.open()
    lines = window.command_palette.card.list.lines
    ids = {line.id for line in lines}
    hidden = {one.id for one in ACTIONS if one.needs == "developer"}
    assert {one.id for one in ACTIONS} - ids == {"help.palette"} | hidden
    mew = {preset.name for preset in DEFAULT_PRESETS if not preset.topics or "mew" in preset.topics}
    assert mew <= {line.title for line in lines}
    assert {"Go to Messages", "Go to Contexts", "Go to Details"} <= {line.title for line in lines}
    QTest.keyClicks(window.command_palette.card.field, "night")
    found = window.command_palette.card.list.line()
    assert found is not None
    assert (found.group, found.title, found.detail) == ("Open recent", "envelope-history.jsonl", "/logs/night")


def what_cannot_be_done_is_said_and_not_done(window: MainWindow, qtbot: QtBot) -> None:
    window.command_palette.card.open()
    QTest.keyClicks(window.command_palette.card.field, "disconnect")
    line = window.command_palette.card.list.line()
    assert line is not None
    assert not line.usable
    assert window.command_palette.card.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole).endswith("not now")
    QTest.keyClick(window.command_palette.card.field, KEYS.Key_Return)
    assert window.command_palette.card.isVisible()
    QTest.keyClicks(window.command_palette.card.field, " qqqq")
    assert window.command_palette.card.list.isHidden()


def test_the_palette_opens_on_the_start_page(application: Application) -> None:
    window = application.new_window()
    window.actions_by_id["help.palette"].trigger()
    assert window.command_palette.card.isVisible()
    usable = {line.id for line in window.command_palette.card.list.lines if line.usable and "." in line.id}
    assert "file.open" in usable
    assert "go.next" not in usable


# The list of keys, and changing them


def test_the_list_of_keys_finds_by_what_it_does_and_by_the_key(window: MainWindow) -> None:
    press(window, "Shift+F1")
    dialog = child(window, KeysDialog)
    QTest.keyClicks(dialog.field, "next prob")
    assert titles(dialog)[0] == "Next problem"
    dialog.field.clear()
    QTest.keyClick(dialog.field, KEYS.Key_M, CTRL)
    assert titles(dialog) == ["Mark or unmark"]
    dialog.field.clear()
    QTest.keyClick(dialog.field, KEYS.Key_F8)
    assert titles(dialog) == ["Next problem"]
    QTest.keyClicks(dialog.field, "zzzz")
    assert titles(dialog) == []
    child(dialog, QPushButton, "keysChange").click()
    assert child(child(window, SettingsDialog), QWidget, "settingsKeys").isVisible()


@pytest.fixture
def page(window: MainWindow) -> Iterator[QWidget]:
    window.actions_by_id["help.keys"].trigger()
    child(child(window, KeysDialog), QPushButton, "keysChange").click()
    dialog = child(window, SettingsDialog)
    yield child(dialog, QWidget, "settingsKeys")
    if isValid(dialog):
        dialog.reject()


def test_a_key_is_changed_at_once(window: MainWindow, page: QWidget) -> None:
    search, key = child(page, ChoosingField), child(page, KeyField, "keysKey")
    assert search.hasFocus()
    QTest.keyClicks(search, "mark or unmark")
    QTest.keyClick(search, KEYS.Key_Return)
    assert key.hasFocus()
    assert key.text() == "Ctrl+M"
    QTest.keyClick(key, KEYS.Key_J, CTRL | SHIFT)
    assert key.text() == "Ctrl+Shift+J"
    assert window.actions_by_id["edit.mark"].shortcut() == QKeySequence("Ctrl+Shift+J")
    assert window.application.settings.keys == {"edit.mark": ["Ctrl+Shift+J"]}
    assert "Ctrl+Shift+J" in window.actions_by_id["edit.mark"].toolTip()
    child(page, QPushButton, "keysUsual").click()
    assert window.application.settings.keys == {}
    assert window.actions_by_id["edit.mark"].shortcut() == QKeySequence("Ctrl+M")


def test_a_key_that_is_taken_is_said_and_can_be_taken(window: MainWindow, page: QWidget) -> None:
    QTest.keyClicks(child(page, ChoosingField), "mark or unmark")
    key, take = child(page, KeyField, "keysKey"), child(page, QPushButton, "keysTake")
    QTest.keyClick(key, KEYS.Key_O, CTRL)
    assert "Ctrl+O is the key of Open a log" in key.accessibleDescription()
    assert window.application.settings.keys == {}
    take.click()
    assert window.application.settings.keys == {"file.open": [], "edit.mark": ["Ctrl+O"]}
    assert window.actions_by_id["file.open"].shortcuts() == []
    assert window.actions_by_id["edit.mark"].shortcut() == QKeySequence("Ctrl+O")
    child(child(window, SettingsDialog), QPushButton, "settingsRestore").click()
    assert window.application.settings.keys == {}
    assert window.actions_by_id["file.open"].shortcut() == QKeySequence("Ctrl+O")


def test_a_key_is_taken_away_and_a_second_one_given(window: MainWindow, page: QWidget) -> None:
    QTest.keyClicks(child(page, ChoosingField), "redo")
    key, also = child(page, KeyField, "keysKey"), child(page, KeyField, "keysAlso")
    assert (key.text(), also.text()) == ("Ctrl+Shift+Z", "Ctrl+Y")
    QTest.keyClick(also, KEYS.Key_Backspace)
    assert window.application.settings.keys == {"edit.redo": ["Ctrl+Shift+Z"]}
    QTest.keyClick(also, KEYS.Key_F9)
    assert window.application.settings.keys == {"edit.redo": ["Ctrl+Shift+Z", "F9"]}
    QTest.keyClick(key, KEYS.Key_J)
    assert "types text" in key.accessibleDescription()
    assert window.application.settings.keys == {"edit.redo": ["Ctrl+Shift+Z", "F9"]}


def test_a_preset_has_its_key_from_the_same_page(window: MainWindow, page: QWidget, qtbot: QtBot) -> None:
    name = window.application.settings.presets[1].name
    QTest.keyClicks(child(page, ChoosingField), name)
    key = child(page, KeyField, "keysKey")
    assert key.text() == "Alt+2"
    QTest.keyClick(key, KEYS.Key_F11)
    assert key.text() == "F11"
    child(window, SettingsDialog).reject()
    window.activateWindow()
    qtbot.waitUntil(lambda: window.isActiveWindow())
    press(window, "F11")
    assert panes_of(window).filter_state.filter.text == window.application.settings.presets[1].filter


def test_other_windows_have_the_keys_too(application: Application, window: MainWindow, page: QWidget) -> None:
    other = application.new_window()
    QTest.keyClicks(child(page, ChoosingField), "mark or unmark")
    QTest.keyClick(child(page, KeyField, "keysKey"), KEYS.Key_F9)
    assert other.actions_by_id["edit.mark"].shortcut() == QKeySequence("F9")


# Going to places


def back_and_forward(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    for message in (0, 4, 8):
        panes.go_to(message)
    press(window, "Alt+Left")
    assert current(window) == 5
    press(window, "Alt+Left")
    assert current(window) == 1
    press(window, "Alt+Right")
    press(window, "Alt+Right")
    press(window, "Alt+Right")
    assert current(window) == 9
    press(window, "Alt+Left")
    panes.go_to(2)
    press(window, "Alt+Right")
    assert current(window) == 3, "what was ahead is forgotten with a new place"


def back_and_forward_return_to_the_view(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(3)
    panes.chain.show(3)
    alone = panes.filter_state.filter.text
    assert alone
    press(window, "Alt+Left")
    assert panes.filter_state.filter.text == ""
    press(window, "Alt+Right")
    assert panes.filter_state.filter.text == alone


def next_in_this_context_and_by_this_participant(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    columns = window.document.capture.columns
    panes.go_to(0)
    for _ in range(3):
        press(window, "Alt+Down")
    assert current(window) == 9, "3 begins a context, 4 to 8 are in it"
    press(window, "Alt+Down")
    assert current(window) == 1, "around the end"
    press(window, "Alt+Up")
    assert current(window) == 9
    seen = [current(window)]
    press(window, "Alt+Shift+Down")
    while current(window) != seen[0]:
        seen.append(current(window))
        press(window, "Alt+Shift+Down")
    senders = {int(columns["sender"][number - 1]) for number in seen}
    assert len(senders) == 1
    assert len(seen) == int((columns["sender"][:] == senders.pop()).sum())


def no_other_is_said(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter("no == 1")
    panes.go_to(0)
    press(window, "Alt+Down")
    notice = window.notices.notice("no-other")
    assert notice is not None
    assert notice.text == "No other message of this context is shown."
    panes.filter_state.clear()
    press(window, "Alt+Down")
    assert window.notices.notice("no-other") is None


@pytest.mark.parametrize(
    ("text", "number"), [("812", 812), ("1,216", 1216), ("No. 7", 7), ("#7", 7), ("a7", None), ("7a", None), ("", None)]
)
def test_numbers_as_they_are_written(text: str, number: int | None) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize("view", ["timeline", "model_sees"])
def test_going_to_a_number_leaves_the_keyboard_in_the_view(window: MainWindow, view: str) -> None:
    window.actions_by_id[f"view.{view}"].trigger()
    press(window, "Ctrl+G")
    dialog = child(window, GoToDialog)
    QTest.keyClicks(dialog.field, "3")

    QTest.keyClick(dialog.field, KEYS.Key_Return)

    assert current(window) == 3
    shown, focus = window.center.currentWidget(), QApplication.focusWidget()
    assert shown is not None
    assert focus is not None
    assert shown.isAncestorOf(focus)


def go_to_a_number_an_id_and_a_part_of_one(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter("no < 3")
    press(window, "Ctrl+G")
    dialog = child(window, GoToDialog)
    QTest.keyClicks(dialog.field, "hy-1")
    qtbot.waitUntil(lambda: titles(dialog) == ["why-1"])
    line = dialog.list.line()
    assert line is not None
    assert line.group == "No. 3"
    assert "hidden by this view" in line.detail
    QTest.keyClick(dialog.field, KEYS.Key_Return)
    assert current(window) == 3
    window.activateWindow()  # as whoever manages windows does; offscreen another one may get its turn
    qtbot.waitUntil(panes.messages.view.hasFocus)
    press(window, "Ctrl+G")
    dialog = next(one for one in window.findChildren(GoToDialog) if one.isVisible())
    QTest.keyClicks(dialog.field, "#9")
    assert dialog.list.line() is not None
    QTest.keyClick(dialog.field, KEYS.Key_Return)
    assert current(window) == 9
    press(window, "Ctrl+G")
    dialog = next(one for one in window.findChildren(GoToDialog) if one.isVisible())
    QTest.keyClicks(dialog.field, "nobody has this")
    why = dialog.list.accessibleDescription
    qtbot.waitUntil(lambda: why() == "No message has this id.")
    QTest.keyClick(dialog.field, KEYS.Key_Return)
    assert dialog.isVisible(), "there is nothing to go to"
    dialog.field.clear()
    QTest.keyClicks(dialog.field, "1000")
    qtbot.waitUntil(lambda: why() == "No. 1,000 does not exist. The numbers are 1 to 9.")


# The keyboard alone


def f6_goes_round_the_panes(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(1)
    panes.messages.setFocus()
    areas = {
        "filter": window.filter_bar, "contexts": panes.contexts, "participants": panes.participants,
        "messages": panes.messages, "details": panes.details,
    }  # fmt: skip

    def where() -> str:
        focus = QApplication.focusWidget()
        return next(name for name, area in areas.items() if focus is not None and area.isAncestorOf(focus))

    seen = [where()]
    for _ in range(4):
        press(window, "F6")
        seen.append(where())
    assert seen == ["messages", "details", "filter", "contexts", "participants"]
    press(window, "F6")
    assert where() == "messages"
    press(window, "Shift+F6")
    assert where() == "participants"


@pytest.mark.styled
def test_tab_reaches_controls_that_show_it(window: MainWindow, qtbot: QtBot) -> None:
    """Each stop has a name and looks different with the keyboard than without."""
    panes = panes_of(window)
    panes.go_to(3)
    panes.messages.setFocus()
    stops: list[QWidget] = []
    for _ in range(80):
        QTest.keyClick(QApplication.focusWidget() or window, KEYS.Key_Tab)
        focus = QApplication.focusWidget()
        assert focus is not None
        if focus in stops:
            break
        stops.append(focus)
    assert len(stops) > 15
    nameless = [one for one in stops if not one.accessibleName() and not one.property("text")]
    assert nameless == []
    same = []
    for one in stops:
        one.setFocus(Qt.FocusReason.TabFocusReason)
        with_it = one.grab().toImage()
        one.clearFocus()
        if with_it == one.grab().toImage():
            same.append(one.objectName() or type(one).__name__)
    assert same == []


def test_every_action_has_a_key_once_it_is_given_one(window: MainWindow) -> None:
    """Over all of ACTIONS: in the palette, in the list of keys, and done by whichever key it is given."""
    window.application.developer = True
    window.developer.show_menu()
    window.command_palette.card.open()
    listed = {line.id for line in window.command_palette.card.list.lines} | {"help.palette"}
    QTest.keyClick(window.command_palette.card.field, KEYS.Key_Escape)
    known = {one.id for one in window.keys.visible_actions()}
    panes = {"": panes_of(window).messages, "conversationPanel": window.center.view("conversation")}
    for one in ACTIONS:
        assert one.id in listed
        assert one.id in known
        window.application.settings.keys = {one.id: ["Ctrl+Alt+Shift+F11"]}
        window.apply_settings()
        action = window.keys.action(one.id)
        assert [key.toString() for key in action.shortcuts()] == ["Ctrl+Alt+Shift+F11"], one.id
        in_panes = one.in_panes and action in panes[one.pane].actions()
        assert in_panes or action in window.actions(), f"the key of {one.id} would be heard nowhere"


def test_context_menus_open_by_the_keyboard(window: MainWindow, subtests: pytest.Subtests) -> None:
    panes_of(window).go_to(3)
    window.marking.toggle()
    for title in ("Findings", "Marks"):
        window.docks[title].show()
    for pane in ("messages", "contexts", "participants", "findings", "marks"):
        with subtests.test(pane):
            _open_menu_by_the_keyboard(window, pane)


def _open_menu_by_the_keyboard(window: MainWindow, pane: str) -> None:
    panes = panes_of(window)
    panel: QWidget = getattr(panes, pane)
    panel.setFocus()
    focus = QApplication.focusWidget()
    assert focus is not None
    if pane != "messages":
        QTest.keyClick(focus, KEYS.Key_Down)
    middle = focus.rect().center()
    if isinstance(focus, QAbstractItemView):  # where Qt lets the key open it
        middle = focus.visualRect(focus.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, focus.mapToGlobal(middle))
    QApplication.sendEvent(focus.viewport() if isinstance(focus, QAbstractScrollArea) else focus, event)
    menu = QApplication.activePopupWidget()
    if pane == "findings" and menu is None:
        assert panes.findings.model.rowCount() == 0
        return
    assert isinstance(menu, QMenu), f"no menu of {pane} by the keyboard"
    assert [one.text() for one in menu.actions() if one.text()]
    menu.close()


def test_a_shorter_search_finds_no_less() -> None:
    lines = [
        CommandEntry("a", "Filter bar", "Apply it", ("Return",)),
        CommandEntry("b", "Edit", "Clear filter", ("Ctrl+K",)),
        CommandEntry("c", "View", "Timeline", ()),
    ]
    assert [line.id for line in find_lines(lines, "filter")] == ["a", "b"]
    assert [line.id for line in find_lines(lines, "filter bar")] == ["a"]


def going_around_the_end_is_told(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    for message in (2, 6):
        panes.go_to(message)
        window.marking.toggle()
    panes.go_to(0)
    window.next_message.to_mark(1)
    assert current(window) == 3
    assert "continued" not in " ".join(window.status.words())
    window.next_message.to_mark(-1)
    assert current(window) == 7
    assert "continued from the last" in " ".join(window.status.words())
    window.next_message.to_mark(1)
    assert "continued from the first" in " ".join(window.status.words())


def begun_again(window: MainWindow) -> None:
    """Everything is shown, no card or dialog is open, No. 1 is current, the keyboard is in the table."""
    window.command_palette.card.close_card()
    for dialog in window.findChildren(GoToDialog):
        dialog.reject()
    window.activateWindow()
    panes_of(window).filter_state.clear()
    panes_of(window).go_to(0)
    panes_of(window).messages.setFocus()


test_going_to_places_and_panes = in_turn([
    what_cannot_be_done_is_said_and_not_done, back_and_forward, back_and_forward_return_to_the_view,
    next_in_this_context_and_by_this_participant, no_other_is_said, go_to_a_number_an_id_and_a_part_of_one,
    f6_goes_round_the_panes, going_around_the_end_is_told,
], begun_again)  # fmt: skip

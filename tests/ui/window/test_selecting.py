"""Several messages selected: by keys and mouse, through filters, sorting and traffic, and what acts on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from inspector.present.message_columns import Column
from inspector.settings import TableColumn
from inspector.ui.app.application import Application
from inspector.ui.dialogs.export import ExportDialog
from inspector.ui.panels.messages import message_copies
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.find import child
from tests.ui.panels.filtering import matching
from tests.ui.windows import ask_engine, in_turn, numbers, panes_of, run_in_window, story, until, window_on

KEYS = Qt.Key
NO, SHIFT, CONTROL = (
    Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier,
)  # fmt: skip


def shown(application: Application, qtbot: QtBot, *said: dict[str, object]) -> MainWindow:
    window = window_on(application, document_of(*said) if said else story())
    with qtbot.waitExposed(window):
        window.activateWindow()
    panes_of(window).messages.setFocus()
    return window


def chats(count: int) -> list[dict[str, object]]:
    return [envelope("chat", {"text": f"message {n}"}, id=f"id-{n}") for n in range(1, count + 1)]


@pytest.fixture
def window(application: Application, qtbot: QtBot) -> MainWindow:
    """Twelve chats, No. 3 current."""
    window = shown(application, qtbot, *chats(12))
    click(window, 3)
    return window


def view_of(window: MainWindow) -> MessageView:
    return panes_of(window).messages.view


def at(window: MainWindow, number: int, column: int = Column.MESSAGE) -> QPoint:
    view = view_of(window)
    row = view.messages.rows.row_of(number - 1)
    assert row is not None
    return view.visualRect(view.messages.index(row, column)).center()


def click(window: MainWindow, number: int, modifiers: Qt.KeyboardModifier = NO, button: str = "LeftButton") -> None:
    QTest.mouseClick(view_of(window).viewport(), getattr(Qt.MouseButton, button), modifiers, at(window, number))


def press(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = NO) -> None:
    QTest.keyClick(view_of(window), key, modifiers)


def selected(window: MainWindow) -> list[int]:
    return [int(message) + 1 for message in panes_of(window).messages.selected_messages()]


def current(window: MainWindow) -> int | None:
    message = panes_of(window).messages.current_message()
    return None if message is None else message + 1


def told(window: MainWindow) -> list[int]:
    """Rows Qt's own selection holds, which is what screen readers are told."""
    return sorted(index.row() + 1 for index in view_of(window).selectionModel().selectedRows())


def said(window: MainWindow, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: not child(panes_of(window).messages, QTimer, "selectionTimer").isActive())
    return next((words for words in window.status.words() if "selected" in words), "")


def menu_at(window: MainWindow, number: int) -> QMenu:
    view = view_of(window)
    place = at(window, number)
    click(window, number, button="RightButton")
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    return view.findChildren(QMenu, "messageMenu")[-1]


def choose(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if action.objectName() == name).trigger()
    menu.close()


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


# Selecting


def shift_and_arrows_select_as_far_as_the_current_row(window: MainWindow, qtbot: QtBot) -> None:
    press(window, KEYS.Key_Down, SHIFT)
    press(window, KEYS.Key_Down, SHIFT)
    assert (selected(window), current(window)) == ([3, 4, 5], 5)
    assert told(window) == [3, 4, 5]
    for _ in range(3):
        press(window, KEYS.Key_Up, SHIFT)
    assert (selected(window), current(window)) == ([2, 3], 2)
    press(window, KEYS.Key_Down)
    assert (selected(window), told(window)) == ([3], [3])


def ends_and_pages_with_shift(window: MainWindow, qtbot: QtBot) -> None:
    for key, expected in (
        (KEYS.Key_Home, [1, 2, 3]),
        (KEYS.Key_End, list(range(3, 13))),
        (KEYS.Key_PageUp, [1, 2, 3]),
        (KEYS.Key_PageDown, list(range(3, 13))),
    ):
        panes_of(window).go_to(2)
        press(window, key, SHIFT)
        assert selected(window) == expected, key
        assert current(window) == (expected[0] if expected[0] == 1 else expected[-1]), key


def clicks_with_shift_and_control(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 6, SHIFT)
    assert (selected(window), current(window)) == ([3, 4, 5, 6], 6)
    click(window, 1, SHIFT)
    assert selected(window) == [1, 2, 3]
    click(window, 9, CONTROL)
    assert (selected(window), current(window)) == ([1, 2, 3, 9], 9)
    click(window, 2, CONTROL)
    assert (selected(window), current(window)) == ([1, 3, 9], 2)
    click(window, 5, SHIFT | CONTROL)
    assert selected(window) == [1, 2, 3, 4, 5, 9]
    click(window, 4)
    assert (selected(window), current(window), told(window)) == ([4], 4, [4])


def all_shown_are_selected_and_escape_leaves_the_current(window: MainWindow, qtbot: QtBot) -> None:
    press(window, KEYS.Key_A, CONTROL)
    assert (selected(window), current(window)) == (list(range(1, 13)), 3)
    assert said(window, qtbot).startswith("12 selected, ")
    assert said(window, qtbot).endswith("s")
    press(window, KEYS.Key_Escape)
    assert (selected(window), told(window)) == ([3], [3])
    assert said(window, qtbot) == ""
    panes_of(window).filter_state.apply_filter("no > 10")
    press(window, KEYS.Key_A, CONTROL)
    assert selected(window) == [11, 12]


def messages_are_gathered_one_by_one_with_keys_alone(window: MainWindow, qtbot: QtBot) -> None:
    press(window, KEYS.Key_Space, CONTROL)
    press(window, KEYS.Key_Down, CONTROL)
    press(window, KEYS.Key_Down, CONTROL)
    assert (selected(window), current(window)) == ([3], 5)
    press(window, KEYS.Key_Space, CONTROL)
    assert selected(window) == [3, 5]
    press(window, KEYS.Key_Space, CONTROL)
    assert (selected(window), current(window)) == ([3], 5)


def without_gathering_the_next_message_is_selected_alone(window: MainWindow, qtbot: QtBot) -> None:
    press(window, KEYS.Key_Down, CONTROL)
    assert (selected(window), current(window)) == ([4], 4)


def drag(window: MainWindow, places: list[QPoint], *, release: bool = True) -> None:
    port = view_of(window).viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, NO, places[0])
    for place in places[1:]:
        global_ = QPointF(port.mapToGlobal(place))
        left = Qt.MouseButton.LeftButton
        event = QMouseEvent(QEvent.Type.MouseMove, QPointF(place), global_, Qt.MouseButton.NoButton, left, NO)
        QApplication.sendEvent(port, event)
    if release:
        QTest.mouseRelease(port, Qt.MouseButton.LeftButton, NO, places[-1])


def dragging_selects_a_range_and_is_one_place_to_go_back_to(window: MainWindow, qtbot: QtBot) -> None:
    drag(window, [at(window, number) for number in (5, 6, 8, 7)])
    assert (selected(window), current(window)) == ([5, 6, 7], 7)
    panes_of(window).go_back()
    assert current(window) == 5


def test_dragging_to_an_edge_scrolls(application: Application, qtbot: QtBot) -> None:
    window = shown(application, qtbot, *chats(400))
    view = view_of(window)
    view.anchor.follow(False)
    panes_of(window).messages.go_to_first()
    below = QPoint(200, view.viewport().height() + 60)
    drag(window, [at(window, 2), at(window, 4), below], release=False)
    qtbot.waitUntil(lambda: len(selected(window)) > 60)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, NO, below)
    assert selected(window) == list(range(2, (current(window) or 0) + 1))
    count = len(selected(window))
    qtbot.wait(120)
    assert len(selected(window)) == count
    assert len(told(window)) < 200


def test_originals_lie_within_a_range(application: Application, qtbot: QtBot) -> None:
    window = shown(application, qtbot)
    view = view_of(window)
    click(window, 5)
    assert view.toggle_original(5)
    parts = view.messages.rows.part_count(5)
    assert parts > 3
    for _ in range(parts + 2):
        press(window, KEYS.Key_Down, SHIFT)
    assert selected(window) == [5, 6, 7]
    assert view.toggle_original(5)
    assert (selected(window), current(window)) == ([5, 6, 7], 7)


# What changes around it


def filters_sorting_and_traffic_leave_it(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 6, SHIFT)
    panes = panes_of(window)
    panes.filter_state.apply_filter("no > 4")
    assert selected(window) == [5, 6]
    assert said(window, qtbot).startswith("2 selected")
    panes.messages.sorter.sort("no", True)
    assert selected(window) == [5, 6]
    panes.messages.sorter.clear()
    panes.filter_state.apply_filter("no > 9")
    assert selected(window) == [10]
    panes.filter_state.apply_filter("")
    assert (selected(window), current(window), told(window)) == ([3, 4, 5, 6], 6, [3, 4, 5, 6])


def a_range_of_sorted_rows_goes_by_what_is_seen(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).messages.sorter.sort("no", True)
    click(window, 8)
    press(window, KEYS.Key_Down, SHIFT)
    assert selected(window) == [7, 8]
    press(window, KEYS.Key_C, CONTROL)
    assert [line.split("\t")[0] for line in clipboard().splitlines()] == ["No.", "8", "7"]


# Painting


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_selected_rows_are_washed_and_the_current_one_is_known(window: MainWindow, theme: str) -> None:
    window.theme.set_setting("dark" if theme == "dark" else "light")
    click(window, 5, SHIFT)
    picture = view_of(window).viewport().grab().toImage()
    colors = window.theme.theme
    x = view_of(window).viewport().width() - 30
    for number, washed in ((2, False), (3, True), (4, True), (5, True), (6, False)):
        wash = picture.pixelColor(x, at(window, number).y()) == colors.color("accent.wash")
        assert wash is washed, number
    bars = [picture.pixelColor(0, at(window, number).y()) == colors.color("accent.ring") for number in (3, 4, 5)]
    assert bars == [False, False, True]


# What acts on it


def test_rows_are_copied_as_they_are_shown(window: MainWindow) -> None:
    panes = panes_of(window)
    names = ("message", "no", "time", "from-to", "kind", "context", "latency", "size")
    seen = ("message", "no", "kind")
    panes.messages.choose_columns([TableColumn(name=name, shown="yes" if name in seen else "no") for name in names])
    press(window, KEYS.Key_Down, SHIFT)
    press(window, KEYS.Key_C, CONTROL)
    assert clipboard() == "Message\tNo.\tKind\nmessage 3\t3\tchat\nmessage 4\t4\tchat"
    press(window, KEYS.Key_Escape)
    press(window, KEYS.Key_C, CONTROL)
    assert clipboard() == "message 4\t4\tchat"


def everything_is_copied_of_all_that_are_selected(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 5, SHIFT)
    messages = panes_of(window).messages
    messages.copy("values")
    assert clipboard() == "message 3\nmessage 4\nmessage 5"
    messages.copy("ids")
    assert clipboard() == "id-3\nid-4\nid-5"
    messages.copy("json")
    assert [json.loads(line)["id"] for line in clipboard().splitlines()] == ["id-3", "id-4", "id-5"]
    messages.copy("markdown")
    assert [line for line in clipboard().splitlines() if line.startswith("## ")] == [
        "## No. 3 chat", "## No. 4 chat", "## No. 5 chat",
    ]  # fmt: skip
    messages.copy("filter")
    assert clipboard() == "no >= 3 && no <= 5"
    click(window, 9, CONTROL)
    messages.copy("filter")
    assert clipboard() == "no == 9 || (no >= 3 && no <= 5)"
    assert matching(panes_of(window), clipboard()) == [2, 3, 4, 8]


def test_several_copied_as_json_can_be_pasted_as_a_log_and_hide_secrets(application: Application, qtbot: QtBot) -> None:
    call = tool_call("login", arguments={"password": "hunter2"})
    window = shown(application, qtbot, call, tool_result(call, "in"))
    press(window, KEYS.Key_A, CONTROL)
    panes_of(window).messages.copy("json")
    assert "hunter2" not in clipboard()
    assert len(document_of(*clipboard().splitlines()).analysis) == 2
    for what in ("rows", "markdown"):
        panes_of(window).messages.copy(what)
        assert "hunter2" not in clipboard()


def test_too_many_are_not_copied_and_that_is_said(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_copies, "MOST", 5)
    QGuiApplication.clipboard().setText("before")
    press(window, KEYS.Key_A, CONTROL)
    press(window, KEYS.Key_C, CONTROL)
    assert clipboard() == "before"
    notice = window.notices.notice("message")
    assert notice is not None
    assert notice.text.startswith("12 messages are too many to copy (limit 5).")


def the_menu_of_a_selected_row_acts_on_all(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 5, SHIFT)
    choose(menu_at(window, 4), "copy.id")
    assert (clipboard(), current(window)) == ("id-3\nid-4\nid-5", 5)
    choose(menu_at(window, 4), "filter.selected")
    assert numbers(window) == [3, 4, 5]
    panes_of(window).filter_state.clear()
    choose(menu_at(window, 4), "hide.selected")
    assert numbers(window) == [1, 2, *range(6, 13)]


def the_menu_of_another_row_moves_the_selection(window: MainWindow, qtbot: QtBot) -> None:
    click(window, 5, SHIFT)
    choose(menu_at(window, 9), "copy.id")
    assert (clipboard(), selected(window)) == ("id-9", [9])


def marked(window: MainWindow) -> list[int]:
    return ask_engine(window, lambda document: [int(message) + 1 for message in document.analysis.marks.rows])


def test_all_selected_are_marked_unmarked_and_that_is_undone(window: MainWindow) -> None:
    click(window, 5, SHIFT)
    press(window, KEYS.Key_M, CONTROL)
    assert marked(window) == [3, 4, 5]
    click(window, 6, SHIFT)
    press(window, KEYS.Key_M, CONTROL)
    assert marked(window) == [3, 4, 5, 6]
    press(window, KEYS.Key_M, CONTROL)
    assert not marked(window)
    press(window, KEYS.Key_Z, CONTROL)
    assert len(marked(window)) == 4


def test_the_export_dialog_starts_with_what_is_selected(qapp: QApplication, tmp_path: Path) -> None:
    async def steps(application: Application) -> None:
        target = tmp_path / "selected.jsonl"
        window = window_on(application, document_of(*chats(12)))
        panes_of(window).go_to(2)
        view_of(window).selection.extend_to_row(4)
        window.exporting.show_dialog()
        dialog = window.findChild(ExportDialog)
        assert dialog is not None
        assert dialog.which == "selected"
        child(dialog, QPushButton, "exportExport").click()
        child(window, QFileDialog, "exportDialog").fileSelected.emit(str(target))
        await until(target.exists, "the file")
        assert [n for n in range(1, 13) if f'"id-{n}"' in target.read_text()] == [3, 4, 5]

    run_in_window(qapp, steps)


def screen_readers_can_select_rows(window: MainWindow, qtbot: QtBot) -> None:
    view = view_of(window)
    flags = view.selectionModel().SelectionFlag
    view.selectionModel().select(view.messages.index(6, 0), flags.Select | flags.Rows)
    assert selected(window) == [3, 7]
    assert told(window) == [3, 7]


def what_screen_readers_select_alone_is_all_that_is_selected(window: MainWindow, qtbot: QtBot) -> None:
    view = view_of(window)
    press(window, Qt.Key.Key_Down, SHIFT)
    assert said(window, qtbot).startswith("2 selected")
    flags = view.selectionModel().SelectionFlag
    view.selectionModel().select(view.messages.index(6, 0), flags.ClearAndSelect | flags.Rows)
    assert selected(window) == [7]
    assert said(window, qtbot) == ""
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert told(window) == [7]


def begun_again(window: MainWindow) -> None:
    """All twelve are shown as they came, No. 3 is current and alone selected."""
    panes_of(window).filter_state.clear()
    panes_of(window).messages.sorter.clear()
    click(window, 3)


test_what_is_selected = in_turn([
    shift_and_arrows_select_as_far_as_the_current_row, ends_and_pages_with_shift, clicks_with_shift_and_control,
    all_shown_are_selected_and_escape_leaves_the_current, messages_are_gathered_one_by_one_with_keys_alone,
    without_gathering_the_next_message_is_selected_alone, dragging_selects_a_range_and_is_one_place_to_go_back_to,
    filters_sorting_and_traffic_leave_it, a_range_of_sorted_rows_goes_by_what_is_seen,
    everything_is_copied_of_all_that_are_selected, the_menu_of_a_selected_row_acts_on_all,
    the_menu_of_another_row_moves_the_selection, screen_readers_can_select_rows,
    what_screen_readers_select_alone_is_all_that_is_selected,
], begun_again)  # fmt: skip

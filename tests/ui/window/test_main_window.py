"""The window as a user meets it: start page, filter, presets, scope, expansion, follow, pause, zoom, theme."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QTabBar, QToolButton, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from inspector.base.paths import cache_folder
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters.visible import Reach
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.panels.contexts.view import ContextTreeView
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.panels.start.buttons import ActionCard, RecentRow
from inspector.ui.widgets.filter_editor import FilterEditor
from inspector.ui.widgets.filter_trouble import FilterTrouble
from inspector.ui.widgets.notice import Notice
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of
from tests.ui.engines import client_of
from tests.ui.find import child
from tests.ui.windows import bury, in_turn, numbers, panes_of, run_in_window, story, texts, until, window_on

pytestmark = pytest.mark.styled

IN_WHY = [4, 5, 6, 7, 8]
"""Messages of `story` in its context; the start itself is said in main."""
COLLAPSED = 5
"""Index of the collapsed result."""


def type_filter(window: MainWindow, text: str) -> None:
    """As a user: the key to the bar, the text, Enter."""
    window.actions_by_id["edit.filter"].trigger()
    editor = child(window, FilterEditor)
    editor.selectAll()
    QTest.keyClick(editor, Qt.Key.Key_Delete)
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Return)


def click_node(window: MainWindow, label: str) -> None:
    view = child(window, ContextTreeView)
    model = view.model()
    row = next(r for r in range(model.rowCount()) if label in str(model.index(r, 0).data()))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(model.index(row, 0)).center())


def notice(window: MainWindow, key: str) -> Notice | None:
    return window.view_head.notices.notice(key) or window.notices.notice(key)


def sentence(window: MainWindow) -> str:
    said = notice(window, "message")
    return said.text if said is not None else ""


def press(window: MainWindow, key: Qt.Key) -> None:
    QTest.keyClick(child(window, MessageView), key)


# Filter


def a_filter_typed_shows_its_rows(window: MainWindow, qtbot: QtBot) -> None:
    type_filter(window, 'kind == "chat"')
    assert numbers(window) == [1, 2, 9]
    assert "3 of 9" in [w.text() for w in window.filter_bar.findChildren(QWidget, "filterCounts")]  # type: ignore[attr-defined]


def a_wrong_filter_says_so_and_the_last_result_stays(window: MainWindow, qtbot: QtBot) -> None:
    type_filter(window, 'kind == "chat"')
    type_filter(window, 'kidn == "chat"')
    assert numbers(window) == [1, 2, 9]
    trouble = child(window, FilterTrouble)
    qtbot.waitUntil(trouble.isVisible)
    assert window.filter_bar.property("wrong") == "true"


def escape_takes_a_wrong_filter_back_and_then_leaves_the_bar(window: MainWindow, qtbot: QtBot) -> None:
    type_filter(window, 'kind == "chat"')
    type_filter(window, "kidn ==")
    editor, left = child(window, FilterEditor), []
    window.filter_bar.left.connect(lambda: left.append(True))
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert (editor.text(), left) == ("kidn ==", [])
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert (editor.text(), left) == ('kind == "chat"', [])
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert left == [True]
    assert window.focusWidget() is child(window, MessageView)


def each_preset_can_be_pressed_and_only_its_chip_is_active(window: MainWindow, qtbot: QtBot) -> None:
    bury()  # chips of other presets
    panes_of(window).messages.go_to(COLLAPSED)
    expected = {"Everything": 9, "Main only": 4, "Inside reasoning": 5, "Tools": 4, "This context": 5}
    for chip in window.presets.bar.findChildren(QToolButton, "presetChip"):
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
        assert chip.isChecked()
        if chip.text() in expected:
            assert len(numbers(window)) == expected[chip.text()], chip.text()


def the_message_read_comes_back_with_the_view_that_shows_it(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.messages.go_to(COLLAPSED)
    type_filter(window, 'kind == "chat"')
    assert panes.messages.current_message() == 8
    type_filter(window, "")
    assert panes.messages.current_message() == COLLAPSED


# Scope


def a_click_on_a_node_scopes_the_table_and_a_key_clears_it(window: MainWindow, qtbot: QtBot) -> None:
    click_node(window, "Find the slow part")
    assert numbers(window) == IN_WHY
    assert "Find the slow part" in window.view_head.scope.accessibleName()
    window.view_head.scope.reach_chosen.emit(Reach.CHILDREN)
    assert numbers(window) == []
    window.actions_by_id["edit.clear_filter"].trigger()
    assert len(numbers(window)) == 9


def escape_in_the_tree_clears_the_scope(window: MainWindow, qtbot: QtBot) -> None:
    click_node(window, "Find the slow part")
    QTest.keyClick(child(window, ContextTreeView), Qt.Key.Key_Escape)
    assert len(numbers(window)) == 9


# The table


def a_collapsed_result_expands_in_place(window: MainWindow, qtbot: QtBot) -> None:
    panes, view = panes_of(window), child(window, MessageView)
    rect = view.visualRect(panes.messages.model.index(COLLAPSED, Column.MESSAGE))
    chevron = view.painter.chevron_rect(rect).center()
    ways = {
        "key": lambda: press(window, Qt.Key.Key_Right),
        "action": window.actions_by_id["view.expand"].trigger,
        "chevron": lambda: QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=chevron),
    }
    for way, expand in ways.items():
        panes.messages.go_to(COLLAPSED)
        assert "15 records (page 1)" in texts(window)[COLLAPSED]
        expand()
        rows = texts(window)
        assert "record 0" in "\n".join(rows[COLLAPSED + 1 : COLLAPSED + 4]), way
        assert panes.messages.current_message() == COLLAPSED
        press(window, Qt.Key.Key_Left)
        assert len(texts(window)) == 9


def a_link_to_a_hidden_message_shows_it_and_back_restores_the_view(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    click_node(window, "Find the slow part")
    type_filter(window, 'kind == "mcp/response"')
    panes.messages.go_to(COLLAPSED)
    panes.details.links.message_requested.emit(0)
    assert panes.messages.current_message() == 0
    assert len(numbers(window)) == 9
    window.actions_by_id["go.back"].trigger()
    assert panes.messages.current_message() == COLLAPSED
    assert panes.rows.filter.text == 'kind == "mcp/response"'
    assert panes.rows.scope is not None
    assert child(window, FilterEditor).text() == 'kind == "mcp/response"'


def test_keys_step_through_messages_and_along_the_chain(window: MainWindow) -> None:
    panes = panes_of(window)
    window.actions_by_id["go.next"].trigger()
    assert panes.messages.current_message() == 0
    panes.go_to(COLLAPSED)
    window.actions_by_id["go.chain_previous"].trigger()
    assert panes.messages.current_message() == 4
    window.actions_by_id["go.chain_next"].trigger()
    assert panes.messages.current_message() == COLLAPSED


# Live


@pytest.fixture
def live(application: Application, tmp_path: Path) -> tuple[MainWindow, Path]:
    path = tmp_path / "live.jsonl"
    path.write_bytes(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(100))))
    document = CaptureDocument()
    document.follow_capture(path, name="live")
    document.poll()
    return window_on(application, document), path


def say(live: tuple[MainWindow, Path], count: int) -> None:
    window, path = live
    with path.open("ab") as file:
        file.write(lines_of(*(envelope("chat", {"text": f"more {n}"}) for n in range(count))))
    window.document.poll()
    if not panes_of(window).bridge.paused:
        panes_of(window).bridge.flush()


def test_the_view_follows_until_somebody_looks_elsewhere(live: tuple[MainWindow, Path]) -> None:
    window = live[0]
    panes, bar = panes_of(window), child(window, MessageView).verticalScrollBar()
    follow = window.actions_by_id["capture.follow"]
    follow.trigger() if not follow.isChecked() else None
    say(live, 20)
    assert bar.value() == bar.maximum()
    panes.messages.go_to(50)
    place = bar.value()
    say(live, 20)
    assert (bar.value(), panes.messages.current_message(), follow.isChecked()) == (place, 50, False)
    assert child(window, QWidget, "newMessagesPill").isVisible()
    press(window, Qt.Key.Key_End)
    assert follow.isChecked()
    assert not child(window, QWidget, "newMessagesPill").isVisible()


def test_a_view_that_grows_does_not_begin_to_follow(live: tuple[MainWindow, Path], qtbot: QtBot) -> None:
    window = live[0]
    window.resize(1280, 500)
    panes = panes_of(window)
    panes.messages.follow(True)
    say(live, 5)
    panes.messages.go_to(100)
    assert not panes.messages.following
    window.resize(1280, 800)  # as when a notice above goes
    qtbot.wait(20)
    say(live, 5)
    assert (panes.messages.following, panes.messages.current_message()) == (False, 100)


def test_what_is_seen_without_scrolling_is_not_announced_as_new(live: tuple[MainWindow, Path]) -> None:
    window = live[0]
    panes_of(window).messages.go_to(3)
    type_filter(window, 'text contains "more"')
    say(live, 3)
    assert len(numbers(window)) == 3
    assert not child(window, QWidget, "newMessagesPill").isVisible()


def test_pause_holds_the_view_and_says_how_much_waits(live: tuple[MainWindow, Path]) -> None:
    window = live[0]
    window.action_state.enable()
    pause = window.actions_by_id["capture.pause"]
    press(window, Qt.Key.Key_Space)
    if not pause.isChecked():  # without a window manager no window is active, and then keys are no shortcuts
        pause.trigger()
    say(live, 7)
    window.document_status.refresh_clock()
    assert len(numbers(window)) == 100
    assert "view paused, 7 waiting" in window.status.words()
    pause.trigger()
    assert len(numbers(window)) == 107


def test_the_demo_keeps_its_hints_when_something_else_is_set(window: MainWindow) -> None:
    window.display.hints_here = True
    window.apply_settings()
    window.presets.refresh()
    window.actions_by_id["view.zoom_in"].trigger()
    assert window.actions_by_id["view.hints"].isChecked()
    window.actions_by_id["view.hints"].trigger()
    assert not window.actions_by_id["view.hints"].isChecked()
    assert window.display.hints_here is None


# Looks


def test_zoom_scales_the_panes_and_leaves_room_for_the_messages(window: MainWindow) -> None:
    before = window.docks["Contexts"].width()
    for _ in range(5):
        window.actions_by_id["view.zoom_in"].trigger()
    QApplication.sendPostedEvents()
    assert window.theme.theme.zoom == pytest.approx(1.5)
    assert window.docks["Contexts"].width() > before
    assert window.width() == 1280
    assert child(window, MessageView).columnWidth(Column.MESSAGE) >= 150
    window.actions_by_id["view.zoom_reset"].trigger()
    assert window.theme.theme.zoom == 1.0


def test_the_window_takes_the_sizes_people_have(window: MainWindow) -> None:
    for size in ((900, 600), (1920, 1200), (1280, 800)):
        window.resize(*size)
        assert window.size().toTuple() == size
        assert child(window, MessageView).columnWidth(Column.MESSAGE) >= 80


def test_a_theme_switched_at_run_time_keeps_place_and_labels(window: MainWindow) -> None:
    panes_of(window).messages.go_to(COLLAPSED)
    window.theme.set_setting("dark")
    assert panes_of(window).messages.current_message() == COLLAPSED
    assert window.grab().toImage().pixelColor(300, 790).lightness() < 80
    shown = {
        b.text() for b in window.bars.tool_bar.findChildren(QToolButton) if b.toolButtonStyle().name.endswith("Icon")
    }
    assert {"Open", "Connect"} <= shown


def test_switches_say_what_is_shown_however_it_came(window: MainWindow) -> None:
    details = window.actions_by_id["view.details"]
    assert details.isChecked()
    window.docks["Details"].close()
    assert not details.isChecked()
    details.trigger()
    assert window.docks["Details"].isVisible()


def test_a_layout_gone_astray_can_be_reset(window: MainWindow) -> None:
    window.docks["Details"].setFloating(True)
    window.docks["Contexts"].close()
    window.tabifyDockWidget(window.docks["Details"], window.docks["Participants"])
    window.actions_by_id["view.reset_layout"].trigger()
    assert not any(dock.isFloating() for dock in window.docks.values())
    sides = {title for title, dock in window.docks.items() if not dock.isHidden()}
    assert sides == {"Contexts", "Participants", "Details"}
    assert window.dockWidgetArea(window.docks["Participants"]) is Qt.DockWidgetArea.LeftDockWidgetArea
    assert window.actions_by_id["view.contexts"].isChecked()


def test_panes_on_one_another_get_a_tab_bar_with_a_name(window: MainWindow) -> None:
    window.tabifyDockWidget(window.docks["Contexts"], window.docks["Participants"])
    QApplication.sendPostedEvents()
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert all(bar.accessibleName() for bar in bars)


def whatever_takes_the_focus_has_a_name(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).messages.go_to(COLLAPSED)
    unnamed = [
        f"{type(widget).__name__} {widget.objectName()!r}"
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() is not Qt.FocusPolicy.NoFocus and widget.isVisible() and not widget.accessibleName()
    ]
    assert unnamed == []


# Start page


def test_the_start_page_is_worked_by_keys_alone(application: Application, qtbot: QtBot) -> None:
    window = application.new_window()
    cards = [card.accessibleName() for card in window.start_page.findChildren(ActionCard)]
    assert len(cards) == 6
    with qtbot.waitSignal(window.start_page.connect_requested):
        QTest.keyClick(child(window, ActionCard, "start_open"), Qt.Key.Key_Down)
        focused = window.focusWidget()
        assert focused is child(window, ActionCard, "start_connect")
        QTest.keyClick(focused, Qt.Key.Key_Return)
    assert child(window, QWidget, "connectDialog").isVisible()


def test_a_refused_file_is_a_sentence_and_the_page_stays(qapp: QApplication, tmp_path: Path) -> None:
    notes, empty = tmp_path / "notes.txt", tmp_path / "empty.jsonl"
    notes.write_text("milk\n")
    empty.write_text("")
    folder = tmp_path / "folder"
    folder.mkdir()

    async def steps(application: Application) -> None:
        window = application.new_window()
        for path, words in ((notes, "notes.txt is no log"), (folder, "cannot be read"), (tmp_path / "x", "No such")):
            window.opening.open_path(path)
            await until(lambda w=words: w in sentence(window), words)
            assert window.panes is None
        window.opening.open_path(empty)
        await until(lambda: window.panes, "the empty log")
        assert "This log has no messages. New messages" in panes_of(window).messages.empty.text

    run_in_window(qapp, steps)


def test_text_pasted_that_is_no_log_is_named_as_what_it_is(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        QGuiApplication.clipboard().setText("just words")
        window.actions_by_id["file.paste"].trigger()
        await until(lambda: sentence(window), "the sentence")
        assert sentence(window).startswith("pasted text is no log")

    run_in_window(qapp, steps)


def test_text_pasted_lies_where_the_next_start_sweeps_until_the_window_closes(qapp: QApplication) -> None:
    def held() -> list[str]:
        return [file.name for file in cache_folder().glob("spool-*/*")]

    async def steps(application: Application) -> None:
        window = application.new_window()
        QGuiApplication.clipboard().setText(lines_of(envelope(), envelope()).decode())
        window.actions_by_id["file.paste"].trigger()
        await until(lambda: window.panes, "the pasted log")
        assert held() == ["pasted text"]

    run_in_window(qapp, steps)
    assert held() == []


def test_a_file_dropped_is_opened_and_listed(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "dropped.jsonl"
    path.write_bytes(lines_of(envelope(), envelope()))

    async def steps(application: Application) -> None:
        window = application.new_window()
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        window.dropEvent(QDropEvent(QPointF(QPoint(9, 9)), Qt.DropAction.CopyAction, data, buttons, keys))
        await until(lambda: window.panes and len(numbers(window)) == 2, "two messages")
        assert window.windowTitle() == "dropped.jsonl — Context Inspector"
        await until(lambda: application.settings.recent_files, "the list of recent files")
        other = application.new_window()
        assert len(other.start_page.findChildren(RecentRow)) == 1
        assert not child(window, FilterEditor).canInsertFromMimeData(data)

    run_in_window(qapp, steps)


def test_a_second_window_does_not_cover_the_first(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        first = application.new_window()
        first.actions_by_id["file.new_window"].trigger()
        await asyncio.sleep(0)
        assert len({window.pos().toTuple() for window in application.windows}) == 2
        first.close()
        await until(lambda: not isValid(first), "its end")
        application.theme.set_setting("dark")  # what a window had made hears of it no more

    run_in_window(qapp, steps)


def test_the_layout_comes_back_with_the_next_window(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        first = window_on(application, story())
        first.resize(780, 600)  # no larger than the screen of the offscreen platform
        first.actions_by_id["view.details"].trigger()
        keep = application.new_window()
        first.close()
        again = window_on(application, story())
        assert again.size().toTuple() == (780, 600)
        assert not again.docks["Details"].isVisible()
        assert not again.actions_by_id["view.details"].isChecked()
        keep.close()

    run_in_window(qapp, steps)


def test_a_window_too_narrow_for_its_panes_opens_a_log_at_200_percent(application: Application) -> None:
    application.theme.set_zoom(2.0)
    window = application.new_window()
    window.resize(700, 500)
    run_to_end(window.showing(client_of(story(), window)))
    assert window.docks["Details"].isHidden()
    assert window.bars.tool_bar.iconSize().width() == 32
    room = window.screen().availableSize()
    for name in ("view.columns", "go.to", "help.keys", "file.connections"):
        window.actions_by_id[name].trigger()
        dialog = next(one for one in window.findChildren(QDialog) if one.isVisible())
        assert dialog.height() <= room.height(), f"{name} is higher than the screen"
        dialog.reject()
    window.close()
    application.theme.set_zoom(1.0)


def begun_again(window: MainWindow) -> None:
    """Everything is shown, whatever was written, chosen or clicked."""
    type_filter(window, "")
    window.actions_by_id["edit.clear_filter"].trigger()


test_a_log_is_read_in_its_window = in_turn([
    a_filter_typed_shows_its_rows, a_wrong_filter_says_so_and_the_last_result_stays,
    escape_takes_a_wrong_filter_back_and_then_leaves_the_bar,
    each_preset_can_be_pressed_and_only_its_chip_is_active, the_message_read_comes_back_with_the_view_that_shows_it,
    a_click_on_a_node_scopes_the_table_and_a_key_clears_it, escape_in_the_tree_clears_the_scope,
    a_collapsed_result_expands_in_place, a_link_to_a_hidden_message_shows_it_and_back_restores_the_view,
    whatever_takes_the_focus_has_a_name,
], begun_again)  # fmt: skip

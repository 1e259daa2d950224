"""Marks and comments in the window: keys, gutter, panel, comment editor, details, undo, the file beside the capture."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.user_marks import Note
from inspector.document.marks_file import MarksFile, beside_capture
from inspector.present.message_columns import Column
from inspector.store.files.capture_folder import captures_folder
from inspector.ui.app.application import Application
from inspector.ui.panels.details.section import LinkText, Page
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, envelope, lines_of
from tests.ui.engines import patch_engine
from tests.ui.find import child
from tests.ui.late_answers import delay_answers
from tests.ui.windows import ask_engine, in_turn, numbers, panes_of, run_in_window, until, window_on, write_comment

KEYS, CONTROL, SHIFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(window: MainWindow, qtbot: QtBot) -> MainWindow:
    with qtbot.waitExposed(window):
        window.activateWindow()
    return window


def press(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, key, modifiers)


def go_to(window: MainWindow, number: int) -> None:
    panes_of(window).go_to(number - 1)
    panes_of(window).messages.setFocus()


def comment(window: MainWindow, text: str) -> None:
    """Write a comment on what the user is on."""
    press(window, KEYS.Key_M, CONTROL | SHIFT)
    editor = window.marking.editor
    assert editor.isVisible()
    editor.text.selectAll()
    QTest.keyClick(editor.text, KEYS.Key_Delete)
    QTest.keyClicks(editor.text, text)
    QTest.keyClick(editor.text, KEYS.Key_Return, CONTROL)
    assert not editor.isVisible()


def gutter(window: MainWindow, number: int) -> str:
    """What the first column says of the user's own."""
    model = panes_of(window).messages.model
    row = panes_of(window).rows.row_of(number - 1)
    assert row is not None
    signs = str(model.index(row, Column.GUTTER).data() or "").split(", ")
    return ", ".join(sign for sign in signs if sign in ("marked", "comment"))


def overview(window: MainWindow) -> list[str]:
    """The sections of the Overview, from its top."""
    page = panes_of(window).details.pages["Overview"]
    assert isinstance(page, Page)
    return [section.accessibleName() for section in page.sections]


def listed(window: MainWindow) -> list[str]:
    """The marks panel, shown, a row a line."""
    if window.docks["Marks"].isHidden():
        window.actions_by_id["view.marks"].trigger()
    model = panes_of(window).marks.model
    QAbstractItemModelTester(model, model)
    return [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]


def a_key_marks_and_unmarks(window: MainWindow, qtbot: QtBot) -> None:
    go_to(window, 2)
    press(window, KEYS.Key_M, CONTROL)
    assert gutter(window, 2) == "marked"
    assert listed(window) == ["marked, Why is it slow?, lead chat, main, No. 2"]
    go_to(window, 2)
    press(window, KEYS.Key_M, CONTROL)
    assert gutter(window, 2) == ""
    assert listed(window) == []
    assert panes_of(window).marks.view.empty_text == (
        "No marks yet. Ctrl+M marks and Ctrl+Shift+M comments on the current message or context."
    )


def a_comment_is_written_shown_and_edited(window: MainWindow, qtbot: QtBot) -> None:
    go_to(window, 4)
    comment(window, "The turning point")
    assert gutter(window, 4) == "comment"
    assert QApplication.focusWidget() is panes_of(window).messages.view
    assert overview(window)[0] == "Your comment"
    child(panes_of(window).details.pages["Overview"], LinkText, "editComment").click()
    assert window.marking.editor.title == "Comment on No. 4"
    assert window.marking.editor.text.toPlainText() == "The turning point"
    window.marking.editor.text.setPlainText("   ")
    child(window.marking.editor, QPushButton, "commentSave").click()
    assert gutter(window, 4) == ""
    assert overview(window)[0] != "Your comment"


def escape_leaves_the_comment_as_it_was(window: MainWindow, qtbot: QtBot) -> None:
    go_to(window, 4)
    press(window, KEYS.Key_M, CONTROL | SHIFT)
    QTest.keyClicks(window.marking.editor.text, "Never mind")
    QTest.keyClick(window.marking.editor.text, KEYS.Key_Escape)
    assert not window.marking.editor.isVisible()
    assert gutter(window, 4) == ""
    assert not window.undo_history.stack.canUndo()


def test_what_is_written_on_one_message_is_kept_when_another_one_is_commented(window: MainWindow) -> None:
    go_to(window, 4)
    window.marking.comment()
    QTest.keyClicks(window.marking.editor.text, "First")
    window.marking.comment(1)
    assert window.marking.editor.title == "Comment on No. 2"
    assert window.marking.editor.text.toPlainText() == ""
    assert gutter(window, 4) == "comment"


def a_context_is_marked_from_the_tree(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    tree = panes.contexts
    row = next(row for row in range(tree.model.rowCount()) if tree.model.label(row) == "Find the slow part")
    tree.view.setFocus()
    tree.view.setCurrentIndex(tree.model.index(row, 0))
    press(window, KEYS.Key_M, CONTROL)
    comment(window, "Costs the most")
    assert "marked, comment" in tree.model.describe(row)
    assert listed(window) == ["marked, comment, Costs the most, context, Find the slow part"]
    panes.marks.view.setFocus()
    press(window, KEYS.Key_Return)
    assert panes.details.place is not None
    assert panes.details.context_page.sections[0].accessibleName() == "Your comment"
    assert panes.rows.filter.text == ""
    titles = [action.text() for action in tree.menu_for(row).actions()]
    assert "Unmark" in titles
    assert "Edit comment..." in titles


def the_panel_goes_to_its_messages_and_removes(window: MainWindow, qtbot: QtBot) -> None:
    for number in (2, 5, 9):
        go_to(window, number)
        press(window, KEYS.Key_M, CONTROL)
    assert len(listed(window)) == 3
    view = panes_of(window).marks.view
    view.setFocus()
    press(window, KEYS.Key_Home)
    assert panes_of(window).messages.current_message() == 1
    press(window, KEYS.Key_Down)
    assert panes_of(window).messages.current_message() == 4
    press(window, KEYS.Key_Delete)
    assert [row.rpartition(", ")[2] for row in listed(window)] == ["No. 2", "No. 9"]
    press(window, KEYS.Key_Escape)
    assert panes_of(window).messages.view.hasFocus()


def keys_go_from_mark_to_mark_around_the_end(window: MainWindow, qtbot: QtBot) -> None:
    press(window, KEYS.Key_F7)
    assert window.notices.notice("no-mark") is not None
    for number in (3, 8):
        window.marking.toggle(number - 1)
    seen = []
    for _ in range(3):
        press(window, KEYS.Key_F7)
        seen.append(panes_of(window).messages.current_message())
    press(window, KEYS.Key_F7, SHIFT)
    assert [*seen, panes_of(window).messages.current_message()] in ([2, 7, 2, 7], [7, 2, 7, 2])
    assert window.notices.notice("no-mark") is None


def test_a_filter_hides_marks_and_the_panel_says_so(window: MainWindow) -> None:
    for number in (1, 4):
        window.marking.toggle(number - 1)
    panes = panes_of(window)
    panes.filter_state.apply_filter("!context")
    listed(window)
    panes.marks.refresh()
    assert panes.marks.head.hint.text == "1 is hidden by the filter"
    assert "hidden by the view" in listed(window)[1]
    panes.marks.head.link.click()
    assert [row.rpartition(", ")[2] for row in listed(window)] == ["No. 1"]
    panes.marks.head.link.click()
    panes.marks.view.select(panes.marks.source.key_at(1))
    panes.marks.view.entered.emit(1)
    assert panes.messages.current_message() == 3
    assert panes.rows.filter.text == ""


def test_rows_arrive_later_than_asked_for(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    delay_answers(monkeypatch, panes_of(window).client)
    window.marking.toggle(1)
    listed(window)
    expected = ["marked, Why is it slow?, lead chat, main, No. 2"]
    qtbot.waitUntil(lambda: listed(window) == expected)
    window.marking.toggle(1)
    qtbot.waitUntil(lambda: listed(window) == [])
    assert panes_of(window).marks.view.empty_text.startswith("No marks yet.")


def filters_follow_marks(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    window.marking.toggle(2)
    panes.filter_state.apply_filter("mark")
    assert numbers(window) == [3]
    window.marking.toggle(6)
    assert numbers(window) == [3, 7]
    panes.filter_state.apply_filter('comment contains "slow"')
    assert numbers(window) == []
    write_comment(window, 1, "Too slow")
    assert numbers(window) == [2]
    window.undo_history.undo()
    assert numbers(window) == []


def undo_and_redo(window: MainWindow, qtbot: QtBot) -> None:
    undo, redo = window.actions_by_id["edit.undo"], window.actions_by_id["edit.redo"]
    assert not undo.isEnabled()
    go_to(window, 2)
    press(window, KEYS.Key_M, CONTROL)
    assert undo.text() == "&Undo mark No. 2"
    go_to(window, 3)
    comment(window, "Here")
    press(window, KEYS.Key_Z, CONTROL)
    assert gutter(window, 3) == ""
    assert redo.text() == "&Redo comment on No. 3"
    press(window, KEYS.Key_Z, CONTROL)
    assert gutter(window, 2) == ""
    assert not undo.isEnabled()
    press(window, KEYS.Key_Z, CONTROL | SHIFT)
    press(window, KEYS.Key_Z, CONTROL | SHIFT)
    assert (gutter(window, 2), gutter(window, 3)) == ("marked", "comment")
    window.actions_by_id["edit.clear_marks"].trigger()
    assert len(window.document.analysis.marks) == 0
    press(window, KEYS.Key_Z, CONTROL)
    assert (gutter(window, 2), gutter(window, 3)) == ("marked", "comment")


def a_cleared_view_comes_back(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter("context")
    shown = numbers(window)
    window.actions_by_id["edit.clear_filter"].trigger()
    assert len(numbers(window)) == 9
    press(window, KEYS.Key_Z, CONTROL)
    assert numbers(window) == shown
    assert panes_of(window).filter_state.filter.text == "context"


def a_removed_preset_comes_back(window: MainWindow, qtbot: QtBot) -> None:
    presets = window.application.settings.presets
    before = [preset.name for preset in presets]
    del presets[2]
    window.presets.refresh()
    assert window.actions_by_id["edit.undo"].text() == f"&Undo remove preset {before[2]}"
    press(window, KEYS.Key_Z, CONTROL)
    assert [preset.name for preset in window.application.settings.presets] == before
    press(window, KEYS.Key_Y, CONTROL)
    assert [preset.name for preset in window.application.settings.presets] == [*before[:2], *before[3:]]


def test_marks_show_while_the_view_is_paused(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    log.write(*(envelope() for _ in range(3)))
    window = window_on(application, log.document)
    panes_of(window).bridge.set_paused(True)
    log.write(*(envelope() for _ in range(3)))
    window.marking.toggle(1)
    assert gutter(window, 2) == "marked"
    assert len(numbers(window)) == 3
    panes_of(window).bridge.set_paused(False)
    assert len(numbers(window)) == 6


def opened(application: Application, path: Path) -> MainWindow:
    window = application.new_window()
    window.opening.open_path(path)
    return window


def test_marks_are_kept_beside_the_capture_and_restored(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*(envelope(context="why" if n > 3 else None) for n in range(6))))

    async def steps(application: Application) -> None:
        window = opened(application, path)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        window.marking.toggle(1)
        write_comment(window, 2, "Here it began")
        await until(lambda: beside_capture(path).exists(), "the file of marks")
        window.marking.toggle(3)
        window.close()
        assert [entry["no"] for entry in json.loads(beside_capture(path).read_bytes())["messages"]] == [2, 3, 4]
        again = opened(application, path)
        await until(lambda: again.panes is not None and not again.opening.reading, "the log")
        assert ask_engine(again, lambda document: document.analysis.marks.rows.tolist()) == [1, 2, 3]
        note = ask_engine(again, lambda document: document.analysis.marks.note(2))
        assert note == Note(comment="Here it began")
        assert gutter(again, 2) == "marked"
        assert not again.undo_history.stack.canUndo()

    run_in_window(qapp, steps)


def test_save_as_takes_the_marks_along(qapp: QApplication, tmp_path: Path) -> None:
    path, target = tmp_path / "log.jsonl", tmp_path / "copy.jsonl"
    path.write_bytes(lines_of(*(envelope() for _ in range(4))))

    async def steps(application: Application) -> None:
        window = opened(application, path)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        window.marking.toggle(1)
        window.actions_by_id["file.save_as"].trigger()
        await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the dialog")
        child(window, QFileDialog, "saveDialog").fileSelected.emit(str(target))
        await until(beside_capture(target).exists, "the marks of the copy")
        again = opened(application, target)
        await until(lambda: again.panes is not None and not again.opening.reading, "the copy")
        assert ask_engine(again, lambda document: document.analysis.marks.rows.tolist()) == [1]

    run_in_window(qapp, steps)


def test_the_marks_of_a_capture_that_is_thrown_away_go_with_it(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        window.gateway.start_demo()
        await until(lambda: window.panes is not None and len(window.document.analysis) > 3, "messages")
        window.marking.toggle(1)
        await until(lambda: any(captures_folder().glob("*.ctxmarks.json")), "the file of marks")
        await window.closing.aclose()
        await asyncio.sleep(0)
        assert not any(captures_folder().iterdir())

    run_in_window(qapp, steps)


def test_marks_of_another_file_are_said_and_left(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope()))
    content = {"ctxmarks": 1, "of": {"name": "log.jsonl", "messages": 1, "digest": "0"}, "messages": []}
    beside_capture(path).write_text(json.dumps(content))

    async def steps(application: Application) -> None:
        window = opened(application, path)
        await until(lambda: window.notices.notice("message") is not None, "the sentence")
        notice = window.notices.notice("message")
        assert notice is not None
        assert "holds the marks of another file" in notice.text

    run_in_window(qapp, steps)


def test_marks_that_cannot_be_written_are_said_and_tried_again(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(*(envelope() for _ in range(4))))

    def refuse(_file: MarksFile) -> None:
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")

    async def steps(application: Application) -> None:
        window = opened(application, path)
        await until(lambda: window.panes is not None and not window.opening.reading, "the log")
        with monkeypatch.context() as patch:
            patch_engine(patch, MarksFile, "snapshot", refuse)
            window.marking.toggle(1)
            await until(lambda: window.notices.notice("marks-not-saved") is not None, "the sentence")
        notice = window.notices.notice("marks-not-saved")
        assert notice is not None
        assert "could not be saved" in notice.text
        window.close()
        assert [entry["no"] for entry in json.loads(beside_capture(path).read_bytes())["messages"]] == [2]

    run_in_window(qapp, steps)


def begun_again(window: MainWindow) -> None:
    """No marks, nothing to undo, no filter, and the first message is current."""
    while window.undo_history.stack.canUndo():
        window.undo_history.undo()
    window.undo_history.stack.clear()
    panes_of(window).filter_state.clear()
    go_to(window, 1)


test_marks_of_a_log = in_turn([
    a_key_marks_and_unmarks, a_comment_is_written_shown_and_edited, escape_leaves_the_comment_as_it_was,
    a_context_is_marked_from_the_tree, the_panel_goes_to_its_messages_and_removes,
    keys_go_from_mark_to_mark_around_the_end, filters_follow_marks, undo_and_redo, a_cleared_view_comes_back,
    a_removed_preset_comes_back,
], begun_again)  # fmt: skip

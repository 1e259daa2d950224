"""Working on sub-sessions in the window, as a user does: with buttons, menus and keys; undo, saving, closing."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QLineEdit, QPlainTextEdit, QPushButton

from inspector.msp.document import SessionDocument
from inspector.msp.objects import Subsession
from inspector.ui.app import Application
from inspector.ui.dialogs.message import MessageDialog
from inspector.ui.dialogs.subsession import CloseSubsessionDialog, NewSubsessionDialog
from inspector.ui.main_window import MainWindow
from inspector.ui.panels.subsessions.chat import CLOSED
from inspector.ui.panels.subsessions.panel import SubsessionsPanel
from inspector.ui.msp_keeping import READ_ONLY
from inspector.ui.widgets.buttons import LinkButton
from tests.ui.find import child
from tests.ui.windows import run_in_window, until

SAMPLE = Path(__file__).parents[2] / "data" / "msp" / "weekly-report.json"

Steps = Callable[[MainWindow, "SubsessionsPanel"], Awaitable[None]]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A document of sessions that may be written."""
    return Path(shutil.copy(SAMPLE, tmp_path / "weekly-report.json"))


def at_work(qapp: QApplication, path: Path, steps: Steps) -> None:
    """Run steps in a window that shows the sub-sessions of a file."""

    async def whole(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(path)
        window.show()
        window.activateWindow()
        await until(window.isActiveWindow, "the window is active")  # else nothing has the focus
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        await steps(window, panel)

    run_in_window(qapp, whole)


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def rewrite(path: Path, text: str) -> None:
    """As somebody else does meanwhile."""
    path.write_text(text)


def sessions(window: MainWindow) -> SessionDocument:
    assert window.document.msp is not None
    return window.document.msp


def sub_of(window: MainWindow, key: str) -> Subsession:
    found = sessions(window).subsession(key)
    assert found is not None
    return found


def said(panel: SubsessionsPanel) -> list[str]:
    """What a screen reader says of the rows."""
    model = panel.chat.model
    return [str(model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(model.rowCount())]


def press(window: MainWindow, name: str) -> None:
    QTest.mouseClick(child(window, QPushButton, name), Qt.MouseButton.LeftButton)


def write(panel: SubsessionsPanel, text: str) -> None:
    """Write into the line and press Enter."""
    QTest.keyClicks(panel.chat.input.text, text)
    QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)


def open_question(window: MainWindow) -> MessageDialog | None:
    return next((one for one in window.findChildren(MessageDialog) if one.isVisible()), None)


async def answer(window: MainWindow, words: str) -> None:
    await until(lambda: open_question(window) is not None, "a question")
    dialog = open_question(window)
    assert dialog is not None
    button = next(one for one in dialog.findChildren(QPushButton) if one.text() == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def link(window: MainWindow, key: str, words: str) -> LinkButton:
    notice = window.notices.notice(key)
    assert notice is not None
    return next(one for one in notice.findChildren(LinkButton) if one.label == words)


# What is shown


def test_the_view_is_there_for_sessions_and_the_details_give_it_their_place(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert "Sub-sessions 3" in window.view_head.tabs.words()
        assert window.docks["Details"].isHidden()
        assert panel.indicator is not None
        assert panel.indicator.isVisible()
        assert said(panel)[1].startswith("user, 20:41:05: what is a kelvin?")
        assert "global: also in the parent chat" in said(panel)[5]
        window.actions_by_id["view.messages"].trigger()
        assert not window.docks["Details"].isHidden()
        window.actions_by_id["view.subsessions"].trigger()
        window.close()
        assert not window.docks["Details"].isHidden()  # as the next start has it

    at_work(qapp, report, steps)


def test_other_documents_have_no_such_view(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(Path(__file__).parents[2] / "data" / "formats" / "mew-v0.3.jsonl")
        assert not window.actions_by_id["view.subsessions"].isEnabled()
        assert not any(words.startswith("Sub-sessions") for words in window.view_head.tabs.words())
        window.center.show_view("subsessions")
        assert window.center.current == "messages"

    run_in_window(qapp, steps)


def test_what_the_parent_said_before_opens_above_and_nothing_jumps(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.resize(1280, 500)
        await asyncio.sleep(0)
        view = panel.chat.view
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_Home)
        before = view.visualRect(panel.chat.model.index(0)).top()
        QTest.keyClick(view, Qt.Key.Key_Return)
        rows = said(panel)
        assert rows[0] == "demo: 20 messages from before this sub-session, 3 earlier not shown"
        assert rows[1].startswith("parent chat, assistant, ")
        line = panel.chat.model.rows.own_start - 1
        assert view.currentIndex().row() == line
        assert view.visualRect(panel.chat.model.index(line)).top() == pytest.approx(before, abs=2)
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert len(said(panel)) == 7

    at_work(qapp, report, steps)


def test_tree_and_view_show_the_same_sub_session(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        panes = window.panes
        assert panes is not None
        model = panes.contexts.model
        rows = {
            str(model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) or ""): row
            for row in range(model.rowCount())
        }
        row = next(row for words, row in rows.items() if "csv-import" in words)
        view = panes.contexts.view
        place = view.visualRect(model.index(row, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert panel.sub is sub_of(window, "csv-import")
        panel.list.chosen.emit("chart-colours")
        assert panel.sub is sub_of(window, "chart-colours")
        assert window.center.current == "subsessions"

    at_work(qapp, report, steps)


# Working on it


def test_a_message_is_added_with_enter_undone_and_saved(qapp: QApplication, report: Path) -> None:
    before = report.read_bytes()

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.write"].trigger()
        assert panel.chat.input.text.hasFocus()
        QTest.keyClicks(panel.chat.input.text, "rows 1")
        QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        write(panel, "and 2")
        assert panel.chat.input.text.toPlainText() == ""
        assert said(panel)[-1].endswith("rows 1 and 2")
        assert [one.content for one in sub_of(window, "units").messages][-1] == "rows 1\nand 2"
        assert window.isWindowModified()
        undo = window.actions_by_id["edit.undo"]
        assert undo.isEnabled()
        undo.trigger()
        assert len(said(panel)) == 7
        assert not window.isWindowModified()
        window.actions_by_id["edit.redo"].trigger()
        assert said(panel)[-1].endswith("rows 1 and 2")
        assert bytes_of(report) == before
        window.actions_by_id["file.save"].trigger()
        assert not window.isWindowModified()
        saved = json.loads(bytes_of(report))
        assert saved["subsessions"][0]["messages"][-1]["content"] == "rows 1\nand 2"

    at_work(qapp, report, steps)


def test_undo_leaves_the_keyboard_where_it_was(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        panel.chat.focus_input()
        write(panel, "one")
        await until(lambda: len(window.document.capture) == 52, "the row")
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: len(window.document.capture) == 51, "the capture without it")
        assert panel.chat.input.text.hasFocus()
        assert window.center.currentWidget() is panel

    at_work(qapp, report, steps)


def test_tab_goes_through_the_view_from_left_to_right(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        panel.list.setFocus()
        seen: list[str] = []
        for _ in range(12):
            focus = QApplication.focusWidget()
            assert focus is not None
            seen.append(focus.objectName())
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        wanted = ["subsessionRows", "chatDiscard", "chatClose", "chatNew", "chatView", "messageRole", "messageText"]
        assert [name for name in seen if name in wanted] == wanted
        assert all(one.accessibleName() for one in panel.chat.findChildren(QPushButton))

    at_work(qapp, report, steps)


def test_blank_lines_are_no_message_and_the_role_is_chosen(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "  ")
        assert len(said(panel)) == 7
        panel.chat.input.role.setCurrentText("assistant")
        write(panel, "two rows")
        assert said(panel)[-1].startswith("assistant, ")

    at_work(qapp, report, steps)


def test_close_and_summarize_writes_the_summary_and_appends_it(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        parent = sub_of(window, "units").parent
        assert parent is not None
        count = len(parent.messages)
        press(window, "chatClose")
        dialog = child(window, CloseSubsessionDialog)
        assert not child(dialog, QCheckBox, "closeSubsessionAppend").isEnabled()  # of nothing
        QTest.keyClicks(child(dialog, QPlainTextEdit, "closeSubsessionSummary"), "Kelvin it is.")
        assert child(dialog, QCheckBox, "closeSubsessionAppend").isChecked()
        press(window, "closeSubsessionDone")
        sub = sub_of(window, "units")
        assert not sub.is_open
        assert sub.summary == "Kelvin it is."
        assert len(parent.messages) == count + 1
        assert said(panel)[-1] == "summary: Kelvin it is."
        assert panel.chat.input.reason == CLOSED
        assert not child(window, QPushButton, "chatClose").isVisible()
        window.actions_by_id["edit.undo"].trigger()
        assert sub_of(window, "units").is_open
        assert len(parent.messages) == count
        assert panel.chat.input.reason == ""

    at_work(qapp, report, steps)


def test_a_summary_can_stay_out_of_the_parent_and_be_merged_later(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        parent = sub_of(window, "units").parent
        assert parent is not None
        count = len(parent.messages)
        window.actions_by_id["subsession.close"].trigger()
        dialog = child(window, CloseSubsessionDialog)
        QTest.keyClicks(child(dialog, QPlainTextEdit, "closeSubsessionSummary"), "Kelvin.")
        child(dialog, QCheckBox, "closeSubsessionAppend").click()
        QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert len(parent.messages) == count
        assert window.actions_by_id["subsession.merge"].isEnabled()
        press(window, "chatMerge")
        assert sub_of(window, "units").merged
        assert len(parent.messages) == count + 2  # the summary, and the one global message
        assert not window.actions_by_id["subsession.merge"].isEnabled()
        window.actions_by_id["edit.undo"].trigger()
        assert len(parent.messages) == count

    at_work(qapp, report, steps)


def test_discard_asks_nothing_and_is_undone(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        press(window, "chatDiscard")
        assert sub_of(window, "units").discarded
        assert open_question(window) is None
        assert "messages kept for the record" in said(panel)[-1]
        window.actions_by_id["edit.undo"].trigger()
        assert sub_of(window, "units").is_open

    at_work(qapp, report, steps)


def test_a_new_sub_session_is_opened_below_the_session_and_written_into(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.new"].trigger()
        dialog = child(window, NewSubsessionDialog)
        assert not child(dialog, QPushButton, "newSubsessionDone").isEnabled()
        QTest.keyClicks(child(dialog, QLineEdit, "newSubsessionLabel"), "drift")
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        sub = panel.sub
        assert sub is not None
        assert sub.label == "drift"
        assert panel.chat.input.text.hasFocus()
        write(panel, "how much?")
        assert [one.content for one in sub.messages] == ["how much?"]
        assert "Sub-sessions 4" in window.view_head.tabs.words()
        window.actions_by_id["edit.undo"].trigger()
        window.actions_by_id["edit.undo"].trigger()
        assert "Sub-sessions 3" in window.view_head.tabs.words()
        assert panel.sub in sessions(window).subsessions

    at_work(qapp, report, steps)


def test_g_makes_a_message_global_and_takes_it_back(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        view = panel.chat.view
        view.setFocus()
        view.show_row(1)
        assert window.actions_by_id["subsession.global"].isEnabled()
        QTest.keyClick(view, Qt.Key.Key_G)
        assert "global: also in the parent chat" in said(panel)[1]
        window.actions_by_id["subsession.global"].trigger()
        assert sub_of(window, "units").messages[0].visibility == "subsession_only"
        window.actions_by_id["edit.undo"].trigger()
        window.actions_by_id["edit.undo"].trigger()
        assert "global" not in said(panel)[1]

    at_work(qapp, report, steps)


def test_the_menu_of_a_message_copies_and_leads_to_the_table(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        menu = panel.chat.menu_for(2)
        assert menu is not None
        actions = {action.objectName(): action for action in menu.actions()}
        actions["chat.copyText"].trigger()
        assert QGuiApplication.clipboard().text().startswith("The SI unit of temperature.")
        actions["chat.copyJson"].trigger()
        assert json.loads(QGuiApplication.clipboard().text())["id"] == "u2"
        actions["chat.table"].trigger()
        assert window.center.current == "messages"
        assert window.panes is not None
        message = window.panes.messages.current_message()
        assert message is not None
        assert window.document.capture.envelope_id(message) == "u2"
        assert panel.chat.menu_for(0) is None
        menu.deleteLater()

    at_work(qapp, report, steps)


def test_a_policy_switch_is_a_step_too(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert panel.indicator is not None
        panel.indicator.policy_change_requested.emit({"include_snapshots": False})
        assert sub_of(window, "units").policy.include_snapshots is False
        window.actions_by_id["edit.undo"].trigger()
        assert sub_of(window, "units").policy.include_snapshots is True

    at_work(qapp, report, steps)


def test_undo_goes_through_marks_and_edits_in_the_order_they_were_made(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "one")
        window.marking.toggle(0)
        write(panel, "two")
        undo = window.actions_by_id["edit.undo"]
        undo.trigger()
        undo.trigger()
        assert len(window.document.analysis.marks) == 0
        assert sub_of(window, "units").messages[-1].content == "one"
        undo.trigger()
        assert not sessions(window).dirty

    at_work(qapp, report, steps)


# Files


def test_a_compressed_document_can_be_read_and_saved_elsewhere(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(report.read_bytes()))

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert panel.chat.input.reason == READ_ONLY
        assert not panel.chat.input.text.isEnabled()
        assert not window.actions_by_id["subsession.new"].isEnabled()
        QTest.keyClick(panel.chat.view, Qt.Key.Key_G)
        assert not sessions(window).dirty
        target = tmp_path / "plain.json"
        window.actions_by_id["file.save_as"].trigger()
        await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the file dialog")
        dialog = child(window, QFileDialog, "saveDialog")
        dialog.fileSelected.emit(str(target))
        dialog.close()
        await until(target.exists, "the file")
        await until(lambda: panel.chat.input.reason == "", "the line to be free")
        assert window.windowTitle().startswith("plain.json")

    at_work(qapp, packed, steps)


def test_a_file_changed_on_disk_is_noticed_and_not_written_over(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        other = json.loads(bytes_of(report))
        other["subsessions"][0]["label"] = "theirs"
        text = json.dumps(other)
        rewrite(report, text)
        window.actions_by_id["file.save"].trigger()
        notice = window.notices.notice("session-changed")
        assert notice is not None
        assert notice.links == ["Reload", "Overwrite...", "Save as..."]
        assert bytes_of(report).decode() == text
        QTest.mouseClick(link(window, "session-changed", "Overwrite..."), Qt.MouseButton.LeftButton)
        await answer(window, "Cancel")
        assert bytes_of(report).decode() == text
        QTest.mouseClick(link(window, "session-changed", "Reload"), Qt.MouseButton.LeftButton)
        await answer(window, "Reload")
        await until(lambda: panel.sub is not None and panel.sub.label == "theirs", "what is on disk")
        assert not window.actions_by_id["edit.undo"].isEnabled()
        assert window.notices.notice("session-changed") is None
        assert not window.isWindowModified()

    at_work(qapp, report, steps)


def test_overwriting_after_the_question_writes_ours(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        rewrite(report, json.dumps(json.loads(bytes_of(report)), indent=1))
        window.msp.keeping.look()
        QTest.mouseClick(link(window, "session-changed", "Overwrite..."), Qt.MouseButton.LeftButton)
        await answer(window, "Overwrite")
        await until(lambda: not sessions(window).dirty, "it to be saved")
        assert b'"mine"' in bytes_of(report)

    at_work(qapp, report, steps)


def test_closing_a_window_asks_about_edits(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "kept?")
        window.close()
        await answer(window, "Cancel")
        assert window.isVisible()
        window.close()
        await answer(window, "Save")
        await until(lambda: window not in window.application.windows, "the window to close")
        assert b'"kept?"' in bytes_of(report)

    at_work(qapp, report, steps)


def test_discarding_on_closing_leaves_the_file_alone(qapp: QApplication, report: Path) -> None:
    before = report.read_bytes()

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "gone")
        window.close()
        await answer(window, "Discard")
        await until(lambda: window not in window.application.windows, "the window to close")
        assert bytes_of(report) == before

    at_work(qapp, report, steps)


def test_a_click_on_show_all_shows_a_long_message_whole(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        sessions(window).add_message(sub_of(window, "units"), "user", "long " * 2_000)
        view, row = panel.chat.view, panel.chat.model.rowCount() - 1
        before = view.heights.height(row)
        view.show_row(row)
        view.scroll_to_end()
        found = panel.chat.model.row(row)
        assert found is not None
        box = view.painting.box(found, view.visualRect(panel.chat.model.index(row)))
        assert box.more is not None
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.more.center().toPoint() + QPoint(0, 0))
        assert view.heights.height(row) > before

    at_work(qapp, report, steps)

"""Working on sub-sessions in the window, as a user does: with buttons, menus and keys; undo, saving, closing."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QLineEdit, QMenu, QPlainTextEdit, QPushButton

from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.msp_edits import ListParents
from inspector.engine.requests.msp_sessions import PlaceOfRow
from inspector.engine.targets import Target
from inspector.msp.document import SessionDocument
from inspector.msp.objects import Subsession
from inspector.present import formats
from inspector.ui.app.application import Application
from inspector.ui.dialogs.message_dialog import MessageDialog
from inspector.ui.msp.dialogs import CloseSubsessionDialog, MergeDialog, NewSubsessionDialog
from inspector.ui.msp.panel.chat import CLOSED
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.msp.saving import READ_ONLY
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.status_button import StatusButton
from inspector.ui.window.main_window import MainWindow
from tests.samples import FORMAT_SAMPLES
from tests.ui.find import child
from tests.ui.msp.sessions import SAMPLE, at_work, sessions_of
from tests.ui.windows import ask_engine, panes_of, run_in_window, state_of, until


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A document of sessions that may be written."""
    return Path(shutil.copy(SAMPLE, tmp_path / "weekly-report.json"))


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def rewrite(path: Path, text: str) -> None:
    """As somebody else does meanwhile."""
    path.write_text(text)


def rewrite_none(path: Path) -> None:
    """As somebody else deletes it."""
    path.unlink()


def sessions(window: MainWindow) -> SessionDocument:
    return ask_engine(window, sessions_of)


def has_edits(window: MainWindow) -> bool:
    return ask_engine(window, lambda document: document.msp is not None and document.msp.is_dirty)


def sub_of(window: MainWindow, key: str) -> Subsession:
    found = sessions(window).subsession(key)
    assert found is not None
    return found


def show_first_message_to_all(document: CaptureDocument, key: str) -> None:
    assert document.msp is not None
    sub = document.msp.subsession(key)
    assert sub is not None
    document.msp.set_visibility(sub.messages[0], None)


def open_subsession(document: CaptureDocument, label: str) -> str:
    assert document.msp is not None
    return document.msp.open_subsession(document.msp.sessions[0], label).key


def close_subsession(document: CaptureDocument, key: str) -> None:
    assert document.msp is not None
    sub = document.msp.subsession(key)
    assert sub is not None
    document.msp.close_subsession(sub, "done", append_to_parent=False)


def messages_of_parent(window: MainWindow) -> int:
    parent = sub_of(window, "units").parent
    assert parent is not None
    return len(parent.messages)


def said(panel: SubsessionsPanel) -> list[str]:
    """Returns the accessible texts of the cards."""
    model = panel.chat.conversation.model
    return [str(model.index(row).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(model.rowCount())]


async def until_said(panel: SubsessionsPanel, test: Callable[[list[str]], object], words: str = "the cards") -> None:
    """Waits for cards, which come through the capture."""
    await until(lambda: bool(test(said(panel))), words)


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
        assert window.docks["Details"].isHidden()
        assert panel.indicator is not None
        assert panel.indicator.isVisible()
        await until_said(panel, lambda rows: len(rows) == 7)
        await until_said(panel, lambda rows: rows[1] == "Prompt from user. what is a kelvin?")
        assert "global: also in the parent chat" in said(panel)[5]
        window.actions_by_id["view.messages"].trigger()
        assert not window.docks["Details"].isHidden()
        window.actions_by_id["view.subsessions"].trigger()
        assert window.docks["Details"].isHidden()
        panel.chat.head.back.click()
        assert not window.docks["Details"].isHidden()
        assert panel.indicator.isHidden()
        await until_said(panel, lambda rows: any("chart-colours closed at" in row for row in rows))
        window.actions_by_id["view.subsessions"].trigger()
        await until_said(panel, lambda rows: len(rows) == 7)
        window.close()
        assert not window.docks["Details"].isHidden()  # as the next start has it

    at_work(qapp, report, steps)


def test_other_documents_have_no_such_view(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(FORMAT_SAMPLES["mew-v0.3.jsonl"])
        assert not window.actions_by_id["view.subsessions"].isEnabled()
        window.actions_by_id["view.conversation"].trigger()
        assert isinstance(window.center.currentWidget(), ConversationPanel)

    run_in_window(qapp, steps)


def test_what_the_parent_said_before_opens_above_and_nothing_jumps(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.resize(1280, 500)
        await asyncio.sleep(0)
        await until_said(panel, lambda rows: len(rows) == 7)
        view = panel.chat.conversation.view
        view.setFocus()
        QTest.keyClick(view, Qt.Key.Key_Home)
        top = view.visualRect(panel.chat.conversation.model.index(0)).top()
        assert said(panel)[0].startswith("23 messages of the parent chat, from before this sub-session")
        QTest.keyClick(view, Qt.Key.Key_Return)
        await until_said(panel, lambda rows: len(rows) == 30 and rows[23].startswith("Parent chat: "))
        assert not said(panel)[24].startswith("Parent chat: ")
        assert view.currentIndex().row() == 0
        assert view.visualRect(panel.chat.conversation.model.index(0)).top() == pytest.approx(top, abs=2)
        view.show_row(0)
        QTest.keyClick(view, Qt.Key.Key_Return)
        await until_said(panel, lambda rows: len(rows) == 7)

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
        assert panel.sub is not None
        assert panel.sub.key == "csv-import"
        panel.list.chosen.emit("chart-colours")
        assert panel.sub.key == "chart-colours"
        assert window.center.current == "conversation"
        row = next(row for words, row in rows.items() if words.startswith("main"))
        place = view.visualRect(model.index(row, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert panel.sub is None

    at_work(qapp, report, steps)


def test_a_message_of_the_chat_that_is_selected_elsewhere_shows_the_whole_session(
    qapp: QApplication, report: Path
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        await until_said(panel, lambda rows: len(rows) == 7)
        places = [panes_of(window).client.answer_now(PlaceOfRow(row)) for row in range(state_of(window).messages)]
        own, other = (
            next(row for row, place in enumerate(places) if place is not None and place.key == key)
            for key in ("units", "csv-import")
        )
        panes_of(window).go_to(own)
        assert panel.sub is not None
        window.navigation.read_message(other)
        model, view = panel.chat.conversation.model, panel.chat.conversation.view
        await until(lambda: panel.sub is None and model.row_of_message(other) > 0, "the whole session")
        await until(lambda: view.currentIndex().row() == model.row_of_message(other), "the card")

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
        await until_said(panel, lambda rows: "rows 1" in rows[-1] and rows[-1].endswith("and 2"))
        assert [one.content for one in sub_of(window, "units").messages][-1] == "rows 1\nand 2"
        assert window.isWindowModified()
        undo = window.actions_by_id["edit.undo"]
        assert undo.isEnabled()
        undo.trigger()
        await until_said(panel, lambda rows: len(rows) == 7)
        assert not window.isWindowModified()
        window.actions_by_id["edit.redo"].trigger()
        await until_said(panel, lambda rows: "rows 1" in rows[-1] and rows[-1].endswith("and 2"))
        assert bytes_of(report) == before
        window.actions_by_id["file.save"].trigger()
        await until(lambda: not window.isWindowModified(), "it to be saved")
        saved = json.loads(bytes_of(report))
        assert saved["subsessions"][0]["messages"][-1]["content"] == "rows 1\nand 2"

    at_work(qapp, report, steps)


def test_undo_leaves_the_keyboard_where_it_was(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        panel.chat.focus_input()
        write(panel, "one")
        await until(lambda: state_of(window).messages == 52, "the row")
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: state_of(window).messages == 51, "the capture without it")
        assert panel.chat.input.text.hasFocus()
        assert window.center.currentWidget() is panel

    at_work(qapp, report, steps)


def test_tab_goes_through_the_view_from_left_to_right(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        wanted = [
            "subsessionRows", "chatDiscard", "chatClose", "chatNew", "conversationView", "messageRole", "messageText"
        ]  # fmt: skip

        def seen() -> list[str]:
            panel.list.setFocus()
            names: list[str] = []
            for _ in range(12):
                focus = QApplication.focusWidget()
                assert focus is not None
                names.append(focus.objectName())
                QTest.keyClick(focus, Qt.Key.Key_Tab)
            return [name for name in names if name in wanted]

        assert seen() == wanted
        before = panel.chat.conversation
        write(panel, "one")
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: panel.chat.conversation is not before, "the conversation of the next projection")
        assert seen() == wanted
        assert all(one.accessibleName() for one in panel.chat.findChildren(QPushButton))

    at_work(qapp, report, steps)


def test_blank_lines_are_no_message_and_the_role_is_chosen(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "  ")
        assert len(sub_of(window, "units").messages) == 6
        panel.chat.input.role.setCurrentText("assistant")
        write(panel, "two rows")
        await until_said(panel, lambda rows: rows[-1] == "Answer from assistant. two rows")

    at_work(qapp, report, steps)


def row_in_tree(window: MainWindow, label: str) -> int:
    model = panes_of(window).contexts.model
    panes_of(window).bridge.flush()
    return next(row for row in range(model.rowCount()) if model.label(row).startswith(label))


def test_close_and_summarize_writes_the_summary_and_appends_it(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        parent = sub_of(window, "units").parent
        assert parent is not None
        count = messages_of_parent(window)
        press(window, "chatClose")
        dialog = child(window, CloseSubsessionDialog)
        assert not child(dialog, QCheckBox, "closeSubsessionAppend").isEnabled()  # of nothing
        QTest.keyClicks(child(dialog, QPlainTextEdit, "closeSubsessionSummary"), "Kelvin it is.")
        assert child(dialog, QCheckBox, "closeSubsessionAppend").isChecked()
        painted: list[int] = []
        panes_of(window).contexts.model.dataChanged.connect(lambda first, _last: painted.append(first.row()))
        press(window, "closeSubsessionDone")
        sub = sub_of(window, "units")
        assert not sub.is_open
        assert sub.summary == "Kelvin it is."
        row = row_in_tree(window, "units")
        await until(lambda: row in painted, "the row")
        assert panes_of(window).contexts.model.state(row) == "concluded"
        assert messages_of_parent(window) == count + 1
        await until_said(panel, lambda rows: rows[-1].endswith("Summary: Kelvin it is."))
        assert panel.chat.input.reason == CLOSED
        assert not child(window, QPushButton, "chatClose").isVisible()
        window.actions_by_id["edit.undo"].trigger()
        assert sub_of(window, "units").is_open
        assert messages_of_parent(window) == count
        assert panel.chat.input.reason == ""

    at_work(qapp, report, steps)


def test_a_summary_can_stay_out_of_the_parent_and_be_merged_later(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        count = messages_of_parent(window)
        window.actions_by_id["subsession.close"].trigger()
        dialog = child(window, CloseSubsessionDialog)
        QTest.keyClicks(child(dialog, QPlainTextEdit, "closeSubsessionSummary"), "Kelvin.")
        child(dialog, QCheckBox, "closeSubsessionAppend").click()
        QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        assert messages_of_parent(window) == count
        assert window.actions_by_id["subsession.merge"].isEnabled()
        press(window, "chatMerge")
        preview = child(child(window, MergeDialog), QPlainTextEdit, "mergeSubsessionMessages").toPlainText()
        assert "Kelvin." in preview
        assert preview.count("\n\n") >= 1
        assert messages_of_parent(window) == count  # nothing is written before it is wanted
        press(window, "mergeSubsessionDone")
        assert sub_of(window, "units").merged
        assert messages_of_parent(window) == count + 2  # the summary, and the one global message
        assert not window.actions_by_id["subsession.merge"].isEnabled()
        window.actions_by_id["edit.undo"].trigger()
        assert messages_of_parent(window) == count

    at_work(qapp, report, steps)


def test_discard_asks_nothing_and_is_undone(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        press(window, "chatDiscard")
        assert sub_of(window, "units").discarded
        assert open_question(window) is None
        await until_said(panel, lambda rows: "units discarded at" in rows[-1])
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
        assert [one.content for one in sub_of(window, sub.key).messages] == ["how much?"]
        await until_said(panel, lambda rows: rows[-1].endswith("how much?"))
        window.actions_by_id["edit.undo"].trigger()
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: panel.sub is None, "the whole session")
        await until_said(panel, lambda rows: not any("how much?" in row for row in rows))

    at_work(qapp, report, steps)


def test_g_makes_a_message_global_and_takes_it_back(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        await until_said(panel, lambda rows: len(rows) == 7)
        view = panel.chat.conversation.view
        view.setFocus()
        view.show_row(1)
        assert window.actions_by_id["subsession.global"].isEnabled()
        QTest.keyClick(view, Qt.Key.Key_G)
        await until_said(panel, lambda rows: "global: also in the parent chat" in rows[1])
        window.actions_by_id["subsession.global"].trigger()
        assert sub_of(window, "units").messages[0].visibility == "subsession_only"
        window.actions_by_id["edit.undo"].trigger()
        window.actions_by_id["edit.undo"].trigger()
        await until_said(panel, lambda rows: "global" not in rows[1])

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
        assert ask_engine(window, lambda document: len(document.analysis.marks)) == 0
        assert sub_of(window, "units").messages[-1].content == "one"
        undo.trigger()
        assert not window.isWindowModified()

    at_work(qapp, report, steps)


# Files


@pytest.mark.trouble
def test_a_compressed_document_can_be_read_and_saved_elsewhere(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(report.read_bytes()))

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert panel.chat.input.reason == READ_ONLY
        assert not panel.chat.input.text.isEnabled()
        assert not window.actions_by_id["subsession.new"].isEnabled()
        await until_said(panel, lambda rows: len(rows) == 7)
        panel.chat.conversation.view.show_row(1)
        QTest.keyClick(panel.chat.conversation.view, Qt.Key.Key_G)
        assert not has_edits(window)
        target = tmp_path / "plain.json"
        window.actions_by_id["file.save_as"].trigger()
        await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the file dialog")
        dialog = child(window, QFileDialog, "saveDialog")
        dialog.fileSelected.emit(str(target))
        dialog.close()
        await until(target.exists, "the file")
        await until(lambda: panel.chat.input.reason == "", "the line to be free")
        await until(lambda: window.windowTitle().startswith("plain.json"), "the other name in the title")

    at_work(qapp, packed, steps)


def test_a_file_changed_on_disk_is_noticed_and_not_written_over(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        other = json.loads(bytes_of(report))
        other["subsessions"][0]["label"] = "theirs"
        text = json.dumps(other)
        rewrite(report, text)
        window.actions_by_id["file.save"].trigger()
        await until(lambda: window.notices.notice("session-changed") is not None, "what somebody else did")
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


@pytest.mark.trouble
def test_overwriting_after_the_question_writes_ours(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        rewrite(report, json.dumps(json.loads(bytes_of(report)), indent=1))
        window.msp.saving.check_files()
        QTest.mouseClick(link(window, "session-changed", "Overwrite..."), Qt.MouseButton.LeftButton)
        await answer(window, "Overwrite")
        await until(lambda: not has_edits(window), "it to be saved")
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


@pytest.mark.trouble
def test_discarding_on_closing_leaves_the_file_alone(qapp: QApplication, report: Path) -> None:
    before = report.read_bytes()

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "gone")
        window.close()
        await answer(window, "Discard")
        await until(lambda: window not in window.application.windows, "the window to close")
        assert bytes_of(report) == before

    at_work(qapp, report, steps)


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """A folder with a session and its sub-session, each in a file."""
    folder = tmp_path / "two"
    folder.mkdir()
    messages = [{"id": "a", "role": "user", "content": "hey"}]
    (folder / "a.json").write_text(json.dumps({"session_id": "m1", "messages": messages}))
    sub = {"subsession_id": "units", "parent_session_id": "m1", "status": "open", "messages": messages}
    (folder / "b.json").write_text(json.dumps(sub))
    return folder


async def save_at(window: MainWindow, target: Path) -> None:
    window.actions_by_id["file.save_as"].trigger()
    await until(lambda: window.findChild(QFileDialog, "saveDialog") is not None, "the file dialog")
    dialog = child(window, QFileDialog, "saveDialog")
    dialog.fileSelected.emit(str(target))
    dialog.close()


@pytest.mark.trouble
def test_what_lies_in_the_folder_chosen_is_asked_about(qapp: QApplication, two_files: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "b.json").write_text("theirs")

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        await save_at(window, out)
        await until(lambda: open_question(window) is not None, "a question")
        dialog = open_question(window)
        assert dialog is not None
        await answer(window, "Cancel")
        assert (bytes_of(out / "b.json"), has_edits(window)) == (b"theirs", True)
        await save_at(window, out)
        await answer(window, "Replace")
        await until(lambda: not has_edits(window), "it to be saved")
        assert b"mine" in bytes_of(out / "b.json")

    at_work(qapp, two_files, steps)


@pytest.mark.trouble
def test_the_status_bar_names_the_file_that_is_edited_and_its_size(
    qapp: QApplication, report: Path, tmp_path: Path
) -> None:
    def words(window: MainWindow) -> str:
        names = ("statusSource", "statusSpace")
        return " ".join(child(window, StatusButton, name).accessibleName() for name in names)

    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        assert formats.size(len(bytes_of(report))) in words(window)
        write(panel, "mine " * 200)
        window.actions_by_id["file.save"].trigger()
        await until(lambda: not has_edits(window), "it to be saved")
        assert formats.size(len(bytes_of(report))) in words(window)
        target = tmp_path / "saved.json"
        await save_at(window, target)
        await until(lambda: "saved.json" in words(window), "the other name")
        assert "weekly-report" not in words(window)
        assert formats.size(len(bytes_of(target))) in words(window)

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_saving_over_a_file_changed_on_disk_says_that_nothing_was_saved(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "mine")
        rewrite(report, json.dumps(json.loads(bytes_of(report)), indent=1))
        window.msp.saving.check_files()
        notice = window.notices.notice("session-changed")
        assert notice is not None
        before = notice.text
        window.actions_by_id["file.save"].trigger()
        await until(lambda: notice.text != before, "other words")
        assert "not saved. Overwrite" in notice.text
        window.msp.saving.check_files()
        assert "not saved. Overwrite" in notice.text

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_a_reload_that_works_takes_away_that_one_did_not(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        whole = bytes_of(report).decode()
        rewrite(report, whole[:900])
        window.msp.saving.reload()
        await until(lambda: window.notices.notice("session-not-saved") is not None, "what went wrong")
        rewrite(report, whole)
        window.msp.saving.reload()
        await until(lambda: not window.notices.keys(), "nothing to say")

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_undoing_from_the_tree_leaves_the_keyboard_there(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "one")
        write(panel, "two")
        assert window.panes is not None
        window.panes.contexts.view.setFocus()
        before = window.panes
        for content in ("one", None):
            window.actions_by_id["edit.undo"].trigger()
            await until(lambda shown=before: window.panes is not shown, "another projection")
            before = window.panes
            focus = window.focusWidget()
            assert focus is not None
            assert window.docks["Contexts"].isAncestorOf(focus)
            assert focus.objectName() == window.panes.contexts.view.objectName()
            assert content is None or sub_of(window, "units").messages[-1].content == content
        assert not has_edits(window)

    at_work(qapp, report, steps)


def test_however_deep_they_lie_a_new_one_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    subs = [{"subsession_id": f"s{n}", "parent_session_id": f"s{n - 1}", "status": "open"} for n in range(1_200)]
    path.write_text(json.dumps([{"session_id": "s-1", "messages": []}, *subs]))
    engine = Engine()
    number, steps = engine.open([Target(path)])
    engine.read(steps)
    parents = engine.answer_request(number, ListParents())
    engine.close()
    assert len(parents) == 1_000
    assert [words.strip() for _, words in parents[:3]] == ["s-1", "s0", "s1"]


@pytest.mark.trouble
def test_a_file_that_comes_into_the_folder_is_told_and_read_by_reloading(qapp: QApplication, two_files: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.msp.saving.check_files()
        rewrite(two_files / "notes.json", "{}")
        window.msp.saving.check_files()
        assert window.notices.keys() == []
        rewrite(two_files / "c.json", json.dumps({"subsession_id": "c", "parent_session_id": "m1", "status": "open"}))
        window.msp.saving.check_files()
        notice = window.notices.notice("session-new-file")
        assert notice is not None
        assert notice.text == "c.json is new in the folder."
        QTest.mouseClick(link(window, "session-new-file", "Reload"), Qt.MouseButton.LeftButton)
        await until(lambda: len(sessions(window).subsessions) == 2, "the other one")
        await until(lambda: not window.msp.saving.busy, "the end of reloading")
        window.msp.saving.check_files()
        assert window.notices.keys() == []

    at_work(qapp, two_files, steps)


@pytest.mark.trouble
def test_a_deleted_file_can_be_written_again_although_nothing_was_edited(qapp: QApplication, two_files: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        before = bytes_of(two_files / "b.json")
        rewrite_none(two_files / "b.json")
        window.msp.saving.check_files()
        QTest.mouseClick(link(window, "session-changed", "Overwrite..."), Qt.MouseButton.LeftButton)
        await answer(window, "Overwrite")
        await until((two_files / "b.json").exists, "the file")
        assert bytes_of(two_files / "b.json") == before

    at_work(qapp, two_files, steps)


@pytest.mark.trouble
def test_ctrl_z_in_the_empty_line_undoes_what_was_added(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        write(panel, "one")
        text = panel.chat.input.text
        text.setFocus()
        QTest.keyClick(text, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert not has_edits(window)
        QTest.keyClicks(text, "tw")
        before = text.toPlainText()
        QTest.keyClick(text, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert (before, text.toPlainText()) == ("tw", "")

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_what_is_being_written_comes_back_with_the_sub_session(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        text = panel.chat.input.text
        text.setFocus()
        QTest.keyClicks(text, "half a draft")
        window.actions_by_id["subsession.discard"].trigger()
        assert (text.toPlainText(), text.placeholderText()) == ("", CLOSED)
        assert panel.isAncestorOf(window.focusWidget() or window)  # the line cannot have the keyboard any more
        window.actions_by_id["edit.undo"].trigger()
        assert text.toPlainText() == "half a draft"

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_closing_a_window_asks_about_a_message_that_was_not_added(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        QTest.keyClicks(panel.chat.input.text, "half a draft")
        window.close()
        await answer(window, "Cancel")
        assert window.isVisible()
        window.close()
        await answer(window, "Discard")
        await until(lambda: window not in window.application.windows, "the window to close")

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_a_message_is_added_for_its_sub_session_alone(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        ask_engine(window, show_first_message_to_all, "units")
        write(panel, "one")
        assert sub_of(window, "units").messages[-1].visibility == "subsession_only"

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_a_long_label_ends_with_an_ellipsis(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        key = ask_engine(window, open_subsession, "sensors " * 7)
        window.resize(700, 600)
        panel.show_subsession(key)
        head = panel.chat.head
        head.resize(300, head.height())
        assert head.label.text().endswith("…")
        assert "sensors sensors" in head.accessibleDescription()

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_beside_a_long_label_it_is_still_said_how_the_sub_session_stands(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        key = ask_engine(window, open_subsession, "sensors " * 7)
        panel.show_subsession(key)
        ask_engine(window, close_subsession, key)
        panel.refresh()
        head = panel.chat.head
        head.resize(500, head.height())
        assert head.label.text().endswith("…")
        assert head.words.text().startswith("closed after ")
        assert head.words.isVisible()

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_what_is_being_written_stands_in_no_line_that_cannot_be_used(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        text = panel.chat.input.text
        QTest.keyClicks(text, "half a draft")
        window.actions_by_id["subsession.discard"].trigger()
        panel.show_subsession("csv-import")
        panel.show_subsession("units")
        assert (text.toPlainText(), text.placeholderText()) == ("", CLOSED)
        window.actions_by_id["edit.undo"].trigger()
        assert text.toPlainText() == "half a draft"

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_what_is_being_written_outlives_the_sub_session_it_was_for(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        window.actions_by_id["subsession.new"].trigger()
        dialog = child(window, NewSubsessionDialog)
        QTest.keyClicks(child(dialog, QLineEdit, "newSubsessionLabel"), "drift")
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        sub = panel.sub
        assert sub is not None
        text = panel.chat.input.text
        QTest.keyClicks(text, "half a draft")
        window.actions_by_id["edit.undo"].trigger()
        assert text.toPlainText() == ""
        window.actions_by_id["edit.redo"].trigger()
        panel.show_subsession(sub.key)
        assert text.toPlainText() == "half a draft"

    at_work(qapp, report, steps)


@pytest.mark.trouble
def test_what_is_shown_anew_marks_the_sub_session_of_the_chat_in_the_tree(qapp: QApplication, report: Path) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        def is_marked(sub: Subsession) -> bool:
            assert window.panes is not None
            contexts = window.panes.contexts
            return contexts.model.label(contexts.view.marked_row) == sub.label

        window.actions_by_id["view.messages"].trigger()
        assert window.panes is not None
        first, last = sessions(window).subsessions[0], sessions(window).subsessions[-1]
        contexts = window.document.analysis.contexts
        (space,) = set(contexts.tree.space)
        window.panes.show_context(space, contexts.tree.find(space, first.key))
        assert is_marked(first)
        window.actions_by_id["view.subsessions"].trigger()
        panel.show_subsession(last.key)
        panes = window.panes
        assert is_marked(last)
        window.msp.saving.reload()
        await until(lambda: window.panes is not panes, "another projection")
        assert panel.sub is not None
        assert panel.sub.key == last.key
        assert is_marked(sub_of(window, panel.sub.key))

    at_work(qapp, report, steps)


def test_cards_of_the_conversation_make_messages_global_and_open_their_sub_session(
    qapp: QApplication, report: Path
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        panel.chat.head.back.click()
        places = [panes_of(window).client.answer_now(PlaceOfRow(row)) for row in range(state_of(window).messages)]
        own = [row for row, place in enumerate(places) if place is not None and place.key == "units"]
        message = next(row for row in own if getattr(places[row], "message", None) is not None)

        async def act(name: str) -> None:
            conversation = panel.chat.conversation
            await until(lambda: len(conversation.model), "the cards")
            conversation.view.menu_asked.emit(conversation.model.row_of_message(message), QPoint())
            menu = child(conversation, QMenu, "conversationMenu")
            actions = {one.objectName(): one for one in menu.actions()}
            actions[name].trigger()
            menu.close()

        await act("conversation.global")
        await until(lambda: sub_of(window, "units").messages[0].visibility == "global", "the edit")
        await act("conversation.subsession")
        assert panel.sub is not None
        assert panel.sub.key == "units"
        await until_said(panel, lambda rows: len(rows) == 7)

    at_work(qapp, report, steps)

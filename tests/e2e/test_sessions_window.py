"""Editing sub-sessions in the window, whose engine is a process: open, write, undo, close, save."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QPushButton

from inspector.ui.app.application import Application
from inspector.ui.msp.dialogs import CloseSubsessionDialog, NewSubsessionDialog
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.pipe_client import PipeClient
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import panes_of, run_in_window, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

SAMPLE = Path(__file__).parents[1] / "data" / "msp" / "weekly-report.json"


def said(panel: SubsessionsPanel) -> str:
    """Returns the accessible text of the last row, "" while the rows are replaced."""
    model = panel.chat.conversation.model
    return str(model.index(model.rowCount() - 1).data(Qt.ItemDataRole.AccessibleTextRole)) if model.rowCount() else ""


def tree(window: MainWindow) -> list[str]:
    """The shown contexts."""
    model = panes_of(window).contexts.model
    return [model.label(row) for row in range(model.rowCount())]


def press(window: MainWindow, name: str) -> None:
    QTest.mouseClick(child(window, QPushButton, name), Qt.MouseButton.LeftButton)


def test_a_sub_session_is_opened_written_into_undone_closed_and_saved(qapp: QApplication, tmp_path: Path) -> None:
    path = Path(shutil.copy(SAMPLE, tmp_path / "weekly-report.json"))
    before = json.loads(path.read_bytes())

    async def steps(application: Application) -> None:
        window = application.new_window()
        await window.opening.load(path)
        assert isinstance(window.shown.client, PipeClient)
        window.show()
        window.actions_by_id["view.subsessions"].trigger()
        panel = window.center.currentWidget()
        assert isinstance(panel, SubsessionsPanel)
        await until(lambda: panel.sub is not None and said(panel), "the sub-session")
        messages = window.shown.state.messages

        window.actions_by_id["subsession.new"].trigger()
        QTest.keyClicks(child(child(window, NewSubsessionDialog), QLineEdit, "newSubsessionLabel"), "numbers")
        press(window, "newSubsessionDone")
        await until(lambda: panel.sub is not None and panel.sub.label == "numbers", "the new sub-session")
        for text in ("first", "second"):
            QTest.keyClicks(panel.chat.input.text, text)
            QTest.keyClick(panel.chat.input.text, Qt.Key.Key_Return)
            await until(lambda text=text: said(panel).endswith(text), text)
        await until(lambda: window.shown.state.messages > messages + 1, "the messages in the capture")
        assert window.isWindowModified()
        undo, redo = (window.actions_by_id[name] for name in ("edit.undo", "edit.redo"))
        undo.trigger()
        await until(lambda: said(panel).endswith("first"), "the chat without the last message")
        redo.trigger()
        await until(lambda: said(panel).endswith("second"), "the message again")
        undo.trigger()
        await until(lambda: said(panel).endswith("first"), "the chat without it")

        press(window, "chatClose")
        QTest.keyClicks(child(child(window, CloseSubsessionDialog), QPlainTextEdit, "closeSubsessionSummary"), "Sum.")
        press(window, "closeSubsessionDone")
        await until(lambda: said(panel).endswith("Summary: Sum."), "the summary")
        window.actions_by_id["file.save"].trigger()
        await until(lambda: not window.isWindowModified(), "it to be saved")
        await until(lambda: not window.msp.following.active, "the capture with the edits")
        await until(lambda: len(panes_of(window).rows) == window.shown.state.messages, "the rows")
        await until(lambda: any(label.startswith("numbers") for label in tree(window)), "the sub-session in the tree")

    run_in_window(qapp, steps)
    saved = json.loads(path.read_bytes())
    assert len(saved["subsessions"]) == len(before["subsessions"]) + 1
    new = next(one for one in saved["subsessions"] if one["label"] == "numbers")
    assert ([one["content"] for one in new["messages"]], new["summary"]) == (["first"], "Sum.")
    assert saved["subsessions"][: len(before["subsessions"])] == before["subsessions"]

"""The view of sub-sessions behind an engine whose answers come late: everything arrives, in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from inspector.ui.msp.dialogs import NewSubsessionDialog
from inspector.ui.msp.panel.panel import SubsessionsPanel
from inspector.ui.window.main_window import MainWindow
from tests.msp_samples import large, written
from tests.ui.find import child
from tests.ui.late_answers import LateAnswers
from tests.ui.msp.sessions import at_work
from tests.ui.msp.test_editing import said, write
from tests.ui.windows import until


def test_chat_list_and_figures_arrive_and_follow_edits(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        late = LateAnswers(monkeypatch)
        panel.show_subsession("s3")
        await until(lambda: panel.sub is not None and panel.sub.key == "s3", "the other sub-session")
        await until(lambda: not late.pending, "its rows")
        assert panel.list.view.selected == "s3"
        last = "message 199 of 3, about kelvins and other units"
        await until(lambda: said(panel)[-1].endswith(last), "the last card")
        bar = panel.chat.conversation.view.verticalScrollBar()
        await until(lambda: bar.value() == bar.maximum() > 0, "the end")
        assert panel.indicator is not None
        assert panel.indicator.merged is not None
        assert panel.indicator.merged.key == "s3"
        write(panel, "one more")
        await until(lambda: said(panel)[-1].endswith("one more"), "the message")
        await until(lambda: bar.value() == bar.maximum(), "the end")
        bar.setValue(0)
        await until(lambda: "message 0 of 3" in said(panel)[1], "the first cards")
        window.actions_by_id["edit.undo"].trigger()
        await until(lambda: len(said(panel)) == 201, "the chat without it")
        await until(lambda: not window.msp.following.active, "the capture without it")

    at_work(qapp, written(tmp_path, large(8, 200)), steps)


def test_the_line_has_the_keyboard_when_a_new_sub_session_arrives(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def steps(window: MainWindow, panel: SubsessionsPanel) -> None:
        late = LateAnswers(monkeypatch)
        window.actions_by_id["subsession.discard"].trigger()
        await until(lambda: panel.chat.input.reason != "", "the line to be closed")
        window.actions_by_id["subsession.new"].trigger()
        QTest.keyClicks(child(child(window, NewSubsessionDialog), QLineEdit, "newSubsessionLabel"), "drift")
        QTest.keyClick(child(window, NewSubsessionDialog), Qt.Key.Key_Return)
        await until(lambda: panel.sub is not None and panel.sub.label == "drift", "the new one")
        await until(lambda: not late.pending, "its rows")
        assert window.focusWidget() is panel.chat.input.text
        write(panel, "how much?")
        await until(lambda: said(panel)[-1].endswith("how much?"), "the message")

    at_work(qapp, written(tmp_path, large(2, 3)), steps)

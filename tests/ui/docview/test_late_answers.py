"""A table whose answers come later, as over a pipe: filters, hidden messages, folded streams, copies, completions."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QTabBar
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.widgets.filter_completions import FilterCompletions
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.streamed import HEAD, asked, chunk, closed, opened
from tests.ui.find import child
from tests.ui.late_answers import LateAnswers, delay_answers
from tests.ui.windows import panes_of, window_on

FRAME = 4
"""The third frame of the stream, whose row is that of the first one."""


@pytest.fixture
def panes(application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Panes:
    """Requests, a stream of three frames, and its end; answers come in later turns of the event loop."""
    said = [chunk("s", piece) for piece in ("First I will lo", "ok at the dir", "ectory.")]
    window = window_on(application, document_of(HEAD, asked("r1"), opened("s"), *said, closed("s")))
    with qtbot.waitExposed(window):
        window.show()
    panes = panes_of(window)
    delay_answers(monkeypatch, panes.client)
    return panes


def filter_by(qtbot: QtBot, panes: Panes, text: str, shown: list[int]) -> None:
    panes.filter_state.apply_filter(text)
    assert panes.rows.visible.tolist() != shown
    qtbot.waitUntil(lambda: panes.rows.visible.tolist() == shown)


def test_a_hidden_message_is_selected_when_its_row_has_come(panes: Panes, qtbot: QtBot) -> None:
    filter_by(qtbot, panes, "no == 1", [0])
    left: list[int] = []
    panes.view_left.connect(lambda message, *_: left.append(message))
    panes.go_to(1)
    qtbot.waitUntil(lambda: panes.messages.current_message() == 1)
    assert left == [1]
    assert panes.filter_state.filter.text == ""


def test_a_frame_leads_to_the_row_of_its_stream(panes: Panes, qtbot: QtBot) -> None:
    panes.go_to(FRAME)
    qtbot.waitUntil(lambda: panes.details.message == FRAME)
    assert panes.messages.current_message() == 2
    panes.messages.set_streams_folded(False)
    qtbot.waitUntil(lambda: not panes.rows.is_folded)
    panes.go_to(FRAME)
    assert panes.messages.current_message() == FRAME
    panes.messages.set_streams_folded(True)
    qtbot.waitUntil(lambda: panes.messages.current_message() == 2)


def test_a_copy_comes_with_its_answer(panes: Panes, qtbot: QtBot) -> None:
    panes.go_to(1)
    QGuiApplication.clipboard().setText("before")
    panes.messages.copy("ids")
    assert QGuiApplication.clipboard().text() == "before"
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "before")


def test_completions_of_an_earlier_text_are_dropped(panes: Panes, qtbot: QtBot) -> None:
    window = panes.frame
    assert isinstance(window, MainWindow)
    editor = child(window, QPlainTextEdit, "filterEditor")
    window.filter_bar.focus_editor()
    qtbot.keyClicks(editor, "kin")
    popup = window.findChild(FilterCompletions)
    assert popup is not None
    qtbot.waitUntil(lambda: "kind" in popup.labels())
    qtbot.keyClick(editor, Qt.Key.Key_D)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.toPlainText() == "kind"


def test_a_new_window_shows_its_rows_when_they_come(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = LateAnswers(monkeypatch)
    window = window_on(application, document_of(*(envelope("chat", {"text": str(n)}) for n in range(3))))
    with qtbot.waitExposed(window):
        window.show()
    panes = panes_of(window)
    late.settle(lambda: panes.messages.model.rowCount() == 3)
    assert panes.messages.view.verticalHeader().count() == 3
    assert not panes.messages.empty.isVisible()
    assert panes.counts() == (3, 3)
    tabs = child(window.view_head.tabs, QTabBar)
    assert "Messages 3" in [tabs.accessibleTabName(index) for index in range(tabs.count())]


def test_typed_filters_conditions_and_sorts_come_with_their_answers(panes: Panes, qtbot: QtBot) -> None:
    window = panes.frame
    assert isinstance(window, MainWindow)
    editor = child(window, QPlainTextEdit, "filterEditor")
    window.filter_bar.focus_editor()
    qtbot.keyClicks(editor, "no < 3")
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(editor, "no > 1")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panes.rows.visible.tolist() == [1])
    chips = window.filter_conditions.bar.chips()
    qtbot.waitUntil(lambda: [chip.hides for chip in chips] == [4])
    panes.filter_state.clear()
    panes.messages.sorter.sort("no", True)
    qtbot.waitUntil(lambda: panes.rows.sorted_by is not None and len(panes.rows.visible) > 1)
    assert panes.rows.in_order().tolist() == sorted(panes.rows.visible.tolist(), reverse=True)
    panes.messages.sorter.sort("gone")
    qtbot.waitUntil(lambda: not panes.messages.sorter.busy)
    assert panes.rows.sorted_by is not None

"""The tab Files as a user meets it: files with their accesses, folding, and the way to the call."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.present.rows import Text
from inspector.ui.app.application import Application
from inspector.ui.panels.files.panel import FilesPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import panes_of, window_on


def _edited(path: str, old: str, new: str, answer: str = "done") -> list[dict[str, Any]]:
    call = tool_call("Edit", arguments={"file_path": path, "old_string": old, "new_string": new})
    return [call, tool_result(call, answer)]


def _ran(command: str) -> list[dict[str, Any]]:
    call = tool_call("Bash", arguments={"command": command})
    return [call, tool_result(call, "3 passed")]


def _read(path: str) -> list[dict[str, Any]]:
    call = tool_call("Read", arguments={"file_path": path})
    return [call, tool_result(call, "text")]


@pytest.fixture
def window(application: Application) -> MainWindow:
    lines = [
        envelope("chat", {"text": "Fix it"}), *_read("/work/other.py"), *_edited("/work/a.py", "one", "one\ntwo"),
        *_edited("/work/a.py", "two", "three"), *_ran("pytest tests"),
    ]  # fmt: skip
    window = window_on(application, document_of(*lines))
    window.resize(1280, 800)
    window.show()
    return window


def _panel(window: MainWindow, qtbot: QtBot) -> FilesPanel:
    window.actions_by_id["view.files"].trigger()
    panel = window.center.view("files")
    assert isinstance(panel, FilesPanel)
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0)
    return panel


def _texts(panel: FilesPanel) -> list[str]:
    return [panel.model.spec(row).copied for row in range(panel.model.rowCount())]


def test_changed_files_are_first_with_their_accesses(window: MainWindow, qtbot: QtBot) -> None:
    panel = _panel(window, qtbot)
    assert _texts(panel) == [
        "/work/a.py, 2 lines added, 1 removed, 2 edits, tests passed after",
        "edit, 1 line added, by lead, No. 4",
        "edit, 1 line added, 1 removed, by lead, No. 6",
        "tests after the last edit: passed, No. 8",
        "/work/other.py, 1 read",
    ]


def test_an_access_leads_to_its_call_and_is_selected_with_it(window: MainWindow, qtbot: QtBot) -> None:
    panel = _panel(window, qtbot)
    panel.view.setFocus()
    panel.view.select_row(1)
    QTest.keyClick(panel.view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panes_of(window).messages.current_message() == 5)
    panes_of(window).go_to(3)
    qtbot.waitUntil(lambda: panel.view.row == 1)


def test_a_file_folds_and_files_that_are_only_read_can_be_hidden(window: MainWindow, qtbot: QtBot) -> None:
    panel = _panel(window, qtbot)
    panel.view.expanded.emit(0, False)
    assert [text.split(",")[0] for text in _texts(panel)] == ["/work/a.py", "/work/other.py"]
    panel.view.expanded.emit(1, True)
    assert _texts(panel)[-1] == "read, by lead, No. 2"
    panel._changed_only.trigger()
    assert [text.split(",")[0] for text in _texts(panel)] == ["/work/a.py"]


def test_a_log_without_files_says_so_once_that_is_known(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = window_on(application, document_of(envelope("chat", {"text": "a"})))
    answer_slowly(monkeypatch, panes_of(window).client)
    window.actions_by_id["view.files"].trigger()
    panel = window.center.view("files")
    assert isinstance(panel, FilesPanel)
    assert panel.view.empty_text == ""
    qtbot.waitUntil(lambda: panel.view.empty_text == "No call names a file.")


def test_words_have_colors_for_texts(window: MainWindow, qtbot: QtBot) -> None:
    panel = _panel(window, qtbot)
    cells = [cell for row in range(panel.model.rowCount()) for cell in panel.model.spec(row).lines[0]]
    inks = {part.ink for cell in cells for part in cell if isinstance(part, Text)}
    assert "badge.consumed" in inks
    assert not [ink for ink in inks if ink.startswith("state.")], "a colour of marks has too little contrast"

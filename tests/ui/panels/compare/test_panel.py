"""The comparison with another run as the user meets it: chooser, answer, lanes, folds, keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.engine.requests.run_comparisons import CompareRuns
from inspector.ui.app.application import Application
from inspector.ui.dialogs.compare_runs import CompareRunsDialog
from inspector.ui.panels.compare.panel import ComparePanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.changed_runs import Pair, session, write
from tests.ui.find import child
from tests.ui.held_requests import hold_requests
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import panes_of, window_on

CHANGED = Pair(
    "a result, and the next call", session(), session(read="def parse(): x", edit="return 2"), "arguments", "result"
)  # fmt: skip


def window_beside(application: Application, folder: Path, pair: Pair = CHANGED) -> tuple[MainWindow, Path]:
    """A window on the first run of a pair; the second one was opened lately."""
    one, other = write(folder, pair)
    application.settings.recent_files = [str(other)]
    window = window_on(application, document_at(one))
    window.show()
    return window, other


def choose(window: MainWindow, ignore: str = "") -> ComparePanel:
    """Chooses the first run of the list by keys."""
    window.actions_by_id["file.compare"].trigger()
    dialog = child(window, CompareRunsDialog)
    dialog.ignore.setText(ignore)
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    panel = panes_of(window).made["compare"]
    assert isinstance(panel, ComparePanel)
    return panel


def compared(
    application: Application, folder: Path, qtbot: QtBot, pair: Pair = CHANGED
) -> tuple[MainWindow, ComparePanel]:
    window, _ = window_beside(application, folder, pair)
    panel = choose(window)
    qtbot.waitUntil(lambda: panel.shown is not None)
    settle(panel, qtbot)
    return window, panel


def settle(panel: ComparePanel, qtbot: QtBot) -> None:
    QApplication.processEvents()
    qtbot.waitUntil(lambda: all(panel.model.spec(row).text for row in range(panel.model.rowCount())))


def lines(panel: ComparePanel) -> list[str]:
    return [panel.model.spec(row).text for row in range(panel.model.rowCount())]


def current(panel: ComparePanel) -> str:
    return panel.model.spec(panel.view.row).text


def test_the_answer_and_both_lanes_show_where_the_runs_part(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, panel = compared(application, tmp_path, qtbot)
    assert window.view_head.tabs.words()[-1] == "Compare"
    assert panel.answer.sentence.text().startswith("The runs part at No. 10 of A and No. 10 of B: Edit: new_string")
    assert [panel.answer.first.label, panel.answer.cause.label] == [
        "First difference: No. 10 of A, No. 10 of B", "Cause: No. 9 of A, No. 9 of B",
    ]  # fmt: skip
    assert lines(panel)[0] == "3 equal steps"
    assert current(panel).startswith("Edit: new_string ")
    assert panel.model.spec(panel.view.row).spoken == (
        "other arguments, A number 10: Edit  new_string: return 1, B number 10: Edit  new_string: return 2"
    )
    panel.answer.cause.click()
    assert current(panel).startswith("result of Read a.py offset=1:")


def test_a_folded_stretch_opens_and_folds_with_enter(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    _, panel = compared(application, tmp_path, qtbot)
    panel.view.setFocus()
    before = lines(panel)
    QTest.keyClick(panel.view, Qt.Key.Key_Home)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    settle(panel, qtbot)
    assert lines(panel)[:3] == ["3 equal steps", "Fix the parser.", "I read first."]
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert lines(panel) == before


def test_a_log_that_cannot_be_read_is_reported_in_a_sentence(
    application: Application, tmp_path: Path, qtbot: QtBot
) -> None:
    window, other = window_beside(application, tmp_path)
    other.write_bytes(b"\x00\x01\x02")
    panel = choose(window)
    qtbot.waitUntil(lambda: not panel.is_busy)
    assert other.name in panel.state.text()
    assert panel.choose_button.isVisible()


def test_a_comparison_is_cancelled(
    application: Application, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, _ = window_beside(application, tmp_path)
    answer_slowly(monkeypatch, panes_of(window).client)
    release = hold_requests(monkeypatch, CompareRuns)
    panel = choose(window)
    assert panel.is_busy
    qtbot.mouseClick(panel.cancel_button, Qt.MouseButton.LeftButton)
    assert panel.state.text() == "The comparison was cancelled."
    release()
    assert panel.shown is None


def test_ignored_fields_do_not_count(application: Application, tmp_path: Path, qtbot: QtBot) -> None:
    window, _ = window_beside(application, tmp_path, Pair("", session(), session(seed=2), "", ""))
    panel = choose(window, "seed")
    qtbot.waitUntil(lambda: panel.shown is not None)
    assert panel.answer.sentence.text() == "The runs do the same."
    assert panel.answer.first.isHidden()

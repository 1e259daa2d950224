"""The dialog with a report: read, copied, saved; what is in it is the user's choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.diagnostics.crash_report import ReportChoices
from inspector.ui.dialogs.report_dialog import CLOSED, ReportDialog
from inspector.ui.look.theme import ThemeController
from tests.ui.find import child


@pytest.fixture
def dialog(theme_controller: ThemeController, qtbot: QtBot) -> Iterator[ReportDialog]:
    window = QWidget()
    qtbot.addWidget(window)
    made = ReportDialog(
        theme_controller, "It failed", "A <b>sentence</b>.", lambda choices: f"report {choices}\n\u202e",
        answers=(("quit", "Quit"), ("go_on", "Continue")), parent=window,
    )  # fmt: skip
    made.open()
    yield made
    window.close()


def test_nothing_is_ticked_and_nothing_is_sent(dialog: ReportDialog) -> None:
    assert dialog.choices == ReportChoices()
    assert "The program sends no data" in child(dialog, QLabel, "reportStatus").text()
    assert child(dialog, QLabel, "reportText").textFormat() == Qt.TextFormat.PlainText
    assert "⟨U+202E⟩" in child(dialog, QPlainTextEdit, "reportView").toPlainText()


def test_each_box_makes_the_report_anew(dialog: ReportDialog) -> None:
    for box in dialog.findChildren(QCheckBox):
        box.click()
    assert dialog.choices == ReportChoices(file_names=True, error_words=True, log_lines=True)
    assert "log_lines=True" in child(dialog, QPlainTextEdit, "reportView").toPlainText()


def test_it_is_copied_and_saved_as_shown(dialog: ReportDialog, tmp_path: Path) -> None:
    shown = child(dialog, QPlainTextEdit, "reportView").toPlainText()
    child(dialog, QPushButton, "reportCopy").click()
    assert QApplication.clipboard().text() == shown
    child(dialog, QPushButton, "reportSave").click()
    asked = child(dialog, QFileDialog, "saveReportDialog")
    asked.fileSelected.emit(str(tmp_path / "report.txt"))
    asked.close()
    assert (tmp_path / "report.txt").read_text("utf-8") == shown
    assert "Report saved as" in child(dialog, QLabel, "reportStatus").text()


def test_a_report_that_cannot_be_saved_says_why(dialog: ReportDialog, tmp_path: Path) -> None:
    dialog.save(tmp_path / "nowhere" / "report.txt")
    assert "could not be saved" in child(dialog, QLabel, "reportStatus").text()


def test_enter_goes_on_and_escape_closes(dialog: ReportDialog, qtbot: QtBot) -> None:
    assert child(dialog, QPushButton, "reportAnswer_go_on").isDefault()
    with qtbot.waitSignal(dialog.answered) as answered:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert answered.args == [CLOSED]


def test_it_fits_the_screen_at_any_zoom(theme_controller: ThemeController, qtbot: QtBot) -> None:
    theme_controller.set_zoom(2.0)
    dialog = ReportDialog(theme_controller, "It failed", "A sentence.", lambda _choices: "", answers=(("ok", "OK"),))
    qtbot.addWidget(dialog)
    screen = dialog.screen().availableSize()
    assert dialog.width() <= screen.width()
    assert dialog.height() < screen.height(), "the desktop's frame needs some"

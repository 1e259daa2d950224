"""Declaring a format in the window: from a refused log to its rows."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QListWidget, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector.formats.declared.folder import declarations_folder
from inspector.present.format_trials import DeclarationPreview, preview_declaration
from inspector.ui.app.application import Application
from inspector.ui.dialogs.declare_format import DeclareFormatDialog
from inspector.ui.dialogs.form_dialog import ValueDialog
from inspector.ui.look.theme import ThemeController
from inspector.ui.window.main_window import MainWindow
from tests.ui.features.test_window_restoring import read
from tests.ui.find import child
from tests.ui.windows import run_in_window, state_of, until
from tests.unit.formats.declared.samples import ROBOT, ROBOT_LOG


def status_of(dialog: DeclareFormatDialog) -> str:
    return child(dialog, QLabel, "declareFormatStatus").text()


def declare_links(window: MainWindow) -> list[QPushButton]:
    return [one for one in window.notices.findChildren(QPushButton) if "Declare" in one.text()]


def notice_of(window: MainWindow) -> str:
    """Returns the text of all notices."""
    return " ".join(label.text() for label in window.notices.findChildren(QLabel)).strip()


def test_a_file_that_no_declaration_can_read_has_no_link(qapp: QApplication, tmp_path: Path) -> None:
    log = tmp_path / "logs.zip"
    with ZipFile(log, "w") as archive:
        archive.writestr("walnut.log", ROBOT_LOG)

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([str(log)])
        await until(lambda: "Unpack it" in notice_of(window), "a notice")
        assert declare_links(window) == []

    run_in_window(qapp, whole)


def replace(dialog: DeclareFormatDialog, old: str, new: str) -> None:
    """Edits the declaration as a user does: the change is in the undo history and is tried after a moment."""
    assert old in dialog.text
    cursor = dialog.editor.document().find(old)
    assert not cursor.isNull()
    cursor.insertText(new)


def test_a_refused_log_is_declared_saved_and_opened(qapp: QApplication, tmp_path: Path) -> None:
    log = tmp_path / "walnut.log"
    log.write_bytes(ROBOT_LOG)

    async def whole(application: Application) -> None:
        window = application.new_window()
        window.opening.open_paths([str(log)])
        await until(lambda: declare_links(window), "a notice with a link")
        assert notice_of(window) == (
            "walnut.log is no log that can be read. Its first line is an object with the keys "
            "`n`, `ev`, `at`, `run`, `who` and 1 more."
        )
        declare_links(window)[0].click()
        dialog = child(window, DeclareFormatDialog)
        await until(lambda: status_of(dialog).startswith("9 of 9 records matched"), "a preview of the guess")
        assert "bookkeeping" in dialog.preview.toPlainText()
        assert dialog.save.isEnabled()

        replace(dialog, '"think" = "thought"', '"think" = "thoughts"')
        assert not dialog.save.isEnabled()  # until it is tried
        await until(lambda: dialog.faults.item(0).text().startswith("Line "), "a fault")
        assert not dialog.save.isEnabled()
        assert "thoughts is no event" in dialog.faults.item(0).text()
        assert status_of(dialog) == "Correct the faults to see the rows."

        dialog.faults.setCurrentRow(0)
        dialog.faults.itemActivated.emit(dialog.faults.item(0))
        cursor = dialog.editor.textCursor()
        assert dialog.editor.hasFocus() or not dialog.isActiveWindow()
        cursor.movePosition(QTextCursor.MoveOperation.EndOfLine, QTextCursor.MoveMode.KeepAnchor)
        assert cursor.selectedText().startswith('"thoughts"')

        replace(dialog, '"think" = "thoughts"', '"think" = "answer"')
        await until(lambda: dialog.save.isEnabled(), "a valid declaration")
        assert "thought" not in dialog.preview.toPlainText()
        dialog.save.click()
        saved = declarations_folder() / "walnut.toml"
        assert '"think" = "answer"' in saved.read_text("utf-8")
        await until(lambda: window.panes is not None and state_of(window).messages > 0, "rows")
        await read(window)
        assert window.document.capture.sources[0].chosen_format == "walnut"
        assert state_of(window).messages == 9

        # A declared format is edited, not guessed again.
        window.actions_by_id["file.read_as"].trigger()
        asked = child(window, ValueDialog, "readAsDialog")
        child(asked, QPushButton, "readAsDeclare").click()
        again = child(window, DeclareFormatDialog)
        await until(lambda: '"think" = "answer"' in again.text, "the saved declaration")
        again.cancel.click()

    run_in_window(qapp, whole)


def test_the_action_asks_for_a_log_without_one(qapp: QApplication) -> None:
    async def whole(application: Application) -> None:
        window = application.new_window()
        window.actions_by_id["file.declare_format"].trigger()
        await until(lambda: window.findChild(QFileDialog, "declareFormatLogDialog") is not None, "a file dialog")
        child(window, QFileDialog, "declareFormatLogDialog").close()

    run_in_window(qapp, whole)


def test_the_dialog_is_used_with_the_keyboard(theme_controller: ThemeController, tmp_path: Path) -> None:
    log = tmp_path / "robot.log"
    log.write_bytes(ROBOT_LOG)
    dialog = DeclareFormatDialog(theme_controller, log.name, None)
    edited: list[str] = []
    saved: list[str] = []
    dialog.edited.connect(edited.append)
    dialog.save_requested.connect(saved.append)
    dialog.show()
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog)
    dialog.set_text(ROBOT)
    assert edited == [ROBOT]
    dialog.show_preview("an older text", DeclarationPreview(sentence="old"))
    assert status_of(dialog) == ""
    dialog.show_preview(ROBOT, preview_declaration(log, ROBOT))
    assert status_of(dialog) == "9 of 9 records matched (100 %)."
    order = []
    dialog.editor.setFocus()
    for _ in range(5):
        order.append(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Tab)
    assert [one.objectName() for one in order if one is not None] == [
        "declareFormatEditor", "declareFormatFaults", "declareFormatPreview",
        "declareFormatCancel", "declareFormatSave",
    ]  # fmt: skip
    assert all(one.accessibleName() for kind in (QPlainTextEdit, QListWidget) for one in dialog.findChildren(kind))
    assert all(one.accessibleName() or one.text() for one in dialog.findChildren(QPushButton))
    QTest.keyClick(dialog, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert saved == [ROBOT]
    dialog.close()


def test_a_log_that_is_gone_has_a_sentence(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in preview_declaration(tmp_path / "gone.log", ROBOT).sentence


def test_both_columns_stay_readable_at_the_smallest_size(qtbot: QtBot, theme_controller: ThemeController) -> None:
    dialog = DeclareFormatDialog(theme_controller, "robot.log", None)
    qtbot.addWidget(dialog)
    dialog.open()
    dialog.set_text(ROBOT)
    dialog.resize(1, 1)
    assert min(dialog.editor.width(), dialog.preview.width()) > 250
    assert dialog.editor.height() > 8 * dialog.editor.fontMetrics().lineSpacing()

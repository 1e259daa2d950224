"""Tests of `inspector.ui.dialogs.message_dialog`."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.dialogs.message_dialog import CANCEL, OK, MessageDialog
from inspector.ui.look.theme import ThemeController
from tests.ui.find import child


def test_tell_opens_and_is_answered_with_enter(theme_controller: ThemeController, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = MessageDialog.show_message(window, theme_controller, "Saved", "As <b>it</b> is.", details="line\n" * 50)
    text = child(dialog, QLabel, "messageText")
    assert dialog.isVisible()
    assert text.text() == "As <b>it</b> is."
    assert text.textFormat() == Qt.TextFormat.PlainText
    assert child(dialog, QPlainTextEdit, "messageDetails").isVisible()
    with qtbot.waitSignal(dialog.answered) as answered:
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert answered.args == [OK]


def test_ask_gives_the_answer_pressed(theme_controller: ThemeController, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    answers = (("discard", "Discard"), (CANCEL, "Cancel"), ("save", "Save"))
    dialog = MessageDialog.show_question(window, theme_controller, "Save the capture?", "It is not saved.", answers)
    assert child(dialog, QPushButton, "messageAnswer_save").isDefault()
    with qtbot.waitSignal(dialog.answered) as answered:
        qtbot.mouseClick(child(dialog, QPushButton, "messageAnswer_discard"), Qt.MouseButton.LeftButton)
    assert answered.args == ["discard"]


def test_escape_cancels(theme_controller: ThemeController, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = MessageDialog.show_question(window, theme_controller, "Sure?", "Really?", ((OK, "Yes"),))
    with qtbot.waitSignal(dialog.answered) as answered:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert answered.args == [CANCEL]

"""Two selected messages side by side, from the menu and by name."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QApplication

from inspector.ui.app.application import Application
from inspector.ui.features.comparison import HOW
from inspector.ui.panels.details.difference import TEXT, VALUES, DifferenceDialog
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope, tool_call
from tests.ui.find import child
from tests.ui.windows import panes_of, window_on


def compared(window: MainWindow) -> DifferenceDialog:
    window.actions_by_id["analyze.compare"].trigger()
    QApplication.processEvents()
    return child(window, DifferenceDialog)


def select(window: MainWindow, *messages: int) -> None:
    panes = panes_of(window)
    panes.go_to(messages[0])
    for message in messages[1:]:
        panes.messages.view.selection.messages.toggle(message, panes.messages.current_message())


def test_two_calls_are_compared_by_their_values(application: Application) -> None:
    calls = [tool_call("write_file", arguments={"path": f"/tmp/{n}", "keep": [1, 2]}) for n in range(2)]
    calls[1]["payload"]["params"]["arguments"]["mode"] = "w"
    window = window_on(application, document_of(*calls))
    window.show()
    select(window, 0, 1)
    dialog = compared(window)
    assert dialog.what.choice == VALUES
    rows = dialog.changes.model()
    said = [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]
    assert "+ payload.params.arguments.mode, added" in said
    row = said.index("\N{ALMOST EQUAL TO} payload.params.arguments.path, changed")
    dialog.changes.picked.emit(row, True)
    assert [view.textCursor().selectedText() for view in (dialog.left, dialog.right)] == ['"/tmp/0"', '"/tmp/1"']
    assert len(dialog.left.toPlainText().splitlines()) == len(dialog.right.toPlainText().splitlines())
    assert dialog.grab().width() > 0
    dialog.reject()


def test_two_texts_are_compared_by_their_words_and_secrets_are_masked(application: Application) -> None:
    texts = ("the quick fox, password=hunter2secret", "the slow fox, password=hunter2secret")
    window = window_on(application, document_of(*(envelope("chat", {"text": text}) for text in texts)))
    window.show()
    select(window, 0, 1)
    dialog = compared(window)
    assert dialog.what.choice == TEXT
    (light,) = dialog.left.extraSelections()
    assert light.cursor.selectedText() == "quick"  # pyright: ignore[reportAttributeAccessIssue]
    dialog.what.choose(VALUES)
    dialog.what.chosen.emit(VALUES)
    assert "hunter2secret" not in dialog.left.toPlainText()
    assert json.loads(dialog.left.toPlainText())["kind"] == "chat"
    dialog.reject()


def test_without_two_messages_it_says_how_to_select_them(application: Application) -> None:
    window = window_on(application, document_of(envelope(), envelope()))
    window.show()
    panes_of(window).go_to(0)
    window.actions_by_id["analyze.compare"].trigger()
    notice = window.notices.notice("message")
    assert notice is not None
    assert notice.text == HOW
    assert window.findChild(DifferenceDialog) is None

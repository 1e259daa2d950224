"""No secret of a log is in anything that is copied of a message, nor in a filter that finds a value again."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QGuiApplication

from inspector.present import copied_text
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.planted import PLANTED, name_with, told
from tests.ui.windows import panes_of, window_on

KEY = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zBc7e"


@pytest.fixture
def panes(application: Application) -> Panes:
    """A log with every secret in every place a cell shows."""
    lines = [
        envelope(f"shop/{name}", {"text": said, said: json.dumps({"inner": said})}, sender=said, to=[said, "b"],
                 context=f"c/{name}", id=said)
        for said, name in ((f"\u2019{one}", name_with(one, "\u2019")) for one in PLANTED)
    ]  # fmt: skip
    ask = tool_call(KEY, arguments={KEY: KEY})
    lines += [ask, tool_result(ask, f"{KEY} " + "more " * 250_000), envelope("chat", {"text": "plain"}, to=["b"])]
    return panes_of(window_on(application, document_of(*(json.dumps(line) for line in lines))))


@pytest.mark.sweep
def test_no_copy_holds_a_secret(panes: Panes) -> None:
    copies, clipboard, found = panes.messages.view.copies, QGuiApplication.clipboard(), list[str]()
    for message in range(len(panes.client.document.capture)):
        panes.go_to(message)
        for what in ("rows", "values", "json", "markdown", "ids", "filter"):
            clipboard.clear()
            copies.copy(what, message)
            text = clipboard.text()
            found += [f"No. {message + 1} as {what}: {text[:100]}" for one in PLANTED if told(one) in text]
            found += [f"No. {message + 1} as {what}"] if KEY in text else []
    assert found == []


def test_no_id_of_a_participant_holds_a_secret(panes: Panes) -> None:
    panel, clipboard, found = panes.participants, QGuiApplication.clipboard(), list[str]()
    for row in range(panel.model.rowCount()):
        menu = panel.menu_for(row)
        next(action for action in menu.actions() if action.text() == "Copy id").trigger()
        found += [clipboard.text() for one in (*PLANTED, KEY) if told(one) in clipboard.text()]
        menu.deleteLater()
    assert found == []


def test_no_filter_by_a_cell_holds_a_secret(panes: Panes) -> None:
    document, model, found = panes.client.document, panes.messages.model, list[str]()
    for message in range(len(document.capture)):
        content = model.content(message)
        for column in Column:
            for second in (False, True):
                text = copied_text.cell_filter(document, content, column, second=second) or ""
                found += [f"{column.name}: {text}" for one in (*PLANTED, KEY) if told(one) in text]
    assert found == []
    plain = model.content(len(document.capture) - 1)
    columns = (Column.FROM_TO, Column.KIND, Column.CONTEXT, Column.MESSAGE)
    filters = [copied_text.cell_filter(document, plain, column) for column in columns]
    assert filters == ['from == "lead"', 'kind == "chat"', "!context", 'text contains "plain"']
    assert copied_text.cell_filter(document, plain, Column.FROM_TO, second=True) == 'to == "b"'

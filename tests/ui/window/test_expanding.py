"""Expanding a collapsed result shows its original and changes nothing: state, badges, totals (docs/design.md 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.document.summary import summary
from inspector.present.message_columns import Column
from inspector.ui.app.application import Application
from inspector.ui.look.roles import Role
from inspector.ui.panels.details.chain_view import ChainView
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.window.main_window import MainWindow
from tests.ui.windows import panes_of, story, window_on

RESULT = 5


@pytest.fixture
def window(application: Application) -> MainWindow:
    document = story()
    document.analysis.tokens.count_now(np.arange(len(document.analysis)))
    window = window_on(application, document)
    window.actions_by_id["view.hints"].trigger()
    QApplication.processEvents()
    return window


def shown(window: MainWindow) -> dict[str, Any]:
    """All that is said of the result: by the table, the Lifecycle tab, what the model sees, and the totals."""
    panes, document = panes_of(window), window.document
    panes.messages.go_to(RESULT)
    life, model = document.analysis.transients, panes.messages.model
    panes.details.show_tab("Lifecycle")
    QApplication.processEvents()
    steps = panes.details.findChild(ChainView, "life")
    assert steps is not None
    panes.messages.go_to(len(document.capture) - 1)  # when it has been consumed
    window.actions_by_id["view.model_sees"].trigger()
    QApplication.processEvents()
    sees = window.center.currentWidget()
    assert isinstance(sees, ModelSeesPanel)
    (place,) = np.flatnonzero(np.asarray(sees.source.messages) == RESULT)
    line, figures = sees.source.line(int(place)), sees.figures.figures
    assert figures is not None
    found = {
        "badges": model.index(RESULT, 0).data(Role.BADGES),
        "collapsed": model.index(RESULT, 0).data(Role.COLLAPSED),
        "text": model.index(RESULT, Column.MESSAGE).data(),
        "state": (life.badges(RESULT), life.collapsed_by(RESULT), life.summary(RESULT)),
        "steps": [str(steps.model().index(row, 0).data()) for row in range(steps.model().rowCount())],
        "sees": (line.text, line.state, figures.accessible_text),
        "totals": summary(document, ""),
    }
    window.actions_by_id["view.messages"].trigger()
    QApplication.processEvents()
    return found


def test_expanding_does_not_undo_a_collapse(window: MainWindow) -> None:
    messages = panes_of(window).messages
    before, count = shown(window), messages.model.rowCount()
    assert before["badges"] == ("collapsed",)
    assert before["collapsed"] is True
    assert before["state"] == (("transient", "collapsed"), RESULT + 2, "15 records (page 1)")
    assert before["sees"][:2] == ("15 records (page 1)", "collapsed")
    assert before["totals"]["badges"] == {"transient": 1, "consumed": 1, "collapsed": 1, "pending": 0}

    messages.go_to(RESULT)
    QTest.keyClick(messages.view, Qt.Key.Key_Right)

    parts = range(RESULT + 1, RESULT + 1 + messages.model.rowCount() - count)
    assert messages.model.index(RESULT, 0).data(Role.EXPANDED) is True
    assert any("record 7" in str(messages.model.index(row, Column.MESSAGE).data()) for row in parts)
    assert not any(messages.model.index(row, 0).flags() & Qt.ItemFlag.ItemIsEditable for row in parts)
    assert shown(window) == before

    messages.go_to(RESULT)
    QTest.keyClick(messages.view, Qt.Key.Key_Left)
    assert messages.model.rowCount() == count
    assert shown(window) == before

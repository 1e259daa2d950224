"""Panel Model sees with answers that arrive after the call, as from an engine process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from inspector.ui.app.application import Application
from inspector.ui.panels.model_sees.panel import ModelSeesPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.late_answers import LateAnswers
from tests.ui.panels.model_sees.test_panel import counted, lines, listed, press, row_of
from tests.ui.windows import panes_of, window_on


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> LateAnswers:
    return LateAnswers(monkeypatch)


def opened(window: MainWindow, late: LateAnswers) -> ModelSeesPanel:
    late.settle()
    window.show()
    window.actions_by_id["view.model_sees"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ModelSeesPanel)
    late.settle(lambda: len(panel.source) > 0)
    return panel


def drawn(panel: ModelSeesPanel, late: LateAnswers) -> list[str]:
    """The texts of all rows, once they are described."""
    panel.grab()
    late.settle()
    return [panel.source.line(row).text for row in range(len(panel.source))]


def test_moments_are_listed_and_compared(application: Application, late: LateAnswers) -> None:
    window = window_on(application, counted(document_of(*lines())))
    panel = opened(window, late)
    assert listed(panel) == [3, 4, 5, 6, 7, 11]
    assert drawn(panel, late)[1] == "15 visits"
    panes_of(window).go_to(3)
    late.settle(lambda: panel.head.moment_label.text() == "at No. 4")
    assert drawn(panel, late)[3].startswith("visit visit")
    press(panel, Qt.Key.Key_C)
    late.settle()
    panes_of(window).go_to(10)
    late.settle(lambda: panel.context_state.seen.change is not None)
    drawn(panel, late)
    marks = [(number, panel.source.line(row).mark) for row, number in enumerate(listed(panel))]
    assert marks == [(1, "went"), (2, "went"), (4, "collapsed"), (5, "came"), (6, "came"), (7, "came"), (11, "came")]
    press(panel, Qt.Key.Key_Escape)
    late.settle()
    assert listed(panel) == [3, 4, 5, 6, 7, 11]
    panel.order_by_size(True)
    late.settle()
    sizes = [panel.source.line(row).entry.tokens or 0 for row, _ in enumerate(drawn(panel, late))]
    assert sizes == sorted(sizes, reverse=True)


def test_an_entry_and_a_context_are_copied_and_exported(
    application: Application, late: LateAnswers, tmp_path: Path
) -> None:
    window = window_on(application, counted(document_of(*lines())))
    panel = opened(window, late)
    drawn(panel, late)
    menu = panel.menu_for(row_of(panel, 4))
    next(action for action in menu.actions() if action.objectName() == "copy.text").trigger()
    assert QGuiApplication.clipboard().text() == "15 visits"
    menu.deleteLater()
    panel.more.copy.trigger()
    late.settle()
    assert len(json.loads(QGuiApplication.clipboard().text())["messages"]) == 6
    shown = panel.context_state.shown
    assert shown is not None
    panel.context_export.export(shown, tmp_path / "seen.json", 6, secrets=False)
    assert panel.context_export.working
    late.settle(lambda: not panel.context_export.working)
    assert len(json.loads((tmp_path / "seen.json").read_text())["messages"]) == 6


def test_the_end_of_live_traffic_is_followed(application: Application, late: LateAnswers) -> None:
    log = GrowingLog()
    log.write(*lines(), *(envelope("chat", {"text": "word"}) for _ in range(100)))
    window = window_on(application, log.document)
    panel = opened(window, late)
    bar = panel.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    log.write(envelope("chat", {"text": "One more"}))
    panes_of(window).bridge.flush()
    panel.refresh()
    late.settle(lambda: panel.head.moment_label.text() == "at the end, No. 112")
    assert bar.value() == bar.maximum()
    assert panel.source.line(len(panel.source) - 1).number == "112"

"""Settings > Contexts: when contexts are idle, and which result collapses first; in force at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QSpinBox
from pytestqt.qtbot import QtBot

from inspector.base.slices import run_to_end
from inspector.settings import Contexts
from inspector.ui.app.application import Application
from inspector.ui.dialogs.settings_dialog import SettingsDialog
from inspector.ui.widgets.segmented import SegmentedControl
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.ui.engines import client_of
from tests.ui.find import child
from tests.ui.windows import ask_engine, numbers, panes_of, window_on
from tests.unit.analysis.transient_traffic import Opened, fetch, in_turn, mew, store, workflow


def page_of(window: MainWindow) -> SettingsDialog:
    window.settings_editing.open()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.enter_page("contexts")
    assert child(dialog, QLabel, "settingsTitle").text() == "Contexts"
    return dialog


@pytest.fixture
def waiting() -> Opened:
    """Two results wait when one is consumed."""
    return Opened(mew, in_turn(workflow(), fetch("first"), fetch("second"), store()))


def test_the_most_recent_collapses_where_that_is_set(application: Application, waiting: Opened, qtbot: QtBot) -> None:
    window = window_on(application, waiting.document)
    panes_of(window).filter_state.apply_filter('badge == "collapsed"')
    qtbot.waitUntil(lambda: numbers(window) == [4])
    dialog = page_of(window)
    segments = child(dialog, SegmentedControl, "settingsCollapses")
    most_recent = next(one for one in segments.findChildren(QAbstractButton) if one.text() == "Newest")
    QTest.mouseClick(most_recent, Qt.MouseButton.LeftButton)
    assert application.settings.contexts == Contexts(collapses="newest")
    qtbot.waitUntil(lambda: numbers(window) == [6])
    shown = Opened(mew, in_turn(workflow(), fetch("first"), fetch("second"), store())).document
    run_to_end(window.showing(client_of(shown, window)))
    assert ask_engine(window, lambda document: document.analysis.transients.collapsed_by(5)) == 7
    QTest.mouseClick(child(dialog, QAbstractButton, "settingsRestore"), Qt.MouseButton.LeftButton)
    assert application.settings.contexts == Contexts()
    assert ask_engine(window, lambda document: document.analysis.transients.collapsed_by(3)) == 7
    dialog.accept()


def test_contexts_are_idle_when_that_is_set(application: Application, qtbot: QtBot) -> None:
    early = envelope("chat", {"text": "x"}, context="early", ts="2026-01-05T09:00:00Z")
    late = envelope("chat", {"text": "x"}, context="late", ts="2026-01-05T09:00:20Z")
    window = window_on(application, document_of(early, late))
    panes = panes_of(window)
    panes.filter_state.apply_filter('context.state == "idle"')
    panes.show_context(0, panes.client.document.analysis.contexts.tree.find(0, "early"))
    assert numbers(window) == []
    dialog = page_of(window)
    box = child(dialog, QSpinBox, "settingsIdleAfter")
    assert (box.value(), box.text()) == (30, "30 s")
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "10")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert application.settings.contexts.idle_after_s == 10
    qtbot.waitUntil(lambda: numbers(window) == [1])
    states = [panes.contexts.model.state(row) for row in range(panes.contexts.model.rowCount())]
    assert states == ["", "idle", "idle", "active"]
    dialog.accept()

"""The context tree with answers that arrive later than the request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.panel import ContextsPanel
from tests.builders import envelope, received
from tests.ui.engines import client_of
from tests.ui.late_answers import delay_answers
from tests.ui.live import Live


def said(context: str) -> dict[str, object]:
    return received(envelope("chat", context=context))


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path, *(said(f"c{n}/x") for n in range(30)))


@pytest.fixture
def panel(
    live: Live, qtbot: QtBot, theme_controller: ThemeController, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ContextsPanel]:
    client = client_of(live.document, theme_controller)
    delay_answers(monkeypatch, client)
    panel = ContextsPanel(client, theme_controller)
    qtbot.addWidget(panel)
    QAbstractItemModelTester(panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    panel.resize(320, 300)
    with qtbot.waitExposed(panel):
        panel.show()
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0)
    yield panel
    panel.stop()


def labels(panel: ContextsPanel) -> list[str]:
    return [panel.model.label(row) for row in range(panel.model.rowCount())]


def test_rows_get_their_labels_as_they_come_into_sight(panel: ContextsPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: labels(panel)[:4] == ["demo", "main", "c0", "x"])
    panel.view.scrollToBottom()
    last = panel.model.rowCount() - 2
    qtbot.waitUntil(lambda: panel.model.label(last) == "c29")
    assert panel.model.describe(last) == "level 2, expanded, 1 message, no messages of its own"


def test_new_traffic_changes_rows_in_sight(panel: ContextsPanel, live: Live, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: panel.model.count(2) == 1)
    live.say(said("c0/y"), said("late"))
    panel.model.client.changed.emit()
    qtbot.waitUntil(lambda: panel.model.count(2) == 2)
    qtbot.waitUntil(lambda: labels(panel)[2:6] == ["c0", "x", "y", "c1"])
    assert panel.model.count(0) == 32
    assert panel.head.count() == str(live.document.analysis.contexts.tree.version)


def test_only_the_last_search_is_shown(panel: ContextsPanel, live: Live, qtbot: QtBot) -> None:
    panel.view.setFocus()
    QTest.keyClicks(panel.view, "c1")
    QTest.keyClicks(panel.find_box, "7")
    qtbot.waitUntil(lambda: labels(panel) == ["demo", "c17"])
    live.say(said("c170/z"))
    panel.model.client.changed.emit()
    qtbot.waitUntil(lambda: labels(panel) == ["demo", "c17", "c170"])
    QTest.keyClick(panel.find_box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 64)


def test_expansion_needs_no_answer(panel: ContextsPanel, qtbot: QtBot) -> None:
    before = panel.model.rowCount()
    panel.view.setFocus()
    panel.view.setCurrentIndex(panel.model.index(2, 0))
    QTest.keyClick(panel.view, Qt.Key.Key_Left)
    assert panel.model.rowCount() == before - 1
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.model.rowCount() == before

"""What is brushed in time chooses the messages that stand there, those without a time among them."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inspector.engine.requests.plots import MessagePosition
from inspector.ui.app.application import Application
from inspector.ui.panels.timeline.panel import TimelinePanel
from inspector.ui.panels.tokens.panel import TokensPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_of, envelope
from tests.ui.windows import numbers, panel_of, panes_of, window_on


def lines() -> list[dict[str, Any]]:
    """The second and the fourth say no time."""
    stamps = ("2026-01-05T09:00:00.000Z", None, "2026-01-05T09:00:10.000Z", None, "2026-01-05T09:00:20.000Z")
    return [envelope(ts=stamp) for stamp in stamps]


@pytest.fixture
def window(application: Application) -> MainWindow:
    document = document_of(*lines())
    document.count_tokens()
    return window_on(application, document)


def timeline(window: MainWindow) -> TimelinePanel:
    window.show()
    window.actions_by_id["view.timeline"].trigger()
    QApplication.processEvents()
    panel = window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    return panel


def test_messages_without_a_time_come_with_those_they_are_drawn_at(window: MainWindow) -> None:
    """They were drawn in the range and gone once it was chosen."""
    panel = timeline(window)
    client = panes_of(window).client
    ends = [client.answer_now(MessagePosition(message)) for message in (1, 3)]
    panel.axis.set_brush((ends[0] or 0, ends[1] or 0))
    panel.axis.commit_brush()
    assert numbers(window) == [1, 2, 3, 4]
    (condition,) = panes_of(window).filter_state.stack.conditions
    assert condition.text.endswith("|| !time && (no >= 2 && no <= 2 || no >= 4 && no <= 4)")


def test_one_message_is_a_range(window: MainWindow) -> None:
    """Return on a brush of one instant did nothing, without a word."""
    panel = timeline(window)
    panes_of(window).go_to(2)
    for key in (Qt.Key.Key_B, Qt.Key.Key_Return):
        QTest.keyClick(panel.view, key)
    assert numbers(window) == [3, 4]


def test_in_the_plot_of_tokens_it_is_the_same(window: MainWindow) -> None:
    window.show()
    window.resize(1_900, 900)
    window.actions_by_id["analyze.tokens"].trigger()
    panel = panel_of(panes_of(window), "tokens", TokensPanel)
    panel.refresh()
    panel.axis.set_brush((panel.axis.first_ns, panel.axis.first_ns))
    panel.axis.commit_brush()
    assert numbers(window) == [1, 2]

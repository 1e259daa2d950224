"""Two turns side by side, from the menus of the turn list and of the steps, and by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.features.turn_comparison import COMPARE_PREVIOUS, HOW, NO_PREVIOUS
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.panels.conversation.turn_comparison import TurnComparisonDialog
from inspector.ui.panels.steps.panel import StepsPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.ui.find import child
from tests.ui.windows import panes_of, window_on
from tests.unit.engine.test_turn_comparisons import two_turns


@pytest.fixture
def window(application: Application, tmp_path: Path) -> MainWindow:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in two_turns().records))
    shown = window_on(application, document_at(path))
    shown.show()
    return shown


def menu_by_key(window: MainWindow, view: QWidget, port: QWidget, qtbot: QtBot) -> dict[str, QAction]:
    """Opens the menu of the current row as the menu key does."""
    at = QPoint(20, 20)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, port.mapToGlobal(at))
    QApplication.sendEvent(port, event)
    qtbot.waitUntil(lambda: any(menu.isVisible() for menu in window.findChildren(QMenu, "turnMenu")))
    menu = next(menu for menu in window.findChildren(QMenu, "turnMenu") if menu.isVisible())
    return {action.text(): action for action in menu.actions()}


def notice(window: MainWindow) -> str:
    found = window.notices.notice("message")
    return "" if found is None else found.text


def choose(window: MainWindow, action: QAction) -> None:
    action.trigger()
    for menu in window.findChildren(QMenu, "turnMenu"):
        menu.close()
    QApplication.sendPostedEvents(None, 52)


def texts(dialog: TurnComparisonDialog) -> list[str]:
    model = dialog.steps.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def test_turns_are_compared_from_the_list_of_the_conversation(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_id["view.conversation"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ConversationPanel)
    view = panel.side.turns_view
    qtbot.waitUntil(lambda: panel.side.turns_model.count == 2 and panel.outline.answer is not None)
    view.show_row(0, quietly=True)
    found = menu_by_key(window, view, view.viewport(), qtbot)
    assert not found["Compare with selected turn"].isEnabled()
    choose(window, found["Select for comparison"])
    qtbot.waitUntil(lambda: "Turn 1 is selected" in notice(window))
    view.show_row(1, quietly=True)
    choose(window, menu_by_key(window, view, view.viewport(), qtbot)["Compare with turn 1"])
    qtbot.waitUntil(lambda: bool(window.findChildren(TurnComparisonDialog)))
    dialog = child(window, TurnComparisonDialog)
    qtbot.waitUntil(lambda: bool(texts(dialog)))
    assert dialog.words.text() == "1 equal step, 4 differences"
    figures = dialog.figures.model()
    spoken = [str(figures.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(figures.rowCount())]
    assert "Failed: Turn 1 1, Turn 2 0, difference \N{MINUS SIGN}1" in spoken
    assert dialog.grab().width() > 0
    # A step that only the second turn has leads there.
    row = next(place for place, text in enumerate(texts(dialog)) if "make lint" in text)
    dialog.steps.select(row)
    dialog.steps.entered.emit(row)
    qtbot.waitUntil(lambda: panes_of(window).messages.current_message() not in (None, 0))


def test_turns_are_compared_from_the_steps_and_by_name(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_id["analyze.compare_turns"].trigger()
    panes_of(window).go_to(1)
    window.actions_by_id["analyze.compare_turns"].trigger()
    assert notice(window) == HOW
    window.actions_by_id["analyze.select_turn"].trigger()
    qtbot.waitUntil(lambda: "Turn 1 is selected" in notice(window))
    window.actions_by_id["view.steps"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, StepsPanel)
    qtbot.waitUntil(lambda: panel.latest.is_current and len(panel.model.visible) > 0)
    panes_of(window).go_to(9)
    choose(window, menu_by_key(window, panel.view, panel.view.viewport(), qtbot)["Compare with turn 1"])
    qtbot.waitUntil(lambda: bool(window.findChildren(TurnComparisonDialog)))
    dialog = child(window, TurnComparisonDialog)
    qtbot.waitUntil(lambda: bool(texts(dialog)))
    assert dialog.words.text() == "1 equal step, 4 differences"
    dialog.reject()


def test_a_turn_is_compared_with_the_one_before_it_in_two_clicks(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_id["view.conversation"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ConversationPanel)
    view = panel.side.turns_view
    qtbot.waitUntil(lambda: panel.side.turns_model.count == 2 and panel.outline.answer is not None)
    view.show_row(0, quietly=True)
    choose(window, menu_by_key(window, view, view.viewport(), qtbot)[COMPARE_PREVIOUS])
    qtbot.waitUntil(lambda: notice(window) == NO_PREVIOUS)
    view.show_row(1, quietly=True)
    choose(window, menu_by_key(window, view, view.viewport(), qtbot)[COMPARE_PREVIOUS])
    qtbot.waitUntil(lambda: bool(window.findChildren(TurnComparisonDialog)))
    dialog = child(window, TurnComparisonDialog)
    qtbot.waitUntil(lambda: dialog.words.text() == "1 equal step, 4 differences")

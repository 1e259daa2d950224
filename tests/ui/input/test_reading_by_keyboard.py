"""Conversation, Steps, Overview and Files by keyboard alone: Tab reaches every control, the focus is seen, keys act."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.app.application import Application
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.panels.files.panel import FilesPanel
from inspector.ui.panels.overview.panel import OverviewPanel
from inspector.ui.panels.steps.panel import StepsPanel
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at
from tests.samples import sample
from tests.ui.windows import bury, panes_of, window_on

ORDERS = "transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10.jsonl"
VIEWS = ("overview", "conversation", "steps", "files")


@pytest.fixture
def window(application: Application, lands_as_set: None, qtbot: QtBot) -> MainWindow:
    window = window_on(application, document_at(sample(ORDERS)))
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def shown_view(window: MainWindow, name: str, qtbot: QtBot) -> QWidget:
    """Shows a view by its action and waits for its rows."""
    window.actions_by_id[f"view.{name}"].trigger()
    panel = window.center.currentWidget()
    assert panel is not None
    match panel:
        case OverviewPanel():
            qtbot.waitUntil(lambda: bool(panel.page.cards))
        case ConversationPanel():
            qtbot.waitUntil(lambda: panel.side.turns_model.count > 0 and panel.agents.answer is not None)
            qtbot.waitUntil(lambda: panel.model.known_card(0) is not None)
        case StepsPanel():
            qtbot.waitUntil(lambda: panel.model.rowCount() > 0)
        case FilesPanel():
            qtbot.waitUntil(lambda: panel.view.model().rowCount() > 0)
        case _:
            pytest.fail(name)
    return panel


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def controls_of(panel: QWidget) -> set[QWidget]:
    """Controls of a view that Tab should reach."""
    return {
        one for one in (panel, *panel.findChildren(QWidget))
        if one.isVisible() and one.isEnabled() and one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and one.focusProxy() is None
    }  # fmt: skip


def walked(panel: QWidget) -> list[QWidget]:
    """Controls of a view in the order of Tab, from its first one until Tab leads back."""
    panel.setFocus(Qt.FocusReason.TabFocusReason)
    begin, found = focused(), [focused()]
    for _ in range(200):
        QTest.keyClick(focused(), Qt.Key.Key_Tab)
        if focused() is begin:
            break
        found.append(focused())
    return [one for one in found if one is panel or panel.isAncestorOf(one)]


def picture(widget: QWidget) -> QImage:
    QApplication.processEvents()
    return widget.grab().toImage()


@pytest.mark.parametrize("name", VIEWS)
def test_tab_reaches_each_control_and_shows_where_it_is(window: MainWindow, qtbot: QtBot, name: str) -> None:
    panel = shown_view(window, name, qtbot)
    found = walked(panel)
    assert controls_of(panel) - set(found) == set()
    assert [one for one in found if not one.accessibleName()] == []
    unseen: list[str] = []
    for control in found:
        # Keys scroll the page of the overview; the ring of an icon is in the style sheet, which tests leave out.
        if isinstance(control, OverviewPanel | IconButton):
            continue
        control.setFocus(Qt.FocusReason.TabFocusReason)
        with_focus = picture(control)
        control.clearFocus()
        if picture(control) == with_focus:
            unseen.append(f"{type(control).__name__} {control.objectName()}")
    assert unseen == []


def test_return_on_a_link_of_the_overview_leads_there_and_escape_returns(window: MainWindow, qtbot: QtBot) -> None:
    panel = shown_view(window, "overview", qtbot)
    assert isinstance(panel, OverviewPanel)
    link = next(one for one in panel.page.cards[0].links if one.words.text == "Steps")
    link.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(link, Qt.Key.Key_Return)
    steps = window.center.currentWidget()
    assert isinstance(steps, StepsPanel)
    qtbot.waitUntil(lambda: steps.model.rowCount() > 0)
    QTest.keyClick(steps.view, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.center.currentWidget() is panel)


def test_keys_read_a_conversation(window: MainWindow, qtbot: QtBot) -> None:
    panel = shown_view(window, "conversation", qtbot)
    assert isinstance(panel, ConversationPanel)
    panel.setFocus()
    view = panel.view
    QTest.keyClick(view, Qt.Key.Key_Home)
    first = view.currentIndex().row()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == first + 1
    turns = panel.side.turns_view
    turns.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(turns, Qt.Key.Key_End)
    QTest.keyClick(turns, Qt.Key.Key_Return)
    assert panel.turn_in_sight() == panel.side.turns_model.count - 1
    QTest.keyClick(turns, Qt.Key.Key_Escape)
    assert focused() is view
    bury()


def test_keys_choose_a_step_and_open_it(window: MainWindow, qtbot: QtBot) -> None:
    panel = shown_view(window, "steps", qtbot)
    assert isinstance(panel, StepsPanel)
    panel.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_Home)
    QTest.keyClick(panel.view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panes_of(window).messages.current_message() is not None)
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: isinstance(window.center.currentWidget(), ConversationPanel))


def test_keys_choose_a_file_and_its_call(window: MainWindow, qtbot: QtBot) -> None:
    panel = shown_view(window, "files", qtbot)
    assert isinstance(panel, FilesPanel)
    panel.setFocus()
    QTest.keyClick(panel.view, Qt.Key.Key_Home)
    QTest.keyClick(panel.view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panes_of(window).messages.current_message() is not None)
    before = panes_of(window).messages.current_message()
    QTest.keyClick(panel.view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: panes_of(window).messages.current_message() != before)

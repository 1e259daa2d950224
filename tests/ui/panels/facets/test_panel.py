"""Facets: live counts beside the table; a click adds a condition, with Alt one that hides; so do keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.filters.visible import Scope
from inspector.ui.app.application import Application
from inspector.ui.panels.facets.panel import FacetsPanel
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope, tool_call
from tests.ui.windows import numbers, panes_of, story, window_on


def opened(window: MainWindow, qtbot: QtBot) -> FacetsPanel:
    window.show()
    window.actions_by_id["view.facets"].trigger()
    panel = panes_of(window).panel("facets")
    assert isinstance(panel, FacetsPanel)
    qtbot.waitUntil(lambda: bool(panel.rows))
    return panel


@pytest.fixture
def window(application: Application) -> MainWindow:
    return window_on(application, story())


def said(panel: FacetsPanel) -> list[str]:
    model = panel.model
    return [str(model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(model.rowCount())]


def press(panel: FacetsPanel, qtbot: QtBot, words: str, *, alt: bool = False) -> None:
    row = next(row for row, text in enumerate(said(panel)) if text.startswith(words))
    place = panel.view.visualRect(panel.model.index(row, 0)).center()
    modifier = Qt.KeyboardModifier.AltModifier if alt else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, modifier, place)


def test_it_is_hidden_until_asked_for_and_counts_what_is_shown(qtbot: QtBot, window: MainWindow) -> None:
    assert window.docks["Facets"].isHidden()
    panel = opened(window, qtbot)
    assert said(panel) == [
        "Kind", "chat, 3 messages", "mcp/request, 2 messages", "mcp/response, 2 messages",
        "reasoning/start, 1 message", "reasoning/thought, 1 message", "From", "lead, 7 messages", "files, 2 messages",
        "Tool", "search_records, 2 messages", "analysis_store, 2 messages", "State", "answered, 2 messages",
        "running, 1 message", "Context type", "reasoning, 5 messages",
    ]  # fmt: skip
    panes_of(window).filter_state.apply_filter('from == "files"')
    qtbot.waitUntil(lambda: "mcp/response, 2 messages" in said(panel) and "chat, 3 messages" not in said(panel))
    window.actions_by_id["view.facets"].trigger()
    assert window.docks["Facets"].isHidden()


def test_a_click_adds_a_condition_the_user_sees_and_alt_click_hides(qtbot: QtBot, window: MainWindow) -> None:
    panel = opened(window, qtbot)
    state = panes_of(window).filter_state
    press(panel, qtbot, "chat")
    assert state.filter.text == 'kind == "chat"'
    assert numbers(window) == [1, 2, 9]
    qtbot.waitUntil(lambda: "chat, 3 messages, chosen" in said(panel))
    assert "mcp/request, 2 messages" in said(panel)  # to be chosen as well
    press(panel, qtbot, "mcp/request")
    assert state.filter.text == 'kind in {"chat", "mcp/request"}'
    press(panel, qtbot, "mcp/request")
    press(panel, qtbot, "chat")
    assert state.filter.text == ""
    qtbot.waitUntil(lambda: "files, 2 messages" in said(panel))
    press(panel, qtbot, "files", alt=True)
    assert state.filter.text == 'from != "files"'
    qtbot.waitUntil(lambda: "files, 2 messages, hidden" in said(panel))


def test_the_keyboard_reaches_it(qtbot: QtBot, window: MainWindow) -> None:
    panel = opened(window, qtbot)
    state = panes_of(window).filter_state
    panel.view.setFocus(Qt.FocusReason.TabFocusReason)
    panel.view.setCurrentIndex(panel.model.index(1, 0))
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert state.filter.text == 'kind == "chat"'
    qtbot.keyClick(panel.view, Qt.Key.Key_Space)
    assert state.filter.text == ""
    qtbot.keyClick(panel.view, Qt.Key.Key_Return, Qt.KeyboardModifier.AltModifier)
    assert state.filter.text == 'kind != "chat"'
    menu = panel.menu_for(1)
    assert any(action.objectName() == "filter.or" for action in menu.actions())
    menu.close()


def test_counts_follow_the_scope_and_what_comes(qtbot: QtBot, application: Application) -> None:
    log = GrowingLog()
    log.write(envelope(), tool_call("grep", context="r-1"))
    window = window_on(application, log.document)
    panel = opened(window, qtbot)
    assert "lead, 2 messages" in said(panel)
    node = log.document.analysis.contexts.node_of(1)
    panes_of(window).filter_state.set_scope(Scope(0, node))
    qtbot.waitUntil(lambda: "lead, 1 message" in said(panel))
    panes_of(window).filter_state.set_scope(None)
    log.write(envelope(sender="human"))
    panes_of(window).bridge.flush()
    qtbot.waitUntil(lambda: "human, 1 message" in said(panel))


def test_of_many_values_the_others_are_shown_when_asked_for(qtbot: QtBot, application: Application) -> None:
    document = document_of(*(envelope(sender=f"agent-{number:02d}") for number in range(12)))
    panel = opened(window_on(application, document), qtbot)
    assert "and 4 more" in said(panel)
    press(panel, qtbot, "and 4 more")
    assert "agent-11, 1 message" in said(panel)


def test_names_are_shown_as_text_and_a_secret_makes_no_filter(qtbot: QtBot, application: Application) -> None:
    document = document_of(envelope(sender="<b>a\u202eb</b>"), envelope(sender="token=s3cr3t-value"))
    window = window_on(application, document)
    panel = opened(window, qtbot)
    assert "<b>a⟨U+202E⟩b</b>, 1 message" in said(panel)
    assert not any("s3cr3t" in text for text in said(panel))
    row = next(row for row, text in enumerate(said(panel)) if text.startswith("token="))
    panel.view.toggled.emit(row, False)
    assert panes_of(window).filter_state.filter.text == ""

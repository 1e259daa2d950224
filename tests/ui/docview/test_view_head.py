"""What stands above the table about requests and proposals that the view hides, as a user reads and uses it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from inspector.engine.requests.filters import Scope
from inspector.engine.requests.locations import LocateMessage
from inspector.ui.app.application import Application
from inspector.ui.docview.panel import CONVERSATION, MESSAGES
from inspector.ui.docview.view_head import HIDDEN_CALLS, IGNORED_FILTER, NEXT_KEPT, ONLY_KEPT
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.window.main_window import MainWindow
from tests.builders import document_at, document_of, received, tool_call
from tests.samples import sample
from tests.ui.find import child
from tests.ui.windows import in_turn, numbers, panes_of, story_lines, window_on

CHATS = 'kind == "chat"'


@pytest.fixture
def window(qtbot: QtBot, application: Application) -> MainWindow:
    """A live session in which the last request, No. 10 inside the reasoning, waits for an answer."""
    document = document_of(*story_lines(), received(tool_call("deploy", context="why-1")))
    document.live = True
    window = window_on(application, document)
    qtbot.waitUntil(lambda: panes_of(window).waits.answer is not None)
    return window


def test_nothing_is_said_where_nothing_waits_or_nothing_comes_any_more(qtbot: QtBot, application: Application) -> None:
    for lines, live in (
        (story_lines(), True),
        ([*story_lines(), received(tool_call("deploy", context="why-1"))], False),
    ):
        document = document_of(*lines)
        document.live = live
        window = window_on(application, document)
        waits = panes_of(window).waits
        if live:
            qtbot.waitUntil(lambda waits=waits: waits.answer is not None)
        panes_of(window).filter_state.apply_filter(CHATS)
        assert panes_of(window).rows.hidden_calls()[0] >= 2
        assert said(window) == ""


def said(window: MainWindow) -> str:
    notice = window.view_head.notices.notice(HIDDEN_CALLS)
    return "" if notice is None else f"{notice.text} {' '.join(notice.links)}"


def click(window: MainWindow, qtbot: QtBot) -> None:
    notice = window.view_head.notices.notice(HIDDEN_CALLS)
    assert notice is not None
    qtbot.waitUntil(lambda: any(one.isVisible() for one in notice.findChildren(LinkButton)))
    link = next(one for one in notice.findChildren(LinkButton) if one.isVisible())
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)


def editor(window: MainWindow) -> str:
    return child(window, QPlainTextEdit, "filterEditor").toPlainText()


def any_filter_that_hides_calls_says_so_and_shows_them_on_a_click(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    assert said(window) == ""
    panes.filter_state.apply_filter(CHATS)
    assert said(window) == "The filter hides 3 requests. Show"
    panes.go_to(1)
    click(window, qtbot)
    assert numbers(window) == [1, 2, 5, 7, 9, 10]
    assert editor(window) == CHATS, "what the user wrote stays"
    assert panes.messages.current_message() == 1
    assert said(window).endswith("Hide")
    click(window, qtbot)
    assert numbers(window) == [1, 2, 9]
    assert said(window).endswith("Show")


def conditions_stay_switches_and_count_what_they_hide(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.stack_filter(CHATS)
    click(window, qtbot)
    chips = window.filter_conditions.bar.chips()
    assert [chip.condition.text for chip in chips] == [CHATS]
    qtbot.waitUntil(lambda: chips[0].hides == 4)
    qtbot.mouseClick(chips[0], Qt.MouseButton.LeftButton)
    assert len(numbers(window)) == 10
    assert said(window) == "", "nothing chooses any more"


def a_scope_stays_too(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(0)
    panes.details.links.scope_requested.emit(0)  # main
    before = panes.filter_state.scope
    assert before is not None
    assert said(window).startswith("The scope hides 3 requests.")
    click(window, qtbot)
    assert numbers(window) == [1, 2, 3, 5, 7, 9, 10]
    assert window.view_head.scope.isVisible()
    click(window, qtbot)
    assert panes.filter_state.scope == before
    assert numbers(window) == [1, 2, 3, 9]


def a_preset_begins_anew(window: MainWindow, qtbot: QtBot) -> None:
    panes_of(window).filter_state.apply_filter(CHATS)
    click(window, qtbot)
    panes_of(window).filter_state.apply_filter("!context")
    assert said(window).endswith("Show")


def requests_shown_as_well_end_with_the_view_they_were_hidden_by(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.details.links.scope_requested.emit(0)
    click(window, qtbot)
    panes.filter_state.set_scope(None)
    assert said(window) == ""
    panes.filter_state.apply_own_text(CHATS)
    assert numbers(window) == [1, 2, 9]
    assert said(window).endswith("Show")


def another_scope_is_another_view(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter(CHATS)
    click(window, qtbot)
    panes.details.links.scope_requested.emit(0)
    assert numbers(window) == [1, 2, 9]


def a_condition_that_comes_later_hides_requests_as_well(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.stack_filter(CHATS)
    click(window, qtbot)
    panes.filter_state.combine_filter('kind == "mcp/request" && no == 5', "and_not")
    assert numbers(window) == [1, 2, 7, 9, 10]


def presets_and_highlights_are_made_of_what_was_chosen(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter(CHATS)
    click(window, qtbot)
    window.presets.ask_to_save_active()
    assert child(window.name_card, QLabel, "nameWhat").text() == CHATS
    window.name_card.leave()
    window.highlighting.ask_to_add_filter()
    assert child(window.name_card, QLabel, "nameWhat").text() == CHATS
    panes.filter_state.apply_filter("tool")
    assert window.name_card.isHidden(), "it was about another filter"


def show_them_keeps_the_message_that_stood_in_for_a_hidden_one(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(6)
    panes.filter_state.apply_filter(CHATS)
    stands_in = panes.messages.current_message()
    assert stands_in != 6
    click(window, qtbot)
    assert panes.messages.current_message() == stands_in


def show_them_leaves_selection_and_keyboard_alone(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    window.show()
    window.activateWindow()
    panes.filter_state.apply_filter(CHATS)
    panes.messages.setFocus()
    panes.go_to(1)
    click(window, qtbot)
    assert panes.messages.current_message() == 1
    assert panes.messages.view.hasFocus()
    notice = window.view_head.notices.notice(HIDDEN_CALLS)
    assert notice is not None
    link = next(one for one in notice.findChildren(LinkButton) if one.label == "Hide")
    qtbot.waitUntil(link.isVisible)
    link.setFocus(Qt.FocusReason.TabFocusReason)
    assert link.hasFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    focus = QApplication.focusWidget()
    assert isinstance(focus, LinkButton)
    assert focus.label == "Show"
    panes.filter_state.clear()
    assert panes.messages.view.hasFocus()


def a_context_in_whose_scope_the_table_is_offers_the_way_back(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    space = int(panes.client.document.capture.columns["space"][3])
    panes.show_context(space, panes.client.document.analysis.contexts.node_of(3))
    for words, scoped in (
        ("Scope to this context", True),
        ("Clear scope", False),
        ("Scope to this context", None),
    ):
        link = child(panes.details.context_page, QAbstractButton, "contextScope")
        assert link.text() == words
        if scoped is not None:
            link.click()
            assert (panes.filter_state.scope is not None) is scoped


def a_note_goes_with_the_view_it_was_about(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    window.notices.show_sentence("Saved.")
    panes.filter_state.apply_filter(CHATS)
    assert window.notices.notice("message") is None
    window.notices.show_sentence("The gateway is gone.", "severity.error")
    panes.filter_state.apply_filter("tool")
    assert window.notices.notice("message") is not None


def undo_in_the_bar_does_not_write_again_what_was_stacked(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    field = child(window, QPlainTextEdit, "filterEditor")
    field.setFocus()
    qtbot.keyClicks(field, CHATS)
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [condition.text for condition in panes_of(window).filter_state.stack.conditions] == [CHATS]
    field.undo()
    assert editor(window) == ""


def begun_again(window: MainWindow) -> None:
    """Everything is shown, and nothing is written into the bar."""
    child(window, QPlainTextEdit, "filterEditor").clear()
    panes_of(window).filter_state.clear()
    panes_of(window).go_to(0)


test_what_a_view_hides = in_turn([
    any_filter_that_hides_calls_says_so_and_shows_them_on_a_click,
    conditions_stay_switches_and_count_what_they_hide, a_scope_stays_too, a_preset_begins_anew,
    requests_shown_as_well_end_with_the_view_they_were_hidden_by, another_scope_is_another_view,
    a_condition_that_comes_later_hides_requests_as_well, presets_and_highlights_are_made_of_what_was_chosen,
    show_them_keeps_the_message_that_stood_in_for_a_hidden_one, show_them_leaves_selection_and_keyboard_alone,
    a_context_in_whose_scope_the_table_is_offers_the_way_back,
    undo_in_the_bar_does_not_write_again_what_was_stacked, a_note_goes_with_the_view_it_was_about,
], begun_again)  # fmt: skip


def test_all_tabs_stay_in_sight_beside_a_scope(application: Application, qtbot: QtBot) -> None:
    window = window_on(application, document_at(sample("otlp/langgraph-openinference-0.1.80.jsonl")))
    window.resize(1280, 800)
    window.show()
    window.center.show_view(MESSAGES)
    panes = panes_of(window)
    opened = panes.client.answer_now(LocateMessage(0))
    panes.filter_state.set_scope(Scope(opened.space, opened.begun))
    head = window.view_head
    qtbot.waitUntil(head.scope.isVisible)
    bar = child(head, QTabBar, "viewTabBar")
    qtbot.waitUntil(lambda: bar.tabRect(bar.count() - 1).right() < bar.width() >= head.tabs.bar_width)
    assert not [arrow for arrow in bar.findChildren(QToolButton) if arrow.isVisible()]
    assert head.scope.geometry().right() <= head.tabs.width()
    assert child(head.scope, QToolButton, "scopeReach").width() >= 20


def test_views_that_ignore_the_filter_say_so_and_lead_to_the_kept_messages(
    application: Application, qtbot: QtBot
) -> None:
    window = window_on(application, document_of(*story_lines()))
    window.show()
    panes, head = panes_of(window), window.view_head
    window.center.show_view(CONVERSATION)
    assert head.unfiltered.isHidden()
    panes.filter_state.apply_filter(CHATS)
    qtbot.waitUntil(lambda: head.unfiltered.notice(IGNORED_FILTER) is not None)
    notice = head.unfiltered.notice(IGNORED_FILTER)
    assert notice is not None
    assert notice.text == "The filter keeps 3 of 9 messages; Conversation shows all."
    # Each click selects the next message that the filter keeps, and the filter stays.
    assert notice.links == [NEXT_KEPT, ONLY_KEPT]
    panes.go_to(1)
    qtbot.mouseClick(notice.findChildren(LinkButton)[0], Qt.MouseButton.LeftButton)
    assert panes.messages.current_message() == 8
    assert panes.filter_state.filter.text == CHATS
    window.center.show_view("files")
    assert notice.text == "The filter keeps 3 of 9 messages; Files shows all."
    opened = panes.client.answer_now(LocateMessage(2))
    panes.filter_state.set_scope(Scope(opened.space, opened.begun))
    qtbot.waitUntil(lambda: notice.text == "Filter and scope keep 0 of 9 messages; Files shows all.")
    window.center.show_view(CONVERSATION)
    assert notice.text == "Filter and scope keep 0 of 9 messages; Conversation follows only the scope."
    # The conversation follows a scope, so that a scope alone leaves nothing to say there.
    panes.filter_state.apply_filter("")
    qtbot.waitUntil(head.unfiltered.isHidden)
    window.center.show_view("files")
    again = head.unfiltered.notice(IGNORED_FILTER)
    assert again is not None
    assert again.text.startswith("The scope keeps")
    qtbot.mouseClick(again.findChildren(LinkButton)[0], Qt.MouseButton.LeftButton)
    assert window.center.current == MESSAGES
    assert head.unfiltered.isHidden()

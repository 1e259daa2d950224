"""What panes do among themselves: filter, scope, selection and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.engine.request import Request
from inspector.engine.requests.views import FilterRows, Progress, ProgressOfView
from inspector.filters.visible import Scope
from inspector.present.message_columns import Column
from inspector.present.places import ContextPlace, ParticipantPlace
from inspector.ui import intervals
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.pipe_client import PipeTicket
from inspector.ui.window.main_window import MainWindow
from tests.builders import GrowingLog, document_of, envelope
from tests.ui.held_requests import limit_blocks, pace_requests
from tests.ui.slow_answers import answer_slowly
from tests.ui.windows import in_turn, panes_of, window_on


def shown(panes: Panes) -> list[int]:
    return panes.rows.visible.tolist()


def scope_of(panes: Panes, message: int) -> Scope:
    document = panes.client.document
    return Scope(int(document.capture.columns["space"][message]), document.analysis.contexts.node_of(message))


def filters_of_cells_join_the_one_in_force(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    wanted = {"replace": [4, 6], "and": [], "or": [0, 1, 4, 6, 8], "and_not": [0, 1, 8]}
    for mode, expected in wanted.items():
        panes.filter_state.apply_filter('kind == "chat"')
        panes.filter_state.combine_filter('kind == "mcp/request"', mode)
        assert shown(panes) == expected, mode


def a_filter_that_would_hold_a_secret_is_refused(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    refused: list[str] = []
    panes.filter_state.filter_refused.connect(refused.append)
    for mode in ("replace", "and", "or", "and_not", "highlight"):
        panes.filter_state.combine_filter(f'from == "ghp_{"16C7e42F292c6912E7710c838347Ae178B4a"}"', mode)
        assert shown(panes) == list(range(len(panes.client.document.analysis)))
        assert refused == ["This value contains a secret and cannot be used as a filter."], mode
        refused.clear()


def a_wrong_filter_changes_nothing_and_is_said(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    failed: list[object] = []
    panes.filter_state.filter_failed.connect(failed.append)
    panes.filter_state.apply_filter('kind == "chat"')
    panes.filter_state.apply_filter("kind ==")
    assert shown(panes) == [0, 1, 8]
    assert panes.rows.filter.text == 'kind == "chat"'
    assert len(failed) == 1


def the_selected_context_is_that_of_the_scope_then_of_the_message(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    assert panes.filter_state.selected_context is None
    assert panes.filter_state.check_filter("context under $context") is not None
    panes.go_to(4)
    assert panes.filter_state.selected_context == "why-1"
    panes.go_to(0)
    assert panes.filter_state.selected_context is None
    panes.filter_state.set_scope(scope_of(panes, 4))
    assert panes.filter_state.selected_context == "why-1"


def going_to_a_message_shown_keeps_the_view(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter('kind == "chat"')
    panes.go_to(8)
    assert panes.rows.filter.text == 'kind == "chat"'


def back_goes_through_the_places_and_their_views(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.set_scope(scope_of(panes, 4))
    panes.go_to(5)
    panes.go_to(0)  # hidden by the scope, so that goes
    assert panes.rows.scope is None
    panes.go_to(8)
    panes.go_back()
    assert panes.messages.current_message() == 0
    panes.go_back()
    assert panes.messages.current_message() == 5
    assert panes.rows.scope is not None
    panes.go_back()
    panes.go_back()
    panes.go_back()
    assert panes.messages.current_message() is not None


def back_leaves_a_view_alone_that_was_chosen_since(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter('kind == "chat"')
    panes.go_to(0)
    panes.go_to(8)
    panes.filter_state.apply_filter("")
    panes.go_back()
    assert panes.messages.current_message() == 0
    assert panes.rows.filter.text == ""


def showing_what_is_hidden_adds_it_to_the_filter(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.filter_state.apply_filter("!context")
    assert panes.rows.hidden_calls() == (2, 0)
    before = shown(panes)
    panes.filter_state.show_hidden_calls()
    assert panes.rows.hidden_calls() == (0, 0)
    assert {4, 6} <= set(shown(panes))
    assert 0 in shown(panes)
    assert panes.filter_state.stack.text == "!context", "the filter stays what it is"
    panes.filter_state.hide_calls_again()
    assert shown(panes) == before


# Filters that have to decode records


@pytest.fixture
def many(application: Application) -> Panes:
    document = document_of(*(envelope("chat", {"text": f"number {n}", "n": n}) for n in range(3_000)))
    return panes_of(window_on(application, document))


@pytest.fixture
def slowly(many: Panes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of the loop is long enough for some records only."""
    answer_slowly(monkeypatch, many.client)
    monkeypatch.setattr(intervals, "QUIET_S", 0.0)
    monkeypatch.setattr(intervals, "TELL_S", 0.0)
    limit_blocks(monkeypatch, 16)
    pace_requests(monkeypatch, FilterRows, 12)


def test_a_filter_that_decodes_works_in_slices_and_says_how_far_it_is(many: Panes, slowly: None, qtbot: QtBot) -> None:
    told: list[tuple[float | None, int]] = []
    many.filter_state.search.searching.connect(lambda fraction, found: told.append((fraction, found)))
    many.go_to(2_500)
    many.filter_state.apply_filter("payload.n < 600")
    assert (len(many.rows), many.filter_state.filter.text) == (3_000, "payload.n < 600")
    assert many.messages.current_message() == 2_500, "until it is in force everything stays where it is"
    qtbot.waitUntil(lambda: len(many.rows) == 600)
    assert many.messages.current_message() == 599
    fractions = [fraction for fraction, _ in told if fraction is not None]
    assert len(fractions) > 10
    assert fractions == sorted(fractions)
    assert told[-1] == (None, 0)
    assert 100 < max(found for _, found in told) <= 600  # the last progress may be from after the last pause


def test_how_far_a_filter_is_is_not_said_after_each_slice(
    many: Panes, slowly: None, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "TELL_S", 3_600.0)
    pace_requests(monkeypatch, FilterRows, 1)
    told: list[float | None] = []
    many.filter_state.search.searching.connect(lambda fraction, _found: told.append(fraction))
    for text, count in (("payload.n < 600", 600), ("payload.n < 500", 500)):
        told.clear()
        many.filter_state.apply_filter(text)
        qtbot.waitUntil(lambda count=count: len(many.rows) == count)
        assert len(told) == 2
        assert told[0] is not None, "at the beginning"
        assert told[1] is None, "at the end"


def test_the_filter_bar_shows_a_filter_at_work(many: Panes, slowly: None, qtbot: QtBot) -> None:
    bar = cast("MainWindow", many.parent()).filter_bar
    many.filter_state.apply_filter('text contains "number 1"')
    qtbot.waitUntil(lambda: bar.counts_text().endswith("so far"))
    qtbot.waitUntil(lambda: len(many.rows) == 1_111)
    assert bar.counts_text() == "1,111 of 3,000"


def test_another_filter_gives_up_the_one_at_work(many: Panes, slowly: None, qtbot: QtBot) -> None:
    many.filter_state.apply_filter("payload.n < 600")
    many.filter_state.apply_filter("no <= 10")
    qtbot.waitUntil(lambda: len(many.rows) == 10)
    qtbot.wait(50)
    assert len(many.rows) == 10
    many.filter_state.apply_filter("payload.n < 600")
    many.filter_state.combine_filter("payload.n > 590", "and")
    qtbot.waitUntil(lambda: len(many.rows) == 9)
    assert many.rows.filter.text == "payload.n > 590 && payload.n < 600"


def test_a_window_that_is_closed_decodes_no_more(many: Panes, slowly: None, qtbot: QtBot) -> None:
    many.filter_state.apply_filter("payload.n < 600")
    many.detach()  # the window does so before the document's files are closed
    qtbot.wait(30)
    assert len(many.rows) == 3_000


@pytest.mark.parametrize("work", ["filter", "sort"])
def test_progress_is_requested_again_only_after_its_answer(
    many: Panes, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    asked: list[Callable[[Progress], object]] = []

    def hold(request: Request[Any], answered: Callable[[Any], object], *_failed: object) -> PipeTicket:
        if isinstance(request, ProgressOfView):
            asked.append(answered)
        return PipeTicket()

    monkeypatch.setattr(intervals, "QUIET_S", 0.0)
    monkeypatch.setattr(intervals, "TELL_S", 0.0)
    monkeypatch.setattr(many.client, "send_request", hold)
    if work == "filter":
        many.filter_state.apply_filter("payload.n < 600")
    else:
        many.messages.sorter.sort("text")
    qtbot.waitUntil(lambda: bool(asked))
    qtbot.wait(30)
    assert len(asked) == 1
    asked[0](Progress(0.5))
    qtbot.waitUntil(lambda: len(asked) == 2)


# Pausing


def test_what_came_while_the_view_was_paused_comes_at_once(application: Application, qtbot: QtBot) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    panes.filter_state.apply_filter('kind == "chat"')
    panes.bridge.set_paused(True)
    for start in range(0, 20_000, 1_000):
        some = range(start, start + 1_000)
        log.write(*(envelope("chat" if n % 2 else "stream/open", {}, context=f"c{n % 7}") for n in some))
    qtbot.wait(80)
    assert (len(panes.rows), len(panes.client.document.capture), panes.bridge.waiting) == (0, 20_000, 20_000)
    panes.bridge.set_paused(False)
    assert len(panes.rows) == 10_000
    qtbot.waitUntil(lambda: panes.contexts.model.rowCount() == 9)
    assert panes.contexts.model.count(0) == 20_000


def test_a_paused_view_with_a_slow_filter_catches_up_in_slices(
    application: Application, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    panes.filter_state.apply_filter("payload.n")
    panes.bridge.set_paused(True)
    log.write(*(envelope("chat", {"n": n} if n % 2 else {}) for n in range(2_000)))
    limit_blocks(monkeypatch, 64)
    panes.bridge.set_paused(False)
    assert 0 < len(panes.rows) < 1_000
    assert panes.rows.is_behind
    qtbot.waitUntil(lambda: len(panes.rows) == 1_000)
    assert not panes.rows.is_behind
    assert panes.rows.visible.tolist() == list(range(1, 2_000, 2))


def test_another_filter_takes_a_paused_view_as_far_as_it_was_looked_for(application: Application) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    log.write(envelope("chat", {}), envelope("chat", {}))
    panes.bridge.set_paused(True)
    panes.bridge.flush()
    log.write(envelope("chat", {}), envelope("system/x", {}))
    assert (shown(panes), panes.bridge.waiting) == ([0, 1], 2)
    panes.filter_state.apply_filter('kind == "chat"')
    assert (shown(panes), panes.bridge.waiting, panes.bridge.paused) == ([0, 1, 2], 0, True)
    assert panes.counts() == (3, 4)


def test_states_that_go_by_the_clock_are_filtered_anew_each_second(application: Application) -> None:
    log = GrowingLog()
    panes = panes_of(window_on(application, log.document))
    log.document.analysis.now_ns = 10**18
    log.write({"t": 10**18, "dir": "in", "src": 0, "frame": envelope(context="a", ts=None)})
    panes.bridge.flush()
    panes.filter_state.apply_filter("context.state == active")
    assert shown(panes) == [0]
    panes.tick(10**18 + 60 * 10**9)
    assert shown(panes) == []


def click_context(panes: Panes, name: str) -> None:
    view, model = panes.contexts.view, panes.contexts.model
    row = next(row for row in range(model.rowCount()) if model.label(row) == name)
    view.scope_asked.emit(row)


def a_context_picked_is_shown_until_a_message_is(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(4)
    click_context(panes, "main")
    assert panes.details.place is not None
    assert panes.details.head.name == "main"
    assert panes.messages.current_message() is not None
    panes.messages.step(1)
    assert panes.details.place is None
    assert panes.details.message == panes.messages.current_message()


def the_message_that_is_current_already_turns_the_details_back(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(4)
    panes.show_context(0, MAIN)
    assert panes.details.message is None
    view = panes.messages.view
    row = panes.rows.row_of(4)
    assert row is not None
    place = view.visualRect(view.messages.index(row, Column.MESSAGE)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panes.details.message == 4
    panes.show_context(0, MAIN)
    panes.go_to(4)
    assert panes.details.message == 4


def another_row_that_stands_in_for_a_hidden_one_does_not_turn_the_details_away(
    window: MainWindow, qtbot: QtBot
) -> None:
    panes = panes_of(window)
    panes.go_to(0)
    space = int(panes.client.document.capture.columns["space"][4])
    panes.show_context(space, panes.client.document.analysis.contexts.node_of(4))
    panes.filter_state.set_scope(scope_of(panes, 4))
    assert panes.messages.current_message() != 0
    assert panes.details.place is not None


def back_goes_through_contexts_and_participants(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    space = int(panes.client.document.capture.columns["space"][4])
    panes.go_to(4)
    panes.show_context(space, MAIN)
    panes.participants.selected.emit((space, "lead"))
    panes.go_to(6)
    assert panes.details.message == 6
    panes.go_back()
    assert panes.details.place == ParticipantPlace(space, "lead")
    panes.go_back()
    assert panes.details.place == ContextPlace(space, MAIN)
    panes.go_back()
    assert (panes.details.message, panes.messages.current_message()) == (4, 4)


def a_whole_space_has_no_page_and_turns_back_to_the_message(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    panes.go_to(4)
    click_context(panes, "main")
    panes.contexts.view.scope_asked.emit(0)
    assert panes.details.message == panes.messages.current_message()


def the_page_s_link_scopes_the_table(window: MainWindow, qtbot: QtBot) -> None:
    panes = panes_of(window)
    scope = scope_of(panes, 4)
    assert scope.node is not None
    panes.details.links.context_scope_requested.emit(ContextPlace(scope.space, scope.node))
    assert panes.rows.scope == scope


def begun_again(window: MainWindow) -> None:
    """All messages are shown, and the first is current."""
    panes_of(window).filter_state.clear()
    panes_of(window).go_to(0)


test_a_view_and_where_it_goes = in_turn([
    filters_of_cells_join_the_one_in_force, a_filter_that_would_hold_a_secret_is_refused,
    a_wrong_filter_changes_nothing_and_is_said, the_selected_context_is_that_of_the_scope_then_of_the_message,
    going_to_a_message_shown_keeps_the_view, back_goes_through_the_places_and_their_views,
    back_leaves_a_view_alone_that_was_chosen_since, showing_what_is_hidden_adds_it_to_the_filter,
    a_context_picked_is_shown_until_a_message_is, the_message_that_is_current_already_turns_the_details_back,
    another_row_that_stands_in_for_a_hidden_one_does_not_turn_the_details_away,
    back_goes_through_contexts_and_participants, a_whole_space_has_no_page_and_turns_back_to_the_message,
    the_page_s_link_scopes_the_table,
], begun_again)  # fmt: skip

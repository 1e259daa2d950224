"""What panes do among themselves: filter, scope, selection and the way back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from inspector.filters.visible import Scope
from inspector.ui.app import Application
from inspector.ui.panes import Panes
from tests.ui.windows import panes_of, story, window_on


@pytest.fixture
def panes(qapp: QApplication) -> Iterator[Panes]:
    application = Application(qapp, theme="light", bundled_fonts=True, remembers=False)
    window = window_on(application, story())
    yield panes_of(window)
    window.close()
    application.theme.dispose()


def shown(panes: Panes) -> list[int]:
    return panes.rows.visible.tolist()


def scope_of(panes: Panes, message: int) -> Scope:
    document = panes.document
    return Scope(int(document.capture.columns["space"][message]), document.analysis.contexts.node_of(message))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("replace", [4, 6]), ("and", []), ("or", [0, 1, 4, 6, 8]), ("and_not", [0, 1, 8])],
)
def test_filters_of_cells_join_the_one_in_force(panes: Panes, mode: str, expected: list[int]) -> None:
    panes.apply_filter('kind == "chat"')
    panes.combine_filter('kind == "mcp/request"', mode)
    assert shown(panes) == expected


def test_a_wrong_filter_changes_nothing_and_is_said(panes: Panes) -> None:
    failed: list[object] = []
    panes.filter_failed.connect(failed.append)
    panes.apply_filter('kind == "chat"')
    panes.apply_filter("kind ==")
    assert shown(panes) == [0, 1, 8]
    assert panes.rows.filter.text == 'kind == "chat"'
    assert len(failed) == 1


def test_the_selected_context_is_that_of_the_scope_then_of_the_message(panes: Panes) -> None:
    assert panes.selected_context is None
    assert panes.check_filter("context under $context") is not None
    panes.go_to(4)
    assert panes.selected_context == "why-1"
    panes.go_to(0)
    assert panes.selected_context is None
    panes.set_scope(scope_of(panes, 4))
    assert panes.selected_context == "why-1"


def test_going_to_a_message_shown_keeps_the_view(panes: Panes) -> None:
    panes.apply_filter('kind == "chat"')
    panes.go_to(8)
    assert panes.rows.filter.text == 'kind == "chat"'


def test_back_goes_through_the_places_and_their_views(panes: Panes) -> None:
    panes.set_scope(scope_of(panes, 4))
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


def test_back_leaves_a_view_alone_that_was_chosen_since(panes: Panes) -> None:
    panes.apply_filter('kind == "chat"')
    panes.go_to(0)
    panes.go_to(8)
    panes.apply_filter("")
    panes.go_back()
    assert panes.messages.current_message() == 0
    assert panes.rows.filter.text == ""


def test_showing_what_is_hidden_adds_it_to_the_filter(panes: Panes) -> None:
    panes.apply_filter("!context")
    assert panes.rows.hidden_calls() == (2, 0)
    panes.show_hidden_calls()
    assert panes.rows.hidden_calls() == (0, 0)
    assert {4, 6} <= set(shown(panes))
    assert 0 in shown(panes)

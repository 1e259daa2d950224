"""Stacked conditions and the one filter they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters import FilterError, compile_filter
from inspector.filters.stacked_conditions import (
    MOST_CONDITIONS,
    Condition,
    FilterStack,
    join_filters,
    negate_filter,
    resolve_variables,
)
from tests.unit.filters.test_visible import FILTERS


def test_conditions_and_the_text_are_one_filter() -> None:
    stack = FilterStack(text='kind == "chat" || badge').with_condition('from == "lead"').with_condition("!error")
    assert stack.combined == 'from == "lead" && !error && (kind == "chat" || badge)'
    assert stack.with_switched(0, on=False).combined == '!error && (kind == "chat" || badge)'
    assert stack.without_condition(1).without_condition(0).combined == 'kind == "chat" || badge'


def test_one_alone_stays_as_it_is_written() -> None:
    assert FilterStack(text="a  ==  1").combined == "a  ==  1"
    assert FilterStack().with_condition("badge ").combined == "badge"


def test_nothing_stands_twice() -> None:
    stack = FilterStack(text="error").with_condition("badge").with_switched(0, on=False)
    assert stack.with_condition("badge").conditions == (Condition("badge"),)
    assert stack.with_condition("error") == stack
    assert stack.with_condition("") == stack
    both = FilterStack().with_condition("badge").with_condition("!badge")
    assert both.with_negated(1).conditions == (Condition("badge"),)


def test_alone_switches_the_conditions_off() -> None:
    stack = FilterStack(text="error").with_condition("badge").with_only("!context")
    assert stack.combined == "!context"
    assert stack.conditions == (Condition("badge", on=False),)


def test_widened_keeps_what_is_off() -> None:
    stack = (
        FilterStack(text="error")
        .with_condition("badge")
        .with_condition("tool")
        .with_switched(1, on=False)
        .with_alternative("context")
    )
    assert stack.combined == "(badge && error) || context"
    assert stack.conditions == (Condition("tool", on=False),)
    assert FilterStack().with_alternative("context").combined == "context"


def test_what_is_shown_as_well_is_an_exception_to_what_hid_it_and_to_nothing_else() -> None:
    stack = FilterStack().with_condition("badge").with_besides("tool")
    assert stack.combined == "(badge) || tool"
    assert stack.active_filter == "badge"
    assert stack.with_condition("!error").combined == "(badge && !error) || tool && !error"
    assert stack.with_condition("!error").with_switched(1, on=False).combined == "(badge) || tool"
    assert stack.with_text("error").combined == "badge && error", "another text, to which nobody made an exception"
    assert stack.with_switched(0, on=False).without_stale_exception().besides == ""
    assert stack.without_stale_exception() == stack
    assert stack.with_besides("").combined == "badge"


def test_what_is_stacked_out_of_the_bar_keeps_its_exception() -> None:
    shown = FilterStack(text="badge").with_besides("tool").with_text_stacked("badge")
    assert shown.combined == "(badge) || tool"
    assert shown.text == ""
    assert shown.with_text_stacked("error").combined == "(badge && error) || tool && error"


def test_the_last_place_is_the_bar() -> None:
    stack = FilterStack()
    for number in range(MOST_CONDITIONS + 1):
        stack = stack.with_condition(f"no != {number}")
    assert stack.is_full
    assert stack.text == f"no != {MOST_CONDITIONS}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('from == "a"', 'from != "a"'), ('to != "a"', 'to == "a"'), ("!context", "context"), ("badge", "!badge"),
        ("size > 3", "!(size > 3)"), ("a || b", "!(badge || error)"), ('"x"', '!"x"'),
    ],
)  # fmt: skip
def test_the_opposite_as_somebody_would_write_it(text: str, expected: str) -> None:
    assert negate_filter("badge || error" if text == "a || b" else text) == expected


def test_everything_has_no_opposite() -> None:
    with pytest.raises(FilterError, match="no opposite"):
        negate_filter(" ")


def test_the_selected_context_is_written_out() -> None:
    text = 'context under $context && !(context in {"$context", $context})'
    assert resolve_variables(text, 'why"1') == 'context under "why\\"1" && !(context in {"$context", "why\\"1"})'
    assert resolve_variables(text, None) == text


@given(st.lists(st.sampled_from(FILTERS), max_size=5))
def test_joined_means_that_all_hold(texts: list[str]) -> None:
    whole = compile_filter(join_filters(texts), selected_context="a")
    assert whole.fields == frozenset().union(*(compile_filter(text, selected_context="a").fields for text in texts))
    assert join_filters([join_filters(texts), ""]) == join_filters(texts)

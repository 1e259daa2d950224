"""Stacked conditions and the one filter they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters import FilterError, compile_filter
from inspector.filters.stacked_conditions import MOST_CONDITIONS, Condition, FilterStack, joined, opposite, resolved
from tests.unit.filters.test_visible import FILTERS


def test_conditions_and_the_text_are_one_filter() -> None:
    stack = FilterStack(text='kind == "chat" || badge').added('from == "lead"').added("!error")
    assert stack.combined == 'from == "lead" && !error && (kind == "chat" || badge)'
    assert stack.switched(0, on=False).combined == '!error && (kind == "chat" || badge)'
    assert stack.removed(1).removed(0).combined == 'kind == "chat" || badge'


def test_one_alone_stays_as_it_is_written() -> None:
    assert FilterStack(text="a  ==  1").combined == "a  ==  1"
    assert FilterStack().added("badge ").combined == "badge"


def test_nothing_stands_twice() -> None:
    stack = FilterStack(text="error").added("badge").switched(0, on=False)
    assert stack.added("badge").conditions == (Condition("badge"),)
    assert stack.added("error") == stack
    assert stack.added("") == stack
    both = FilterStack().added("badge").added("!badge")
    assert both.negated(1).conditions == (Condition("badge"),)


def test_alone_switches_the_conditions_off() -> None:
    stack = FilterStack(text="error").added("badge").alone("!context")
    assert stack.combined == "!context"
    assert stack.conditions == (Condition("badge", on=False),)


def test_widened_keeps_what_is_off() -> None:
    stack = FilterStack(text="error").added("badge").added("tool").switched(1, on=False).widened("context")
    assert stack.combined == "(badge && error) || context"
    assert stack.conditions == (Condition("tool", on=False),)
    assert FilterStack().widened("context").combined == "context"


def test_what_is_shown_as_well_is_an_exception_to_what_hid_it_and_to_nothing_else() -> None:
    stack = FilterStack().added("badge").showing("tool")
    assert stack.combined == "(badge) || tool"
    assert stack.chosen == "badge"
    assert stack.added("!error").combined == "(badge && !error) || tool && !error"
    assert stack.added("!error").switched(1, on=False).combined == "(badge) || tool"
    assert stack.with_text("error").combined == "badge && error", "another text, to which nobody made an exception"
    assert stack.switched(0, on=False).settled().besides == ""
    assert stack.settled() == stack
    assert stack.showing("").combined == "badge"


def test_what_is_stacked_out_of_the_bar_keeps_its_exception() -> None:
    shown = FilterStack(text="badge").showing("tool").stacked("badge")
    assert shown.combined == "(badge) || tool"
    assert shown.text == ""
    assert shown.stacked("error").combined == "(badge && error) || tool && error"


def test_the_last_place_is_the_bar() -> None:
    stack = FilterStack()
    for number in range(MOST_CONDITIONS + 1):
        stack = stack.added(f"no != {number}")
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
    assert opposite("badge || error" if text == "a || b" else text) == expected


def test_everything_has_no_opposite() -> None:
    with pytest.raises(FilterError, match="no opposite"):
        opposite(" ")


def test_the_selected_context_is_written_out() -> None:
    text = 'context under $context && !(context in {"$context", $context})'
    assert resolved(text, 'why"1') == 'context under "why\\"1" && !(context in {"$context", "why\\"1"})'
    assert resolved(text, None) == text


@given(st.lists(st.sampled_from(FILTERS), max_size=5))
def test_joined_means_that_all_hold(texts: list[str]) -> None:
    whole = compile_filter(joined(texts), selected_context="a")
    assert whole.fields == frozenset().union(*(compile_filter(text, selected_context="a").fields for text in texts))
    assert joined([joined(texts), ""]) == joined(texts)

"""Facets count what is shown, by their own slow twin; choosing and excluding write conditions anybody would."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter, facets
from inspector.filters.facets import FACETS, FacetTally, choice_of, chosen_with, excluded_with
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.stacked_conditions import FilterStack
from inspector.filters.visible import Scope, VisibleRows
from tests.builders import GrowingLog, clean_up, document_of, envelope, tool_call, tool_result
from tests.unit.analysis.views.account.test_account import CHOICES, spoken


def counted(tally: FacetTally) -> dict[str, dict[str, int]]:
    while not tally.step():
        pass
    return {name: {one.value: one.count for one in tally.facet_values(name, 99)[0] if one.count} for name in FACETS}


def slowly(rows: VisibleRows, stack: FilterStack, scope: Scope | None = None) -> dict[str, dict[str, int]]:
    """The same, message by message."""
    found: dict[str, dict[str, int]] = {}
    for name in FACETS:
        places = choice_of(stack, name).places
        others = tuple(one for place, one in enumerate(stack.conditions) if place not in places)
        filter_ = compile_filter(FilterStack(others, stack.text).combined)
        values = (FIELD_BY_NAME[name].value(rows.analysis, int(m)) for m in rows.evaluate(filter_, scope))
        found[name] = dict(Counter(str(value) for value in values if value))
    return found


def traffic() -> list[dict[str, Any]]:
    calls = [tool_call("grep"), tool_call("stat", sender="coder"), tool_call("grep", context="reason-1")]
    return [envelope(sender="human"), *calls, tool_result(calls[0]), envelope("reasoning/thought", context="reason-1")]


STACKS = [
    FilterStack(), FilterStack(text='from == "lead"'), FilterStack().with_condition('kind == "chat"'),
    FilterStack().with_condition('kind in {"chat", "mcp/request"}').with_condition('from != "human"'),
    FilterStack(text='tool == "grep"').with_condition('state == "waiting"'),
]  # fmt: skip


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: stack.combined or "everything")
def test_they_count_what_is_shown_without_their_own_conditions(stack: FilterStack) -> None:
    document = document_of(*traffic())
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(stack.combined), None)
    tally = FacetTally(rows)
    tally.set_filter(stack, None, compile_filter)
    assert counted(tally) == slowly(rows, stack)


@given(st.lists(CHOICES, max_size=20), st.integers(1, 6), st.sampled_from(STACKS))
def test_they_keep_up_in_any_batches(choices: list[tuple[str, int, int]], size: int, stack: FilterStack) -> None:
    lines: list[dict[str, Any]] = []
    for choice in choices:
        lines.append(spoken(choice, lines))
    log = GrowingLog()
    try:
        rows = VisibleRows(log.document.analysis)
        rows.apply_filter(compile_filter(stack.combined), None)
        tally = FacetTally(rows)
        tally.set_filter(stack, None, compile_filter)
        for start in range(0, len(lines), size):
            for changes in log.write(*lines[start : start + size]):
                rows.apply(rows.prepare(changes))
                tally.on_changes(changes)
            assert counted(tally) == slowly(rows, stack)
    finally:
        clean_up()


def test_they_follow_the_scope_and_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "_STEP", 2)
    document = document_of(*traffic())
    node = document.analysis.contexts.node_of(3)
    rows, scope = VisibleRows(document.analysis), Scope(0, node)
    stack = FilterStack().with_condition('kind == "mcp/request"')
    rows.apply_filter(compile_filter(stack.combined), scope)
    tally = FacetTally(rows)
    tally.set_filter(stack, scope, compile_filter)
    assert counted(tally) == slowly(rows, stack, scope)
    assert counted(tally)["kind"] == {"mcp/request": 1, "reasoning/thought": 1}
    tally.set_filter(FilterStack(), None, compile_filter)
    rows.apply_filter(compile_filter(""), None)
    assert counted(tally) == slowly(rows, FilterStack())


def text(stack: FilterStack) -> str:
    return stack.combined


def test_choosing_and_excluding_write_conditions() -> None:
    one = chosen_with(FilterStack(), "kind", "chat")
    assert text(one) == 'kind == "chat"'
    two = chosen_with(one, "kind", 'a "b"')
    assert text(two) == 'kind in {"chat", "a \\"b\\""}'
    assert len(two.conditions) == 1
    assert text(chosen_with(two, "kind", "chat")) == 'kind == "a \\"b\\""'
    assert text(chosen_with(one, "kind", "chat")) == ""
    without = excluded_with(one, "from", "lead")
    assert text(without) == 'kind == "chat" && from != "lead"'
    assert text(excluded_with(without, "from", "coder")) == 'kind == "chat" && from != "lead" && from != "coder"'
    assert text(excluded_with(without, "from", "lead")) == 'kind == "chat"'
    assert text(chosen_with(without, "from", "lead")) == 'kind == "chat"'
    assert text(excluded_with(one, "kind", "chat")) == ""
    assert choice_of(without, "from").excluded == ("lead",)
    assert choice_of(FilterStack().with_condition("kind like 'mcp/*'"), "kind").places == ()


def test_of_many_values_the_most_frequent_are_told_and_what_is_chosen() -> None:
    document: CaptureDocument = document_of(
        *(envelope(sender=f"agent-{n}") for n in range(9)), envelope(sender="agent-1")
    )
    rows = VisibleRows(document.analysis)
    stack = FilterStack().with_condition('from == "agent-8"')
    rows.apply_filter(compile_filter(stack.combined), None)
    tally = FacetTally(rows)
    tally.set_filter(stack, None, compile_filter)
    counted(tally)
    values, more = tally.facet_values("from", 2)
    assert [(one.value, one.count, one.chosen) for one in values] == [
        ("agent-1", 2, False), ("agent-0", 1, False), ("agent-8", 1, True),
    ]  # fmt: skip
    assert more == 6

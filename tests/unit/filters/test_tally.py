"""What each condition hides, counted behind the traffic."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.filters.tally import ConditionTally
from inspector.filters.visible import Scope, VisibleRows
from tests.builders import GrowingLog, clean_up, document_of, envelope
from tests.strategies import share_of_examples, traffic
from tests.unit.filters.test_visible import FILTERS, slow_decoding


def slowly(document: CaptureDocument, texts: list[str], on: list[bool], own: str, scope: Scope | None) -> list[int]:
    """By the definition: what all else lets through, with and without the condition."""
    rows = np.arange(len(document.analysis))
    masks = [compile_filter(text).mask(document.analysis, rows) for text in texts]
    others = compile_filter(own).mask(document.analysis, rows)
    if scope is not None:
        seen = VisibleRows(document.analysis).evaluate(compile_filter(""), scope)
        others = others & np.isin(rows, seen)
    counts: list[int] = []
    for place, mask in enumerate(masks):
        through = others.copy()
        for number, other in enumerate(masks):
            if on[number] and number != place:
                through &= other
        counts.append(int(np.count_nonzero(through & ~mask)))
    return counts


def chats(*numbers: int) -> CaptureDocument:
    return document_of(*(envelope("chat", {"n": n}, sender="a" if n % 2 else "b") for n in numbers))


def tally_of(
    document: CaptureDocument, texts: dict[str, bool], own: str = "", scope: Scope | None = None
) -> ConditionTally:
    tally = ConditionTally(VisibleRows(document.analysis))
    tally.set_conditions([(compile_filter(text), on) for text, on in texts.items()], compile_filter(own), scope)
    return tally


def finish(tally: ConditionTally) -> None:
    while not tally.step():
        pass


def test_each_counts_what_it_alone_hides() -> None:
    tally = tally_of(chats(*range(10)), {'from == "a"': True, "no > 4": True}, "no <= 8")
    assert tally.hidden == [None, None]
    finish(tally)
    assert tally.hidden == [2, 2]


def test_one_that_is_off_says_what_it_would_hide() -> None:
    tally = tally_of(chats(*range(10)), {'from == "a"': False, "no > 4": True})
    finish(tally)
    assert tally.hidden == [3, 4]


def test_one_that_is_the_text_of_the_bar_too_hides_nothing_alone() -> None:
    document = chats(*range(10))
    tally, twice = ConditionTally(VisibleRows(document.analysis)), compile_filter("payload.n > 3")
    tally.set_conditions([(twice, True)], compile_filter("payload.n > 3"), None)
    finish(tally)
    assert tally.hidden == [0]


def test_switching_evaluates_nothing() -> None:
    document = chats(*range(10))
    filters = [compile_filter("payload.n > 3"), compile_filter("payload.n < 8")]
    tally, own = ConditionTally(VisibleRows(document.analysis)), compile_filter("")
    tally.set_conditions([(filters[0], True), (filters[1], True)], own, None)
    finish(tally)
    assert tally.hidden == [4, 2]
    with patch.object(document.capture.records, "payload", side_effect=AssertionError("decoded again")):
        tally.set_conditions([(filters[0], False), (filters[1], True)], own, None)
        assert tally.hidden == [4, 2]
        finish(tally)


def test_what_is_dear_is_counted_in_slices() -> None:
    tally = tally_of(chats(*range(40)), {"payload.n > 5": True})
    steps = 0
    with slow_decoding():
        while not tally.step():
            steps += 1
            assert tally.hidden == [None]
    assert steps > 3
    assert tally.hidden == [6]


def test_nothing_asked_costs_nothing() -> None:
    tally = tally_of(chats(1), {})
    finish(tally)
    assert tally.hidden == []
    tally.on_changes(AnalysisChanges(0, 1, NO_ROWS, tree_moved=True))
    finish(tally)


CHOSEN = st.lists(st.tuples(st.sampled_from(FILTERS), st.booleans()), max_size=4, unique_by=lambda chosen: chosen[0])


@share_of_examples(3)
@given(traffic(), CHOSEN, st.sampled_from(FILTERS), st.integers(-1, 3), st.integers(1, 5), st.integers(0, 3))
def test_it_follows_the_traffic(
    lines: list[dict[str, Any]], chosen: list[tuple[str, bool]], own: str, node: int, size: int, steps: int
) -> None:
    log = GrowingLog()
    log.write(*lines[:size])
    tree = log.document.analysis.contexts.tree
    scope = Scope(tree.space[node], node) if 0 <= node < len(tree) else None
    tally = ConditionTally(VisibleRows(log.document.analysis))
    tally.set_conditions([(compile_filter(text), on) for text, on in chosen], compile_filter(own), scope)
    for place in range(size, len(lines), size):
        for _ in range(steps):
            tally.step()
        for changes in log.write(*lines[place : place + size]):
            tally.on_changes(changes)
    if chosen:
        finish(tally)
        assert tally.hidden == slowly(log.document, [text for text, _ in chosen], [on for _, on in chosen], own, scope)
    clean_up()

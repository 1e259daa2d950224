"""Tests of `inspector.filters.highlight`."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from inspector.analysis import Changes
from inspector.analysis.passes.changes import NO_ROWS
from inspector.analysis.passes.marks import Note
from inspector.document.document import CaptureDocument
from inspector.filters.highlight import PLAIN, Highlighter, Look
from inspector.settings import HighlightRule
from tests.ui.windows import story


@pytest.fixture
def document() -> CaptureDocument:
    return story()


def rule(filter_: str, *, color: str = "orange", paint: str = "edge", on: bool = True) -> HighlightRule:
    return HighlightRule.model_validate({"name": filter_, "filter": filter_, "color": color, "paint": paint, "on": on})


def looks(highlighter: Highlighter, count: int) -> list[Look]:
    assert highlighter.settle(range(count), math.inf)
    return [highlighter.look(message) for message in range(count)]


def test_the_upper_rule_of_each_manner_gives_the_colour(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    assert highlighter.use([
        rule("context", color="teal"), rule('kind like "mcp/*"', color="rose"),
        rule('kind like "mcp/*"', color="sky", paint="text"), rule("no", color="lime", on=False),
    ])  # fmt: skip
    found = looks(highlighter, len(document.analysis))
    assert found[0] is PLAIN
    assert found[3] == Look("teal", None, ("context",))
    assert found[4] == Look("teal", "sky", ("context", 'kind like "mcp/*"', 'kind like "mcp/*"'))


def test_only_what_is_asked_for_is_looked_at(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule("context")])
    highlighter.settle([4], time.perf_counter())
    assert highlighter.look(4) is not PLAIN
    assert highlighter.look(5) is PLAIN  # not asked yet
    assert highlighter.look_now(5) is not PLAIN


def test_a_dear_rule_stops_at_its_time(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule('text contains "record"')])
    assert not highlighter.settle(range(9), 0.0)
    assert highlighter.settle(range(9), 0.0)
    assert any(highlighter.look(message) is not PLAIN for message in range(9))


def test_wrong_and_empty_rules_hold_for_nothing(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule(""), rule("no =="), rule("(((")])
    assert not highlighter
    assert set(looks(highlighter, 9)) == {PLAIN}
    assert not highlighter.use([rule(""), rule("no =="), rule("(((")])


def test_the_selected_context(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule("context under $context")])
    assert not highlighter
    assert highlighter.select_context("why-1")
    assert not highlighter.select_context("why-1")
    assert [look is not PLAIN for look in looks(highlighter, 9)] == [3 <= message < 8 for message in range(9)]
    highlighter.use([rule("context")])
    assert not highlighter.select_context(None)


def test_what_changed_is_asked_again(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule("mark")])
    assert set(looks(highlighter, 9)) == {PLAIN}
    document.analysis.marks.put(3, Note(True, ""))
    highlighter.take_in(Changes(0, 0, np.asarray([3]), tree_moved=False))
    assert [message for message, look in enumerate(looks(highlighter, 9)) if look is not PLAIN] == [3]
    assert not highlighter.tick()


def test_rules_on_the_tree_and_the_clock(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.use([rule('context.state == "active"'), rule("context.depth == 1")])
    looks(highlighter, 9)
    assert highlighter.tick()
    looks(highlighter, 9)
    highlighter.take_in(Changes(0, 0, NO_ROWS, tree_moved=True))
    assert highlighter.look(3) is PLAIN
    assert highlighter.look_now(3).names[-1] == "context.depth == 1"

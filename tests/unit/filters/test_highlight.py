"""Tests of `inspector.filters.highlight`."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.filters.highlight import PLAIN_LOOK, Highlighter, Look
from inspector.settings import HighlightRule
from tests.ui.windows import story


@pytest.fixture
def document() -> CaptureDocument:
    return story()


def rule(filter_: str, *, color: str = "orange", paint: str = "edge", on: bool = True) -> HighlightRule:
    return HighlightRule.model_validate({"name": filter_, "filter": filter_, "color": color, "paint": paint, "on": on})


def looks(highlighter: Highlighter, count: int) -> list[Look]:
    assert highlighter.evaluate_messages(range(count), math.inf)
    return [highlighter.cached_look(message) for message in range(count)]


def test_the_upper_rule_of_each_manner_gives_the_colour(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    assert highlighter.set_rules([
        rule("context", color="teal"), rule('kind like "mcp/*"', color="rose"),
        rule('kind like "mcp/*"', color="sky", paint="text"), rule("no", color="lime", on=False),
    ])  # fmt: skip
    found = looks(highlighter, len(document.analysis))
    assert found[0] is PLAIN_LOOK
    assert found[3] == Look("teal", None, ("context",))
    assert found[4] == Look("teal", "sky", ("context", 'kind like "mcp/*"', 'kind like "mcp/*"'))


def test_only_what_is_asked_for_is_looked_at(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule("context")])
    highlighter.evaluate_messages([4], time.perf_counter())
    assert highlighter.cached_look(4) is not PLAIN_LOOK
    assert highlighter.cached_look(5) is PLAIN_LOOK  # not asked yet
    assert highlighter.evaluated_look(5) is not PLAIN_LOOK


def test_a_dear_rule_stops_at_its_time(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule('text contains "record"')])
    assert not highlighter.evaluate_messages(range(9), 0.0)
    assert highlighter.evaluate_messages(range(9), 0.0)
    assert any(highlighter.cached_look(message) is not PLAIN_LOOK for message in range(9))


def test_wrong_and_empty_rules_hold_for_nothing(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule(""), rule("no =="), rule("(((")])
    assert not highlighter
    assert set(looks(highlighter, 9)) == {PLAIN_LOOK}
    assert not highlighter.set_rules([rule(""), rule("no =="), rule("(((")])


def test_the_selected_context(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule("context under $context")])
    assert not highlighter
    assert highlighter.select_context("why-1")
    assert not highlighter.select_context("why-1")
    assert [look is not PLAIN_LOOK for look in looks(highlighter, 9)] == [3 <= message < 8 for message in range(9)]
    highlighter.set_rules([rule("context")])
    assert not highlighter.select_context(None)


def test_what_changed_is_asked_again(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule("mark")])
    assert set(looks(highlighter, 9)) == {PLAIN_LOOK}
    document.analysis.marks.set_note(3, Note(True, ""))
    highlighter.on_changes(AnalysisChanges(0, 0, np.asarray([3]), tree_moved=False))
    assert [message for message, look in enumerate(looks(highlighter, 9)) if look is not PLAIN_LOOK] == [3]
    assert not highlighter.on_clock()


def test_rules_on_the_tree_and_the_clock(document: CaptureDocument) -> None:
    highlighter = Highlighter(document.analysis)
    highlighter.set_rules([rule('context.state == "active"'), rule("context.depth == 1")])
    looks(highlighter, 9)
    assert highlighter.on_clock()
    looks(highlighter, 9)
    highlighter.on_changes(AnalysisChanges(0, 0, NO_ROWS, tree_moved=True))
    assert highlighter.cached_look(3) is PLAIN_LOOK
    assert highlighter.evaluated_look(3).names[-1] == "context.depth == 1"

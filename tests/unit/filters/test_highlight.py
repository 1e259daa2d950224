"""Tests of `inspector.filters.highlight`."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.rows import LookRule, Looks, MessageLooks
from inspector.filters.highlight import PLAIN_LOOK, Highlighter, Look
from tests.ui.windows import story


@pytest.fixture
def document() -> CaptureDocument:
    return story()


def rule(filter_: str, *, color: Any = "orange", paint: Any = "edge") -> LookRule:
    return LookRule(filter_, filter_, color, paint)


def looks(document: CaptureDocument, *rules: LookRule, context: str | None = None) -> Looks:
    """Looks of the first messages, as the engine answers them."""
    engine = Engine()
    count = min(9, len(document.capture))
    return engine.answer_request(engine.adopt(document), MessageLooks(tuple(range(count)), rules, context))


def test_the_upper_rule_of_each_manner_gives_the_colour(document: CaptureDocument) -> None:
    found = looks(
        document, rule("context", color="teal"), rule('kind like "mcp/*"', color="rose"),
        rule('kind like "mcp/*"', color="sky", paint="text"),
    ).looks  # fmt: skip
    assert found[0] == PLAIN_LOOK
    assert found[3] == Look("teal", None, ("context",))
    assert found[4] == Look("teal", "sky", ("context", 'kind like "mcp/*"', 'kind like "mcp/*"'))


def test_a_dear_rule_is_evaluated_in_steps(document: CaptureDocument) -> None:
    messages = range(9)
    dear = Highlighter(document.analysis, [rule('text contains "record"')])
    assert [len(batch) for batch in dear.batches(messages)] == [8, 1]
    assert [len(batch) for batch in Highlighter(document.analysis, [rule("context")]).batches(messages)] == [9]
    assert any(look != PLAIN_LOOK for look in looks(document, rule('text contains "record"')).looks)


def test_wrong_rules_hold_for_nothing(document: CaptureDocument) -> None:
    assert set(looks(document, rule("no =="), rule("(((")).looks) == {PLAIN_LOOK}


def test_the_selected_context(document: CaptureDocument) -> None:
    under = rule("context under $context")
    assert set(looks(document, under).looks) == {PLAIN_LOOK}
    found = looks(document, under, context="why-1").looks
    assert [look != PLAIN_LOOK for look in found] == [3 <= message < 8 for message in range(9)]


def test_rules_on_the_tree_and_the_clock(document: CaptureDocument) -> None:
    found = looks(document, rule('context.state == "active"'), rule("context.depth == 1"))
    assert (found.on_tree, found.on_clock) == (True, True)
    found = looks(document, rule("mark"))
    assert (found.on_tree, found.on_clock) == (False, False)

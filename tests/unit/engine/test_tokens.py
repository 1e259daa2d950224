"""Requests about tokens by group and over time, and about positions of messages in plots."""

from __future__ import annotations

import pytest

from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests.plots import (
    PER_MESSAGE,
    MessageBefore,
    MessagePosition,
    NearMessage,
    NextPosition,
    RangeCondition,
)
from inspector.engine.requests.tokens import TokenRowTarget, TokenUsage
from inspector.engine.requests.views import FilterRows
from tests.builders import document_of, envelope, tool_call, tool_result

SECOND = 10**9


@pytest.fixture
def document() -> CaptureDocument:
    """1 chat of human; 2 and 3 a call of grep in why-1; one a second."""
    call = tool_call("grep", context="why-1", ts="2026-01-05T09:00:01Z")
    answer = tool_result(call, "one two three", context="why-1", sender="files", ts="2026-01-05T09:00:02Z")
    made = document_of(envelope("chat", {"text": "Hello"}, sender="human", ts="2026-01-05T09:00:00Z"), call, answer)
    made.count_tokens()
    return made


def test_sums_of_all_messages_and_of_some(document: CaptureDocument) -> None:
    engine = Engine()
    number = engine.adopt(document)
    every = engine.answer_request(number, TokenUsage())
    assert {row.name: row.messages for row in every.rows} == {"grep": 2, "everything else": 1}
    assert sum(row.tokens for row in every.rows) == document.analysis.tokens.total
    assert every.plot is None
    engine.answer_request(number, FilterRows(1, "no == 1"))
    some = engine.answer_request(number, TokenUsage(view=1))
    assert [row.name for row in some.rows] == ["everything else"]


def test_the_plot_ends_with_the_sums_of_the_rows(document: CaptureDocument) -> None:
    engine = Engine()
    number = engine.adopt(document)
    for by_order in (False, True):
        figures = engine.answer_request(number, TokenUsage("participant", plotted=True, by_order=by_order))
        plot = figures.plot
        assert plot is not None
        ends = dict(zip(plot.names, plot.sums[:, -1].tolist(), strict=False))
        assert ends == {row.name: row.tokens for row in figures.rows}
        assert plot.range.last_ns - plot.range.first_ns == 2 * (PER_MESSAGE if by_order else SECOND)


def test_targets_of_rows(document: CaptureDocument) -> None:
    engine = Engine()
    number = engine.adopt(document)
    (human,) = (row for row in engine.answer_request(number, TokenUsage("participant")).rows if row.name == "human")
    target = engine.answer_request(number, TokenRowTarget("participant", below=False, key=human.key))
    assert target.filter == 'from == "human"'
    assert target.participant is not None
    assert target.participant[1] == "human"
    (context,) = (row for row in engine.answer_request(number, TokenUsage("context")).rows if row.name == "why-1")
    target = engine.answer_request(number, TokenRowTarget("context", below=True, key=context.key))
    assert target.filter == 'context under "why-1"'


def test_positions_of_messages(document: CaptureDocument) -> None:
    engine = Engine()
    number = engine.adopt(document)
    first = engine.answer_request(number, MessagePosition(0))
    assert first is not None
    assert engine.answer_request(number, MessagePosition(3)) is None
    assert engine.answer_request(number, MessagePosition(2, by_order=True)) == 2 * PER_MESSAGE
    assert engine.answer_request(number, MessageBefore(first - 1)) == NearMessage()
    near = engine.answer_request(number, MessageBefore(first + SECOND + 1))
    assert (near.message, near.words) == (1, "No. 2 grep request")
    assert engine.answer_request(number, NextPosition(None, 1)) == first
    assert engine.answer_request(number, NextPosition(first, 1)) == first + SECOND
    assert engine.answer_request(number, NextPosition(first, -1)) is None
    assert engine.answer_request(number, RangeCondition(0, PER_MESSAGE, by_order=True)) == "no >= 1 && no <= 2"
    condition = engine.answer_request(number, RangeCondition(first, first + SECOND))
    assert condition is not None
    assert condition.startswith("time >= ")

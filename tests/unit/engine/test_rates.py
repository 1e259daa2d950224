"""Requests about messages per second."""

from __future__ import annotations

from inspector.engine.engine import Engine
from inspector.engine.requests.plots import PER_MESSAGE, MessagePosition
from inspector.engine.requests.rates import NAMES, BarMessages, CountRates, DescribeBar
from tests.builders import GrowingLog, envelope, tool_call

SECOND = 10**9


def at(second: int) -> str:
    return f"2026-01-05T09:00:{second:02}Z"


def test_messages_by_family_and_bar_follow_the_traffic() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    log.write(envelope(ts=at(0)), tool_call("grep", ts=at(0)), envelope(ts=at(2)))
    first = engine.answer_request(number, MessagePosition(0))
    assert first is not None
    asked = CountRates(first, first, first + 3 * SECOND, SECOND)
    rates = engine.answer_request(number, asked)
    assert rates.bins.totals.tolist() == [2, 0, 1]
    assert rates.seconds.tolist() == [1.0, 1.0, 1.0]
    assert sum(rates.totals) == 3
    log.write(envelope(ts=at(1)))
    rates = engine.answer_request(number, asked)
    assert rates.bins.totals.tolist() == [2, 1, 1]
    assert rates.totals[NAMES.index("chat")] == 3


def test_evenly_spaced_bars_last_until_the_next_one() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    log.write(envelope(ts=at(0)), envelope(ts=at(4)), envelope(ts=at(5)))
    rates = engine.answer_request(number, CountRates(0, 0, 2 * PER_MESSAGE, PER_MESSAGE, by_order=True))
    assert rates.bins.totals.tolist() == [1, 1]
    assert rates.seconds.tolist() == [4.0, 1.0]


def test_a_bar_names_its_most_frequent_kind() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    log.write(envelope(ts=at(1)), tool_call("grep", ts=at(0)), envelope(ts=at(2)))
    every = DescribeBar(0, 3 * PER_MESSAGE, by_order=True)
    assert engine.answer_request(number, every) == BarMessages(0, "2 of 3: chat")
    earliest = engine.answer_request(number, DescribeBar(0, 2**62))
    assert earliest.earliest == 1
    assert engine.answer_request(number, DescribeBar(0, 1)) == BarMessages()

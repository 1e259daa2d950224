"""Requests about avoidable tokens."""

from __future__ import annotations

from inspector.engine.engine import Engine
from inspector.engine.requests.waste import AvoidableTokens, WasteFigures
from tests.builders import document_of
from tests.waste import HINT, TRANSIENT, asked, records, wasteful


def test_nothing_is_searched_before_tokens_are_counted() -> None:
    engine, document = Engine(), document_of(*wasteful())
    number = engine.adopt(document)
    assert engine.answer_request(number, AvoidableTokens()) == WasteFigures(messages=len(document.capture))
    document.count_tokens()
    found = engine.answer_request(number, AvoidableTokens())
    assert found.totals is not None
    assert found.totals.tokens == sum(one.tokens for one in found.wastes)
    assert found.totals.first == found.wastes[0]
    assert found.words.startswith(f"About {found.totals.tokens:,} tokens might be avoidable, ")


def test_cases_of_live_traffic_may_still_change() -> None:
    document = document_of(*asked("get_step", "Follow it.", meta=HINT), *asked("search", records(1), meta=TRANSIENT))
    document.count_tokens()
    engine = Engine()
    number = engine.adopt(document)
    document.live = True
    live = engine.answer_request(number, AvoidableTokens())
    document.live = False
    ended = engine.answer_request(number, AvoidableTokens())
    assert (live.ongoing, live.wastes) == (True, ())
    assert (ended.ongoing, [one.kind.value for one in ended.wastes]) == (False, ["never consumed"])

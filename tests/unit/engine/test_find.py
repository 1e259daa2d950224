"""Find in view as the engine answers it: hits, steps, traffic, other views, and expressions that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inspector.engine.engine import Engine
from inspector.engine.request import RequestError
from inspector.engine.requests import find
from inspector.engine.requests.find import EndFind, FindHits, FindQuery, Hits, NextHit
from inspector.engine.requests.views import FilterRows, FollowRows, SortRows
from tests.builders import GrowingLog, envelope

VIEW = 1
QUERY = FindQuery("hit")


def chat(text: str) -> dict[str, Any]:
    return envelope("chat", {"text": text})


@pytest.fixture
def log() -> GrowingLog:
    log = GrowingLog()
    log.write(chat("hit one"), chat("x"), chat("a hit"), chat("y" * 50))
    return log


@pytest.fixture
def engine(log: GrowingLog) -> Engine:
    engine = Engine()
    engine.adopt(log.document)
    return engine


def hits(engine: Engine, **asked: Any) -> Hits:
    return engine.answer_request(1, FindHits(VIEW, asked.pop("query", QUERY), **asked))


def places(found: Hits) -> list[int]:
    assert found.messages is not None
    return found.messages.tolist()


def test_hits_are_sent_once(engine: Engine) -> None:
    found = hits(engine, current=2)
    assert places(found) == [0, 2]
    assert (found.count, found.place, found.fraction, found.is_done) == (2, 1, 1.0, True)
    again = hits(engine, current=1, known=found.revision)
    assert (again.messages, again.count, again.place) == (None, 2, None)


def test_steps_wrap_around(engine: Engine) -> None:
    steps = [hits(engine, current=current, step=step).next for current, step in ((0, 1), (2, 1), (0, -1), (None, -1))]
    assert steps == [NextHit(2), NextHit(0, True), NextHit(2, True), NextHit(2)]
    assert hits(engine, query=FindQuery("nowhere"), step=1).next == NextHit(None)


def test_a_long_search_reports_first_hits_and_the_next_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "FIRST_S", 0.0)
    monkeypatch.setattr("inspector.filters.find._FIRST_BYTES", 1)
    monkeypatch.setattr("inspector.filters.find._MOST_BYTES", 1)
    first = hits(engine, current=1)
    assert (first.is_done, first.fraction) == (False, 0.25)
    found = hits(engine, current=1, step=1, known=first.revision)
    assert (places(found), found.next, found.is_done) == ([2], NextHit(2), False)
    while not found.is_done:
        found = hits(engine, current=1, known=found.revision)
    assert hits(engine).count == 2


def test_new_traffic_and_another_view_are_followed(engine: Engine, log: GrowingLog) -> None:
    found = hits(engine)
    for changes in log.write(chat("a third hit")):
        rows = np.asarray(changes.changed, np.int64)
        engine.answer_request(1, FollowRows(VIEW, changes.start, changes.stop, rows, changes.tree_moved))
    found = hits(engine, known=found.revision)
    assert places(found) == [0, 2, 4]
    engine.answer_request(1, FilterRows(VIEW, "no > 1"))
    assert places(hits(engine, known=found.revision)) == [2, 4]
    engine.answer_request(1, SortRows(VIEW, "no", descending=True))
    assert hits(engine, current=4, step=1).next == NextHit(2)


def test_an_ended_search_begins_again(engine: Engine) -> None:
    before = hits(engine)
    assert engine.answer_request(1, EndFind(VIEW)) is None
    assert engine.opened(1).view(VIEW).find is None
    assert places(hits(engine)) == places(before)


def test_a_wrong_expression_says_why(engine: Engine) -> None:
    with pytest.raises(RequestError, match=r"A \( is not closed\."):
        hits(engine, query=FindQuery("hit(", is_pattern=True))

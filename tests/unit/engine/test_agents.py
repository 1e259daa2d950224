"""Agents of a document with their reported context."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.requests.agents import ListAgents
from inspector.engine.requests.turns import ListTurns
from tests.samples import DATA

ORDERS = DATA / "transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    _, steps = engine.open([Target(ORDERS)])
    engine.read(steps)
    yield engine
    engine.close()


def test_agents_report_context_calls_and_cost(engine: Engine) -> None:
    found = engine.answer_request(1, ListAgents())
    assert found.count == len(found.agents) > 1
    main, *others = found.agents
    assert (main.name, main.node, main.task) == ("claude", -1, "")
    assert main.tokens > 0
    assert main.calls > 1
    assert main.model
    assert all(one.node >= 0 and one.task for one in others)
    assert others[0].message > main.message


def test_turns_tell_the_context_at_their_ends(engine: Engine) -> None:
    turns = engine.answer_request(1, ListTurns())
    assert turns.contexts[:2].tolist() == [[16_514, 1_010], [1_010, 1_010]]

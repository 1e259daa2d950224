"""Agents of a document with their reported context."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inspector.engine.engine import Engine
from inspector.engine.opening import Target
from inspector.engine.requests.agents import ListAgents
from inspector.engine.requests.overview import ShowOverview
from inspector.engine.requests.turns import ListTurns
from inspector.present.formats import short_count
from inspector.present.message_row import row_contents
from tests.builders import document_of
from tests.samples import DATA, sample
from tests.transcribed import ClaudeSession

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


def test_a_program_that_reports_the_calls_of_its_agent_is_no_agent() -> None:
    engine = Engine()
    _, steps = engine.open([Target(sample("codex.jsonl"))])
    engine.read(steps)
    (agent,) = engine.answer_request(1, ListAgents()).agents
    context = next(card for card in engine.answer_request(1, ShowOverview()).cards if card.id == "context")
    engine.close()
    assert agent.name == "codex"
    assert agent.tokens > 0
    assert context.figure == short_count(agent.tokens)


def test_agents_with_the_same_task_have_numbers() -> None:
    main = ClaudeSession()
    main.prompt("count twice")
    records = []
    for name in ("a1", "a2"):
        called = main.call(
            "Agent", {"description": "count them", "prompt": f"count {name}", "subagent_type": "Explore"}
        )
        agent = ClaudeSession(agent=name)
        agent.second = main.second
        agent.prompt(f"count {name}")
        agent.text("Two.")
        main.result(called, "Two.", toolUseResult={"agentId": name})
        records += agent.records
    engine = Engine()
    document = document_of(*main.records, *records)
    engine.adopt(document)
    contexts = document.analysis.contexts
    assert sorted(map(contexts.label, contexts.tree.alive())) == ["count them", "count them (2)"]
    engine.close()


def test_a_notification_names_the_task_by_its_description() -> None:
    main, agent = ClaudeSession(), ClaudeSession(agent="a1b2c3d4")
    main.prompt("count")
    called = main.call("Agent", {"description": "count them", "prompt": "count", "subagent_type": "Explore"})
    agent.second = main.second
    agent.prompt("count")
    agent.text("Two.")
    main.result(called, "Launched.", toolUseResult={"agentId": "a1b2c3d4"})
    main.prompt("<task-notification>\n<task-id>a1b2c3d4</task-id>\n<status>completed</status>\n</task-notification>")
    main.prompt("What is task a1b2c3d4?")
    document = document_of(*main.records, *agent.records)
    texts = [content.text for content in row_contents(document, range(len(document.capture)))]
    assert any("task “count them” completed" in text for text in texts)
    assert any("What is task a1b2c3d4?" in text for text in texts)

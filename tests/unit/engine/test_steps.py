"""Figures above the steps."""

from __future__ import annotations

from inspector.analysis.views.model_context.context_owners import ReaderChoice
from inspector.engine.engine import Engine
from inspector.engine.requests.seen_contexts import ShowSeenContext
from inspector.engine.requests.steps import ListSteps, StepQuestion
from inspector.engine.requests.views import FilterRows
from tests.builders import document_at, document_of
from tests.leaky import SECRET, planted_sample
from tests.samples import sample
from tests.transcribed import ClaudeSession


def test_the_curve_is_of_one_agent_to_its_end_with_its_own_compactions() -> None:
    main, agent = ClaudeSession(), ClaudeSession(agent="a1")
    main.prompt("count the files")
    called = main.call("Agent", {"description": "count them", "prompt": "count", "subagent_type": "Explore"})
    agent.second = main.second
    agent.prompt("count")
    agent.text("Two.")
    main.result(called, "Two.", toolUseResult={"agentId": "a1"})
    main.text("Two files.", after_s=20)
    main.add("system", subtype="compact_boundary", content="Conversation compacted",
             compactMetadata={"trigger": "auto", "preTokens": 1_010})  # fmt: skip
    main.prompt("It counted files.", isCompactSummary=True)
    main.text("On.")
    engine = Engine()
    number = engine.adopt(document_of(*main.records, *agent.records))
    helper = next(one for one in engine.answer_request(number, ShowSeenContext()).readers if one.name != "claude")
    whole, of_helper = (
        engine.answer_request(number, ListSteps(choice=ReaderChoice(chosen=chosen, followed=2))).head
        for chosen in (None, helper)
    )
    engine.close()
    assert (whole.reader, len(whole.compactions), whole.curve_ends_ns) == ("claude", 1, whole.last_ns)
    assert (of_helper.reader, len(of_helper.compactions)) == (helper.title, 0)
    assert of_helper.curve_ends_ns < whole.last_ns


def test_the_critical_path_stays_in_words_while_a_range_is_chosen() -> None:
    engine = Engine()
    number = engine.adopt(document_at(sample("formats/otlp.jsonl")))
    question = ListSteps(StepQuestion(view=1))
    words = engine.answer_request(number, question).head.path_words
    engine.answer_request(number, FilterRows(1, 'kind == "chat"'))
    head = engine.answer_request(number, question).head
    engine.close()
    assert words.startswith("Critical path of ")
    assert head.whole is not None
    assert head.whole.path_words == words


def test_the_name_of_the_agent_of_the_curve_shows_no_secret() -> None:
    engine = Engine()
    number = engine.adopt(document_of(planted_sample(sample("formats/observations.jsonl")).decode()))
    reader = engine.answer_request(number, ListSteps(choice=ReaderChoice(chosen=None, followed=2))).head.reader
    engine.close()
    assert reader.startswith("cook")
    assert SECRET[:6] not in reader

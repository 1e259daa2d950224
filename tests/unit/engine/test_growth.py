"""Requests about the growth of a model's context."""

from __future__ import annotations

from functools import cache

import pytest

from inspector.analysis.views.model_context import ModelContext, readers
from inspector.analysis.views.model_context.context_owners import ReaderChoice
from inspector.analysis.views.model_context.growth import growth_of
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.engine.engine import Engine
from inspector.engine.requests import growth
from inspector.engine.requests.growth import ContextGrowth, Growth
from inspector.engine.requests.plots import PER_MESSAGE
from tests.builders import GrowingLog, document_of, envelope, lasting, tool_call, tool_result

HINT = {"contextHints": [{"step": 1, "tool": "search", "lifecycle": "transient", "consumedBy": "store"}]}
LOOPS = 200


@pytest.fixture
def document() -> CaptureDocument:
    return pages()


@cache
def pages() -> CaptureDocument:
    """Pages, each collapsed by what consumed it."""
    step = tool_call("get_step")
    lines = [step, tool_result(step, meta=HINT)]
    for number in range(LOOPS):
        search, store = tool_call("search"), tool_call("store")
        page = {"context": {"lifecycle": "transient", "summary": f"page {number}"}}
        lines += [search, tool_result(search, "visit " * 20, meta=page)]
        lines += [store, tool_result(store, meta={"context": {"consumed": True}})]
    made = document_of(*lines)
    made.count_tokens()
    return lasting(made)


@cache
def expected(document: CaptureDocument) -> list[list[int]]:
    found = growth_of(ModelContext(document.analysis, readers(document.analysis)[0]))
    return [found.uncollapsed.tolist(), found.seen.tolist()]


def test_the_first_answer_does_not_wait_for_all_summaries(
    document: CaptureDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "_FIRST_S", 0.0)
    engine = Engine()
    number = engine.adopt(document)
    first = engine.answer_request(number, ContextGrowth())
    assert first.unfinished
    assert len(first.places) == len(expected(document)[0])
    second = engine.answer_request(number, ContextGrowth())
    assert not second.unfinished
    assert second.lines.tolist() == expected(document)


@pytest.mark.parametrize("pauses", range(0, 40, 3))
def test_a_request_can_be_cancelled_at_any_pause(document: CaptureDocument, pauses: int) -> None:
    """Lines were never made after their computation was interrupted."""
    engine = Engine()
    number = engine.adopt(document)
    steps = engine.begin(number, ContextGrowth())
    for _, _ in zip(range(pauses), steps, strict=False):
        pass
    steps.close()
    engine.answer_request(number, ContextGrowth())
    assert engine.answer_request(number, ContextGrowth()).lines.tolist() == expected(document)


def test_messages_may_come_during_a_request() -> None:
    """Messages taken into the context had no time yet."""
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    log.write(envelope(), envelope())
    for _ in range(20):
        steps = engine.begin(number, ContextGrowth())
        for _ in steps:
            log.write(envelope())
        log.write(envelope())
    found = engine.answer_request(number, ContextGrowth())
    assert found.lines.tolist() == expected(log.document)
    log.document.close()


def test_the_reader_is_the_chosen_one_or_follows_a_message() -> None:
    engine = Engine()
    document = document_of(envelope(sender="lead"), tool_call("grep"), tool_call("grep", sender="helper"))
    number = engine.adopt(document)

    def answer(choice: ReaderChoice) -> Growth:
        return run_to_end(engine.begin(number, ContextGrowth(choice, by_order=True)))

    lead, helper = (one.reader for one in answer(ReaderChoice()).readers)
    assert (lead.name, helper.name) == ("lead", "helper")
    assert answer(ReaderChoice(followed=2)).reader == helper
    assert answer(ReaderChoice(followed=2, shown=lead, is_held=True)).reader == lead
    chosen = answer(ReaderChoice(chosen=helper, followed=0))
    assert chosen.reader == helper
    assert chosen.places.tolist() == [message * PER_MESSAGE for message in chosen.messages.tolist()]


def test_without_a_model_there_is_no_reader() -> None:
    engine = Engine()
    assert engine.answer_request(engine.adopt(document_of()), ContextGrowth()).reader is None

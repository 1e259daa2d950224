"""What the growth plot draws is worked out a little at a time where much of it is to be counted."""

from __future__ import annotations

from functools import cache

import pytest

from inspector.analysis.views.model_context import ModelContext, Reader, readers
from inspector.analysis.views.model_context.growth import growth_of
from inspector.document.document import CaptureDocument
from inspector.ui.panels.growth import source as growing
from inspector.ui.panels.growth.source import GrowthSource
from inspector.ui.panels.plot_choices import PlotChoices
from tests.builders import GrowingLog, document_of, envelope, lasting, tool_call, tool_result
from tests.ui.budgeting import set_budgets

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
    growth = growth_of(ModelContext(document.analysis, readers(document.analysis)[0]))
    return [growth.uncollapsed.tolist(), growth.seen.tolist()]


def test_summaries_are_counted_in_turns(document: CaptureDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were all counted when the timeline was opened: 20 us each, so that 100,000 froze it."""
    set_budgets(monkeypatch, summaries_s=0.0)
    monkeypatch.setattr(growing, "_REST_FACTOR", 0)
    source = GrowthSource(document, PlotChoices())

    assert source.update()
    assert source.counting
    assert source.is_outdated
    turns = 1
    while source.count_further():
        turns += 1
    assert turns == LOOPS // 64
    assert source.update()

    assert not source.is_outdated
    assert source.lines.tolist() == expected(document)


def test_summaries_are_not_counted_again(document: CaptureDocument) -> None:
    source = GrowthSource(document, PlotChoices())
    source.update(now=True)
    while source.count_further():
        pass
    source.update(now=True)

    assert not source.counting
    assert not source.is_outdated
    assert source.lines.tolist() == expected(document)


def test_of_a_large_capture_it_is_worked_out_a_little_at_a_time(
    document: CaptureDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_budgets(monkeypatch, large=10, slice_s=0.0)
    source = GrowthSource(document, PlotChoices())

    assert not source.update()
    assert source.unfinished
    assert not source.lines.size
    turns = 1
    while not source.update():
        turns += 1
    assert turns > 10
    assert source.lines.size
    while source.is_outdated:
        source.count_further()
        source.update()
    assert source.lines.tolist() == expected(document)


@pytest.mark.parametrize("turns", range(40))
def test_whatever_it_is_interrupted_in_the_lines_come(
    document: CaptureDocument, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """Another message of the same participant was selected while lines were made: they were never made."""
    set_budgets(monkeypatch, large=10, slice_s=0.0)
    monkeypatch.setattr(growing, "_REST_FACTOR", 0)
    source = GrowthSource(document, PlotChoices())
    for _ in range(turns):
        source.update()
    source.update(now=True)
    for _ in range(200):
        source.count_further()
        source.update()

    assert source.lines.tolist() == expected(document)


def test_messages_may_come_while_it_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those taken into the context had no time yet."""
    set_budgets(monkeypatch, large=1, slice_s=0.0)
    monkeypatch.setattr(growing, "_REST_FACTOR", 0)
    log = GrowingLog()
    log.write(envelope(), envelope())
    source = GrowthSource(log.document, PlotChoices())
    for _ in range(60):
        log.write(envelope())
        source.update()
    while source.is_outdated:
        source.count_further()
        source.update()

    assert source.lines.tolist() == expected(log.document)
    log.document.close()


def test_another_reader_is_worked_out_anew_in_the_middle_of_the_first(
    document: CaptureDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_budgets(monkeypatch, large=10, slice_s=0.0)
    choices = PlotChoices()
    source = GrowthSource(document, choices)
    for _ in range(5):
        source.update()
    assert source.working
    nobody = Reader(0, "nobody")
    source.readers.append(nobody)

    monkeypatch.setattr(growing, "readers", lambda _analysis: [nobody])
    choices.choose(nobody)
    source.update(now=True)
    while source.working:
        source.update()

    assert source.reader == nobody
    assert not source.lines.size

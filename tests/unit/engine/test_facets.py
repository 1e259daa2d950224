"""Requests about facets of a table."""

from __future__ import annotations

from inspector.engine.engine import Engine
from inspector.engine.requests.facets import CountFacets, FacetCounts
from inspector.engine.requests.views import FilterRows
from inspector.filters.stacked_conditions import FilterStack
from inspector.filters.visible import Scope
from tests.builders import GrowingLog, document_of, envelope, tool_call


def values(counts: FacetCounts, field: str) -> dict[str, int]:
    return next(({one.value: one.count for one in facet.values} for facet in counts.facets if facet.field == field), {})


def count(
    engine: Engine, number: int, shown: list[int], stack: FilterStack | None = None, scope: Scope | None = None,
    opened: tuple[str, ...] = (),
) -> FacetCounts:  # fmt: skip
    """Counts while the table shows some messages."""
    engine.answer_request(number, FilterRows(1, f"no in {{{', '.join(str(one + 1) for one in shown)}}}"))
    return engine.answer_request(number, CountFacets(1, stack or FilterStack(), scope, None, opened=opened))


def test_counts_are_those_of_the_shown_messages() -> None:
    document = document_of(envelope(sender="human"), tool_call("grep"), envelope(sender="lead"))
    engine = Engine()
    number = engine.adopt(document)
    assert values(count(engine, number, [0, 1, 2]), "from") == {"lead": 2, "human": 1}
    assert values(count(engine, number, [0]), "from") == {"human": 1}
    assert values(count(engine, number, [0, 2, 99]), "from") == {"human": 1, "lead": 1}


def test_a_facet_ignores_its_own_condition_and_names_it() -> None:
    engine = Engine()
    number = engine.adopt(document_of(envelope(sender="human"), envelope(sender="lead"), envelope(sender="lead")))
    counts = count(engine, number, [0], FilterStack().with_condition('from == "human"'))
    (facet,) = (one for one in counts.facets if one.field == "from")
    assert [(one.value, one.count, one.chosen) for one in facet.values] == [("lead", 2, False), ("human", 1, True)]
    assert facet.values[0].filter == 'from == "lead"'
    assert values(counts, "kind") == {"chat": 1}


def test_counts_follow_new_and_changed_messages_and_contexts() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    asked = tool_call("grep", context="r-1")
    log.write(envelope(), asked)
    assert values(count(engine, number, [0, 1]), "state")
    log.write(envelope(sender="human", context="r-1"))
    assert values(count(engine, number, [0, 1, 2]), "from") == {"lead": 2, "human": 1}
    node = log.document.analysis.contexts.node_of(1)
    counts = count(engine, number, [1, 2], FilterStack().with_condition('from == "lead"'), Scope(0, node))
    assert values(counts, "from") == {"lead": 1, "human": 1}


def test_of_many_values_some_are_listed_until_the_facet_is_opened() -> None:
    engine = Engine()
    number = engine.adopt(document_of(*(envelope(sender=f"agent-{one}") for one in range(12))))
    (facet,) = (one for one in count(engine, number, list(range(12))).facets if one.field == "from")
    assert (len(facet.values), facet.more) == (8, 4)
    opened = count(engine, number, list(range(12)), opened=("from",))
    (facet,) = (one for one in opened.facets if one.field == "from")
    assert (len(facet.values), facet.more) == (12, 0)


def test_in_a_growing_log_counts_follow_the_clock_of_its_last_record() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    stack = FilterStack().with_condition('context.state == "active"').with_condition('from == "lead"')
    asked = CountFacets(1, stack, None, None)
    morning = "2026-01-05T09:00:00.000Z"
    log.write(envelope(sender="human", context="r-1", ts=morning), envelope(context="r-1", ts=morning))
    assert values(engine.answer_request(number, asked), "from") == {"human": 1, "lead": 1}
    log.write(envelope(context="r-2", ts="2026-01-05T12:00:00.000Z"))
    assert values(engine.answer_request(number, asked), "from") == {"lead": 1}

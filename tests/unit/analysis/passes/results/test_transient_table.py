"""Every row of the edge-case table of docs/protocols.md 13, in MCP stdio traffic, in MEW, and mixed in one capture."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.analysis.transient_traffic import (
    CONSUMED,
    WRAPPINGS,
    Call,
    Event,
    Opened,
    fetch,
    hint,
    in_turn,
    store,
    workflow,
)


@pytest.fixture(params=WRAPPINGS.values(), ids=list(WRAPPINGS))
def wrap(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_plain_case(wrap: Any) -> None:
    found, stored = fetch(), store()
    opened = Opened(wrap, in_turn(workflow(), found, stored))
    assert opened.collapses() == [(stored, found)]
    assert (opened.badges(found), opened.badges(stored)) == (["transient", "collapsed"], ["consumed"])
    assert opened.summary(found) == "15 records"


@pytest.mark.parametrize("failure", [{"result": {"isError": True}}, {"error": True}], ids=["isError", "error"])
def test_a_consumer_that_fails_with_consumed_collapses_nothing_and_its_retry_does(wrap: Any, failure: Any) -> None:
    found, failed, retry = fetch(), store(**failure), store()
    opened = Opened(wrap, in_turn(workflow(), found, failed, retry))
    assert opened.collapses() == [(retry, found)]
    assert opened.badges(failed) == []
    assert opened.note(failed) == "It failed, so it consumed nothing."


def test_a_nested_ingest_where_every_parent_failed(wrap: Any) -> None:
    found = fetch()
    ingest = store("analysis_ingest", result={"isError": True, "structuredContent": {"failed": 3}})
    opened = Opened(wrap, in_turn(workflow(hint(consumer="analysis_ingest")), found, ingest))
    assert opened.collapses() == []
    assert opened.badges(found) == ["transient"]


def test_three_pending_three_consumptions_in_order_and_a_fourth_does_nothing(wrap: Any) -> None:
    pages, stores = [fetch(f"page {n}") for n in range(3)], [store() for _ in range(4)]
    opened = Opened(wrap, in_turn(workflow(), *pages, *stores))
    assert opened.collapses() == list(zip(stores, pages, strict=False))
    assert opened.badges(stores[3]) == ["consumed"]
    assert opened.note(stores[3]) == "No result was waiting to be consumed by it."


def test_one_consumption_several_pending_collapses_exactly_one(wrap: Any) -> None:
    first, second, stored = fetch(), fetch(), store()
    opened = Opened(wrap, in_turn(workflow(), first, second, stored))
    assert opened.collapses() == [(stored, first)]
    assert opened.badges(second) == ["transient"]


def test_two_fetchers_share_a_consumer_oldest_by_arrival_of_the_result(wrap: Any) -> None:
    search, find, one, two = fetch(), fetch(tool="find_records"), store(), store()
    events: list[Event] = [
        *in_turn(workflow(hint(), hint("find_records"))),
        (search, "ask"), (find, "ask"), (find, "answer"), (search, "answer"), *in_turn(one, two),
    ]  # fmt: skip
    assert Opened(wrap, events).collapses() == [(one, find), (two, search)]


@pytest.mark.parametrize("consumer", ["analysis_store", "analysis_ingest"])
def test_one_fetcher_with_two_consumers(wrap: Any, consumer: str) -> None:
    found, stored = fetch(), store(consumer)
    hints = workflow(hint(consumer="analysis_store"), hint(consumer="analysis_ingest"))
    assert Opened(wrap, in_turn(hints, found, stored)).collapses() == [(stored, found)]


@pytest.mark.parametrize("registered", [hint(consumer="store_analysis_memory"), hint("find_records"), None])
def test_consumer_or_fetcher_not_registered(wrap: Any, registered: Any) -> None:
    found, stored = fetch(), store()
    calls = [found, stored] if registered is None else [workflow(registered), found, stored]
    opened = Opened(wrap, in_turn(*calls))
    assert opened.collapses() == []
    assert (opened.badges(found), opened.badges(stored)) == (["transient"], ["consumed"])


def test_hints_arrive_after_the_transient_result(wrap: Any) -> None:
    found, early, stored = fetch(), store(), store()
    opened = Opened(wrap, in_turn(found, early, workflow(), stored))
    assert opened.collapses() == [(stored, found)]
    assert opened.document.analysis.transients.hinted_by(opened.rows[found]) is not None


def test_hints_are_known_of_a_result_that_still_waits_whenever_they_came(wrap: Any) -> None:
    found, hints = fetch(), workflow()
    opened = Opened(wrap, in_turn(found, hints))
    assert opened.document.analysis.transients.hinted_by(opened.rows[found]) == opened.rows[hints]


def test_a_last_page_is_never_pending_and_its_consumption_does_nothing(wrap: Any) -> None:
    page, last, one, two = fetch(), Call("search_records"), store(), store()
    opened = Opened(wrap, in_turn(workflow(), page, one, last, two))
    assert opened.collapses() == [(one, page)]


def test_a_last_page_s_consumption_collapses_an_older_one_that_waits(wrap: Any) -> None:
    page, last, stored = fetch(), Call("search_records"), store()
    opened = Opened(wrap, in_turn(workflow(), page, last, stored))
    assert opened.collapses() == [(stored, page)]
    assert opened.badges(last) == []


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"consumed": "true"}, '`consumed` is "true", not true, so it signals nothing.'),
        ({"consumed": 1}, "`consumed` is 1, not true, so it signals nothing."),
        ("consumed", "`_meta.context` is no object, so it signals nothing."),
    ],
    ids=["text", "one", "no object"],
)
def test_what_is_no_signal_is_warned_about(wrap: Any, context: Any, sentence: str) -> None:
    found, stored = fetch(), store(meta={"context": context})
    opened = Opened(wrap, in_turn(workflow(), found, stored))
    assert (opened.collapses(), opened.badges(stored), opened.note(stored)) == ([], [], sentence)
    assert [one.code for one in opened.document.analysis.findings.findings_about(opened.rows[stored])] == [
        "signal-malformed"
    ]


def test_both_transient_and_consumed_does_not_collapse_itself(wrap: Any) -> None:
    both = {"context": {"consumed": True, "lifecycle": "transient", "summary": "x"}}
    first, second = store(meta=both), store(meta=both)
    opened = Opened(wrap, in_turn(workflow(hint("analysis_store")), first, second))
    assert opened.collapses() == [(second, first)]
    assert opened.badges(first) == ["transient", "consumed", "collapsed"]


@pytest.mark.parametrize("summary", [None, "", 7, ["x"]], ids=str)
def test_no_or_empty_summary_is_generated(wrap: Any, summary: Any) -> None:
    found, stored = fetch(summary), store()
    opened = Opened(wrap, in_turn(workflow(), found, stored))
    assert opened.summary(found) == "search_records result"
    assert opened.collapses() == [(stored, found)]


def test_the_same_hints_again_and_of_another_workflow_are_additive(wrap: Any) -> None:
    one, two, first, second = fetch(), fetch(tool="find_records"), store(), store()
    again = workflow(hint(workflow="other"), hint("find_records"))
    opened = Opened(wrap, in_turn(workflow(), one, workflow(), again, two, first, second))
    assert opened.collapses() == [(first, one), (second, two)]


def test_names_with_a_proxy_prefix_match_exactly(wrap: Any) -> None:
    opened = Opened(
        wrap, in_turn(workflow(), fetch(tool="mcp__rune__search_records"), store("mcp__rune__analysis_store"))
    )
    assert opened.collapses() == []


# Beside the table


def test_a_failed_transient_result_never_waits(wrap: Any) -> None:
    failed, found, stored = fetch(result={"isError": True}), fetch(), store()
    opened = Opened(wrap, in_turn(workflow(), failed, found, stored))
    assert opened.collapses() == [(stored, found)]
    assert (opened.badges(failed), opened.note(failed)) == ([], "It failed, so it is not marked as transient.")


def test_is_error_false_is_no_failure(wrap: Any) -> None:
    found, stored = fetch(result={"isError": False}), store(result={"isError": False})
    assert Opened(wrap, in_turn(workflow(), found, stored)).collapses() == [(stored, found)]


def test_a_failed_result_s_hints_count(wrap: Any) -> None:
    hints = Call("get_workflow_step", {"contextHints": [hint()]}, result={"isError": True})
    found, stored = fetch(), store()
    assert Opened(wrap, in_turn(hints, found, stored)).collapses() == [(stored, found)]


def test_a_result_whose_request_never_came_collapses_nothing(wrap: Any) -> None:
    found, lost = fetch(), store()
    opened = Opened(wrap, [*in_turn(workflow(), found), (lost, "answer")])
    assert opened.collapses() == []
    assert opened.badges(lost) == ["consumed"]
    assert (opened.note(lost) or "").startswith("Its request was not seen")


def test_signals_in_what_answers_no_tool_call_do_not_count() -> None:
    from tests.builders import document_of, envelope

    ask = envelope("mcp/request", {"method": "prompts/get", "params": {"name": "x"}}, to=["files"])
    told = envelope(
        "mcp/response", {"result": {"_meta": {**CONSUMED, "contextHints": [hint()]}}}, sender="files", to=["lead"],
        correlation_id=[ask["id"]],
    )  # fmt: skip
    document = document_of(ask, told)
    story = document.analysis.transients.lifecycle(1)
    assert (story.badges, story.note) == ((), "It answers no tool call, so its signals do not count.")
    assert document.analysis.transients.conversation_of(1) is None

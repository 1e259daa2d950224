"""The life of one result: who paired, who tried, who collapsed it, and what it saves."""

from __future__ import annotations

from typing import Any

from inspector.analysis.views.account.account import AccountTally
from inspector.analysis.views.summaries.lifecycles import (
    Attempt,
    Lifecycle,
    Pairing,
    PairStory,
    lifecycle_json,
    lifecycle_of,
    matching_alias,
    pending_results,
    saving_of,
)
from inspector.document.summary import summary
from inspector.present.account import account_of
from inspector.protocol.tool_aliases import ToolAliases
from tests.unit.analysis.transient_traffic import Call, Opened, fetch, hint, in_turn, mew, store, workflow


def life(opened: Opened, call: Call) -> Lifecycle:
    return lifecycle_of(opened.document.analysis, opened.rows[call])


def test_a_collapsed_result_with_failed_consumers_before_it() -> None:
    hints, found, failed, silent, stored = (
        workflow(),
        fetch(),
        store(result={"isError": True}),
        Call("analysis_store"),
        store(),
    )
    opened = Opened(mew, in_turn(hints, found, failed, silent, stored))
    told, rows = life(opened, found), opened.rows
    assert told.pairing == Pairing(rows[hints], 2, "search_records", "analysis_store")
    assert told.summary_given
    assert told.attempts == (
        Attempt(rows[failed], "analysis_store", "It failed, so it consumed nothing."),
        Attempt(rows[silent], "analysis_store", "It did not say that it consumed anything."),
    )
    assert (told.consumers, told.attempts_total) == ((), 2)


def test_consumers_that_took_an_older_one() -> None:
    one, two, first, second = fetch(), fetch(), store(), store()
    opened = Opened(mew, in_turn(workflow(), one, two, first, second))
    (attempt,) = life(opened, two).attempts
    assert attempt.why == f"It consumed No. {opened.rows[one] + 1}, which had waited longer."


def test_consumers_before_the_hint() -> None:
    found, early, stored = fetch(), store(), store()
    opened = Opened(mew, in_turn(found, early, workflow(), stored))
    assert [one.why for one in life(opened, found).attempts] == ["No hint had paired the two tools by then."]


def test_consumers_of_other_conversations_are_none_of_its() -> None:
    from tests.unit.analysis.transient_traffic import mixed

    found, stored = fetch(), store()
    opened = Opened(mixed, in_turn(workflow(), found, stored))
    assert life(opened, found).attempts == ()


def test_one_that_waits_says_who_could_consume_it() -> None:
    found = fetch()
    opened = Opened(mew, in_turn(workflow(hint(), hint(consumer="analysis_ingest"), hint("other", "x")), found))
    told = life(opened, found)
    assert (told.consumers, told.consumers_total) == (("analysis_store", "analysis_ingest"), 2)
    lonely = fetch(tool="mcp__rune__search_records")
    opened = Opened(mew, in_turn(workflow(), lonely))
    told = life(opened, lonely)
    assert (told.consumers, told.pairing) == ((), None)
    alias = matching_alias(opened.document.analysis, opened.rows[lonely])
    assert alias is not None
    assert alias.text == "mcp__rune__* = *"


def test_pairs_say_what_they_did_so_far() -> None:
    first, again = workflow(), workflow(hint(step=None), hint("find_records"))
    one, two, three, stored = fetch(), fetch(), fetch(tool="find_records"), store()
    opened = Opened(mew, in_turn(first, one, again, two, three, stored))
    rows = opened.rows
    collapsed = ((rows[one], rows[stored]),)
    assert life(opened, first).pairs == (
        PairStory("search_records", "analysis_store", 2, rows[first], collapsed, 1, 1),
    )
    assert life(opened, again).pairs == (
        PairStory("search_records", "analysis_store", None, rows[first], collapsed, 1, 1),
        PairStory("find_records", "analysis_store", 2, rows[again], (), 0, 1),
    )


def test_pairs_by_aliases() -> None:
    hints, found, stored = workflow(), fetch(tool="p__search_records"), store("p__analysis_store")
    opened = Opened(mew, in_turn(hints, found, stored))
    opened.document.set_tool_aliases(ToolAliases.from_texts(["p__* = *"]))
    (pair,) = life(opened, hints).pairs
    assert (pair.collapsed, life(opened, found).pairing) == (
        ((opened.rows[found], opened.rows[stored]),),
        Pairing(opened.rows[hints], 2, "search_records", "analysis_store"),
    )


def test_many_are_counted_and_cut() -> None:
    found, failures = fetch(), [store(result={"isError": True}) for _ in range(30)]
    hints = workflow(*(hint(consumer=f"store{n}") for n in range(30)), hint())
    opened = Opened(mew, in_turn(hints, found, *failures))
    told = life(opened, found)
    assert (len(told.attempts), told.attempts_total, len(told.consumers), told.consumers_total) == (20, 30, 20, 31)
    told = life(opened, hints)
    assert (len(told.pairs), told.pairs_total) == (20, 31)


def test_tokens_once_they_are_counted() -> None:
    found, stored = fetch("three short words"), store()
    opened = Opened(mew, in_turn(workflow(), found, stored))
    analysis, row = opened.document.analysis, opened.rows[found]
    saving = saving_of(analysis, row)
    assert saving is not None
    assert (saving.before, saving.summary, saving.saved) == (None, None, None)
    analysis.tokens.count_now([row])
    saving = saving_of(analysis, row)
    assert saving is not None
    assert saving.saved == (saving.before or 0) - 3
    assert saving_of(analysis, opened.rows[stored]) is None


def test_as_json_it_always_has_the_same_keys() -> None:
    found, stored, hints = fetch(), store(), workflow()
    opened = Opened(mew, in_turn(hints, found, stored, Call("other")))
    told: list[dict[str, Any]] = [
        lifecycle_json(opened.document.analysis, row) for row in range(len(opened.document.capture))
    ]
    assert {tuple(one) for one in told} == {tuple(told[0])}
    one = told[opened.rows[found]]
    assert one["hint"] == {"no": 2, "step": 2, "tool": "search_records", "consumer": "analysis_store"}
    assert (one["hinted_by"], one["collapsed_by"], one["consumes"]) == (2, 6, None)
    assert one["tokens"]["saved"] == one["tokens"]["before"] - one["tokens"]["summary"]
    assert told[opened.rows[hints]]["pairs"] == [
        {
            "tool": "search_records", "consumer": "analysis_store", "step": 2, "registered_by": 2,
            "collapsed": [{"no": 4, "by": 6}], "collapsed_total": 1, "waiting": 0,
        }
    ]  # fmt: skip


def test_results_that_wait_are_listed_with_their_consumers_and_one_none_can_consume_saves_nothing() -> None:
    one, two = fetch(), fetch(tool="other_search")
    opened = Opened(mew, in_turn(workflow(), one, two))
    analysis = opened.document.analysis
    analysis.tokens.count_now(list(opened.rows.values()))
    found, total = pending_results(analysis, 10)
    assert [(result.message, result.tool, result.consumers) for result in found] == [
        (opened.rows[one], "search_records", ("analysis_store",)), (opened.rows[two], "other_search", ()),
    ]  # fmt: skip
    assert total == 2
    assert found[0].waited_ns == 2_000_000_000
    assert saving_of(analysis, opened.rows[one]) is not None
    assert saving_of(analysis, opened.rows[two]) is None
    account = account_of(opened.document, AccountTally(analysis), None, None)
    assert [(line.about, line.text, line.message) for line in account.lines if " waits for " in line.text] == [
        ("Pending", "search_records waits for 2.0 s; analysis_store can consume it", opened.rows[one]),
        ("", "other_search waits for <1 ms; no tool can consume it", opened.rows[two]),
    ]  # fmt: skip
    assert [(one["no"], one["consumers"]) for one in summary(opened.document, "x")["pending_results"]] == [
        (opened.rows[one] + 1, ["analysis_store"]), (opened.rows[two] + 1, []),
    ]  # fmt: skip

"""The transient-context protocol: each edge case in the table of docs/protocols.md 13, and the algorithm around it."""

from __future__ import annotations

import json
from array import array
from typing import Any

import pytest

from inspector.analysis.passes.results import transient_results
from inspector.analysis.passes.results.tool_pairing import NO_RESULT, Conversation
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.protocol.tool_aliases import ToolAliases
from tests.builders import (
    GrowingLog,
    closed_at_end,
    delivered,
    document_of,
    envelope,
    lines_of,
    log_file,
    received,
    tool_call,
    tool_result,
)  # fmt: skip

Line = dict[str, Any]


def hint(tool: Any = "search_records", consumer: Any = "analysis_store", **fields: Any) -> dict[str, Any]:
    return {"step": 2, "tool": tool, "lifecycle": "transient", "consumedBy": consumer, **fields}


def hints(*some: Any) -> dict[str, Any]:
    return {"contextHints": list(some) or [hint()]}


def transient(summary: Any = "15 records") -> dict[str, Any]:
    context = {"lifecycle": "transient"} if summary is None else {"lifecycle": "transient", "summary": summary}
    return {"context": context}


CONSUMED = {"context": {"consumed": True}}


def call(tool: str, meta: Any = None, **fields: Any) -> list[Line]:
    """A request and its result."""
    request = tool_call(tool, to=fields.pop("to", "files"), sender=fields.pop("sender", "lead"))
    return [request, tool_result(request, meta=meta, **fields)]


def workflow(*some: Any) -> list[Line]:
    return call("get_workflow_step", hints(*some))


def fetch(summary: Any = "15 records", tool: str = "search_records", **fields: Any) -> list[Line]:
    return call(tool, transient(summary), **fields)


def store(tool: str = "analysis_store", meta: Any = CONSUMED, **fields: Any) -> list[Line]:
    return call(tool, meta, **fields)


def error() -> dict[str, Any]:
    return {"result": {"isError": True}}


def opened(*parts: list[Line]) -> CaptureDocument:
    return document_of(*(line for part in parts for line in part))


def collapses(document: CaptureDocument) -> list[tuple[int, int]]:
    """(consumer, result) by call, counted from 0."""
    found = FIELD_BY_NAME["consumes"]
    rows = [(row, found.value(document.analysis, row)) for row in range(len(document.capture))]
    pairs = [(row // 2, (int(value) - 1) // 2) for row, value in rows if isinstance(value, int)]
    backwards = FIELD_BY_NAME["collapsed.by"]
    for consumer, result in pairs:
        assert backwards.value(document.analysis, result * 2 + 1) == consumer * 2 + 2
    return pairs


def badges(document: CaptureDocument) -> list[list[str]]:
    """Badges of the results."""
    field = FIELD_BY_NAME["badge"]
    return [field.value(document.analysis, row) for row in range(1, len(document.capture), 2)]  # type: ignore[misc]


def note(document: CaptureDocument, number: int) -> str | None:
    return document.analysis.transients.lifecycle(number * 2 + 1).note


# The edge-case table


def test_a_consumer_that_fails_collapses_nothing_and_its_retry_does() -> None:
    document = opened(workflow(), fetch(), store(**error()), store())
    assert collapses(document) == [(3, 1)]
    assert badges(document) == [[], ["transient", "collapsed"], [], ["consumed"]]
    assert note(document, 2) == "It failed, so it consumed nothing."


def test_a_json_rpc_error_is_a_failure_too() -> None:
    request = tool_call("analysis_store")
    failed = envelope(
        "mcp/response", {"error": {"code": 1}, "result": {"_meta": CONSUMED}}, sender="files", to=["lead"],
        correlation_id=[request["id"]],
    )  # fmt: skip
    assert collapses(opened(workflow(), fetch(), [request, failed])) == []


def test_three_pending_collapse_in_order_and_a_fourth_consumption_does_nothing() -> None:
    document = opened(workflow(), fetch("a"), fetch("b"), fetch("c"), store(), store(), store(), store())
    assert collapses(document) == [(4, 1), (5, 2), (6, 3)]
    assert note(document, 7) == "No result was waiting to be consumed by it."
    assert badges(document)[7] == ["consumed"]


def test_one_consumption_collapses_exactly_one() -> None:
    document = opened(workflow(), fetch(), fetch(), store())
    assert collapses(document) == [(3, 1)]
    assert document.analysis.transients.totals() == {"transient": 2, "consumed": 1, "collapsed": 1, "pending": 1}


def test_two_fetchers_share_a_consumer_oldest_arrival_first() -> None:
    both = workflow(hint("search_records"), hint("find_records"))
    (ask_search, search), (ask_find, find) = fetch(), fetch(tool="find_records")
    document = document_of(*both, ask_search, ask_find, find, search, *store(), *store())
    consumed = [FIELD_BY_NAME["consumes"].value(document.analysis, row) for row in (7, 9)]
    assert consumed == [5, 6]


@pytest.mark.parametrize("consumer", ["analysis_store", "analysis_ingest"])
def test_one_fetcher_with_two_consumers(consumer: str) -> None:
    either = workflow(hint(consumer="analysis_store"), hint(consumer="analysis_ingest"))
    assert collapses(opened(either, fetch(), store(consumer))) == [(2, 1)]


@pytest.mark.parametrize(
    "registered",
    [[hint(consumer="store_analysis_memory")], [hint("find_records")]],
    ids=["consumer not registered", "fetcher not registered"],
)
def test_what_is_not_registered_does_not_collapse_but_keeps_its_badges(registered: list[Any]) -> None:
    document = opened(workflow(*registered), fetch(), store())
    assert collapses(document) == []
    assert badges(document) == [[], ["transient"], ["consumed"]]


def test_without_any_hint_the_note_says_so() -> None:
    document = opened(fetch(), store())
    why = "No. 2 waits, but no hint pairs search_records with analysis_store"
    assert note(document, 1) == f"{why}, so it collapsed nothing."
    (found,) = document.analysis.findings.findings_about(3)
    assert (found.code, found.other) == ("consumed-nothing", 1)
    assert found.text == f"files reports that tools/call analysis_store consumed a result: {why}."


def test_what_waits_for_another_consumer_is_no_reason() -> None:
    paired = workflow(hint(), hint("find_records", "analysis_ingest"))
    document = opened(paired, fetch(), store(tool="analysis_ingest"))
    (found,) = document.analysis.findings.findings_about(5)
    assert found.text == "files reports that tools/call analysis_ingest consumed a result: no result was pending."


def test_hints_after_the_result() -> None:
    assert collapses(opened(fetch(), workflow(), store())) == [(2, 0)]


def test_hints_after_the_consumption_are_too_late() -> None:
    assert collapses(opened(fetch(), store(), workflow(), store())) == [(3, 0)]


def test_a_last_page_that_never_was_pending() -> None:
    document = opened(workflow(), fetch("page 1"), store(), call("search_records"), store())
    assert collapses(document) == [(2, 1)]


def test_a_last_page_s_consumption_collapses_an_older_one_that_still_waits() -> None:
    document = opened(workflow(), fetch("page 1"), call("search_records"), store())
    assert collapses(document) == [(3, 1)]


@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ({"context": {"consumed": "true"}}, '`consumed` is "true", not true, so it signals nothing.'),
        ({"context": {"consumed": 1}}, "`consumed` is 1, not true, so it signals nothing."),
        ({"context": {"consumed": False}}, None),
        ({"context": {"consumed": None}}, None),
        ({"context": "consumed"}, "`_meta.context` is no object, so it signals nothing."),
        ({"context": ["consumed"]}, "`_meta.context` is no object, so it signals nothing."),
        ({"context": {"lifecycle": "TRANSIENT"}}, None),
        ("no object", None),
        ({}, None),
    ],
)
def test_what_is_no_signal(meta: Any, sentence: str | None) -> None:
    document = opened(workflow(), fetch(), store(meta=meta))
    assert collapses(document) == []
    assert (badges(document)[2], note(document, 2)) == ([], sentence)


def test_both_transient_and_consumed_cannot_collapse_itself() -> None:
    both = {"context": {"consumed": True, "lifecycle": "transient"}}
    document = opened(workflow(hint("analysis_store")), store(meta=both), store(meta=both))
    assert collapses(document) == [(2, 1)]
    assert badges(document) == [[], ["transient", "consumed", "collapsed"], ["transient", "consumed"]]


@pytest.mark.parametrize("summary", [None, "", 7])
def test_no_summary_is_generated_from_the_tool(summary: Any) -> None:
    document = opened(workflow(), fetch(summary), store())
    assert document.analysis.transients.summary(3) == "search_records result"


def test_a_summary_is_opaque() -> None:
    document = opened(workflow(), fetch("15 records (page 1/undefined, IDs: …)"), store())
    assert FIELD_BY_NAME["summary"].value(document.analysis, 3) == "15 records (page 1/undefined, IDs: …)"
    assert FIELD_BY_NAME["summary"].value(document.analysis, 5) is None


def test_the_same_hints_again_and_others_are_additive() -> None:
    document = opened(workflow(), workflow(), fetch(), workflow(hint("find_records", "other")), store())
    assert collapses(document) == [(4, 2)]


def test_tool_names_match_exactly() -> None:
    assert collapses(opened(workflow(), fetch(), store("proxy__analysis_store"))) == []


# The algorithm


@pytest.mark.parametrize(
    "odd",
    [
        hint(lifecycle="permanent"), hint(lifecycle=None), hint(tool=""), hint(tool=None), hint(consumer=""),
        hint(consumer=["analysis_store"]), "search_records", None, [],
    ],
    ids=str,
)  # fmt: skip
def test_odd_hints_register_nothing(odd: Any) -> None:
    assert collapses(opened(workflow(odd), fetch(), store())) == []
    assert collapses(opened(workflow(odd, hint()), fetch(), store())) == [(2, 1)]


@pytest.mark.parametrize("meta", [{"contextHints": {"0": hint()}}, {"contextHints": "all"}, {"contextHints": None}])
def test_hints_that_are_no_list(meta: Any) -> None:
    assert collapses(opened(call("get_workflow_step", meta), fetch(), store())) == []


def test_hints_of_a_failed_result_count() -> None:
    assert collapses(opened(call("get_workflow_step", hints(), **error()), fetch(), store())) == [(2, 1)]


def test_a_transient_result_that_failed_never_waits() -> None:
    document = opened(workflow(), fetch(**error()), store())
    assert collapses(document) == []
    assert badges(document)[1] == []
    assert document.analysis.transients.totals()["transient"] == 0


def test_conversations_are_apart() -> None:
    document = opened(workflow(), fetch(sender="other"), store(), store(sender="other"))
    assert collapses(document) == []


@pytest.mark.parametrize("consumer", ["files", "elsewhere", "memory"])
def test_hints_of_one_server_pair_tools_of_others_of_the_same_client(consumer: str) -> None:
    document = opened(workflow(), fetch(to="elsewhere"), store(to=consumer))
    assert collapses(document) == [(2, 1)]


def test_a_conversation_goes_on_in_any_context() -> None:
    lines = [{**line, "context": f"c{place}"} for place, line in enumerate([*workflow(), *fetch(), *store()])]
    assert collapses(document_of(*lines)) == [(2, 1)]


def test_mcp_stdio_lines_are_one_conversation() -> None:
    def line(way: str, **message: Any) -> dict[str, Any]:
        return {"dir": way, "message": {"jsonrpc": "2.0", **message}}

    def pair(number: int, tool: str, meta: Any) -> list[Line]:
        return [
            line("in", id=number, method="tools/call", params={"name": tool}),
            line("out", id=number, result={"_meta": meta}),
        ]

    document = opened(
        pair(1, "get_workflow_step", hints()),
        pair(2, "search_records", transient()),
        pair(3, "analysis_store", CONSUMED),
    )
    assert collapses(document) == [(2, 1)]


# Late requests


def test_a_late_request_tells_the_story_again() -> None:
    (ask_hints, hinted), (ask_fetch, fetched), (ask_store, stored) = workflow(), fetch(None), store()
    log = GrowingLog()
    log.write(ask_hints, hinted, fetched, ask_store, stored)
    assert FIELD_BY_NAME["consumes"].value(log.document.analysis, 4) is None
    assert log.document.analysis.transients.summary(2) == "tool result"
    (changes,) = log.write(ask_fetch)
    assert changes.changed.tolist() == [2, 4]
    assert FIELD_BY_NAME["consumes"].value(log.document.analysis, 4) == 3
    assert log.document.analysis.transients.summary(2) == "search_records result"


def test_a_late_request_can_change_which_one_collapses() -> None:
    ask_first, first = fetch("first")
    log = GrowingLog()
    log.write(*workflow(), first, *fetch("second"), *store())
    assert FIELD_BY_NAME["collapsed.by"].value(log.document.analysis, 4) == 7
    (changes,) = log.write(ask_first)
    assert changes.changed.tolist() == [2, 4, 6]
    values = [FIELD_BY_NAME["collapsed.by"].value(log.document.analysis, row) for row in (2, 4)]
    assert values == [7, None]


# The story of one result


def test_lifecycle() -> None:
    document = opened(workflow(), fetch(), store())
    tell = document.analysis.transients.lifecycle
    fetched, stored = tell(3), tell(5)
    assert (fetched.badges, fetched.summary, fetched.tool) == (
        ("transient", "collapsed"),
        "15 records",
        "search_records",
    )
    assert (fetched.hinted_by, fetched.collapsed_by, fetched.consumes) == (1, 5, None)
    assert (stored.badges, stored.consumes, stored.hinted_by) == (("consumed",), 3, None)
    assert tell(0).badges == ()
    assert document.analysis.transients.hints(1) == (("search_records", "analysis_store"),)
    assert document.analysis.transients.hints(3) == ()


def test_a_waiting_result_knows_its_hint_already() -> None:
    assert opened(workflow(), fetch()).analysis.transients.lifecycle(3).hinted_by == 1


def test_the_oldest_of_several_tools_collapses_first() -> None:
    pairs = hint("search_records"), hint("read_records")
    document = opened(
        workflow(*pairs), fetch(tool="read_records"), fetch(), fetch(tool="read_records"), store(), store(), store()
    )
    assert collapses(document) == [(4, 1), (5, 2), (6, 3)]


def test_a_result_that_waits_for_another_consumer_stays() -> None:
    pairs = hint("search_records", "other_store"), hint("read_records")
    document = opened(workflow(*pairs), fetch(), fetch(tool="read_records"), store(), store("other_store"))
    assert collapses(document) == [(3, 2), (4, 1)]


def test_the_first_hint_that_names_a_tool_is_noted() -> None:
    document = opened(
        workflow(hint("a", "x")), workflow(hint("search_records", "y")), workflow(hint("search_records", "x")), fetch()
    )
    assert document.analysis.transients.lifecycle(7).hinted_by == 3


def test_what_waits_is_kept_by_tool_and_let_go() -> None:
    document = opened(workflow(), fetch(), fetch(tool="other_fetch"), store("nobody_s_store"), store())
    conversation = document.analysis.transients.conversation_of(5)
    assert conversation is not None
    assert list(conversation.waiting) == ["other_fetch"]


# Copies, batches, connections


def test_copies_of_a_gateway_are_one_result() -> None:
    lines = [*workflow(), *fetch("a"), *fetch("b"), *store()]
    copies = [line for one in lines for line in (received(one), delivered(one, "lead"), delivered(one, "files"))]
    document = document_of(*copies)
    assert len(document.capture) == 8
    assert collapses(document) == [(3, 1)]


def rpc(way: str, *messages: Line) -> Line:
    """A line of MCP stdio; several messages are a batch."""
    made = [{"jsonrpc": "2.0", **message} for message in messages]
    return {"dir": way, "message": made[0] if len(made) == 1 else made}


def ask(number: Any, tool: str) -> Line:
    return {"id": number, "method": "tools/call", "params": {"name": tool}}


def answer(number: Any, meta: Any) -> Line:
    return {"id": number, "result": {"_meta": meta, "content": []}}


def test_a_batch_of_parallel_results_collapses_in_its_order() -> None:
    def batch(*messages: Line) -> str:
        return json.dumps([{"jsonrpc": "2.0", **message} for message in messages])

    document = document_of(
        batch(ask(1, "get_workflow_step")), batch(answer(1, hints())),
        batch(ask(2, "search_records"), ask(3, "search_records"), ask(4, "analysis_store")),
        batch(answer(3, transient("later asked")), answer(2, transient("first asked")), answer(4, CONSUMED)),
    )  # fmt: skip
    life = document.analysis.transients
    (by,) = [row for row in range(len(document.capture)) if life.consumes(row) is not None]
    result = life.consumes(by)
    assert result is not None
    assert life.summary(result) == "later asked"


def test_connections_in_one_log_are_apart_by_who_speaks() -> None:
    def pair(number: int, client: str, tool: str, meta: Any) -> list[Line]:
        return [rpc(f"{client}->s", ask(number, tool)), rpc(f"s->{client}", answer(number, meta))]

    lines = [
        *pair(1, "c1", "get_workflow_step", hints()), *pair(2, "c1", "search_records", transient()),
        *pair(1, "c2", "search_records", transient()), *pair(2, "c2", "analysis_store", CONSUMED),
    ]  # fmt: skip
    assert collapses(document_of(*lines)) == []
    assert collapses(document_of(*lines, *pair(3, "c1", "analysis_store", CONSUMED))) == [(4, 1)]


def test_a_server_that_calls_tools_of_its_client_is_another_conversation() -> None:
    def pair(number: int, ways: tuple[str, str], tool: str, meta: Any) -> list[Line]:
        return [rpc(ways[0], ask(number, tool)), rpc(ways[1], answer(number, meta))]

    there, back = ("in", "out"), ("out", "in")
    document = document_of(
        *pair(1, there, "get_workflow_step", hints()), *pair(2, there, "search_records", transient()),
        *pair(2, back, "analysis_store", CONSUMED),
    )  # fmt: skip
    assert collapses(document) == []


def test_spaces_are_apart() -> None:
    def in_space(space: str, line: Line) -> Line:
        return {**received(line), "space_id": space}

    lines = [
        *(in_space("one", line) for part in (workflow(), fetch()) for line in part),
        *(in_space("two", line) for line in store()),
    ]
    assert collapses(document_of(*lines)) == []


def test_the_client_of_a_result_whose_request_never_came_is_who_it_is_for() -> None:
    """Also when that one speaks for the first time later: it must not become another conversation by it."""
    lost = [tool_result(tool_call("get_workflow_step", sender="late"), meta=hints())]
    said = [envelope(sender="late")]
    document = opened(lost, said, fetch(sender="late"), store(sender="late"))
    assert [document.analysis.transients.consumes(row) for row in (3, 5)] == [None, 3]


# Telling again


def test_while_a_log_is_read_a_long_story_may_wait_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transient_results, "_FREE_REPROCESSING", -1_000_000)
    parts = [workflow(), *(fetch(f"page {n}")[::-1] for n in range(20)), *(store() for _ in range(20))]
    document = closed_at_end(CaptureDocument())
    path = log_file(lines_of(*(line for part in parts for line in part)))
    for _ in document.open_log(path, block_bytes=512):
        pass
    totals = {"transient": 20, "consumed": 20, "collapsed": 20, "pending": 0}
    assert document.analysis.transients.totals() == totals
    assert FIELD_BY_NAME["consumes"].value(document.analysis, 43) == 3


# Aliases


def prefixed() -> CaptureDocument:
    return opened(workflow(), fetch(tool="mcp__rune__search_records"), store("mcp__rune__analysis_store"))


def test_an_alias_pairs_prefixed_names() -> None:
    document = prefixed()
    changes = document.analysis.use_tool_aliases(ToolAliases.from_texts(["mcp__rune__* = *"]))
    assert collapses(document) == [(2, 1)]
    assert changes.changed.tolist() == [3, 5]
    assert FIELD_BY_NAME["tool"].value(document.analysis, 3) == "mcp__rune__search_records"
    document.analysis.use_tool_aliases(ToolAliases())
    assert collapses(document) == []


def test_hints_may_be_prefixed_as_well() -> None:
    document = opened(workflow(hint("p__search_records", "p__analysis_store")), fetch(), store())
    document.analysis.use_tool_aliases(ToolAliases.from_texts(["p__search_records = search_records", "p__* = *"]))
    assert collapses(document) == [(2, 1)]


def test_the_finding_about_a_missing_tool_suggests_the_alias_and_goes_with_it() -> None:
    listing = envelope("mcp/request", {"method": "tools/list"}, to=["files"])
    tools = [{"name": f"mcp__rune__{name}"} for name in ("search_records", "analysis_store")]
    listed = envelope(
        "mcp/response", {"result": {"tools": tools}}, sender="files", to=["lead"], correlation_id=[listing["id"]]
    )
    document = opened(workflow(), [listing, listed])
    (found,) = [one for one in document.analysis.findings.findings_about(1) if one.code == "hint-unknown-tool"]
    assert "search_records, analysis_store (the tool alias mcp__rune__* = * would pair it)" in found.text
    document.set_tool_aliases(ToolAliases.from_texts(["mcp__rune__* = *"]))
    assert [one.code for one in document.analysis.findings.findings_about(1)] == []
    document.set_tool_aliases(ToolAliases())
    assert [one.code for one in document.analysis.findings.findings_about(1)] == ["hint-unknown-tool"]


# Work


def test_a_consumer_of_many_tools_looks_at_few_of_them() -> None:
    """20,000 tools that wait for one consumer: each of its signals must not look at all of them."""
    count = 20_000
    following = array("i", [NO_RESULT]) * count
    conversation = Conversation()
    for number in range(count):
        conversation.register(f"t{number}", "store", 0)
        conversation.register(f"t{number}", "other", 0)
        conversation.wait(f"t{number}", number, following)
    taken = [conversation.take_result("store" if number % 3 else "other", following) for number in range(count)]
    assert taken == list(range(count))  # by scanning it takes minutes
    assert conversation.take_result("store", following) == NO_RESULT


def test_an_answer_that_is_there_twice_waits_once() -> None:
    """A log without a gateway may have what it got twice; the second was a pending result for ever."""
    document = document_of(*workflow(), *fetch(), *(consume := call("analysis_store", CONSUMED)))
    first, answer = fetch()
    twice = document_of(*workflow(), first, answer, answer, *consume)

    assert twice.analysis.transients.totals() == document.analysis.transients.totals()
    assert twice.analysis.transients.badges(4) == ()
    assert twice.analysis.transients.note(4) == "The same answer was there before, so it does not count again."
    other = {**answer, "payload": {**answer["payload"], "more": 1}}
    assert document_of(*workflow(), first, answer, other).analysis.transients.totals()["pending"] == 2


def test_an_answer_is_known_again_when_the_call_comes_last() -> None:
    first, answer = fetch()
    late = document_of(*workflow(), answer, answer, first)

    assert late.analysis.transients.totals()["pending"] == 1


def test_hints_may_name_tools_that_another_server_of_the_client_lists() -> None:
    def listed(server: str, *tools: str) -> list[Line]:
        request = envelope("mcp/request", {"method": "tools/list"}, to=[server])
        result = {"tools": [{"name": tool} for tool in tools]}
        return [request, envelope("mcp/response", {"result": result}, sender=server, correlation_id=[request["id"]])]

    wrong = opened(workflow(), listed("files", "get_workflow_step"))
    assert [one.code for one in wrong.analysis.findings.findings_about(1)] == ["hint-unknown-tool"]
    parts = [workflow(), listed("files", "get_workflow_step"), listed("db", "search_records", "analysis_store")]
    for order in (parts, [parts[2], *parts[:2]], [parts[1], parts[2], parts[0]]):
        document = opened(*order)
        assert "hint-unknown-tool" not in document.analysis.findings.found.counts()


@pytest.mark.parametrize(
    ("hints", "sentence"),
    [
        ({"tool": "a"}, "`_meta.contextHints` is an object, not a list, so it registers nothing."),
        (["a"], "A hint in `_meta.contextHints` is a text, not an object, so it registers nothing."),
        ([hint(consumer=["a"])], "`consumedBy` of a hint is a list, not a text, so the hint registers nothing."),
        ([hint(), hint(tool=7)], "`tool` of a hint is a number, not a text, so the hint registers nothing."),
        ([hint(), {"lifecycle": "kept", "tool": 7}], None),
    ],
)
def test_hints_of_a_wrong_type_have_a_finding(hints: Any, sentence: str | None) -> None:
    document = opened(call("get_workflow_step", {"contextHints": hints}))
    found = [one.text for one in document.analysis.findings.findings_about(1) if one.code == "signal-malformed"]
    assert found == ([] if sentence is None else [sentence])

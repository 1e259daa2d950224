"""Which message answers which, and the five rules by which a response gets its tool (docs/protocols.md 3 and 5)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import GrowingLog, document_of, envelope, tool_call, tool_result


def column(document: CaptureDocument, name: str) -> list[object]:
    field = FIELD_BY_NAME[name]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


def last(document: CaptureDocument, *names: str) -> list[object]:
    return [column(document, name)[-1] for name in names]


def response(*correlation: str, kind: str = "mcp/response", payload: Any = None, **fields: Any) -> dict[str, Any]:
    named = {"correlation_id": list(correlation)} if correlation else {}
    return envelope(kind, payload or {"result": {}}, sender="files", **named, **fields)


GREP = tool_call("grep", id="q")
CALL = {"method": "tools/call", "params": {"name": "grep"}}


# The five rules


def test_rule_1_the_kind_says_it() -> None:
    document = document_of(GREP, response("q", kind="mcp/response:tools/call:rm"))
    assert last(document, "method", "tool", "tool.rule", "kind", "kind.raw") == [
        "tools/call", "rm", "kind", "mcp/response", "mcp/response:tools/call:rm",
    ]  # fmt: skip


def test_rule_2_the_payload_says_it() -> None:
    document = document_of(
        GREP, response("q", payload={"result": {}, "method": "tools/call", "params": {"name": "rm"}})
    )
    assert last(document, "method", "tool", "tool.rule") == ["tools/call", "rm", "payload"]


def test_rule_3_the_request_says_it() -> None:
    document = document_of(GREP, response("q"))
    assert last(document, "method", "tool", "target", "tool.rule") == ["tools/call", "grep", "grep", "correlation"]
    assert column(document, "answered") == [2, None]


def test_rule_3_a_string_is_an_array_of_one() -> None:
    assert last(document_of(GREP, response() | {"correlation_id": "q"}), "tool") == ["grep"]


def test_rule_3_the_kind_s_method_alone_is_completed_by_the_request() -> None:
    document = document_of(GREP, response("q", kind="mcp/response:tools/call"))
    assert last(document, "method", "tool", "tool.rule") == ["tools/call", "grep", "correlation"]


@pytest.mark.parametrize(
    ("before", "named", "tool"),
    [
        ([tool_call("old", id="q"), tool_call("new", id="q")], ["q"], "new"),
        ([tool_call("a", id="p"), tool_call("b", id="q")], ["p", "q"], "a"),
        ([tool_call("a", id="p"), tool_call("b", id="q")], ["missing", "q"], "b"),
        ([envelope("chat", id="p"), tool_call("b", id="q")], ["p", "q"], "b"),
        ([tool_call("a", id="q"), envelope("chat", id="q")], ["q"], "a"),
        ([envelope("mcp/proposal", CALL, id="q")], ["q"], "grep"),
        ([tool_call("a", id="q"), envelope("mcp/proposal", CALL, id="q")], ["q"], "a"),
        ([envelope("mcp/proposal", CALL, id="p"), tool_call("b", id="q")], ["p", "q"], "grep"),
        ([envelope("mcp/proposal", CALL, id="p"), envelope("mcp/request", {}, id="q", correlation_id=["p"])],
         ["q"], "grep"),
    ],
    ids=[
        "most recent", "in order", "the next id", "a chat is no call", "a request behind a chat", "else a proposal",
        "request before proposal", "ids before kinds", "one step on to the proposal",
    ],
)  # fmt: skip
def test_rule_3_finds_the_call(before: list[Any], named: list[str], tool: str) -> None:
    assert last(document_of(*before, response(*named)), "tool", "tool.rule") == [tool, "correlation"]


@pytest.mark.parametrize("apart", [False, True])
def test_rule_3_of_requests_with_one_id_that_with_the_answers_json_rpc_id_is_meant(*, apart: bool) -> None:
    asked = [tool_call(name, id="q") for name in ("one", "two", "three")]
    for place, request in enumerate(asked):
        request["payload"]["id"] = place
    answers = [response("q", payload={"id": place, "result": {}}) for place in (1, 0, 2, 7)]
    log = GrowingLog()
    if apart:
        for line in (*asked, *answers):
            log.write(line)
    else:
        log.write(*asked, *answers)
    # An id that no request has names the latest, as without one.
    assert column(log.document, "answers") == [None] * 3 + [2, 1, 3, 3]
    assert column(log.document, "tool")[3:] == ["two", "one", "three", "three"]
    assert column(log.document, "answered")[:3] == [5, 4, 6]


def test_a_request_with_another_json_rpc_id_and_a_reused_id_is_not_answered_with_the_first() -> None:
    asked = [tool_call(name, id="q") for name in ("one", "two")]
    for place, request in enumerate(asked):
        request["payload"]["id"] = place
    document = document_of(*asked, response("q", payload={"id": 0, "result": {}}))
    assert column(document, "state") == ["answered", "waiting", None]


@pytest.mark.parametrize("apart", [False, True])
def test_rule_3_any_number_of_requests_may_have_one_id(*, apart: bool) -> None:
    asked = [tool_call(f"t{place}", id="q") for place in range(40)]
    for place, request in enumerate(asked):
        request["payload"]["id"] = place
    answers = [response("q", payload={"id": place, "result": {}}) for place in range(40)]
    log = GrowingLog()
    if apart:
        for place in range(0, 40, 10):
            log.write(*asked[place : place + 10])
        for place in range(0, 40, 10):
            log.write(*answers[place : place + 10])
    else:
        log.write(*asked, *answers)
    assert column(log.document, "answers")[40:] == list(range(1, 41))
    assert column(log.document, "tool")[40:] == [f"t{place}" for place in range(40)]


@pytest.mark.parametrize("batch", [1, 2], ids=["apart", "together"])
def test_rule_3_a_late_request_names_its_response(batch: int) -> None:
    log = GrowingLog()
    if batch == 1:
        log.write(response("q"))
        assert last(log.document, "tool", "tool.rule") == [None, "unknown"]
        (changes,) = log.write(GREP)
        assert changes.changed.tolist() == [0]
    else:
        log.write(response("q"), GREP)
    assert [column(log.document, name)[0] for name in ("tool", "tool.rule")] == ["grep", "correlation"]
    assert column(log.document, "answered") == [None, 1]


def test_rule_3_a_late_chat_names_nothing_and_the_request_behind_it_does() -> None:
    document = document_of(response("q"), envelope("chat", id="q"), GREP)
    assert column(document, "tool")[0] == "grep"
    assert document.analysis.correlation.causes(0) == [2]


def test_rule_3_a_late_proposal_names_the_response_of_its_nameless_fulfilment() -> None:
    document = document_of(
        envelope("mcp/request", {}, id="q", correlation_id=["p"]), response("q"), envelope("mcp/proposal", CALL, id="p")
    )
    assert [column(document, name)[1] for name in ("tool", "tool.rule")] == ["grep", "correlation"]
    assert column(document, "proposal.state")[2] == "answered"


def rpc(way: str | None, **message: Any) -> dict[str, Any]:
    return {"dir": way, "message": {"jsonrpc": "2.0", **message}}


def ask(way: str | None, identifier: Any, name: str = "grep") -> dict[str, Any]:
    return rpc(way, id=identifier, method="tools/call", params={"name": name})


@pytest.mark.parametrize(
    ("lines", "tools"),
    [
        ([ask("c->s", 1), rpc("s->c", id=1, result={})], ["grep", "grep"]),
        ([ask("c->s", 1), rpc("s->c", id="1", result={})], ["grep", None]),
        ([ask("c->s", 1), rpc("c->s", id=1, result={})], ["grep", None]),
        ([ask("c->s", 1), rpc("x->c", id=1, result={})], ["grep", None]),
        ([ask("c->s", 1, "a"), ask("c->s", 1, "b"), rpc("s->c", id=1, result={}), rpc("s->c", id=1, result={})],
         ["a", "b", "b", "a"]),
        ([ask("c->s", 1, "a"), ask("s->c", 1, "b"), rpc("c->s", id=1, result={}), rpc("s->c", id=1, result={})],
         ["a", "b", "b", "a"]),
        ([ask("in", 1), rpc("out", id=1, result={})], ["grep", "grep"]),
        ([ask("in", 1), rpc("in", id=1, result={})], ["grep", None]),
        ([ask("out", 1, "a"), ask("in", 1, "b"), rpc("out", id=1, result={}), rpc("in", id=1, result={})],
         ["a", "b", "b", "a"]),
        ([ask(None, 1), rpc(None, id=1, result={})], ["grep", "grep"]),
        ([ask("c->s", 1), rpc("s->c", id=1, error={"code": 1})], ["grep", "grep"]),
        ([ask("c->s", 1), rpc("s->c", id=None, error={"code": 1})], ["grep", None]),
        ([rpc("s->c", id=1, result={}), ask("c->s", 1)], [None, "grep"]),
    ],
    ids=[
        "answer", "7 is not the text 7", "same way", "somebody else", "latest unanswered", "two id spaces",
        "in and out", "both in", "in and out, two id spaces", "no direction", "an error", "null is no id",
        "never a later request",
    ],
)  # fmt: skip
def test_rule_4_json_rpc_ids(lines: list[Any], tools: list[str | None]) -> None:
    document = document_of(*lines)
    assert column(document, "tool") == tools
    rules = [rule for rule in column(document, "tool.rule") if rule]
    assert set(rules) <= {"rpc id", "unknown"}


def test_rule_4_in_mew_needs_the_same_two() -> None:
    asked = tool_call("grep", to="files", id="q")
    asked["payload"]["id"] = 7
    answer = envelope("mcp/response", {"id": 7, "result": {}}, sender="files", to=["lead"])
    assert last(document_of(asked, answer), "tool", "tool.rule") == ["grep", "rpc id"]
    assert last(document_of(asked, {**answer, "from": "x"}), "tool", "tool.rule") == [None, "unknown"]
    assert last(document_of(asked, {**answer, "to": ["x"]}), "tool", "tool.rule") == [None, "unknown"]
    assert last(document_of(asked, {**answer, "to": []}), "tool", "tool.rule") == [None, "unknown"]
    assert last(document_of({**asked, "to": []}, answer), "tool", "tool.rule") == [None, "unknown"]


def test_rule_4_is_not_asked_where_an_id_is_named() -> None:
    asked = tool_call("grep", to="files", id="q")
    asked["payload"]["id"] = 7
    answer = envelope("mcp/response", {"id": 7, "result": {}}, sender="files", to=["lead"], correlation_id=["other"])
    assert last(document_of(asked, answer), "tool", "tool.rule") == [None, "unknown"]


def test_rule_5_unknown_is_never_guessed() -> None:
    document = document_of(GREP, response(payload={"result": {"tools": [{"name": "x"}]}}))
    assert last(document, "method", "tool", "tool.rule") == [None, None, "unknown"]


def test_a_response_to_something_else_than_a_tool() -> None:
    document = document_of(envelope("mcp/request", {"method": "tools/list"}, id="q"), response("q"))
    assert last(document, "method", "tool", "target", "tool.rule") == ["tools/list", None, None, "correlation"]


def test_requests_have_no_rule() -> None:
    assert column(document_of(GREP), "tool.rule") == [None]


def test_a_response_that_names_itself_or_another_response() -> None:
    document = document_of(response("r", id="r"), response("r", id="s"))
    assert column(document, "tool.rule") == ["unknown", "unknown"]
    assert [document.analysis.correlation.causes(row) for row in range(2)] == [[], []]


# What a kind pattern sees


def test_calls_for_like() -> None:
    document = document_of(
        response("q"), GREP, envelope("mcp/request", {"method": "tools/list"}), envelope("chat"), "{torn",
        {"kind": "mcp/request:resources/read:file:///a:b"},
    )  # fmt: skip
    correlation = document.analysis.correlation
    assert [correlation.calls[call] for call in correlation.columns["call"].tolist()] == [
        "mcp/response:tools/call:grep", "mcp/request:tools/call:grep", "mcp/request:tools/list", "chat", "",
        "mcp/request:resources/read:file:///a:b",
    ]  # fmt: skip


# Links


def test_causes_and_effects() -> None:
    document = document_of(
        envelope("chat", id="c"), {**GREP, "correlation_id": ["c"]}, response("q", id="a"), response("q", id="b"),
        envelope("chat", id="d", correlation_id=["a", "c", "missing"]),
    )  # fmt: skip
    links = document.analysis.correlation
    assert [links.causes(row) for row in range(5)] == [[], [0], [1], [1], [0, 2]]
    assert [links.effects(row) for row in range(5)] == [[1, 4], [2, 3], [4], [], []]
    assert column(document, "answered") == [None, 3, None, None, None]
    assert column(document, "correlation") == [[], ["c"], ["q"], ["q"], ["a", "c", "missing"]]


def test_an_ordinary_message_that_came_before_what_it_names() -> None:
    document = document_of(envelope("stream/open", {}, correlation_id=["s"]), envelope("stream/request", {}, id="s"))
    assert document.analysis.correlation.causes(0) == [1]
    assert document.analysis.correlation.effects(1) == [0]


def test_ids_may_repeat_without_end() -> None:
    lines = [response("x", id="x") for _ in range(400)]
    document = document_of(*lines, envelope("mcp/request", CALL, id="x"), *lines[:5])
    assert column(document, "tool.rule").count("correlation") == 405
    assert column(document, "answered")[400] == 1


# Latency


@pytest.mark.parametrize(
    ("asked", "answered", "latency"),
    [
        ("2026-01-05T09:00:00.000Z", "2026-01-05T09:00:00.412Z", 412.0),
        ("2026-01-05T09:00:01.000Z", "2026-01-05T09:00:00.000Z", None),  # the clock was set back
        (None, "2026-01-05T09:00:00.000Z", None),
        ("2026-01-05T09:00:00.000Z", None, None),
    ],
)
def test_latency(asked: str | None, answered: str | None, latency: float | None) -> None:
    request = tool_call("grep", ts=asked)
    document = document_of(request, tool_result(request, ts=answered))
    assert column(document, "latency") == [None, latency]
    expected = None if latency is None else int(latency * 1_000_000)
    assert document.analysis.correlation.latency_ns(1) == expected
    assert document.analysis.correlation.latency_ns(0) is None


def test_only_a_response_to_a_request_has_a_latency() -> None:
    document = document_of(
        envelope("mcp/proposal", CALL, id="p"), response("p"), envelope("chat", correlation_id=["p"])
    )
    assert column(document, "latency") == [None, None, None]
    assert [document.analysis.correlation.latency_ns(row) for row in range(3)] == [None, None, None]


# Much of the same


def test_a_request_is_found_behind_many_messages_with_its_id() -> None:
    others = [envelope(id="q") for _ in range(70)]
    document = document_of(GREP, *others, response("q"))
    assert last(document, "tool", "tool.rule") == ["grep", "correlation"]
    proposal = envelope("mcp/proposal", CALL, id="p")
    document = document_of(
        proposal, *(envelope(id="p") for _ in range(70)), envelope("mcp/reject", correlation_id=["p"])
    )
    assert column(document, "proposal.state")[0] == "rejected"


def test_the_same_id_over_and_over_is_one() -> None:
    document = document_of(GREP, response(*["x"] * 10_000, "q"))
    assert last(document, "tool") == ["grep"]


def test_ids_are_looked_at_to_a_limit() -> None:
    ids = [f"x{number}" for number in range(300)]
    correlation = document_of(GREP, response(*ids[:255], "q"), response(*ids, "q")).analysis.correlation
    assert correlation.columns["cause"].tolist() == [-1, 0, -1]
    assert correlation.causes(1) == [0]


def test_a_request_that_names_no_tool_is_named_by_its_proposal() -> None:
    proposal = envelope("mcp/proposal", CALL, id="p")
    nameless = envelope("mcp/request", {"method": "tools/call", "params": {}}, id="f", correlation_id=["p"])
    assert last(document_of(proposal, nameless, response("f")), "tool", "tool.rule") == ["grep", "correlation"]
    log = GrowingLog()
    log.write(nameless)
    log.write(response("f"))
    log.write(proposal)
    assert column(log.document, "tool")[1] == "grep"


@pytest.mark.parametrize(
    ("cause", "own"),
    [
        (envelope("mcp/proposal", {"method": "prompts/get", "params": {"name": "grep"}}, id="p"), "tools/call"),
        (envelope(id="p"), "tools/call"),
        (envelope("mcp/request", CALL, id="p"), "tools/call"),
        (envelope("mcp/proposal", CALL, id="p"), "tools/list"),
    ],
    ids=["another method", "no proposal", "a request", "a call without a target"],
)
def test_only_a_proposal_of_the_same_call_names_it(cause: dict[str, Any], own: str) -> None:
    nameless = envelope("mcp/request", {"method": own}, id="f", correlation_id=["p"])
    assert last(document_of(cause, nameless, response("f")), "method", "target") == [own, None]


def test_times_further_apart_than_64_bits() -> None:
    document = document_of(GREP | {"ts": "1750-01-01T00:00:00Z"}, response("q", ts="2190-01-01T00:00:00Z"))
    correlation, own = document.analysis.correlation, document.capture.columns["time_ns"].tolist()
    assert correlation.latency_ns(1) == own[1] - own[0] > 2**63
    assert column(document, "latency")[1] == pytest.approx((own[1] - own[0]) / 1e6)


# What kind, payload and request say may differ


TWO = {"result": {}, "method": "tools/call", "params": {"name": "write_file"}}


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("mcp/response:completion/complete", None, ["completion/complete", None, "kind"]),
        ("mcp/response:tools/call:read_file", TWO, ["tools/call", "read_file", "kind"]),
        ("mcp/response:tools/call", TWO, ["tools/call", "write_file", "payload"]),
        ("mcp/response:tools/call", {"result": {}, "params": {"name": "rm"}}, ["tools/call", "rm", "payload"]),
        ("mcp/response", {"result": {}, "method": "prompts/get"}, ["prompts/get", None, "payload"]),
        ("mcp/response:tools/list", None, ["tools/list", None, "kind"]),
        ("mcp/response:tools/call", None, ["tools/call", "grep", "correlation"]),
    ],
)
def test_what_a_response_says_itself_comes_first(kind: str, payload: Any, expected: list[str | None]) -> None:
    for fields in ({}, {"extra": 1, "correlationId": "q"}):  # the usual shape, and one that is read closer
        document = document_of(GREP, response("q", kind=kind, payload=payload, **fields))
        assert last(document, "method", "tool", "tool.rule") == expected


@pytest.mark.parametrize("fields", [{}, {"correlationId": "x"}])
def test_a_request_with_its_method_in_the_kind_only_keeps_the_name_in_its_payload(fields: dict[str, Any]) -> None:
    asked = envelope("mcp/request:tools/call", {"params": {"name": "read_file"}}, id="q", **fields)
    document = document_of(asked, response("q"))
    assert column(document, "tool") == ["read_file", "read_file"]
    assert last(document, "tool.rule") == ["correlation"]


@pytest.mark.parametrize("payload", [{"text": ""}, {"params": {}}])
def test_the_answer_to_a_request_that_names_no_tool_is_unknown(payload: Any) -> None:
    document = document_of(envelope("mcp/request:tools/call", payload, id="q"), response("q"))
    assert last(document, "method", "tool", "tool.rule") == ["tools/call", None, "unknown"]
    assert last(document_of(envelope("mcp/request", payload, id="q"), response("q")), "tool.rule") == ["unknown"]

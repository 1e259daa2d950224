"""What waits for an answer, and what is answered twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.account.unanswered import is_cancelled, is_pending, is_refused
from inspector.analysis.views.summaries.participant_queries import waiting_messages
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import delivered, document_of, envelope, received, tool_call, tool_result
from tests.unit.analysis.findings.checked_logs import told, told_either_way

UNANSWERED = "request-unanswered"


def at(second: int) -> str:
    return f"2026-01-05T09:{second // 60:02d}:{second % 60:02d}.000Z"


def line(way: str, second: int, **message: Any) -> dict[str, Any]:
    """A line of a log of MCP over stdio."""
    return {"time": at(second), "dir": way, "message": {"jsonrpc": "2.0", **message}}


def refusal(of: str) -> dict[str, Any]:
    payload = {"error": "capability_violation", "attempted_kind": "mcp/request"}
    return envelope("system/error", payload, sender="system:gateway", to=["lead"], correlation_id=[of], ts=at(1))


ASK = line("client->server", 0, id=5, method="tools/call", params={"name": "slow"})
CANCEL = line("client->server", 2, method="notifications/cancelled", params={"requestId": 5})
LATER = line("server->client", 100, method="notifications/message", params={})
REQUEST = tool_call("grep", id="q1", ts=at(0))
LATE = envelope(ts=at(100))
BARE: dict[str, Any] = {"protocol": "mcp-x/v0", "id": "h1", "ts": at(0), "from": "bob", "to": ["al"], "kind": "mcp",
        "payload": {"jsonrpc": "2.0", "method": "resources/updated", "params": {}}}  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "waits"),
    [
        ([REQUEST, LATE], True),
        ([REQUEST, refusal("q1"), LATE], False),
        ([REQUEST, refusal("other"), LATE], True),
        ([refusal("q1"), REQUEST, LATE], False),
        ([REQUEST, envelope("mcp/request", {"method": "notifications/cancelled", "params": {"requestId": "q1"}},
                            to=["files"], ts=at(1)), LATE], False),
        ([REQUEST, envelope("mcp/request", {"method": "notifications/cancelled", "params": {"requestId": "q1"}},
                            sender="other", to=["files"], ts=at(1)), LATE], True),
        ([ASK, LATER], True),
        ([ASK, CANCEL, LATER], False),
        ([ASK, {**CANCEL, "dir": "server->client"}, LATER], True),
        ([line("client->server", 0, id=5, method="ping"), line("server->client", 1, id=5, result={}), ASK, CANCEL,
          LATER], False),
        ([BARE, envelope(ts=at(100), protocol="mcp-x/v0")], False),
        ([{**BARE, "payload": {**BARE["payload"], "id": 3}}, envelope(ts=at(100), protocol="mcp-x/v0")], True),
        ([received(REQUEST), delivered(REQUEST, "lead", event="rejected"), received(LATE)], False),
    ],
    ids=["nobody answers", "refused", "another refused", "refused before it", "cancelled by its envelope's id",
         "cancelled by somebody else", "stdio", "cancelled on stdio", "cancelled by the other side",
         "a second call of that id is cancelled", "v0.0 without an id", "v0.0 with an id", "rejected in the log"],
)  # fmt: skip
def test_what_waits(lines: list[dict[str, Any]], *, waits: bool) -> None:
    """Findings, the field, the participant's list and the table's age agree."""
    assert any(code in (UNANSWERED, "mcp-unanswered") for code, _ in told(*lines)) is waits
    document = document_of(*lines)
    analysis = document.analysis
    every = np.arange(len(analysis))
    assert (len(waiting_messages(analysis, every)) > 0) is waits
    assert any(is_pending(analysis, row) for row in every.tolist()) is waits
    assert any(FIELD_BY_NAME["waiting"].value(analysis, row) == "answer" for row in every.tolist()) is waits


def test_why_it_does_not_wait() -> None:
    assert is_refused(document_of(REQUEST, refusal("q1")).analysis, 0)
    assert is_cancelled(document_of(ASK, CANCEL).analysis, 0)


def test_a_clock_that_is_years_ahead_makes_nothing_late() -> None:
    ahead = envelope(sender="bob", ts="2199-01-01T00:00:00Z")
    for lines in ([REQUEST, ahead, envelope(ts=at(1))], [ahead, REQUEST, envelope(ts=at(1))]):
        assert UNANSWERED not in dict(told(*lines))
    assert UNANSWERED in dict(told(REQUEST, ahead, LATE))


def test_answers_without_ids_are_two() -> None:
    answers = [tool_result(REQUEST, str(n), id=None) for n in range(2)]
    assert ("request-answered-again", 3) in told_either_way(REQUEST, *answers)
    copies = [tool_result(REQUEST, "same", id="r1", ts=at(1)) for _ in range(2)]
    assert "request-answered-again" not in dict(told_either_way(REQUEST, *copies))


def test_fulfilments_without_ids_are_two() -> None:
    proposal = envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "grep"}}, id="p1")
    acts = [tool_call("grep", id=None, correlation_id=["p1"], sender=name) for name in ("lead", "bob")]
    assert ("proposal-fulfilled-again", 3) in told_either_way(proposal, *acts)


def test_a_second_answer_on_stdio() -> None:
    answer = line("server->client", 1, id=5, result={})
    assert told_either_way(ASK, answer, answer) == [("mcp-answer-twice", 3)]
    other = {**ASK, "message": {**ASK["message"], "method": "textDocument/hover"}}
    assert told_either_way(other, answer, answer) == [("request-answered-again", 3)]


def test_an_error_without_an_id_answers_what_could_not_be_read() -> None:
    broken = line("server->client", 1, id=None, error={"code": -32700, "message": "Parse error"})
    lost = line("server->client", 2, id=8, error={"code": -1, "message": "no"})
    assert told_either_way(broken, lost) == [("response-without-request", 2)]


def test_an_id_spelt_as_text() -> None:
    answer = line("server->client", 1, id="5", result={})
    assert told_either_way(ASK, answer) == [("jsonrpc-id-differs", 2)]
    other = {**ASK, "message": {**ASK["message"], "method": "textDocument/hover"}}
    assert told_either_way(other, line("server->client", 1, id="6", result={})) == [("response-without-request", 2)]


@pytest.mark.parametrize(
    ("proposed", "called", "differs"),
    [({"path": "a"}, {"path": "a"}, False), ({"path": "a"}, {"path": "b"}, True), ({}, {"path": "b"}, True)],
)
def test_a_fulfilment_with_other_arguments(proposed: Any, called: Any, *, differs: bool) -> None:
    proposal = envelope(
        "mcp/proposal", {"method": "tools/call", "params": {"name": "w", "arguments": proposed}}, id="p"
    )
    request = tool_call("w", arguments=called, correlation_id=["p"])
    assert (("fulfilment-differs", 2) in told_either_way(proposal, request)) is differs


def test_what_a_gateway_refused_is_in_no_log() -> None:
    assert told_either_way(refusal("lost-7f3a9c")) == [("capability-denied", 1)]


NAMED = "mcp/response:tools/call:grep"


def lone(kind: str = NAMED, **fields: Any) -> dict[str, Any]:
    return envelope(kind, fields.pop("payload", {"result": {}}), sender="files", to=["lead"],
                    correlation_id=["q9"], **fields)  # fmt: skip


def joined(name: str) -> dict[str, Any]:
    payload = {"event": "join", "participant": {"id": name}}
    return envelope("system/presence", payload, sender="system:gateway")


@pytest.mark.parametrize(
    ("lines", "is_odd"),
    [
        ([lone()], False),
        ([lone("mcp/response", payload={"method": "tools/call", "params": {"name": "grep"}, "result": {}})], False),
        ([envelope(sender="coder"), joined("coder"), lone()], False),
        ([joined("lead"), lone()], True),
        ([{**joined("lead"), "from": "coder"}, lone()], False),
        ([envelope("system/welcome", {"you": {"id": "lead"}}, sender="system:gateway", to=["lead"]), lone()], True),
        ([lone(), joined("lead")], False),
        ([lone("mcp/response")], True),
        ([lone("mcp/response:tools/call")], True),
    ],
)
def test_a_lone_response_that_names_its_tool_needs_no_request_where_the_log_began_late(
    lines: list[Any], is_odd: bool
) -> None:
    found = told_either_way(*lines)
    assert ("response-without-request" in dict(found)) == is_odd


def test_a_response_that_names_a_context_is_answered_by_it() -> None:
    thought = envelope("reflection", {"thought": "why"}, context={"id": "reason-789", "type": "reasoning"}, id="msg-1")
    denied = envelope("mcp/response:tools/call", {"error": "denied"}, id="msg-4", correlation_id="reason-789")
    codes = {"response-without-request", "began-before-capture", "correlation-dangling"}
    assert not codes & dict(told_either_way(thought, denied)).keys()
    assert not codes & dict(told_either_way(denied, thought)).keys()
    assert "response-without-request" in dict(told_either_way(thought, {**denied, "correlation_id": "reason-790"}))


@pytest.mark.parametrize(
    ("asked", "answered", "words"),
    [
        ("grep", lone("mcp/response:completion/complete"), "with completion/complete a request for tools/call grep"),
        ("grep", lone("mcp/response:tools/call:rm"), "with tools/call rm a request for tools/call grep"),
        ("read", lone("mcp/response:tools/call:read", payload={"method": "tools/call", "params": {"name": "write"}}),
         "as tools/call read by its kind and tools/call write by its payload"),
        ("grep", lone(), ""),
        ("grep", lone("mcp/response:tools/call"), ""),
        ("grep", lone("mcp/response"), ""),
    ],
)  # fmt: skip
def test_an_answer_that_names_another_call_is_told(asked: str, answered: dict[str, Any], words: str) -> None:
    lines = [tool_call(asked, id="q9", ts=at(0)), {**answered, "ts": at(1)}]
    assert ("response-names-other-call" in dict(told_either_way(*lines))) == bool(words)
    assert ("response-names-other-call" in dict(told_either_way(*lines[::-1]))) == bool(words)
    said = [found.text for found in document_of(*lines).analysis.findings.all()]
    assert not words or said == [f"files answers {words}."]


def _model_call(second: int, asked: list[str], **message: Any) -> dict[str, Any]:
    """A logged call of a model with its answer."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    response = {"id": f"r{second}", "object": "chat.completion", "model": "m-1", "choices": [choice]}
    messages = [{"role": "user", "content": text} for text in asked]
    return {"timestamp": 1757015000.0 + second, "messages": messages, "kwargs": {}, "response": response}


def test_a_call_of_a_recorded_model_may_have_no_result() -> None:
    function = {"name": "grade", "arguments": "{}"}
    call = {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    lines = [_model_call(0, ["Grade it."], **call), _model_call(100, ["Another."], content="Done.")]
    assert told_either_way(*lines) == []  # a structured output has no result
    again = _model_call(200, ["Grade it."], **call)  # another run with the same prompt
    assert told_either_way(*lines, again) == []

"""A call that becomes a task, or asks for input first, is one call: in state, chain, latency, context and waste."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.analysis.views.causes.chain import chain_of, effects_of
from inspector.analysis.views.latency.latency import latency_by_tool
from inspector.analysis.views.waste.results import Traffic
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.sentences import info
from inspector.present.call_facts import input_facts, request_facts
from inspector.present.subject import Subject
from tests.builders import GrowingLog, document_at, document_of

TASKS = Path(__file__).parents[4] / "data" / "recordings" / "mcp" / "ts1-stdio-everything-tasks.jsonl"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def line(second: int, way: str, **message: Any) -> dict[str, Any]:
    told = {"jsonrpc": "2.0", **message}
    return {"t": f"2026-09-01T08:00:{second:02d}Z", "dir": way, "kind": "line", "message": told}


def ask(second: int, number: int, method: str, **params: Any) -> dict[str, Any]:
    return line(second, "client->server", id=number, method=method, params={**params, "_meta": MODERN})


def tell(second: int, number: int, **result: Any) -> dict[str, Any]:
    return line(second, "server->client", id=number, result=result)


CALL = ask(0, 1, "tools/call", name="dredge", arguments={})
HANDLE = tell(1, 1, resultType="task", taskId="t1", status="working", pollIntervalMilliseconds=1000)
POLL = [ask(2, 2, "tasks/get", taskId="t1"), tell(3, 2, resultType="complete", taskId="t1", status="working")]


def fetched(**outcome: Any) -> list[dict[str, Any]]:
    return [ask(4, 3, "tasks/get", taskId="t1"), tell(5, 3, resultType="complete", taskId="t1", **outcome)]


def states(document: CaptureDocument) -> list[str]:
    return [document.analysis.states.state_of(row).name for row in range(len(document.capture))]


def test_a_task_of_the_extension_is_one_call() -> None:
    done = fetched(status="completed", result={"content": [{"type": "text", "text": "dredged"}]})
    document = document_of(CALL, HANDLE, *POLL, *done)
    analysis = document.analysis
    assert tuple(tool_calls(analysis))[:4] == (1, 1, 0, 0)
    assert states(document)[0] == MessageState.ANSWERED.name
    assert [step.message for step in chain_of(analysis, 0)] == [0, 1, 2, 3, 4, 5]
    assert [step.took_ns for step in chain_of(analysis, 5) if step.message == 5] == [5_000_000_000]
    assert {tool: (one.count, one.p50) for tool, one in latency_by_tool(analysis).items()} == {"dredge": (1, 5000.0)}
    assert FIELD_BY_NAME["latency"].value(analysis, 5) == 5000.0
    results = Traffic(analysis).answers("tools/call")
    assert (results.rows.tolist(), results.calls.tolist()) == ([5], [0])
    assert info(analysis, 5) == "dredge: task t1, completed: dredged"
    assert info(analysis, 1) == "dredge: task t1, working"
    assert ["".join(part.text for part in fact.parts) for fact in request_facts(Subject(document, 0))] == [
        "Answered after 5.0 s: No. 6", "Became a task, No. 2", "2 further requests, the last No. 5",
    ]  # fmt: skip


def test_a_task_that_fails_or_is_cancelled_ends_its_call() -> None:
    cases = [
        ({"status": "failed", "error": {"code": -32603, "message": "stuck"}}, "FAILED", (1, 1, 1, 0)),
        ({"status": "completed", "result": {"isError": True, "content": []}}, "FAILED", (1, 1, 1, 0)),
        ({"status": "cancelled"}, "CANCELLED", (1, 1, 0, 0)),
        ({"status": "input_required", "inputRequests": {}}, "WAITING", (1, 0, 0, 1)),
    ]
    for outcome, state, counts in cases:
        document = document_of(CALL, HANDLE, *fetched(**outcome))
        assert (states(document)[0], tuple(tool_calls(document.analysis))[:4]) == (state, counts)


def test_polls_of_another_task_and_of_another_source_are_not_of_the_call() -> None:
    document = document_of(CALL, HANDLE, ask(2, 2, "tasks/get", taskId="t2"), tell(3, 2, taskId="t2", status="failed"))
    assert (states(document)[0], effects_of(document.analysis, 0)) == ("WAITING", {1})


def test_tasks_of_2025_bring_their_result_by_a_request_of_its_own() -> None:
    document = document_at(TASKS)
    analysis = document.analysis
    rounds = analysis.correlation.rounds
    calls = {row: (call.result, call.failed, call.cancelled) for row, call in rounds.calls.items()}
    assert calls == {18: (36, False, False), 37: (56, False, False), 59: (63, False, True)}
    assert [states(document)[row] for row in calls] == ["ANSWERED", "ANSWERED", "CANCELLED"]
    assert len(rounds.calls[18].requests) == 6
    assert tuple(tool_calls(analysis))[:4] == (5, 5, 2, 0)
    seen = latency_by_tool(analysis)["simulate-research-query"]
    assert (seen.count, round(seen.longest / 1000)) == (3, 5)
    assert (info(analysis, 36) or "").startswith("simulate-research-query: # Research Report")


def test_a_call_that_is_followed_live_comes_to_the_same_as_one_read_at_once() -> None:
    log = GrowingLog()
    for one in (CALL, HANDLE, *POLL, *fetched(status="completed", result={"content": []})):
        log.write(one)
    grown = log.end()
    assert states(grown)[0] == "ANSWERED"
    assert grown.analysis.correlation.rounds.begun == {5: 0}


def http(second: int, kind: str, way: str, **fields: Any) -> dict[str, Any]:
    return {"t": f"2026-09-01T08:00:{second:02d}Z", "dir": way, "kind": kind, "x": 1, **fields}


def test_a_question_and_what_comes_back_of_it_are_one_chain() -> None:
    form = {
        "method": "elicitation/create",
        "params": {"message": "Which?", "requestedSchema": {"properties": {"n": {}}}},
    }
    asks = tell(1, 1, resultType="input_required", inputRequests={"q": form}, requestState="s")
    again = ask(9, 2, "tools/call", name="dredge", arguments={}, requestState="s", inputResponses={"q": {}})
    document = document_of(CALL, asks, again, tell(10, 2, resultType="complete", content=[]))
    for message in range(4):
        assert [step.message for step in chain_of(document.analysis, message)] == [0, 1, 2, 3]
    assert FIELD_BY_NAME["latency"].value(document.analysis, 3) == 10_000
    result = document.capture.records.payload(1)["result"]
    assert [(fact.name, fact.value) for fact in input_facts(result)] == [
        ("q", "elicitation/create"), (" ", "Which?"), (" ", "fields n"),
        ("State", "1 character, sent back by the retry"),
    ]  # fmt: skip
    assert input_facts({"resultType": "complete"}) == []


def test_hanging_up_takes_a_call_back_since_2026() -> None:
    for version, state in (("2026-07-28", "CANCELLED"), ("2025-11-25", "WAITING")):
        params = {"name": "unload", "_meta": {"io.modelcontextprotocol/protocolVersion": version}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        document = document_of(
            http(0, "http-request", "client->server", method="POST", path="/mcp", message=call),
            http(1, "http-response", "server->client", status=200),
            http(2, "http-end", "server->client", how="client-closed"),
        )
        assert states(document)[0] == state
        assert FIELD_BY_NAME["http.method"].value(document.analysis, 1) == "POST"

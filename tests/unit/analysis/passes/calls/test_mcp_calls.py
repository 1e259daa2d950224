"""MCP over stdio and HTTP: what was asked, answered, refused, in which revision; figures counted by another program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.account import Deed
from inspector.analysis.views.account.mcp_totals import rpc_totals
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.analysis.views.steps.step_columns import StepKind, StepState
from inspector.analysis.views.steps.step_table import step_table
from inspector.filters.fields import FIELD_BY_NAME
from inspector.present.account import account_of
from tests.builders import account_tally, document_at, document_of

DATA = Path(__file__).parents[4] / "data"
RECORDINGS = DATA / "recordings" / "mcp"
SHARED = DATA.parents[2] / "shared" / "recordings" / "mcp"
"""More recordings, where a checkout has them beside it."""
MODERN = "2026-07-28"


FIGURES: dict[str, dict[str, Any]] = json.loads((DATA / "specifications" / "mcp_figures.json").read_text("utf-8"))


@pytest.mark.parametrize("name", FIGURES)
def test_recordings(name: str) -> None:
    path = next((path for folder in (RECORDINGS, SHARED) if (path := folder / f"{name}.jsonl").exists()), None)
    if path is None:
        pytest.skip("this recording is not part of the repository")
    document, figures = document_at(path), FIGURES[name]
    assert (document.format, document.unreadable) == ("http-lines", 0)
    found = rpc_totals(document.analysis)
    refused = FELL_BACK.get(name, 0)
    assert (found.requests, found.answered) == (figures["client requests"], figures["answered"] + refused)
    assert found.errors == sum(figures["errors by code"].values()) - refused
    assert found.versions == figures["versions seen (asked per request, or agreed)"]
    calls, asked_again = tool_calls(document.analysis), dict(figures["tools called"])
    for tool in RETRIED.get(name, ()):
        asked_again[tool] -= 1
    assert calls.by_tool == asked_again
    assert calls.unanswered == sum("tools/call" in one for one in figures["unanswered"])
    assert calls.failed == figures["results with isError"] + FAILED_CALLS.get(name, 0)
    assert "kind-unknown" not in document.analysis.findings.found.counts()


FELL_BACK = {"py2-http-auto-falls-back": 1}
"""Refusals of `server/discover` that `initialize` follows: no failures. The figures leave them unanswered."""
RETRIED = {
    "py2-stdio-modern": ["reserve", "greet"], "py2-http-modern-2026-07-28": ["reserve", "greet"],
    "py2-http-modern-errors": ["reserve"], "ts2-http-modern-mill": ["sell"], "ts2-stdio-auto-mill": ["sell"],
}  # fmt: skip
"""Tools that were called a second time with what was asked for: the figures count requests."""
FAILED_CALLS = {
    "py2-http-legacy-2025-11-25": 1, "py2-http-modern-errors": 6, "ts2-http-modern-mill": 1, "ts2-stdio-auto-mill": 1,
}  # fmt: skip
"""Calls of tools that were answered with an error of the protocol."""


def asked(identifier: int, state: str | None = None, name: str = "reserve") -> dict[str, Any]:
    params: dict[str, Any] = {"name": name, "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}
    if state is not None:
        params |= {"requestState": state, "inputResponses": {}}
    return line("client->server", {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params})


def asks(identifier: int, state: str) -> dict[str, Any]:
    result = {"resultType": "input_required", "requestState": state}
    return line("server->client", {"jsonrpc": "2.0", "id": identifier, "result": result})


def line(way: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"t": "2026-09-01T08:00:00Z", "dir": way, "kind": "line", "message": message}


def test_a_retry_belongs_to_the_one_open_round_it_fits() -> None:
    cases = [
        ([asked(1), asks(1, "a"), asked(2, "a")], {2: 0}),
        ([asked(1), asks(1, "a"), asked(2, "a"), asks(2, "b"), asked(3, "b")], {2: 0, 4: 0}),
        ([asked(1), asks(1, "a"), asked(2, "altered")], {}),
        ([asked(1), asks(1, "a"), asked(2, "a", name="other")], {}),
        ([asked(1), asks(1, "a"), asked(2), asks(2, "a"), asked(3, "a")], {}),  # two fit
        ([asked(1, "a")], {}),
    ]
    for lines, linked in cases:
        analysis = document_of(*lines).analysis
        assert analysis.correlation.rounds.first == linked
        assert tool_calls(analysis).tools == sum("method" in one["message"] for one in lines) - len(linked)


def test_the_answer_to_the_retry_is_that_of_the_call() -> None:
    failed = line("server->client", {"jsonrpc": "2.0", "id": 2, "result": {"isError": True, "content": []}})
    found = tool_calls(document_of(asked(1), asks(1, "a"), asked(2, "a"), failed).analysis)
    assert (found.tools, found.answered, found.failed, found.unanswered) == (1, 1, 1, 0)


def test_a_failed_retry_counts_once_everywhere() -> None:
    document = document_at(RECORDINGS / "py2-http-modern-errors.jsonl")
    analysis, tally = document.analysis, account_tally(document)
    deeds = (Deed.CALL, Deed.REQUEST, Deed.DISCOVERY)
    assert sum(tally.count(deed, MessageState.FAILED) for deed in deeds) == document.capture.failed_count == 10
    steps, calls = step_table(analysis), tool_calls(analysis)
    called = (steps.kinds == StepKind.CALL) & ~steps.is_request
    assert tally.count(Deed.CALL) == calls.tools == np.count_nonzero(called) == 8
    assert tally.count(Deed.CALL, MessageState.FAILED) == calls.failed == 6
    assert np.count_nonzero(steps.states[called] == StepState.FAILED) == 6
    reserved = [line for line in account_of(document, tally).lines if "reserve 3" in line.text]
    assert [line.about for line in reserved] == ["Failed"]
    retry = FIELD_BY_NAME["repeats"]
    assert [retry.value(analysis, row) for row in (31, 34, 37, 40)] == [None, None, 32, None]


def test_a_failed_task_counts_once_and_its_polls_take_their_own_time() -> None:
    def poll(identifier: int, method: str, **result: Any) -> list[dict[str, Any]]:
        asks = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {"taskId": "t"}}
        told = {"jsonrpc": "2.0", "id": identifier, "result": result}
        return [line("client->server", asks), line("server->client", told)]

    started = {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working", "ttl": 9}}}
    lines = [
        asked(1), line("server->client", started), *poll(2, "tasks/get", taskId="t", status="failed"),
        *poll(3, "tasks/result", content=[], isError=True),
    ]  # fmt: skip
    for second, one in enumerate(lines):
        one["t"] = f"2026-09-01T08:00:{second:02}Z"
    document = document_of(*lines)
    tally, steps = account_tally(document), step_table(document.analysis)
    assert sum(tally.count(deed, MessageState.FAILED) for deed in (Deed.CALL, Deed.REQUEST)) == 1
    called = steps.kinds == StepKind.CALL
    assert (steps.took_ns[called] / 1e9).tolist() == [3, 1, 1]


def test_a_listen_is_open_until_it_is_cancelled() -> None:
    document = document_at(RECORDINGS / "py2-stdio-modern-listen.jsonl")
    state, method = FIELD_BY_NAME["state"], FIELD_BY_NAME["method"]
    rows = [m for m in range(len(document.capture)) if method.value(document.analysis, m) == "subscriptions/listen"]
    assert [state.value(document.analysis, row) for row in rows] == ["closed"]


def test_revision_and_era_are_those_of_the_request() -> None:
    document = document_at(RECORDINGS / "py2-http-session-expiry.jsonl")
    version, era = FIELD_BY_NAME["mcp.version"], FIELD_BY_NAME["mcp.era"]
    told = [(version.value(document.analysis, m), era.value(document.analysis, m)) for m in range(12)]
    assert told[3] == told[8] == told[10] == ("2025-11-25", "legacy")
    assert told[1] == told[4] == (None, None)  # not agreed on yet; no message


def test_many_answers_to_a_streamed_call_of_a2a_are_its_events() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {}}
    answers = [{"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "n": n}} for n in range(3)]
    document = document_of(call, *answers)
    assert document.analysis.findings.found.counts() == {}
    answers_of = FIELD_BY_NAME["answers"]
    assert [answers_of.value(document.analysis, row) for row in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.parametrize("words", [("in", "out"), ("server_to_client", "client_to_server"), ("received", "sent")])
def test_sides_whose_ways_are_named_in_any_words(words: tuple[str, str]) -> None:
    theirs, ours = words
    lines = [
        (theirs, {"method": "notifications/message", "params": {"level": "info", "data": "up"}}),
        (ours, {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}}),
        (theirs, {"id": 9, "method": "ping"}),
        (ours, {"id": 9, "result": {}}),
        (theirs, {"id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}}),
        (ours, {"id": 1, "method": "tools/call", "params": {"name": "weigh"}}),
        (theirs, {"id": 1, "method": "roots/list"}),
        (ours, {"id": 1, "result": {"roots": []}}),
        (theirs, {"id": 1, "result": {"content": []}}),
    ]
    document = document_of(*({"direction": way, "message": {"jsonrpc": "2.0", **one}} for way, one in lines))
    assert not {"mcp-id-in-use", "mcp-tool-unlisted"} & set(document.analysis.findings.found.counts())
    named = theirs == "server_to_client"  # who received, and who sent, is not told
    assert rpc_totals(document.analysis).requests == (2 if named else 3)

"""MCP over stdio and HTTP: what was asked, answered, refused, in which revision; figures counted by another program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.mcp_calls import retries, rpc_totals
from inspector.analysis.tool_calls import tool_calls
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_at, document_of

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings" / "mcp"
MODERN = "2026-07-28"


@pytest.mark.parametrize(
    ("name", "requests", "answered", "errors", "versions", "calls"),
    [
        ("py2-stdio-modern", 29, 28, 1, [MODERN], 16),
        ("py2-stdio-modern-listen", 7, 6, 0, [MODERN], 3),
        ("py2-http-session-expiry", 8, 5, 6, ["2025-11-25"], 3),
        ("py2-http-modern-errors", 14, 14, 10, [MODERN, "2031-01-01", "2025-11-25"], 8),
        ("hand-http-batch-2025-03-26", 5, 5, 0, ["2025-03-26"], 3),
        ("ts2-stdio-auto-mill", 11, 11, 1, [MODERN], 6),
        ("hand-stdio-fragile-server", 8, 7, 0, ["2025-06-18"], 6),
    ],
)
def test_recordings(name: str, requests: int, answered: int, errors: int, versions: list[str], calls: int) -> None:
    document = document_at(RECORDINGS / f"{name}.jsonl")
    assert (document.format, document.unreadable) == ("http-lines", 0)
    assert tuple(rpc_totals(document.analysis)) == (requests, answered, errors, versions)
    assert tool_calls(document.analysis).tools == calls
    assert "kind-unknown" not in document.analysis.findings.found.counts()


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
        ([asked(1), asks(1, "a"), asked(2, "a"), asks(2, "b"), asked(3, "b")], {2: 0, 4: 2}),
        ([asked(1), asks(1, "a"), asked(2, "altered")], {}),
        ([asked(1), asks(1, "a"), asked(2, "a", name="other")], {}),
        ([asked(1), asks(1, "a"), asked(2), asks(2, "a"), asked(3, "a")], {}),  # two fit
        ([asked(1, "a")], {}),
    ]
    for lines, linked in cases:
        analysis = document_of(*lines).analysis
        assert retries(analysis) == linked
        assert tool_calls(analysis).tools == sum("method" in one["message"] for one in lines) - len(linked)


def test_the_answer_to_the_retry_is_that_of_the_call() -> None:
    failed = line("server->client", {"jsonrpc": "2.0", "id": 2, "result": {"isError": True, "content": []}})
    found = tool_calls(document_of(asked(1), asks(1, "a"), asked(2, "a"), failed).analysis)
    assert (found.tools, found.answered, found.failed, found.unanswered) == (1, 1, 1, 0)


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
    for method, codes in (("message/stream", {}), ("message/send", {"request-answered-again": 2})):
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
        answers = [{"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "n": n}} for n in range(3)]
        document = document_of(call, *answers)
        assert document.analysis.findings.found.counts() == codes
        answers_of = FIELD_BY_NAME["answers"]
        told = [answers_of.value(document.analysis, row) for row in (1, 2, 3)]
        assert told == ([1, 1, 1] if not codes else [1, None, None])

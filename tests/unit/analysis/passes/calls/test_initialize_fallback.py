"""Clients that ask an older server for `server/discover`, are refused, and go on with `initialize`: no failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.mcp_totals import rpc_totals
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.sentences import sentence_of
from tests.builders import document_at, document_of, lines_of, log_file, opened_document

RECORDING = Path(__file__).parents[4] / "data" / "recordings" / "mcp" / "py2-http-auto-falls-back.jsonl"


def ask(identifier: int, method: str) -> dict[str, Any]:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}} if method == "initialize" else {}
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def refuse(identifier: int, code: int = -32601) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": "Method not found"}}


def agree(identifier: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}


def failures(document: CaptureDocument) -> tuple[int, int, list[MessageState]]:
    states = [MessageState(state) for state in document.analysis.states.states_at(slice(0, 2)).tolist()]
    return document.capture.failed_count, rpc_totals(document.analysis).errors, states


@pytest.mark.parametrize("code", [-32601, -32600])
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_fallback(code: int, block_bytes: int) -> None:
    lines = [ask(0, "server/discover"), refuse(0, code), ask(1, "initialize"), agree(1)]
    document = opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)
    run_to_end(document.postponed_checks())
    said = sentence_of(document.analysis, 1)
    assert said is not None
    assert (said.text, said.failed) == (
        "server/discover: not supported, initialize follows (Method not found)", False,
    )  # fmt: skip
    assert failures(document) == (0, 0, [MessageState.ANSWERED, MessageState.NONE])
    assert not document.analysis.findings.found.counts()


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_silence_is_a_refusal(*, answered: bool, block_bytes: int) -> None:
    late = [refuse(0)] if answered else []
    exchanged = [ask(0, "server/discover"), ask(1, "initialize"), agree(1), *late, ask(2, "ping")]
    lines = [
        {"t": f"2026-01-05T09:0{minute}:00Z", "kind": "line", "message": message,
         "dir": "server->client" if "method" not in message else "client->server"}
        for minute, message in enumerate(exchanged)
    ]  # fmt: skip
    document = opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)
    run_to_end(document.postponed_checks())
    assert FIELD_BY_NAME["waiting"].value(document.analysis, 0) is None
    assert "mcp-unanswered" not in {one.code for one in document.analysis.findings.all()}


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize("place", [2, 3])
def test_refusal_after_a_pipelined_initialize(*, place: int, block_bytes: int) -> None:
    lines = [ask(0, "server/discover"), ask(1, "initialize"), agree(1), ask(2, "ping")]
    lines.insert(place, refuse(0))
    document = opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)
    run_to_end(document.postponed_checks())
    said = sentence_of(document.analysis, place)
    assert said is not None
    assert (said.text, said.failed) == (
        "server/discover: not supported, initialize follows (Method not found)", False,
    )  # fmt: skip
    assert (document.capture.failed_count, rpc_totals(document.analysis).errors) == (0, 0)
    assert "mcp-unanswered" not in {one.code for one in document.analysis.findings.all()}


def http(t: int, x: int, kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    way = "client->server" if kind == "http-request" else "server->client"
    return {"t": f"2026-01-05T09:00:0{t}Z", "dir": way, "kind": kind, "x": x, "message": message, **more}


@pytest.mark.parametrize("identifier", [0, None])
@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_refusal_over_http_after_a_pipelined_initialize(*, identifier: int | None, block_bytes: int) -> None:
    asked = {"method": "POST", "url": "http://127.0.0.1:9/mcp"}
    refusal = {"jsonrpc": "2.0", "id": identifier, "error": {"code": -32000, "message": "Bad Request"}}
    lines = [
        http(0, 1, "http-request", ask(0, "server/discover"), **asked),
        http(1, 2, "http-request", ask(1, "initialize"), **asked),
        http(2, 1, "http-response", refusal, status=400), http(3, 2, "http-response", agree(1), status=200),
    ]  # fmt: skip
    document = opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)
    run_to_end(document.postponed_checks())
    assert (document.capture.failed_count, rpc_totals(document.analysis).errors) == (0, 0)


def test_no_fallback() -> None:
    document = document_of(ask(0, "server/discover"), refuse(0), ask(1, "tools/list"))
    assert failures(document) == (1, 1, [MessageState.FAILED, MessageState.NONE])
    document = document_of(ask(0, "tools/list"), refuse(0), ask(1, "initialize"), agree(1))
    assert failures(document)[0] == 1


def test_fallback_over_http() -> None:
    document = document_at(RECORDING)
    assert document.capture.failed_count == 0
    assert document.analysis.states.state_of(1) is MessageState.ANSWERED

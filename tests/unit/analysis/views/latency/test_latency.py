"""Latency by tool and by participant."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.latency.latency import (
    latency_by_model,
    latency_by_participant,
    latency_by_tool,
    latency_ms,
)
from inspector.analysis.views.latency.latency_tally import LatencyTally
from inspector.document.document import CaptureDocument
from tests.builders import clean_up, document_at, document_of, envelope, tool_call, tool_result
from tests.pages import ROOT


def at(milliseconds: int) -> str:
    return f"2026-01-05T09:{milliseconds // 60_000:02d}:{milliseconds // 1_000 % 60:02d}.{milliseconds % 1_000:03d}Z"


def test_by_tool_and_by_who_answers() -> None:
    calls = [("grep", "files", 10), ("grep", "files", 30), ("stat", "files", 5), ("grep", "search", 20)]
    lines = []
    for number, (tool, server, took) in enumerate(calls):
        ask = tool_call(tool, to=server, id=f"q{number}", ts=at(1_000))
        lines += [ask, tool_result(ask, ts=at(1_000 + took))]
    listed = envelope("mcp/request", {"method": "tools/list"}, id="l", to=["search"], ts=at(0))
    lines += [listed, tool_result(listed, ts=at(100)), tool_result(listed, correlation_id=["gone"], ts=at(1))]
    analysis = document_of(*lines).analysis
    tools, participants = latency_by_tool(analysis), latency_by_participant(analysis)
    assert {name: (one.count, one.p50, one.longest) for name, one in tools.items()} == {
        "grep": (3, 20.0, 30.0), "stat": (1, 5.0, 5.0),
    }  # fmt: skip
    assert {name: (one.count, one.p50) for name, one in participants.items()} == {
        "files": (3, 10.0), "search": (2, 60.0),
    }  # fmt: skip


def _claude(number: int, second: float, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    moment = f"2026-11-28T10:{int(second) // 60:02}:{int(second) % 60:02}.000Z"
    message = {"role": role, "content": content, "id": f"m{number}", "type": "message", "model": "m"}
    place = {"uuid": f"u{number}", "parentUuid": None, "sessionId": "s", "version": "2.1.0", "cwd": "/x"}
    return {"type": role, "message": message, "timestamp": moment, **place, **fields}


def _background_agents(count: int) -> tuple[Analysis, Rows]:
    """Returns the analysis of a session with background agents of 8 seconds each, and the answers to their calls."""
    lines = [_claude(0, 0, "user", "count the files")]
    for one in range(count):
        call = {
            "type": "tool_use",
            "id": f"t{one}",
            "name": "Agent",
            "input": {"description": "d", "prompt": f"p{one}"},
        }
        told = {
            "isAsync": True,
            "status": "async_launched",
            "agentId": f"a{one}",
            "description": "d",
            "prompt": f"p{one}",
        }
        result = {"type": "tool_result", "tool_use_id": f"t{one}", "content": "Async agent launched successfully."}
        notice = f"<task-notification>\n<task-id>a{one}</task-id>\n<status>completed</status>\n</task-notification>"
        lines += [
            _claude(3 * one + 1, one, "assistant", [call]),
            _claude(3 * one + 2, one + 1, "user", [result], toolUseResult=told),
            _claude(3 * one + 3, one + 8, "user", notice),
        ]
    document = document_of(*lines)
    response = document.capture.strings.find("mcp/response")
    return document.analysis, np.flatnonzero(document.capture.columns["kind"][:] == response)


def test_two_rows_cost_the_same_beside_any_number_of_background_agents() -> None:
    def cost(count: int) -> float:
        analysis, answers = _background_agents(count)
        assert latency_ms(analysis, answers[:2]).tolist() == [8_000, 8_000]
        began = process_time()
        for _ in range(20):
            latency_ms(analysis, answers[:2])
        return process_time() - began

    assert cost(1_000) < 8 * cost(4)  # with the ends of all agents it is 60 times as much


def test_nothing_answered() -> None:
    assert latency_by_tool(document_of(tool_call("grep")).analysis) == {}


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=12))
def test_percentiles_are_numpy_s(took: list[int]) -> None:
    lines = []
    for number, one in enumerate(took):
        ask = tool_call("grep", id=f"q{number}", ts=at(0))
        lines += [ask, tool_result(ask, ts=at(one))]
    found = latency_by_tool(document_of(*lines).analysis)["grep"]
    np.testing.assert_allclose([found.p50, found.p95, found.p99], np.percentile(took, [50, 95, 99]))
    clean_up()


def _model_span(identifier: str, start_ms: int, end_ms: int, parent: str = "", **attributes: str) -> dict[str, Any]:
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", **attributes}
    return {
        "traceId": "ab" * 16, "spanId": identifier * 8, "parentSpanId": parent * 8, "name": "chat",
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start_ms * 1_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + end_ms * 1_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }  # fmt: skip


def _trace(*spans: dict[str, Any]) -> CaptureDocument:
    return document_of({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]})


_TOKENS = {"gen_ai.usage.input_tokens": "9", "gen_ai.usage.output_tokens": "3"}
_ASKED = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "kettle"}]}])


@pytest.mark.parametrize("inner_reports", [True, False])
def test_calls_of_a_model_take_as_long_as_their_spans_and_nested_ones_count_once(inner_reports: bool) -> None:
    outer = _model_span("01", 0, 500, **_TOKENS)
    inner = _model_span("02", 100, 400, "01", **(_TOKENS if inner_reports else {}))
    again = _model_span("03", 600, 700, **_TOKENS)
    document = _trace(outer, inner, again)
    found = latency_by_model(document.analysis)["m-1"]
    assert (found.count, found.longest) == (2, 300 if inner_reports else 500)
    assert latency_by_tool(document.analysis) == {}


def test_a_call_of_a_tool_takes_as_long_as_its_own_span() -> None:
    model = _model_span("01", 0, 100, **_TOKENS, **{"gen_ai.output.messages": _ASKED})
    tool = _model_span("02", 900, 950, **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "kettle",
                                          "gen_ai.tool.call.id": "c"})  # fmt: skip
    analysis = _trace(model, tool).analysis
    assert latency_by_tool(analysis)["kettle"].longest == 50
    assert latency_by_model(analysis)["m-1"].longest == 100
    tally = LatencyTally(analysis)
    while not tally.step():
        pass
    assert [(one.name, one.latency.longest) for one in tally.by("model")] == [("m-1", 100)]
    assert [(one.name, one.latency.longest) for one in tally.by("tool")] == [("kettle", 50)]


def test_calls_of_a_model_on_its_wire_take_as_long_as_their_answers() -> None:
    analysis = document_at(ROOT / "tests/data/captures/model-wire.jsonl").analysis
    (found,) = latency_by_model(analysis).values()
    assert (found.count, found.p50) == (analysis.usage.calls_by_model()["claude-example-1"], 1_700)

"""Latency by tool and by participant."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.latency.latency import latency_by_participant, latency_by_tool
from tests.builders import clean_up, document_of, envelope, tool_call, tool_result


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

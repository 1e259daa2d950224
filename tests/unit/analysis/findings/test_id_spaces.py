"""Ids mean something in their own space only."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope, grown_log, received, tool_call, tool_result
from tests.unit.analysis.findings.checked_logs import told, told_either_way

CALL = {"method": "tools/call", "params": {"name": "grep"}}


def at(second: int) -> str:
    return f"2026-01-05T09:{second // 60:02d}:{second % 60:02d}.000Z"


def in_space(space: str, inner: dict[str, Any]) -> dict[str, Any]:
    return received(inner, space_id=space)


@pytest.mark.parametrize(("asked", "lost"), [(("a", "b"), 1), (("b", "a"), 2)])
def test_a_request_is_not_answered_in_another_space(asked: tuple[str, str], lost: int) -> None:
    asks = [in_space(space, tool_call("grep", id="q1", ts=at(n))) for n, space in enumerate(asked)]
    answer = in_space("b", tool_result({"id": "q1", "to": ["files"], "from": "lead"}, ts=at(2)))
    late = in_space("a", envelope(ts=at(100)))
    assert [row for code, row in told(*asks, answer, late) if code == "request-unanswered"] == [lost]


def test_nobody_withdraws_what_was_proposed_in_another_space() -> None:
    proposal = in_space("a", envelope("mcp/proposal", CALL, id="p1"))
    withdrawal = in_space("b", envelope("mcp/withdraw", {}, sender="other", correlation_id=["p1"]))
    codes = [code for code, _ in told_either_way(proposal, withdrawal)]
    assert "withdrawn-by-other" not in codes
    assert "decision-without-proposal" in codes


def test_an_id_is_used_again_where_another_space_had_it_in_between() -> None:
    lines = [in_space(space, envelope(id="d1", payload={"text": space * n})) for n, space in enumerate("abab", 1)]
    assert [row for code, row in told_either_way(*lines) if code == "id-reused"] == [3, 4]


def test_what_another_space_holds_is_not_named() -> None:
    lines = in_space("a", envelope(id="only-here")), in_space("b", envelope(correlation_id=["only-here"]))
    assert ("correlation-dangling", 2) in told_either_way(*lines)
    several = in_space("b", envelope(correlation_id=["only-here", "nor-this"]))
    assert ("correlation-dangling", 2) in told_either_way(lines[0], several)


def test_links_stay_within_a_space() -> None:
    lines = [in_space(space, tool_call("grep", id="q1")) for space in "abc"]
    lines += [in_space(s, tool_result({"id": "q1", "to": ["files"], "from": "lead"})) for s in "cab"]
    log = grown_log(lines)
    for document in (document_of(*lines), log.end()):
        assert document.analysis.correlation.columns["cause"].tolist() == [-1, -1, -1, 2, 0, 1]
        assert document.capture.records.find_id("q1") == [0, 1, 2]
        assert [FIELD_BY_NAME["id"].value(document.analysis, row) for row in range(3)] == ["q1"] * 3


def test_streams_are_counted_in_each_space() -> None:
    def stream(space: str, kind: str, second: int) -> dict[str, Any]:
        return in_space(space, envelope(kind, {"stream_id": "stream-1"}, sender="system:gateway", ts=at(second)))

    lines = [stream("a", "stream/open", 0), stream("b", "stream/open", 0), stream("a", "stream/close", 1)]
    codes = [code for code, _ in told_either_way(*lines, stream("b", "stream/data", 9))]
    assert "stream-frame-after-close" not in codes

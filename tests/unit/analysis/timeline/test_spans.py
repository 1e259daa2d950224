"""Spans: requests until their answers, proposals until somebody decides, and what still waits."""

from __future__ import annotations

import numpy as np

from inspector.analysis.timeline.spans import OPEN_NS, Spans, spans_of
from inspector.analysis.timeline.times import MessageTimes
from inspector.base.slices import finished
from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope, tool_call, tool_result


def at(seconds: int) -> str:
    return f"2026-01-05T09:00:{seconds:02d}.000Z"


def spans_in(document: CaptureDocument) -> Spans:
    times = MessageTimes(document.capture)
    times.update(len(document.analysis))
    return finished(spans_of(document.analysis, times.values, len(document.analysis)))


def test_a_request_lasts_until_its_answer_and_one_without_waits() -> None:
    ask, again = tool_call("grep", ts=at(1)), tool_call("stat", ts=at(2))
    found = spans_in(document_of(ask, again, tool_result(ask, ts=at(4))))
    assert list(zip(found.rows.tolist(), found.ends.tolist(), strict=True)) == [(1, -1), (0, 2)]
    assert found.lengths.tolist() == [np.inf, 3e9]
    assert found.ends_ns[0] == OPEN_NS
    assert not found.proposals.any()


def test_a_proposal_lasts_until_its_decision() -> None:
    proposed = [envelope("mcp/proposal", {"method": "tools/call"}, id=f"p{n}", ts=at(n)) for n in range(3)]
    reject = envelope("mcp/reject", {"reason": "no"}, correlation_id=["p0"], sender="human", ts=at(10))
    withdraw = envelope("mcp/withdraw", {}, correlation_id=["p1"], ts=at(5))
    found = spans_in(document_of(*proposed, reject, withdraw))
    ends = dict(zip(found.rows.tolist(), found.ends.tolist(), strict=True))
    assert ends == {0: 3, 1: 4, 2: -1}
    assert found.proposals.all()


def test_only_what_is_long_enough_and_in_sight_is_given_out() -> None:
    lines = []
    for n in range(5):
        ask = tool_call("grep", ts=at(10 * n))
        lines += [ask, tool_result(ask, ts=at(10 * n + n))]
    found = spans_in(document_of(*lines))
    start = int(found.starts_ns.min())
    places = found.between(start, start + 25 * 10**9, 1.5e9, 10)
    assert found.rows[places].tolist() == [4]
    assert len(found.between(start, start + 10**12, 0, 2)) == 2

"""Spans: requests until their answers, proposals until somebody decides, and what still waits."""

from __future__ import annotations

import numpy as np

from inspector.analysis.views.timeline.message_positions import MessageTimes
from inspector.analysis.views.timeline.spans import OPEN_NS, SpanKind, Spans, spans_of
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope, tool_call, tool_result
from tests.transcribed import ClaudeSession


def at(seconds: int) -> str:
    return f"2026-01-05T09:00:{seconds:02d}.000Z"


def spans_in(document: CaptureDocument) -> Spans:
    times = MessageTimes(document.capture)
    times.update(len(document.analysis))
    return run_to_end(spans_of(document.analysis, times.values, len(document.analysis)))


def test_a_request_lasts_until_its_answer_and_one_without_waits() -> None:
    ask, again = tool_call("grep", ts=at(1)), tool_call("stat", ts=at(2))
    found = spans_in(document_of(ask, again, tool_result(ask, ts=at(4))))
    assert list(zip(found.rows.tolist(), found.ends.tolist(), strict=True)) == [(1, -1), (0, 2)]
    assert found.lengths.tolist() == [np.inf, 3e9]
    assert found.ends_ns[0] == OPEN_NS
    assert set(found.sorts.tolist()) == {SpanKind.REQUEST}


def test_a_proposal_lasts_until_its_decision() -> None:
    proposed = [envelope("mcp/proposal", {"method": "tools/call"}, id=f"p{n}", ts=at(n)) for n in range(3)]
    reject = envelope("mcp/reject", {"reason": "no"}, correlation_id=["p0"], sender="human", ts=at(10))
    withdraw = envelope("mcp/withdraw", {}, correlation_id=["p1"], ts=at(5))
    found = spans_in(document_of(*proposed, reject, withdraw))
    ends = dict(zip(found.rows.tolist(), found.ends.tolist(), strict=True))
    assert ends == {0: 3, 1: 4, 2: -1}
    assert set(found.sorts.tolist()) == {SpanKind.PROPOSAL}


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


def test_a_model_takes_from_what_it_was_given_to_the_last_it_said() -> None:
    session = ClaudeSession()
    session.prompt("Make it work")  # 0, at 1 s
    session.says({"type": "thinking", "thinking": "Hm", "signature": ""}, after_s=4)  # 1
    session.text("I run it", after_s=2)  # 2
    call = session.call("Bash", {"command": "make"}, after_s=3)  # 3
    session.result(call, "built", after_s=30)  # 4
    session.text("Done", after_s=5)  # 5
    session.prompt("Thanks", after_s=1_000)  # 6
    found = spans_in(document_of(*session.records))
    of_model = found.sorts == SpanKind.MODEL
    spans = zip(found.rows[of_model], found.ends[of_model], found.lengths[of_model] / 1e9, strict=True)
    assert sorted((int(row), int(end), float(took)) for row, end, took in spans) == [(1, 3, 9.0), (5, 5, 5.0)]
    assert found.kinds == (True, False, True)
    (call_place,) = np.flatnonzero(~of_model)
    assert (int(found.rows[call_place]), float(found.lengths[call_place])) == (3, 30e9)


def test_no_model_is_known_to_take_time_in_mew() -> None:
    found = spans_in(document_of(envelope("chat", ts=at(1)), envelope("chat", sender="mew", ts=at(9))))
    assert len(found.rows) == 0

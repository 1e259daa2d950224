"""What became of requests, proposals, starts and streams, in one word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.filters.compile import compile_filter
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.visible import VisibleRows
from tests.builders import GrowingLog, clean_up, delivered, document_of, envelope, received
from tests.findings import answer, ask, at, gateway, later, propose
from tests.unit.analysis.passes.calls.test_departed_waits import moved
from tests.unit.filters.test_visible import anything

FIELD = FIELD_BY_NAME["state"]


def states(document: CaptureDocument) -> list[object]:
    return [FIELD.value(document.analysis, row) for row in range(len(document.capture))]


def state(*lines: Any) -> object:
    """Of the first message."""
    return states(document_of(*lines))[0]


ERROR = {"error": {"code": -32603, "message": "no"}}
REFUSAL = gateway("system/error", {"error": "capability_violation"}, correlation_id=["q1"], to=["lead"])
CANCEL = envelope(
    "mcp/request", {"method": "notifications/cancelled", "params": {"requestId": "q1"}}, to=["files"],
    correlation_id=["q1"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("others", "became"),
    [
        ([], "waiting"),
        ([later(14)], "waiting"),
        ([later(16)], "unanswered"),
        ([answer()], "answered"),
        ([later(16), answer()], "answered"),
        ([answer(payload=ERROR)], "failed"),
        ([REFUSAL, later(16)], "failed"),
        ([CANCEL, later(16)], "cancelled"),
        ([moved("lead", ts=at(1)), later(16)], "cancelled"),
        ([moved("files", ts=at(1)), later(16)], "unanswered"),
    ],
)
def test_requests(others: list[Any], became: str) -> None:
    assert state(ask(id="q1"), *others) == became


def test_a_notification_is_no_request() -> None:
    assert state(envelope("mcp/request", {"method": "notifications/initialized"}), later(16)) is None


def test_a_copy_has_the_state_of_what_it_is_a_copy_of() -> None:
    assert states(document_of(ask(id="q1"), ask(id="q1"), answer(), later(16)))[:2] == ["answered", "answered"]


def test_a_request_waits_until_the_finding_says_otherwise_and_filters_follow() -> None:
    log = GrowingLog()
    rows = VisibleRows(log.document.analysis)
    rows.apply_filter(compile_filter("state == unanswered"), None)

    def shown(*lines: Any) -> list[int]:
        for changes in log.write(*lines):
            rows.apply(rows.prepare(changes))
        return rows.visible.tolist()

    assert shown(ask(id="q1")) == []
    log.document.analysis.now_ns = int(log.document.capture.columns["time_ns"][0]) + 16_000_000_000
    assert shown(envelope()) == [0]
    assert shown(answer()) == []
    assert FIELD.value(log.document.analysis, 0) == "answered"


FULFIL = envelope("mcp/request", {"method": "tools/call", "params": {"name": "write"}}, id="f", correlation_id=["p1"])


@pytest.mark.parametrize(
    ("others", "became"),
    [
        ([], "waiting"),
        ([later(100)], "waiting"),
        ([FULFIL], "fulfilled"),
        ([FULFIL, envelope("mcp/response", ERROR, sender="files", correlation_id=["f"])], "fulfilled"),
        ([envelope("mcp/reject", {}, sender="files", correlation_id=["p1"])], "rejected"),
        ([envelope("mcp/withdraw", {}, sender="coder", correlation_id=["p1"])], "withdrawn"),
        ([envelope("mcp/withdraw", {}, sender="files", correlation_id=["p1"])], "waiting"),
        ([moved("coder", ts=at(1))], "cancelled"),
        ([{**REFUSAL, "correlation_id": ["p1"]}], "failed"),
    ],
)
def test_proposals(others: list[Any], became: str) -> None:
    assert state(propose(), *others) == became


START = envelope("reasoning/start", {"input": "why"}, id="r")


@pytest.mark.parametrize(
    ("others", "became"),
    [
        ([], "running"),
        ([envelope("reasoning/thought", context="r"), later(1000)], "running"),
        ([envelope("reasoning/conclusion", context="r")], "concluded"),
        ([envelope("reasoning/conclusion", context="r/below")], "running"),
        ([envelope("reasoning/cancel", context="r")], "cancelled"),
        ([envelope("reasoning/conclusion", context="r"), envelope("reasoning/cancel", context="r")], "cancelled"),
    ],
)
def test_starts(others: list[Any], became: str) -> None:
    assert state(START, *others) == became
    assert states(document_of(*others, START))[-1] == became


def test_a_start_that_is_refused_has_failed() -> None:
    assert state({**received(START), "event": "rejected"}) == "failed"


OPEN = gateway("stream/open", {"stream_id": "s1"}, id="o", correlation_id=["sr"])
ASK = envelope("stream/request", {"direction": "upload"}, id="sr", ts=at(0), to=["gateway"])
CLOSE = envelope("stream/close", {"stream_id": "s1"})


@pytest.mark.parametrize(
    ("lines", "became"),
    [
        ([ASK], ["waiting"]),
        ([ASK, later(11)], ["unanswered", None]),
        ([ASK, OPEN], ["answered", "open"]),
        ([OPEN, ASK], ["open", "answered"]),
        ([ASK, OPEN, CLOSE], ["answered", "closed", None]),
        ([OPEN, {**CLOSE, "payload": {"stream_id": "s2"}}], ["open", None]),
        ([OPEN, {**CLOSE, "payload": {}, "correlation_id": ["o"]}], ["closed", None]),
        ([ASK, OPEN, {**CLOSE, "payload": {}, "correlation_id": ["sr"]}], ["answered", "closed", None]),
        ([OPEN, {**CLOSE, "payload": {}, "correlation_id": ["s1"]}], ["closed", None]),
        ([OPEN, OPEN, CLOSE], ["closed", "closed", None]),
        ([OPEN, {**OPEN, "id": "again"}], ["closed", "open"]),
        ([CLOSE, OPEN], [None, "open"]),
        ([OPEN, b"#s1#data"], ["open", None]),
    ],
)
def test_streams(lines: list[Any], became: list[object]) -> None:
    assert states(document_of(*lines)) == became


def test_deliveries_of_one_envelope_are_one_message() -> None:
    request = ask(id="q1", to=["files", "coder"])
    assert states(document_of(received(request), delivered(request, "files"), delivered(request, "coder"))) == [
        "waiting"
    ]


def test_words_are_those_of_the_field() -> None:
    requests, proposals = ["answered", "failed", "unanswered", "waiting"], ["fulfilled", "rejected", "withdrawn"]
    others = ["running", "concluded", "cancelled", "open", "closed"]
    assert list(FIELD.values) == list(STATE_NAMES[1:]) == [*requests, *proposals, *others]
    assert len(STATE_NAMES) == len(MessageState)


@given(lines=anything)
@example(lines=[envelope(context={"operation": "push"})])  # an oddity of the main context, which is no node
def test_any_batching_gives_the_same(lines: Any) -> None:
    whole, log = document_of(*lines), GrowingLog()
    seen: dict[int, object] = {}
    for line in lines:
        for changes in log.write(line):
            for row in (*range(changes.start, changes.stop), *changes.changed.tolist()):
                seen[row] = FIELD.value(log.document.analysis, row)
    log.end()
    column = FIELD.column(whole.analysis)
    assert states(whole) == states(log.document) == [column.value(row) for row in range(len(whole.capture))]
    codes = whole.analysis.states.states_at(np.arange(len(whole.capture)))
    assert [STATE_NAMES[code] or None for code in codes] == states(whole)
    clean_up()


@pytest.mark.parametrize("lines", [[ask(id="q1"), REFUSAL], [{**received(ask(id="q1")), "event": "rejected"}]])
def test_a_call_that_is_refused_is_answered_by_that(lines: list[Any]) -> None:
    assert state(*lines) == "failed"
    assert tuple(tool_calls(document_of(*lines).analysis))[:4] == (1, 1, 1, 0)

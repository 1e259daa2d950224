"""What comes back of what we sent is one message, delivered to ourselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.store.columns.flags import Flag
from tests.builders import delivered, document_of, envelope, lines_of, received
from tests.findings import ask, captured

ANSWER = envelope("mcp/response", {"result": {"tools": []}}, id="me-1", sender="me", to=["lead"], correlation_id=["q"])
ASKED = ask(id="q", sender="lead", to=["me"])


def told(*lines: dict[str, Any]) -> CaptureDocument:
    return document_of({"ctxcap": 1}, *lines)


def test_an_answer_that_comes_back_counts_once() -> None:
    stamped = {**ANSWER, "ts": "2026-01-05T09:00:09.000Z", "correlation_id": "q"}
    document = told(captured("in", ASKED), captured("out", ANSWER), captured("in", stamped, 1))
    capture = document.capture
    assert (len(capture), capture.record_count) == (2, 3)
    assert capture.flags_of(1) & Flag.SENT
    assert [(one.participant, one.event) for one in capture.deliveries.deliveries_of(1)] == [("me", "delivered")]
    assert document.analysis.correlation.effects(0) == [1]
    assert "request-answered-again" not in document.analysis.findings.found.counts()


@pytest.mark.parametrize(
    "other",
    [{**ANSWER, "from": "somebody"}, {**ANSWER, "id": "me-2"}, {**ANSWER, "kind": "chat"},
     {**ANSWER, "payload": {"result": {"tools": [{"name": "rm"}]}}}],
    ids=["sender", "id", "kind", "payload"],
)  # fmt: skip
def test_what_somebody_else_says_is_a_message_of_its_own(other: dict[str, Any]) -> None:
    assert len(told(captured("out", ANSWER), captured("in", other)).capture) == 2


def test_what_was_received_twice_or_has_no_id_stays_apart() -> None:
    assert len(told(captured("in", ANSWER), captured("in", ANSWER)).capture) == 2
    join = {"kind": "system/join", "payload": {"participantId": "me"}}
    assert len(told(captured("out", join), captured("in", join)).capture) == 2


def test_a_copy_belongs_to_what_was_sent_before_it() -> None:
    assert len(told(captured("in", ANSWER), captured("out", ANSWER)).capture) == 2
    other = {**ANSWER, "kind": "chat"}
    capture = told(
        captured("out", other), captured("out", ANSWER), captured("in", other), captured("in", ANSWER)
    ).capture
    assert [len(list(capture.deliveries.deliveries_of(row))) for row in range(len(capture))] == [1, 1]


def test_a_gateways_line_keeps_its_recipient() -> None:
    capture = told(captured("out", ANSWER), received(ANSWER), delivered(ANSWER, "lead")).capture
    assert [one.participant for row in range(len(capture)) for one in capture.deliveries.deliveries_of(row)] == ["lead"]


def test_however_it_is_written() -> None:
    sent = {**ANSWER, "payload": {"text": "\u00e9", "n": [1, 2]}}
    came = json.dumps(captured("in", {**sent, "payload": {"n": [1, 2], "text": "\u00e9"}}), ensure_ascii=False)
    assert len(document_of({"ctxcap": 1}, json.dumps(captured("out", sent)), came).capture) == 1


def test_however_it_is_read(tmp_path: Any) -> None:
    path = tmp_path / "live.ctxcap"
    lines = [{"ctxcap": 1}, captured("out", ANSWER), *(captured("in", envelope(id=str(n))) for n in range(9)),
             captured("in", ANSWER, 9)]  # fmt: skip
    path.write_bytes(lines_of(lines[0]))
    document = CaptureDocument()
    document.follow_capture(path, name="live")
    for line in lines[1:]:
        with path.open("ab") as file:
            file.write(lines_of(line))
        document.poll()
    assert len(document.capture) == 10
    assert [one.participant for one in document.capture.deliveries.deliveries_of(0)] == ["me"]
    document.close()

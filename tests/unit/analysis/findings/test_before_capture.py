"""Who joins a conversation that has been going on is not alarmed about what lies before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import document_of, envelope
from tests.findings import (
    CONSUMED,
    HINTS,
    answer,
    at,
    captured,
    frame,
    gateway,
    live,
    meta,
    reason,
    stream,
    tools,
    welcome,
    withdraw,
)

DEMO = Path(__file__).parents[3] / "data" / "captures" / "demo-round.ctxcap"
TRUE_ANYWHERE = {"context-window-full"}


def codes(*lines: Any) -> dict[str, int]:
    return document_of(*live(*lines)).analysis.findings.found.counts()


def joined_at(place: float) -> list[Any]:
    """The demo's round as an inspector sees it that joins when so much of it is over."""
    lines = [json.loads(line) for line in DEMO.read_bytes().splitlines()]
    told = lines[int(len(lines) * place) :]
    names = sorted(
        {line["frame"]["from"] for line in lines[1:] if "from" in line.get("frame", {})} - {"system:gateway"}
    )
    now = told[0]["t"] - 1_000_000
    hello = gateway(
        "system/welcome", {"you": {"id": "me"}, "participants": [{"id": name} for name in names]}, to=["me"]
    )
    join = {"kind": "system/join", "payload": {"participantId": "me", "space": "demo"}}
    return [lines[0], {**captured("out", join), "t": now}, {**captured("in", hello), "t": now}, *told]


@pytest.mark.parametrize("tenths", range(1, 10))
def test_joining_late_alarms_nobody(tenths: int) -> None:
    findings = document_of(*joined_at(tenths / 10)).analysis.findings
    warned = [found for found in findings.all() if found.severity.word != "note" and found.code not in TRUE_ANYWHERE]
    assert warned == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (answer(), "response-without-request"),
        (reason("conclusion", "r-abcd", sender="files"), "conclusion-without-start"),
        (withdraw(sender="files"), "decision-without-proposal"),
    ],
    ids=["answer", "conclusion", "withdrawal"],
)
def test_only_of_those_who_were_here(line: dict[str, Any], code: str) -> None:
    assert code in codes(line)
    assert code in codes(welcome(), line)
    assert code in codes(welcome("coder"), line)
    assert code in codes(welcome("me"), line)
    assert code in codes(line, welcome("files"))
    assert code in codes(envelope("system/welcome", welcome("files")["payload"]), line)
    assert codes(welcome("files"), line) == {"began-before-capture": 1}
    assert codes(welcome("files"), {**line, "ts": at(30)}) == {"began-before-capture": 1}


@pytest.mark.parametrize("line", [answer(ts=at(61)), withdraw(sender="files", ts=at(61))], ids=["answer", "withdrawal"])
def test_only_soon_after_the_beginning(line: dict[str, Any]) -> None:
    assert "began-before-capture" not in codes(welcome("files"), line)


def test_a_sequence_may_have_been_going_on_for_long() -> None:
    assert codes(welcome("files"), reason("conclusion", "r-abcd", sender="files", ts=at(3_000))) == {
        "began-before-capture": 1
    }


def test_hints_may_have_been_before() -> None:
    stored = [meta("analysis_store", CONSUMED, n) for n in (100, 200)]
    here = welcome("files", "coder")
    assert codes(here, *stored[0], *stored[1]) == {}
    assert codes(welcome("coder"), *stored[0]) == {"consumed-nothing": 1}
    assert codes(here, *stored[0], *meta("get_workflow_step", HINTS, 150), *stored[1]) == {"consumed-nothing": 1}
    lines: list[Any] = [here, *meta("get_workflow_step", HINTS, 50), *stored[0]]
    late = document_of(*live(*lines))
    assert [found.row for found in late.analysis.findings.all()] == [4]


def test_other_logs_begin_where_they_begin() -> None:
    assert document_of(welcome("files"), answer()).analysis.findings.found.counts() == {"response-without-request": 1}


def test_a_later_welcome_tells_nothing_new() -> None:
    assert "response-without-request" in codes(welcome("coder"), welcome("files"), answer())


def test_the_beginning_may_turn_up() -> None:
    late = answer(correlation_id=["tl"])
    assert codes(welcome("files"), late, tools()[0]) == {}
    assert codes(welcome("files"), reason("conclusion", "r-abcd", sender="files"), reason("start", id="r-abcd")) == {}


def test_streams_that_were_open_before() -> None:
    hello = welcome("files")
    assert codes(hello, frame(1)) == {}
    assert codes(hello, frame(61)) == {"stream-frame-unknown": 1}
    listed = {**hello, "payload": {**hello["payload"], "active_streams": []}}
    assert codes(listed, frame(1)) == {"stream-frame-unknown": 1}
    assert codes(listed, stream("open"), frame(1)) == {}

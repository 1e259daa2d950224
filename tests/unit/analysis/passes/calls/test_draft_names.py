"""Names that the MEUP v0.2 client gives beside envelopes' ids: in payloads, and as its requests' correlation ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.summary import link_sentence, links_of
from tests.builders import GrowingLog, clean_up, document_of, envelope, lines_of
from tests.commands import printed

DRAFT = {"protocol": "meup/v0.2"}


def propose(name: str, identifier: str = "p1", **fields: Any) -> dict[str, Any]:
    wrapped = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "write_file"}}}
    payload = {"proposal": {"correlation_id": name, "capability": "w", "envelope": wrapped}}
    return envelope("meup/proposal", payload, id=identifier, sender="coder", **{**DRAFT, **fields})


def decide(what: str, name: str, identifier: str) -> dict[str, Any]:
    return envelope(f"meup/proposal/{what}", {"correlation_id": name, f"{what}ed_by": "lead"}, id=identifier, **DRAFT)


def ask(name: str = "r-1", called: str = "r-1", **fields: Any) -> dict[str, Any]:
    payload = {"jsonrpc": "2.0", "id": called, "method": "tools/list"}
    return envelope("mcp/request", payload, id="q1", to=["files"], correlation_id=name, **{**DRAFT, **fields})


def answer(name: str = "r-1") -> dict[str, Any]:
    payload = {"jsonrpc": "2.0", "id": name, "result": {}}
    return envelope("mcp/response", payload, id="q2", sender="files", to=["lead"], correlation_id=name, **DRAFT)


@pytest.mark.parametrize(
    ("lines", "causes", "states"),
    [
        ([propose("x"), decide("accept", "x", "a1")], [-1, 0], [4, 0]),
        ([propose("x"), decide("reject", "x", "a1")], [-1, 0], [2, 0]),
        ([decide("accept", "x", "a1"), propose("x")], [1, -1], [0, 4]),
        ([propose("x"), propose("y", "p2"), decide("accept", "x", "a1")], [-1, -1, 0], [4, 1, 0]),
        ([propose("x"), decide("accept", "p1", "a1")], [-1, 0], [4, 0]),
        ([propose("x"), decide("accept", "z", "a1")], [-1, -1], [1, 0]),
        ([propose("x", protocol="mew/v0.4"), decide("accept", "x", "a1")], [-1, -1], [1, 0]),
    ],
    ids=["accepted", "rejected", "accepted before", "another", "by the envelope's id", "unknown", "no draft"],
)
def test_a_proposal_is_decided_by_the_name_in_its_payload(
    lines: list[Any], causes: list[int], states: list[int]
) -> None:
    links = document_of(*lines).analysis.correlation.columns
    assert (links["cause"].tolist(), links["proposal_state"].tolist()) == (causes, states)


def test_a_proposal_is_shown_with_the_arguments_of_its_call(tmp_path: Path) -> None:
    call = {"method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "Rome"}}}
    wrapped = {"proposal": {"envelope": {"kind": "mcp/request", "payload": call}}}
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines_of(envelope("meup/proposal", wrapped, **DRAFT)))
    assert "forecast city=Rome" in printed("list", log)
    assert "forecast city=Rome" in printed("steps", log)


def test_it_is_shown_what_was_decided_about() -> None:
    document = document_of(propose("x"), decide("accept", "x", "a1"))
    assert links_of(document, 1) == [{"id": "x", "names": "message", "no": 1}]
    assert document.capture.records.correlation_ids(1) == ["x"]
    assert [step.message for step in document.chain(0)] == [0, 1]


@pytest.mark.parametrize(
    ("lines", "causes"),
    [
        ([ask(), answer()], [-1, 0]),
        ([answer(), ask()], [1, -1]),
        ([ask(called="7"), answer()], [-1, -1]),
        ([ask(protocol="mew/v0.4"), answer()], [-1, -1]),
    ],
    ids=["answered", "answered before", "another JSON-RPC id", "no draft"],
)
def test_a_request_is_answered_by_its_correlation_id(lines: list[Any], causes: list[int]) -> None:
    assert document_of(*lines).analysis.correlation.columns["cause"].tolist() == causes


def test_what_names_itself_does_not_dangle() -> None:
    document = document_of(ask(), answer())
    assert not {"correlation-dangling", "response-without-request"} & document.analysis.findings.found.counts().keys()
    assert link_sentence(document, 0) is None


@given(
    st.permutations(
        [propose("x"), decide("accept", "x", "a1"), decide("reject", "x", "a2"), ask(), answer(), propose("y", "p2")]
    ),
    st.integers(1, 3),
)
def test_any_batches_give_the_same(lines: list[Any], size: int) -> None:
    log = GrowingLog()
    for place in range(0, len(lines), size):
        log.write(*lines[place : place + size])
    grown, whole = (document.analysis.correlation.columns for document in (log.end(), document_of(*lines)))
    for name in ("cause", "answer", "proposal_state"):
        assert grown[name].tolist() == whole[name].tolist()
    clean_up()

"""Who is believed: nothing that is sent in another's name changes a state (docs/protocols.md 2, Spoofing)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.analysis.views.summaries.participant_queries import participants_of
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, delivered, document_of, envelope, grown_log, received
from tests.findings import HELLO, Lines, answer, ask, captured, gateway, propose, withdraw

ALL = [{"kind": "*"}]


def welcome(name: str, *others: str, **fields: Any) -> dict[str, Any]:
    you = {"id": name, "capabilities": ALL}
    payload = {"you": you, "participants": [{"id": other} for other in others]}
    return gateway("system/welcome", payload, **{"to": [name], **fields})


def coming(name: str, event: str = "join") -> dict[str, Any]:
    return gateway("system/presence", {"event": event, "participant": {"id": name, "capabilities": ALL}})


def known(document: CaptureDocument, name: str) -> tuple[bool | None, Any]:
    """Whether somebody is here, and what it may do."""
    found = next((one for one in document.analysis.participants.all.values() if one.name == name), None)
    return (None, None) if found is None else (found.here, found.capabilities)


def told(document: CaptureDocument) -> list[str]:
    codes = (found.code for found in document.analysis.findings.all())
    return sorted(code for code in codes if code != "clock-skew")


def in_log(inner: dict[str, Any], sender: str = "mallory") -> Lines:
    """What a gateway's log has of an envelope that somebody sent."""
    return [received(inner, sender), *(delivered(inner, one) for one in ("mallory", "intern"))]


@pytest.mark.parametrize("forged", [welcome("intern"), coming("intern"), coming("intern", "leave")])
def test_in_a_log_the_line_of_what_was_received_tells(forged: dict[str, Any]) -> None:
    log = GrowingLog()
    for line in in_log(forged):
        log.write(line)
    for document in (document_of(*in_log(forged)), log.end()):
        assert known(document, "intern") == (None, None)
        assert {"sender-differs", "system-from-participant"} <= {*told(document)}
        said = [one.text for one in document.analysis.findings.all() if one.code == "system-from-participant"]
        assert said[0].startswith("mallory, in the name of system:gateway, sent system/")


def test_what_a_gateway_says_by_itself_is_believed() -> None:
    copies = [delivered(coming("intern"), one) for one in ("mew", "intern")]
    document = document_of(*copies, delivered(welcome("mew", "intern"), "mew"))
    assert known(document, "intern") == known(document, "mew") == (True, ["*"])
    assert told(document) == []


def test_in_a_capture_a_welcome_for_another_is_not_believed() -> None:
    lines = [*HELLO, captured("in", welcome("me", "intern")), captured("in", welcome("intern"))]
    document = document_of(*lines)
    assert known(document, "intern") == (True, None)
    assert told(document) == ["system-from-participant"]
    to_us = [*lines[:-1], captured("in", welcome("intern", to=["me"]))]
    assert known(document_of(*to_us), "intern") == (True, None)


def test_in_a_capture_what_grants_bring_and_names_the_gateway_chose_are_believed() -> None:
    update = captured("in", welcome("me", "intern"))
    assert told(document_of(*HELLO, captured("in", welcome("me")), captured("in", coming("intern")), update)) == []
    renamed = [*HELLO, captured("in", welcome("participant-17")), captured("in", welcome("participant-17", "intern"))]
    assert told(document_of(*renamed)) == []
    again = captured("out", {"kind": "system/join", "id": "j2", "payload": {"participantId": "me-2", "space": "demo"}})
    opened = {"t": 1_767_600_000_000_000_000, "src": 0, "mark": "opened"}
    both = [*HELLO, captured("in", welcome("me")), opened, again, captured("in", welcome("me-2", "intern"))]
    document = document_of(*both)
    assert told(document) == []
    assert known(document, "me-2") == (True, ["*"])
    (space,) = document.analysis.trust.own
    assert [one.name for one in participants_of(document.analysis, space)] == ["me-2", "intern"]


def test_an_error_of_a_participant_refuses_nothing() -> None:
    refused = {"error": "capability_violation", "attempted_kind": "mcp/request"}
    error = envelope("system/error", refused, sender="mallory", to=["lead"], correlation_id=["q1"])
    document = document_of(ask(), error)
    assert document.analysis.correlation.columns["given_up"][0] == 0
    assert document.analysis.capabilities.refusals(0, "lead") == []
    assert "capability-denied" not in told(document)
    true = document_of(ask(), {**error, "from": "system:gateway"})
    assert true.analysis.correlation.columns["given_up"][0] != 0
    forged = document_of(*in_log(ask(), "lead"), *in_log({**error, "from": "system:gateway"}))
    assert forged.analysis.correlation.columns["given_up"][0] == 0


def test_usage_withdrawals_and_cancellations_in_anothers_name_change_nothing() -> None:
    status = envelope("participant/status", {"tokens": 5, "max_tokens": 9}, sender="intern")
    cancel = envelope(
        "mcp/request", {"method": "notifications/cancelled", "params": {"requestId": "q1"}}, to=["files"]
    )  # fmt: skip
    for sender, tokens in (("mallory", None), ("intern", 5)):
        document = document_of(*in_log(status, sender))
        assert next(iter(document.analysis.participants.all.values())).tokens == tokens
    for sender, state in (("mallory", ProposalState.OPEN), ("coder", ProposalState.WITHDRAWN)):
        document = document_of(*in_log(propose(), "coder"), *in_log(withdraw(), sender))
        assert document.analysis.correlation.columns["proposal_state"][0] == state
    for sender, given_up in (("mallory", False), ("lead", True)):
        document = document_of(*in_log(ask(), "lead"), *in_log(cancel, sender))
        assert bool(document.analysis.correlation.columns["given_up"][0]) is given_up


def test_what_only_gateways_say_of_streams_and_invitations() -> None:
    said = [envelope(kind, {}) for kind in ("stream/write-granted", "stream/ownership-transferred", "space/invite-ack")]
    assert told(document_of(*said)) == ["system-from-participant"] * 3
    assert told(document_of(envelope("stream/open", {"stream_id": "stream-1"}), ask(), answer())) == []


US = [*HELLO, captured("in", welcome("me", "intern"))]


def test_nobody_is_told_that_they_left_themselves() -> None:
    document = document_of(*US, captured("in", coming("me", "leave")), captured("in", envelope()))
    assert known(document, "me")[0] is True
    assert told(document) == ["system-from-participant"]
    other = document_of(*US, captured("in", coming("intern", "leave")))
    assert (known(other, "intern")[0], told(other)) == (False, [])


def test_a_leave_of_one_who_joined_under_our_id_is_no_forgery() -> None:
    document = document_of(*US, captured("in", coming("me")), captured("in", coming("me", "leave")))
    assert told(document) == ["joined-twice"]


def test_who_came_and_is_not_named_by_the_next_welcome_never_came() -> None:
    lines = [*US, captured("in", coming("ghost")), captured("in", coming("bob")), captured("in", welcome("me", "bob"))]
    log = grown_log(lines)
    for document in (document_of(*lines), log.end()):
        assert [known(document, name)[0] for name in ("ghost", "bob")] == [False, True]
        (found,) = [one for one in document.analysis.findings.all() if one.code == "system-from-participant"]
        assert (found.row, found.text.partition(",")[0]) == (2, "Somebody")


NOT_CONTRADICTED: dict[str, list[dict[str, Any]]] = {
    "it left meanwhile": [coming("bob"), coming("bob", "leave"), welcome("me", "intern")],
    "a welcome that names nobody at all": [
        coming("bob"), gateway("system/welcome", {"you": {"id": "me", "capabilities": ALL}}, to=["me"])
    ],
    "names alone": [coming("bob"), gateway("system/welcome", {"you": "me", "participants": ["bob"]}, to=["me"])],
    "listed without having come": [welcome("me", "intern", "bob"), coming("bob", "leave")],
}  # fmt: skip


@pytest.mark.parametrize("said", NOT_CONTRADICTED.values(), ids=NOT_CONTRADICTED)
def test_what_a_gateway_may_say_contradicts_nothing(said: list[dict[str, Any]]) -> None:
    assert told(document_of(*US, *(captured("in", one) for one in said))) == []


def test_over_another_connection_a_welcome_contradicts_nothing() -> None:
    again = captured("out", {"kind": "system/join", "id": "j2", "payload": {"participantId": "me-2", "space": "demo"}})
    opened = {"t": 1_767_600_000_000_000_000, "src": 0, "mark": "opened"}
    lines = [*US, captured("in", coming("bob")), opened, again, captured("in", welcome("me-2", "intern"))]
    document = document_of(*lines)
    assert told(document) == []
    assert known(document, "bob")[0] is False  # it left while we were away


def test_waits_go_on_over_a_reconnect_of_ours_and_end_for_those_who_are_gone() -> None:
    again = captured("out", {"kind": "system/join", "id": "j2", "payload": {"participantId": "me-2", "space": "demo"}})
    opened = {"t": 1_767_600_000_000_000_000, "src": 0, "mark": "opened"}
    asked = captured("in", ask(id="q1", sender="intern", to=["files"]))
    met = captured("in", coming("files"))
    for here, given_up in (("files", 0), ("bob", 1)):
        back = captured("in", welcome("me-2", "intern", here))
        document = document_of(*US, met, asked, opened, again, back)
        row = document.capture.records.find_id("q1")[0]
        assert bool(document.analysis.correlation.columns["given_up"][row]) is bool(given_up)

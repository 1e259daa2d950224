"""What participants may do: announced, granted, revoked; predictions, verdicts and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.document.document import CaptureDocument
from inspector.document.summary import message_permission, participant_stories
from tests.builders import delivered, document_at, document_of, envelope, lines_of, log_file, received, tool_call

WRITE = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "write_*"}}}


def welcome(name: str, *capabilities: Any) -> dict[str, Any]:
    you = {"id": name, "capabilities": list(capabilities)}
    return envelope("system/welcome", {"you": you, "participants": []}, sender="system:gateway", to=[name])


def grant(name: str, *capabilities: Any, **fields: Any) -> dict[str, Any]:
    return envelope("capability/grant", {"recipient": name, "capabilities": list(capabilities)}, to=[name], **fields)


def revoke(name: str, **payload: Any) -> dict[str, Any]:
    return envelope("capability/revoke", {"recipient": name, **payload}, to=[name])


def held(document: CaptureDocument, name: str = "coder") -> list[tuple[Any, bool]] | None:
    found = document.analysis.capabilities.capabilities_of(0, name)
    return None if found is None else [(one.capability, one.confirmed) for one in found]


def test_nothing_said_is_not_nothing_allowed() -> None:
    assert held(document_of(envelope(sender="coder"))) is None
    assert held(document_of(welcome("coder"))) == []


def test_a_grant_is_unconfirmed_until_a_welcome_shows_it() -> None:
    lines = [welcome("coder", "chat"), grant("coder", WRITE)]
    assert held(document_of(*lines)) == [("chat", True), (WRITE, False)]
    assert held(document_of(*lines, welcome("coder", "chat", WRITE))) == [("chat", True), (WRITE, True)]


def test_a_welcome_logged_before_the_grant_it_confirms_is_the_same_capability() -> None:
    lines = [welcome("coder", "chat"), welcome("coder", "chat", WRITE), grant("coder", WRITE, id="g")]
    assert held(document_of(*lines)) == [("chat", True), (WRITE, True)]
    assert held(document_of(*lines, revoke("coder", grant_id="g"))) == [("chat", True)]
    assert held(document_of(*lines, grant("coder", WRITE, id="h"))) == [("chat", True), (WRITE, True), (WRITE, False)]


def test_revocations_by_grant_by_pattern_and_by_id() -> None:
    named = {"id": "w", **WRITE}
    by_grant = [grant("coder", WRITE, id="g"), revoke("coder", grant_id="g")]
    assert held(document_of(welcome("coder", "chat"), *by_grant)) == [("chat", True)]
    confirmed = [grant("coder", WRITE, id="g"), welcome("coder", "chat", WRITE), revoke("coder", grant_id="g")]
    assert held(document_of(*confirmed)) == [("chat", True)]
    assert held(document_of(welcome("coder", WRITE, "chat"), revoke("coder", capabilities=[WRITE]))) == [("chat", True)]
    wrapped = envelope("meup/capability/revoke", {"from": "lead", "to": "coder", "capabilities": ["w"]})
    assert held(document_of(welcome("coder", named), wrapped)) == []


def test_a_welcome_of_somebody_else_s_making_is_not_believed() -> None:
    forged = {**welcome("coder", "*"), "from": "coder"}
    assert held(document_of(welcome("coder", "chat"), forged)) == [("chat", True)]


def test_the_same_welcome_again_ends_what_was_granted_since() -> None:
    again = [welcome("coder", "chat"), grant("coder", WRITE), welcome("coder", "chat")]
    assert held(document_of(*again)) == [("chat", True)]


def test_predictions_go_by_what_was_known_then() -> None:
    call = [tool_call("write_file", sender="coder") for _ in range(3)]
    document = document_of(
        call[0],
        welcome("coder", "chat"),
        call[1],
        grant("coder", WRITE),
        call[2],
        revoke("coder", capabilities=[WRITE]),
    )
    found = [document.analysis.capabilities.predicted(row) for row in (0, 2, 4, 1)]
    assert found == [(None, None), (False, None), (True, WRITE), (None, None)]


def test_refusals_name_what_was_missing() -> None:
    call = tool_call("write_file", sender="coder", id="c")
    error = envelope(
        "system/error", {"error": "capability_violation", "attempted_kind": "mcp/request"}, sender="system:gateway",
        to=["coder"], correlation_id=["c"],
    )  # fmt: skip
    other = envelope("system/error", {"error": "validation_error"}, sender="system:gateway", to=["coder"])
    document = document_of(welcome("coder", "chat"), call, error, other)
    (story,) = (story for story in participant_stories(document) if story["name"] == "coder")
    assert story["refused"] == [
        {"no": 3, "message": 2, "missing": "mcp/request", "predicted": "denied", "verdicts": [], "differs": False}
    ]


def decision(result: str) -> dict[str, Any]:
    return {
        "timestamp": "2026-01-05T09:00:00.000Z", "event": "capability_check", "envelope_id": "c",
        "participant": "coder", "space_id": "demo", "result": result, "required_capability": "mcp/request",
        "matched_capability": WRITE, "matched_source": "static",
    }  # fmt: skip


def test_the_gateway_s_verdict_stands_beside_the_prediction() -> None:
    told = welcome("coder", {"kind": "mcp/request", "payload": {"params": {"name": "!write_*"}}})
    call = tool_call("write_file", sender="coder", id="c")
    path = log_file(lines_of(delivered(told, "coder"), received(call)), "envelope-history.jsonl")
    Path(path).with_name("capability-decisions.jsonl").write_bytes(lines_of(decision("allowed")))
    found = message_permission(document_at(path), 1)
    verdict = {"result": "allowed", "required": "mcp/request", "matched": WRITE, "source": "static"}
    assert found == {"predicted": "denied", "by": None, "verdicts": [verdict], "differs": True}

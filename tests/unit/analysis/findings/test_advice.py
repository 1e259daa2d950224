"""What is advised goes by what is known; sentences end once."""

from __future__ import annotations

from typing import Any

from inspector.present.states import presence_word
from tests.builders import document_of
from tests.findings import ask, gateway, later, told_of


def advice(*lines: dict[str, Any]) -> str:
    findings = document_of(*lines, later(16)).analysis.findings
    (found,) = (one for one in findings.found.all() if one.check.code == "request-unanswered")
    return findings.hint(found)


def test_by_whether_the_one_asked_was_seen_is_here_or_has_left() -> None:
    assert advice(ask()).startswith("files never appears in the log")
    came = told_of("files", {"kind": "chat"})
    assert advice(came, ask()) == "Check how files handles the request, and that it may send mcp/response."
    assert "tools/list with an empty list" in advice(came, ask(payload={"method": "tools/list"}))
    left = gateway("system/presence", {"event": "leave", "participant": {"id": "files"}})
    assert advice(came, ask(), left).startswith("files has left")
    assert advice(ask(to=[])).startswith("Address the request")


def test_an_invited_guest_is_called_invited() -> None:
    line = gateway("system/presence", {"event": "invited", "participant": {"id": "guest"}})
    guest = document_of(line).analysis.participants.all[0, "guest"]
    assert presence_word(guest, 0) == "invited"


def test_one_full_stop() -> None:
    error = gateway("system/error", {"error": "invalid_request", "message": "Use capability/grant instead."})
    (found,) = document_of(error).analysis.findings.all()
    assert found.text == "The gateway reports invalid_request: Use capability/grant instead."


def test_a_person_is_not_to_be_started_again() -> None:
    came = told_of("human", {"kind": "chat"})
    left = gateway("system/presence", {"event": "leave", "participant": {"id": "human"}})
    said = advice(came, ask(to=["human"], payload={"method": "tools/list"}), left)
    assert said.startswith("human is a person without tools: do not send it tools/list")

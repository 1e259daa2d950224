"""What a second reader read otherwise (`tests.second_reader`), and was right about."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.summary import participant_stories
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope, received

CALL = {"method": "tools/call", "params": {"name": "grep"}}
PROPOSAL = envelope("mcp/proposal", CALL, id="d1")


def values(name: str, *lines: dict[str, Any]) -> list[Any]:
    document = document_of(*lines)
    return [FIELD_BY_NAME[name].value(document.analysis, row) for row in range(len(document.capture))]


def rejected(inner: dict[str, Any], participant: str | None = None) -> dict[str, Any]:
    """A line of a gateway's log about what it refused over HTTP."""
    return received(inner, participant, event="rejected")


def answer(name: str, **fields: Any) -> dict[str, Any]:
    payload = fields.pop("payload", {"result": {}})
    return envelope("mcp/response", payload, id=name, sender="files", **fields)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 3, 1, 0), (2, 3, 0, 1), (1, 2, 3, 0), (0, 2, 3, 1)])
def test_each_answer_is_named_by_the_proposal_behind_its_request_in_any_order(order: tuple[int, ...]) -> None:
    request = envelope("mcp/request", {}, id="f1", correlation_id=["d1"])
    said = [PROPOSAL, request, answer("a1", correlation_id=["f1"]), answer("a2", correlation_id=["f1"])]
    found = values("tool", *(said[place] for place in order))
    assert found == [None if place == 1 else "grep" for place in order]


@pytest.mark.parametrize(
    "naming", [envelope(context={"id": "s/t"}), envelope("reasoning/start", id="s/t")], ids=["object", "start"]
)
def test_an_id_with_a_slash_begins_longer_paths_in_any_order(naming: dict[str, Any]) -> None:
    below = envelope(context="s/t/fs")
    assert values("context", below, naming)[0] == values("context", naming, below)[1] == "s%2Ft/fs"


def test_an_id_with_a_slash_takes_nothing_from_the_parent_an_object_names() -> None:
    inner = envelope(context={"id": "r2", "parent": "r1"})
    assert values("context", inner, envelope("reasoning/start", id="r1/r2"))[0] == "r1/r2"


@pytest.mark.parametrize(
    ("kind", "payload"),
    [("mcp/withdraw", {"reason": "busy"}), ("mcp/reject", {"reason": "busy"}), ("mcp/request", CALL)],
)
def test_what_the_gateway_refused_decides_no_proposal(kind: str, payload: dict[str, Any]) -> None:
    refused = rejected(envelope(kind, payload, correlation_id=["d1"]))
    assert values("proposal.state", received(PROPOSAL), refused) == ["open", None]


def test_what_the_gateway_refused_answers_nothing_and_consumes_nothing() -> None:
    asked = received(envelope("mcp/request", CALL, id="q1", to=["files"]))
    meta = {"result": {"_meta": {"context": {"consumed": True}}}}
    refused = rejected(envelope("mcp/response", meta, sender="files", correlation_id=["q1"]))
    assert values("answered", asked, refused) == [None, None]
    assert values("badge", asked, refused) == [[], []]
    assert values("answered", asked, refused, received(answer("a1", correlation_id=["q1"])))[0] == 3


def test_what_the_gateway_refused_grants_reports_and_ends_nothing() -> None:
    grant = envelope("capability/grant", {"recipient": "lead", "capabilities": [{"kind": "*"}]}, sender="files")
    usage = envelope("participant/status", {"messages_in_context": 3, "tokens": 5, "max_tokens": 9})
    cancel = envelope("reasoning/cancel", {}, context="r1")
    document = document_of(received(envelope(context="r1")), *map(rejected, (grant, usage, cancel)))
    (lead, *_) = participant_stories(document)
    assert (lead["name"], lead["capabilities"], lead["usage"]) == ("lead", None, None)
    assert FIELD_BY_NAME["context.state"].value(document.analysis, 0) == "active"


def test_a_refused_line_names_who_sent_it() -> None:
    said = envelope()
    del said["from"]
    assert values("from", rejected(said, "coder")) == ["coder"]
    assert values("finding", rejected(envelope(sender="lead"), "coder"))[0][0] == "sender-differs"


@pytest.mark.parametrize("kind", ["reasoning/cancel", "reasoning/conclusion"])
def test_an_end_in_anothers_name_ends_no_context(kind: str) -> None:
    forged = received(envelope(kind, {}, context="r1"), "coder")
    assert values("context.state", received(envelope(context="r1")), forged)[0] == "active"


@pytest.mark.parametrize(
    "change",
    [
        envelope("capability/revoke", {"recipient": "coder", "grant_id": "g9"}),
        envelope("capability/grant", {"recipient": "coder", "capabilities": []}),
    ],
    ids=["revoked", "nothing granted"],
)
def test_who_lost_what_nobody_told_is_not_known_to_hold_nothing(change: dict[str, Any]) -> None:
    stories = participant_stories(document_of(change, envelope(sender="coder")))
    assert {one["name"]: one["capabilities"] for one in stories}["coder"] is None


def test_a_result_of_an_unknown_tool_collapses_for_the_consumer_it_names() -> None:
    meta = {"context": {"lifecycle": "transient", "summary": "15 records", "consumedBy": "store"}}
    result = answer("a1", to=["lead"], payload={"result": {"_meta": meta}}, correlation_id=["gone"])
    call = envelope("mcp/request", {"method": "tools/call", "params": {"name": "store"}}, id="q2", to=["files"])
    consumed = {"result": {"_meta": {"context": {"consumed": True}}}}
    done = answer("a2", to=["lead"], payload=consumed, correlation_id=["q2"])
    assert values("collapsed.by", result, call, done) == [3, None, None]

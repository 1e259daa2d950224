"""Requests about participants."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.engine.engine import Engine
from inspector.engine.request import RequestError
from inspector.engine.requests.participants import DescribeParticipants, OrderParticipants
from tests.builders import GrowingLog, document_of, envelope, received
from tests.findings import captured


def welcome(you: str, *others: str) -> dict[str, Any]:
    payload = {
        "you": {"id": you, "capabilities": [{"kind": "mcp/response"}]},
        "participants": [{"id": name, "capabilities": [{"kind": "chat"}]} for name in others],
    }
    return received(envelope("system/welcome", payload, sender="system:gateway", to=[you]))


def test_those_here_come_before_those_who_left() -> None:
    left = {"event": "leave", "participant": {"id": "gone"}}
    document = document_of(
        welcome("me", "gone", "mew"), received(envelope("system/presence", left, sender="system:gateway"))
    )
    engine = Engine()
    number = engine.adopt(document)
    found = engine.answer_request(number, OrderParticipants())
    assert ([name for _, name in found.keys], found.here, found.is_announced) == (["me", "mew", "gone"], 2, True)
    rows = engine.answer_request(number, DescribeParticipants(tuple(found.keys)))
    assert [(row.name, row.presence, row.line) for row in rows[:2]] == [
        ("me", "here", "listens only"), ("mew", "here", "chat"),
    ]  # fmt: skip
    assert (rows[2].presence, rows[2].sent, rows[2].received) == ("left", 'from == "gone"', 'to == "gone"')


def test_unknown_participants_have_no_row_and_rows_are_limited() -> None:
    engine = Engine()
    number = engine.adopt(document_of(envelope()))
    assert engine.answer_request(number, DescribeParticipants(((0, "nobody"),))) == []
    with pytest.raises(RequestError):
        engine.answer_request(number, DescribeParticipants(((0, "a"),) * 1_001))


def test_after_a_reconnect_this_program_is_one_row() -> None:
    log, engine = GrowingLog(), Engine()
    number = engine.adopt(log.document)
    log.write({"ctxcap": 1})
    for name in ("us-1", "us-2"):
        joined = {"kind": "system/join", "id": f"j-{name}", "payload": {"participantId": name, "space": "demo"}}
        log.write(captured("out", joined), captured("in", welcome(name, "coder")["envelope"]))
        keys = engine.answer_request(number, OrderParticipants()).keys
        assert sorted(one for _, one in keys) == ["coder", name]


def test_one_name_in_two_spaces_counts_once_as_in_the_overview() -> None:
    lines = [{**received(envelope("chat", {}, sender="lead")), "space_id": space} for space in ("a", "b")]
    document = document_of(*lines)
    engine = Engine()
    found = engine.answer_request(engine.adopt(document), OrderParticipants())
    assert (len(found.keys), found.count) == (2, 1)


def test_one_name_that_is_here_in_two_spaces_counts_once() -> None:
    joined = {"event": "join", "participant": {"id": "cook", "capabilities": [{"kind": "chat"}]}}
    lines = (welcome("cook", "baker"), received(envelope("system/presence", joined, sender="system:gateway")))
    document = document_of(*({**line, "space_id": space} for space in ("kitchen", "cellar") for line in lines))
    engine = Engine()
    found = engine.answer_request(engine.adopt(document), OrderParticipants())
    assert (len(found.keys), found.count, found.here) == (4, 2, 2)

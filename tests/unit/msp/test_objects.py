"""Views over objects: what is written is read, what is of a wrong type is absent."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.msp.objects import Message, Policy, Session, Snapshot, Subsession, content_text
from inspector.protocol.timestamps import NO_TIME, parse_time


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as it is", "as it is"),
        (None, ""),
        ([], ""),
        (["one", {"type": "text", "text": "two"}, {"type": "image", "n": 1}], 'one\n\ntwo\n\n{"type":"image","n":1}'),
        ({"a": ["ä", 1.5]}, '{"a":["ä",1.5]}'),
        (True, "true"),
    ],
)
def test_any_content_is_a_text(content: object, text: str):
    assert content_text(content) == text


def test_content_nested_too_deeply_is_a_text_all_the_same():
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert content_text({"a": value}) == "…"


def test_messages_of_the_same_object_are_equal():
    session = Session({}, "m", [{"id": "a"}, {"id": "a"}])
    first, second = session.messages
    assert first == session.messages[0] == session.messages[-2]
    assert first != second
    assert len({first, session.messages[0], second}) == 2
    assert session.messages[1:] == [second]
    assert second in session.messages


def test_a_message_without_anything():
    message = Message({"id": "", "timestamp": "2026-01-05T09:00:00Z"}, Session({}, "m"))
    assert (message.id, message.role, message.content, message.visibility) == (None, "", "", None)
    assert message.time_ns == parse_time("2026-01-05T09:00:00Z")


@pytest.mark.parametrize(
    ("members", "is_open", "discarded"),
    [
        ({}, True, False),
        ({"status": "open", "closed_at": None}, True, False),
        ({"status": "paused"}, True, False),
        ({"status": "closed"}, False, False),
        ({"status": "open", "closed_at": "2026-01-05T09:00:00Z"}, False, False),
        ({"status": "DISCARDED"}, False, True),
    ],
)
def test_it_is_open_until_it_is_closed(members: dict[str, Any], is_open: bool, discarded: bool):
    sub = Subsession(members, "s")
    assert (sub.is_open, sub.discarded) == (is_open, discarded)


def test_paths_and_roots_of_nested_ones():
    session = Session({"session_id": "m"}, "m")
    outer = Subsession({"subsession_id": "a"}, "a", parent=session)
    inner = Subsession({}, "b/c", parent=outer)
    assert (inner.path, inner.session, inner.label, inner.id) == ("a/b%2Fc", session, "b/c", "")
    assert Subsession({}, "x").session is None


def test_what_a_policy_does_not_say_is_none():
    policy = Policy({"include_snapshots": False, "include_sub_context": "yes", "recent_parent_messages": True})
    assert (policy.include_snapshots, policy.include_sub_context, policy.recent_parent_messages) == (False, None, None)
    assert Policy({"recent_parent_messages": -1}).recent_parent_messages == -1


@pytest.mark.parametrize(("covers", "read"), [([0, 20], (0, 20)), ([0], None), ([0, True], None), ("x", None)])
def test_what_a_snapshot_covers(covers: object, read: tuple[int, int] | None):
    snapshot = Snapshot({"covers_messages": covers})
    assert (snapshot.covers, snapshot.created_ns) == (read, NO_TIME)


def test_what_was_agreed_is_texts():
    session = Session({"sub_context": {"facts": ["a", 5, {"b": 1}], "decisions": "one", "intent": 3}}, "m")
    assert (session.facts, session.decisions, session.constraints, session.intent) == (
        ["a", "5", '{"b":1}'],
        ["one"],
        [],
        "",
    )

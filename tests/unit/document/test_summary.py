"""The shapes of docs/design.md 5, key by key."""

from __future__ import annotations

from typing import Any

from inspector.document.summary import context_nodes, message_story, summary
from inspector.filters.fields import FIELDS
from tests.builders import delivered, document_of, envelope, received, tool_call, tool_result


def test_summary() -> None:
    chat = envelope("chat", id="a", sender="lead", context="why/fs")
    document = document_of(
        received(chat), delivered(chat, "files"), received({"type": "join", "participantId": "me"}, "me"),
        "{torn", received({"kind": ["odd"]}, "lead"), received(envelope("mcp/request:tools/list", {}), "lead"),
    )  # fmt: skip
    assert summary(document, "the/file") == {
        "file": "the/file", "format": "gateway-log", "records": 6, "messages": 5, "unreadable": 1, "spaces": ["demo"],
        "participants": ["lead", "me"], "kinds": {"": 2, "chat": 1, "system/join": 1, "mcp/request": 1}, "contexts": 2,
        "main": 4, "badges": {"transient": 0, "consumed": 0, "collapsed": 0, "pending": 0}, "pending_results": [],
        "tokens": None,
            "context": None,
        "latency": {"tools": {}, "participants": {}},
        "findings": {"unreadable": 1, "kind-missing": 1, "context-guessable": 1, "id-missing": 1},
        "calls": {"tools": 0, "answered": 0, "failed": 0, "unanswered": 0, "rejected": 0}, "tool_counts": {},
            "rpc": {"requests": 0, "answered": 0, "errors": 0, "versions": []}, "models": {},
        "usage": None, "cost": None, "stated_cost": None, "sub_agents": 0, "compactions": 0,
        "sources": [{"name": "test.jsonl", "format": "gateway-log", "records": 6}],
    }  # fmt: skip


def test_captured_frames_that_cannot_be_read_count_as_unreadable() -> None:
    document = document_of({"t": 1, "dir": "in", "text": "hello"}, {"event": "received", "envelope": "torn"})
    assert summary(document, "")["unreadable"] == 2


def test_nothing() -> None:
    found = summary(document_of(), "empty")
    assert (found["format"], found["records"], found["messages"], found["main"], found["kinds"]) == (None, 0, 0, 0, {})


def test_context_nodes_in_tree_order() -> None:
    document = document_of(
        envelope(context="b/c", sender="x", ts="2026-01-05T09:00:00.000Z"),
        envelope(context="b/c", sender="y", ts="2026-01-05T09:00:01.000Z"),
        envelope("reasoning/start", {"message": "Why"}, id="r", sender="x", ts=None),
        envelope("reasoning/conclusion", {}, context="r", sender="x", ts=None),
    )
    sizes = document.capture.columns["size"].tolist()
    assert list(context_nodes(document)) == [
        {"path": "b", "parent": None, "label": "b", "type": None,
         "type_reason": None, "labels": [], "metadata": {},
         "state": "active", "depth": 1, "messages": 0,
         "subtree_messages": 2, "implicit": True, "participants": [], "space": None, "id": "b",
         "first": None, "last": None, "started_by": None, "ended_by": None, "conclusion": None, "told": None,
         "bytes": 0, "odd": []},
        {"path": "b/c", "parent": "b", "label": "c", "type": None,
         "type_reason": None, "labels": [], "metadata": {},
         "state": "active", "depth": 2, "messages": 2,
         "subtree_messages": 2, "implicit": False, "participants": ["x", "y"], "space": None, "id": "c",
         "first": 1, "last": 2, "started_by": None, "ended_by": None, "conclusion": None, "told": "envelope",
         "bytes": sum(sizes[:2]), "odd": []},
        {"path": "r", "parent": None, "label": "Why", "type": "reasoning",
         "type_reason": "Opened by reasoning/start, No. 3.", "labels": [], "metadata": {},
         "state": "concluded", "depth": 1,
         "messages": 1, "subtree_messages": 1, "implicit": False, "participants": ["x"], "space": None, "id": "r",
         "first": 4, "last": 4, "started_by": 3, "ended_by": 4, "told": "envelope",
         "conclusion": None,
         "bytes": sizes[3], "odd": []},
    ]  # fmt: skip


def test_one_message() -> None:
    request = tool_call("grep", id="q")
    context = {"lifecycle": "transient", "summary": "15 records", "consumedBy": "store"}
    answer = tool_result(request, meta={"context": context})
    document = document_of(received(request), delivered(request, "files"), received(answer))
    story: dict[str, Any] = message_story(document, 1)
    assert list(story) == [
        "no", "fields", "envelope", "raw", "deliveries", "sources", "sightings", "causes", "effects", "links", "odd",
        "repeats", "chain", "likely", "capability", "lifecycle", "carried", "findings",
    ]  # fmt: skip
    assert (story["no"], story["causes"], story["effects"], story["findings"]) == (2, [1], [], [])
    assert story["envelope"] == answer
    assert set(story["fields"]) == {field.name for field in FIELDS}
    life = story["lifecycle"]
    assert life["tokens"]["saved"] == life["tokens"]["before"] - life["tokens"]["summary"]
    assert {**life, "tokens": None} == {
        "badges": ["transient"], "summary": "15 records", "summary_given": True, "tool": "grep", "hinted_by": 2,
        "hint": {"no": 2, "step": None, "tool": "grep", "consumer": "store"},
        "collapsed_by": None, "consumes": None, "rule": "oldest", "note": None, "attempts": [],
            "attempts_total": 0,
        "consumers": ["store"], "consumers_total": 1, "pairs": [], "pairs_total": 0, "tokens": None,
    }  # fmt: skip
    asked = message_story(document, 0)
    assert asked["deliveries"] == [{"participant": "files", "event": "delivered"}]
    assert (asked["causes"], asked["effects"]) == ([], [2])


def test_an_unreadable_message() -> None:
    story = message_story(document_of({"kind": "chat"}, b"{torn \xff"), 1)
    assert (story["envelope"], story["raw"]) == (None, "{torn \\xff")

"""Who missed a broadcast, by what a gateway's log says was delivered."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, clean_up, delivered, document_of, envelope, grown_log, received
from tests.findings import captured


def said(name: str, *to: str, kind: str = "chat", **fields: Any) -> list[dict[str, Any]]:
    inner = envelope(kind, id=name, ts=f"2026-01-05T09:00:{len(name):02d}.000Z", **fields)
    return [received(inner), *(delivered(inner, person) for person in to)]


def missed(document: CaptureDocument) -> dict[str, str]:
    """What is said of each message, by its id."""
    found = document.analysis.findings.all()
    return {
        document.capture.records.envelope_id(finding.row) or "": finding.text.partition(" got ")[0]
        for finding in found
        if finding.code == "broadcast-not-delivered"
    }


def of(*messages: list[dict[str, Any]]) -> dict[str, str]:
    return missed(document_of(*(line for message in messages for line in message)))


def test_two_in_a_row() -> None:
    assert of(said("b1", "a", "b"), said("b2", "a"), said("b3", "a"), said("b4", "a", "b")) == {"b2": "b", "b3": "b"}


def test_the_last_one_when_something_else_was_delivered_after_it() -> None:
    direct = said("d", "b", to=["b"])
    assert of(said("b1", "a", "b"), said("b2", "a"), direct) == {"b2": "b"}
    assert of(said("b1", "a", "b"), said("b2", "a")) == {}


def test_who_left_or_came_meanwhile_missed_nothing() -> None:
    left = {"event": "leave", "participant": {"id": "b"}}
    moved = said("p", "a", kind="system/presence", payload=left, sender="system:gateway")
    assert of(said("b1", "a", "b"), moved, said("b2", "a"), said("b3", "a", "b")) == {}
    forged = said("p", "a", kind="system/presence", payload=left)
    assert of(said("b1", "a", "b"), forged, said("b2", "a"), said("b3", "a", "b")) == {"b2": "b"}


def test_the_sender_and_the_addressed_missed_nothing() -> None:
    own = said("b2", "a", sender="b")
    assert of(said("b1", "a", "b"), own, said("d", "a", to=["a"]), said("b3", "a", "b")) == {}


def test_a_copy_that_comes_late_takes_it_back() -> None:
    late = said("b2", "a", "b")
    lines = [*said("b1", "a", "b"), *late[:2], *said("b3", "a", "b")]
    assert missed(document_of(*lines)) == {"b2": "b"}
    assert missed(document_of(*lines, late[2])) == {}


def test_spaces_are_apart() -> None:
    lines = [*said("b1", "a", "b"), *said("b3", "a", "b")]
    other = [{**line, "space_id": "other"} for line in said("b2", "a")]
    assert missed(document_of(*lines[:3], *other, *lines[3:])) == {}


def test_what_gateways_act_on_themselves_is_no_broadcast() -> None:
    for kind in ("stream/grant-write", "stream/revoke-write", "stream/transfer-ownership", "space/invite"):
        kept = said("b2", kind=kind, payload={"stream_id": "stream-1", "participant_id": "b"})
        assert of(said("b1", "a", "b"), kept, said("b3", "a", "b")) == {}
    assert of(said("b1", "a", "b"), said("b2", "a", kind="stream/close"), said("b3", "a", "b")) == {"b2": "b"}


def test_what_comes_back_of_what_we_sent_says_nothing_of_the_rest() -> None:
    own = [envelope("mcp/response", {"result": {}}, id=f"r{n}", sender="us", to=["mew"]) for n in range(2)]
    lines = [captured(way, one, 3 * n) for n, one in enumerate(own) for way in ("out", "in")]
    said_between = captured("in", envelope(sender="human"), 2)
    assert missed(document_of({"ctxcap": 1}, *lines[:2], said_between, *lines[2:])) == {}


@given(st.lists(st.sets(st.sampled_from("abc")), min_size=2, max_size=7), st.data())
def test_any_order_of_copies_in_any_batches_gives_the_same(reached: list[set[str]], data: st.DataObject) -> None:
    messages = [said(f"b{n}", *sorted(people)) for n, people in enumerate(reached)]
    copies = [line for message in messages for line in message[1:]]
    lines = [*(message[0] for message in messages), *data.draw(st.permutations(copies))]
    log = grown_log(lines)
    expected: dict[str, str] = {}
    for n, people in enumerate(reached):
        names = [
            p
            for p in "abc"
            if p not in people and any(p in r for r in reached[:n]) and any(p in r for r in reached[n:])
        ]
        if names:
            expected[f"b{n}"] = ", ".join(names)
    assert missed(log.end()) == missed(document_of(*lines)) == expected
    clean_up()


def test_copies_are_compared_however_many_differ() -> None:
    inner = [envelope("chat", id=f"m{n}", context="x") for n in range(300)]
    first = [line for message in inner for line in (received(message), delivered(message, "a"))]
    altered = [delivered({**message, "context": "y"}, "b") for message in reversed(inner)]
    log = GrowingLog()
    log.write(*first)
    log.write(*altered)
    for document in (document_of(*first, *altered), log.end()):
        assert document.analysis.findings.found.counts()["context-altered"] == 300

"""Who takes part: presence, capabilities, usage; the gateway alone is believed (docs/protocols.md 2, 4)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.passes.participants.participant_table import ReportedNumbers
from inspector.protocol.timestamps import NO_TIME, parse_time
from tests.builders import document_of, envelope, received

GATEWAY = "system:gateway"


def people(*lines: Any) -> dict[str, Participant]:
    return {p.name: p for p in document_of(*lines).analysis.participants.all.values()}


def welcome(you: str, *others: Any, **fields: Any) -> dict[str, Any]:
    payload = {"you": {"id": you, "capabilities": [{"kind": "chat"}]}, "participants": list(others)}
    return envelope("system/welcome", payload, sender=GATEWAY, **fields)


def presence(event: str, name: Any = "lead", **fields: Any) -> dict[str, Any]:
    return envelope("system/presence", {"event": event, "participant": {"id": name, **fields}}, sender=GATEWAY)


def test_in_the_order_first_seen() -> None:
    lines = [welcome("us", {"id": "b"}), envelope(sender="z"), presence("join", "a"), envelope(sender="b")]
    assert list(people(*lines)) == ["us", "b", "z", "a"]


def test_counts_and_times() -> None:
    at = [f"2026-01-05T09:00:0{second}.000Z" for second in range(4)]
    found = people(
        envelope(sender="a", ts=at[1]), envelope(sender="a", ts=None), envelope(sender="a", ts=at[3]),
        envelope(sender="b", ts=None),
    )  # fmt: skip
    a, b = found["a"], found["b"]
    assert (a.messages, a.first_ns, a.last_ns) == (3, parse_time(at[1]), parse_time(at[3]))
    assert (b.messages, b.first_ns, b.last_ns) == (1, NO_TIME, NO_TIME)


@pytest.mark.parametrize(
    ("events", "here"), [(["join"], True), (["update"], True), (["join", "leave"], False), (["leave", "join"], True)]
)
def test_presence(events: list[str], here: bool) -> None:
    lead = people(*map(presence, events))["lead"]
    assert lead.here is here
    assert (lead.left_ns != NO_TIME) is not here


def test_since_is_since_the_latest_coming_and_of_who_left_when_it_left() -> None:
    at = [f"2026-01-05T09:00:0{second}.000Z" for second in range(5)]
    lines = [
        envelope(sender="lead", ts=at[0]), presence("join") | {"ts": at[1]}, presence("leave") | {"ts": at[2]},
        presence("join") | {"ts": at[3]}, presence("update") | {"ts": at[4]},
    ]  # fmt: skip
    since = [people(*lines[: count + 1])["lead"].since_ns for count in range(5)]
    assert since == [parse_time(at[second]) for second in (0, 1, 2, 3, 3)]


def test_nothing_announced() -> None:
    assert people(envelope(sender="a"))["a"].here is None
    assert people(presence("invited"))["lead"].here is None


def test_capabilities_are_the_latest_announced() -> None:
    lead = people(presence("join", capabilities=[{"kind": "mcp/*"}, "chat"]), presence("update", capabilities=["*"]))[
        "lead"
    ]
    assert lead.capabilities == ["*"]
    lead = people(presence("join", capabilities=["chat"]), presence("update"))["lead"]
    assert lead.capabilities == ["chat"]


@pytest.mark.parametrize("sender", ["system:gateway", "system", "gateway"])
def test_the_gateway_is_believed_and_is_nobody(sender: str) -> None:
    found = people({**presence("join"), "from": sender})
    assert list(found) == ["lead"]


def test_a_participant_s_presence_is_not_believed() -> None:
    found = people({**presence("join", "victim"), "from": "liar"}, {**welcome("x", {"id": "y"}), "from": "liar"})
    assert list(found) == ["liar"]


def test_usage() -> None:
    found = people(
        envelope("participant/status", {"tokens": 5, "max_tokens": 9}, sender="a"),
        envelope("participant/status", {"tokens": "7", "max_tokens": True}, sender="a"),
        envelope("participant/status", {"tokens": 6}, sender="a"),
    )
    assert (found["a"].tokens, found["a"].max_tokens, found["a"].status_rows) == (6, 9, [0, 1, 2])


@pytest.mark.parametrize("tokens", [0, -5, 2**62 - 1, 2**62, -(2**63), 10**30])
def test_any_whole_number_is_reported(tokens: int) -> None:
    numbers = ReportedNumbers()
    numbers.set_number(3, tokens)
    assert [numbers.get(number) for number in (0, 3, 4, 900)] == [None, tokens, None, None]
    numbers.set_number(3, None)
    assert numbers.get(3) is None


def test_we_are_who_joined() -> None:
    found = people(
        {"t": 1, "dir": "out", "frame": {"type": "join", "participantId": "inspector-1"}},
        {"t": 2, "dir": "in", "frame": welcome("inspector-1", {"id": "lead"})},
    )
    assert {name: p.is_us for name, p in found.items()} == {"inspector-1": True, "lead": False}


def test_stdio_servers_take_part_before_they_speak() -> None:
    line = {"dir": "client->server", "message": {"jsonrpc": "2.0", "id": 1, "method": "initialize"}}
    assert list(people(line)) == ["client", "server"]


def test_spaces_are_apart() -> None:
    inner = envelope(sender="a")
    document = document_of(received(inner, space_id="s1"), received(inner, space_id="s2"))
    assert [document.capture.strings[space] for space, _ in document.analysis.participants.all] == ["s1", "s2"]


@pytest.mark.parametrize(
    "payload",
    [
        {}, {"event": "join"}, {"event": "join", "participant": None}, {"event": "join", "participant": {"id": 7}},
        {"event": "leave", "participant": {}}, {"event": "leave", "participant": []}, "text",
        {"you": None, "participants": {"a": 1}}, {"you": [], "participants": [None, 7, {"id": ""}, {"id": GATEWAY}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["system/presence", "system/welcome", "participant/status", "system/join"])
def test_odd_payloads(kind: str, payload: Any) -> None:
    assert people(envelope(kind, payload, sender=GATEWAY)) == {}


def test_a_plain_id_is_a_participant() -> None:
    payload = {"event": "join", "participant": "lead"}
    assert people(envelope("system/presence", payload, sender=GATEWAY))["lead"].here is True


def test_who_left_while_we_were_away_is_gone_with_the_next_welcome() -> None:
    found = people(
        {"t": 1, "dir": "out", "frame": {"type": "join", "participantId": "inspector-1"}},
        {"t": 2, "dir": "in", "frame": welcome("inspector-1", {"id": "lead"}, {"id": "fs"})},
        {"t": 3, "src": 0, "mark": "gap"},
        {"t": 4, "dir": "out", "frame": {"type": "join", "participantId": "inspector-2"}},
        {"t": 5, "dir": "in", "frame": welcome("inspector-2", {"id": "lead"})},
        {"t": 6, "dir": "in", "frame": welcome("inspector-2")},
    )
    assert {name: p.here for name, p in found.items()} == {
        "inspector-1": False, "lead": True, "fs": False, "inspector-2": True,
    }  # fmt: skip
    assert found["fs"].left_ns == 5_000_000_000

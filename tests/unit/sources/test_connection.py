from __future__ import annotations

import pytest

from inspector.sources.connection import (
    AddressError,
    Connection,
    Secret,
    new_participant,
    normal_url,
    renewed_participant,
    shown_url,
)
from inspector.sources.handshake import read_presence, read_welcome


@pytest.mark.parametrize(
    ("typed", "opened"),
    [
        ("ws://host:1", "ws://host:1/"),
        ("host:1/x", "ws://host:1/x"),
        (" http://host ", "ws://host/"),
        ("https://host/?a=1#b", "wss://host/?a=1"),
    ],
)
def test_addresses_are_understood(typed: str, opened: str) -> None:
    assert normal_url(typed) == opened


@pytest.mark.parametrize("typed", ["ws://user:hush/1@host", "ftp://user:hush@host?hush", "ws://user:hush@h\u2100/"])
def test_what_is_said_of_an_unusable_address_holds_no_secret(typed: str) -> None:
    with pytest.raises(AddressError) as caught:
        normal_url(typed)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("typed", ["", "ftp://host", "ws://", "ws://host:0x1", "ws://[::1"])
def test_unusable_addresses_are_said(typed: str) -> None:
    with pytest.raises(AddressError, match=r"\.$"):
        normal_url(typed)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("ws://user:pw@host:1/ws?token=abc&a=b", "ws://host:1/ws?token=********&a=********"),
        ("user:pw@host:1", "ws://host:1"),
        ("ws://[user:pw@host", "host"),
        ("ws://user:p/w@host/x?token=abc", "host/x"),
        ("ws:/user:pw@host/x#abc", "host/x"),
        ("ws://host/#access_token=abc", "ws://host/"),
        ("ws://host/@room?space=demo&Topic=a%20b", "ws://host/@room?space=demo&Topic=a%20b"),
        ("ws://host/?abc", "ws://host/?********"),
        ("ws://host/?a=&space=x;k=abc&next=ws://x/?token=abc", "ws://host/?a=&space=x&k=********&next=********"),
        *(
            (f"ws://host/?{key}=abc", f"ws://host/?{key}=********")
            for key in ("X-Amz-Signature", "apiKey", "api-key", "id_token", "PASSWD", "jwt", "sig", "code", "%74oken")
        ),
    ],
)
def test_secrets_of_an_address_are_not_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_a_secret_does_not_show_itself() -> None:
    connection = Connection(url="ws://h/?token=abc", space="demo", token=Secret("abc"))
    assert "abc" not in f"{connection} {connection.token} {connection.token!r} {connection.origin()}"
    assert connection.token.get_secret_value() == "abc"
    assert not Secret()


def test_participants_are_fresh() -> None:
    assert new_participant().startswith("inspector-")
    assert len({new_participant() for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        pytest.param(
            {"kind": "system", "from": "system:gateway", "payload": {"event": "welcome", "participant": {"id": "me"}}},
            ("me", None),
            id="v0.0-spec",
        ),
        pytest.param(
            {"kind": "system", "from": "system:gateway", "payload": {"type": "welcome", "participant_id": "me"}},
            ("me", None),
            id="v0.0-impl",
        ),
        pytest.param(
            {"kind": "system/welcome", "from": "system", "payload": {"you": {"id": "me", "capabilities": ["chat"]}}},
            ("me", ("chat",)),
            id="v0.1",
        ),
        pytest.param({"kind": "system/welcome", "from": "amy", "payload": {"you": {"id": "me"}}}, None, id="spoofed"),
        pytest.param({"kind": "system/welcome", "from": "system", "payload": None}, None, id="no-payload"),
    ],
)
def test_welcomes_of_every_dialect(envelope: dict[str, object], expected: tuple[object, object] | None) -> None:
    welcome = read_welcome(envelope)
    assert (welcome and (welcome.participant, welcome.kinds)) == expected


@pytest.mark.parametrize(
    "envelope",
    [
        {"kind": "system/presence", "from": "amy", "payload": {"event": "join", "participant": {"id": "x"}}},
        {"kind": "system/presence", "from": "system", "payload": {"event": 1, "participant": {"id": "x"}}},
        {"kind": "system/presence", "from": "system", "payload": {"event": "join", "participant": []}},
        {"kind": "system/presence", "from": ["system"], "payload": "join"},
    ],
)
def test_odd_presence_is_none(envelope: dict[str, object]) -> None:
    assert read_presence(envelope) is None


@pytest.mark.parametrize(
    ("before", "kept"), [("inspector-7f3a", "inspector-"), ("watcher", "watcher-"), ("a-bcdefg", "a-bcdefg-")]
)
def test_a_participant_renewed_is_another_with_the_same_name(before: str, kept: str) -> None:
    renewed = renewed_participant(before)
    assert renewed.startswith(kept)
    assert len(renewed) == len(kept) + 4
    assert renewed != renewed_participant(before) or renewed != renewed_participant(before)

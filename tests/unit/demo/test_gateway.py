from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from inspector.demo.capabilities import may_send
from inspector.demo.gateway import DemoGateway

ALL = [{"kind": "*"}]


@asynccontextmanager
async def client(gateway: DemoGateway, name: str, **fields: Any) -> AsyncGenerator[ClientConnection]:
    async with connect(gateway.url, compression=None, proxy=None) as socket:
        await socket.send(json.dumps({"type": "join", "participantId": name, "space": gateway.space, **fields}))
        yield socket


async def heard(socket: ClientConnection) -> dict[str, Any]:
    return json.loads(await socket.recv())


async def test_join_welcome_and_presence() -> None:
    async with DemoGateway(capabilities={"amy": ALL}) as gateway, client(gateway, "amy") as amy:
        welcome = await heard(amy)
        assert welcome["kind"] == "system/welcome"
        assert welcome["payload"]["you"]["id"] == "amy"
        assert welcome["payload"]["participants"] == []
        async with client(gateway, "bob") as bob:
            assert [one["id"] for one in (await heard(bob))["payload"]["participants"]] == ["amy"]
            assert (await heard(amy))["payload"]["event"] == "join"
        left = await heard(amy)
        assert left["payload"] == {"event": "leave", "participant": {"id": "bob"}}


async def test_a_join_may_carry_its_fields_in_the_payload() -> None:
    async with DemoGateway() as gateway, connect(gateway.url, proxy=None) as socket:
        await socket.send(json.dumps({"kind": "system/join", "payload": {"participantId": "amy", "space": "demo"}}))
        assert (await heard(socket))["payload"]["you"]["id"] == "amy"


async def test_without_a_join_there_is_an_error_and_no_close() -> None:
    async with DemoGateway() as gateway, connect(gateway.url, proxy=None) as socket:
        await socket.send('{"kind":"chat"}')
        assert (await heard(socket))["kind"] == "system/error"
        await socket.send('{"type":"join"}')
        assert (await heard(socket))["payload"]["you"]["id"].startswith("participant-")


async def test_another_space_is_refused() -> None:
    async with DemoGateway() as gateway, client(gateway, "amy", space="other") as amy:
        with pytest.raises(ConnectionClosed) as closed:
            await amy.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


async def test_messages_are_stamped_and_sent_to_everyone() -> None:
    async with DemoGateway() as gateway, client(gateway, "amy") as amy:
        await amy.recv()
        await amy.send('{"kind":"chat","from":"bob","correlation_id":"x","payload":{"text":"hi"}}')
        message = await heard(amy)
        assert (message["from"], message["correlation_id"], message["protocol"]) == ("amy", ["x"], "mew/v0.4")
        assert message["id"]
        assert message["ts"].endswith("Z")


async def test_a_denied_message_comes_back_to_its_sender_alone() -> None:
    async with (
        DemoGateway(capabilities={"bob": ALL}) as gateway,
        client(gateway, "bob") as bob,
        client(gateway, "amy") as amy,
    ):
        for socket in (amy, bob, bob):
            await socket.recv()
        await amy.send('{"id":"m1","kind":"mcp/request"}')
        await amy.send('{"id":"m2","kind":"chat"}')
        error = await heard(amy)
        assert error["correlation_id"] == ["m1"]
        assert error["payload"]["attempted_kind"] == "mcp/request"
        assert [one["kind"] for one in error["payload"]["your_capabilities"]] == ["chat", "mcp/response"]
        assert (await heard(bob))["id"] == "m2"


@pytest.mark.parametrize(("token", "kinds"), [("right", ["*", "mcp/response"]), ("wrong", ["chat", "mcp/response"])])
async def test_a_wrong_token_brings_the_defaults(token: str, kinds: list[str]) -> None:
    async with (
        DemoGateway(capabilities={"amy": ALL}, tokens={"amy": "right"}) as gateway,
        client(gateway, "amy", token=token) as amy,
    ):
        assert [one["kind"] for one in (await heard(amy))["payload"]["you"]["capabilities"]] == kinds


async def test_streams() -> None:
    async with (
        DemoGateway(capabilities={"amy": ALL}) as gateway,
        client(gateway, "bob") as bob,
        client(gateway, "amy") as amy,
    ):
        for socket in (amy, bob, bob):
            await socket.recv()
        await amy.send('{"id":"r","kind":"stream/request","payload":{"direction":"upload"}}')
        await bob.send("#stream-1#forged")
        await amy.send("#stream-1#a#b")
        await amy.send('{"kind":"stream/close","payload":{"stream_id":"stream-1"}}')
        await amy.send("#stream-1#late")
        await amy.send('{"kind":"chat"}')
        opened = await heard(bob)
        assert (opened["kind"], opened["from"], opened["correlation_id"]) == ("stream/open", "gateway", ["r"])
        assert (await heard(bob))["kind"] == "stream/request"
        assert await bob.recv() == b"#stream-1#a#b"
        assert (await heard(bob))["kind"] == "stream/close"
        assert (await heard(bob))["kind"] == "chat"


ODD: list[str | bytes] = [
    "",
    "{",
    "7",
    "[]",
    "#",
    "#x",
    '{"kind":7}',
    '{"kind":["a"],"payload":[]}',
    '{"kind":"stream/close","correlation_id":[{}]}',
    '{"kind":"stream/close","payload":{"stream_id":[]}}',
    '{"kind":"stream/request","payload":1}',
    r'{"kind":"chat","payload":"\ud800"}',
    b"\xff",
    "[" * 9999,
]


@pytest.mark.parametrize("odd", ODD)
async def test_odd_input_does_not_end_the_connection(odd: str | bytes) -> None:
    async with DemoGateway(capabilities={"amy": ALL}) as gateway, client(gateway, "amy") as amy:
        await amy.send(odd)
        await amy.send('{"id":"last","kind":"chat"}')
        async for data in amy:
            if isinstance(data, str) and json.loads(data).get("id") == "last":
                return
        pytest.fail("the gateway closed the connection")


async def test_a_second_client_of_an_id_takes_over() -> None:
    async with DemoGateway() as gateway, client(gateway, "amy") as first:
        await first.recv()
        async with client(gateway, "amy") as second:
            await second.recv()
            await first.send('{"id":"m1","kind":"chat"}')
            assert (await heard(second))["id"] == "m1"


@pytest.mark.parametrize(
    ("pattern", "envelope", "allowed"),
    [
        ({"kind": "*"}, {"kind": 7}, True),
        ({"kind": "chat"}, {"kind": "chat"}, True),
        ({"kind": "chat"}, {"kind": "chat/acknowledge"}, False),
        ({"kind": "mcp/*"}, {"kind": "mcp/request"}, True),
        ({"kind": "mcp/*"}, {}, False),
        ({"kind": "a", "payload": {"method": "tools/*"}}, {"kind": "a", "payload": {"method": "tools/list"}}, True),
        ({"kind": "a", "payload": {"method": "tools/*"}}, {"kind": "a", "payload": "tools/list"}, False),
        (
            {"kind": "a", "payload": {"params": {"name": "read_*"}}},
            {"kind": "a", "payload": {"params": {"name": "read_file"}}},
            True,
        ),
        (
            {"kind": "a", "payload": {"params": {"name": "read_*"}}},
            {"kind": "a", "payload": {"params": {"name": "write_file"}}},
            False,
        ),
        ({"kind": "a", "payload": {"n": 1}}, {"kind": "a", "payload": {"n": True}}, False),
    ],
)
def test_capabilities(pattern: dict[str, Any], envelope: dict[str, Any], allowed: bool) -> None:
    assert may_send([pattern], envelope) is allowed

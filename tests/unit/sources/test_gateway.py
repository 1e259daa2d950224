"""The gateway source over real loopback sockets: the demo gateway, and servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from inspector.base.async_tasks import start_task
from inspector.demo.gateway import DemoGateway
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes
from inspector.sources.connection import Connection, Secret
from inspector.sources.state import SourceState
from inspector.sources.timing import Timing
from inspector.store.columns.flags import Flag
from tests.conftest import MS
from tests.unit.sources.watching import (
    LONG_S,
    QUICK,
    WELCOME,
    Watch,
    failure,
    free_port,
    kill,
    loss,
    server,
    talk,
    tcp,
    watching,
)


def greet_then(act: Callable[[ServerConnection], Awaitable[None]]) -> Callable[[ServerConnection], Awaitable[None]]:
    async def handle(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        await act(socket)

    return handle


async def abort(socket: ServerConnection) -> None:
    socket.transport.abort()


# a gateway that behaves


async def test_joins_and_captures_what_is_said(tmp_path: Path) -> None:
    async with DemoGateway() as gateway, watching(tmp_path, gateway.url) as watch:
        assert await watch.until(SourceState.CONNECTED) == f"Connected to demo at {gateway.url} as watcher."
        await talk(gateway, "amy", json.dumps({"kind": "chat", "payload": {"text": "hi"}}))
        lines = await watch.captured(lambda lines: "leave" in json.dumps(lines))
        assert [line["mark"] for line in lines if "mark" in line] == ["opened"]
        assert [(line["dir"], line["frame"].get("kind", "join")) for line in lines if "frame" in line] == [
            ("out", "join"),
            ("in", "system/welcome"),
            ("in", "system/presence"),
            ("in", "chat"),
            ("in", "system/presence"),
        ]


async def test_closing_is_clean(tmp_path: Path) -> None:
    codes: list[int | None] = []

    async def greet(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send(json.dumps(WELCOME))
        await socket.wait_closed()
        codes.append(socket.close_code)

    async with server(greet) as url, watching(tmp_path, url) as watch:
        await watch.until(SourceState.CONNECTED)
        await watch.source.close()
        assert watch.states[-1] == (SourceState.CLOSED, f"Disconnected from {url}.")
        assert watch.lines()[-1]["mark"] == "closed"
        assert watch.lines()[-1]["code"] == 1000
    assert codes == [1000]


async def test_cancelling_is_clean(tmp_path: Path) -> None:
    async with DemoGateway() as gateway:
        watch = Watch(tmp_path / "a.ctxcap", Connection(url=gateway.url, space="demo"), QUICK)
        task = start_task(watch.source.run(), name="source under test")
        await watch.until(SourceState.CONNECTED)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert watch.states[-1][0] is SourceState.CLOSED
        await watch.source.close()
        watch.writer.close()


@pytest.mark.parametrize(
    ("kind", "answered", "correlation"),
    [("mcp/request", "mcp/response", ["q1"]), ("mcp/request:tools/list", "mcp/response:tools/list", "q1"),
     ("mcp", "mcp", "q1")],
    ids=["from v0.2 on", "v0.1", "v0.0"],
)  # fmt: skip
async def test_tools_list_is_answered_at_once_and_in_the_form_of_the_request(
    tmp_path: Path, kind: str, answered: str, correlation: object
) -> None:
    request = {"id": "q1", "kind": kind, "to": ["watcher"], "payload": {"method": "tools/list"}}
    async with DemoGateway(capabilities={"amy": [{"kind": "*"}]}) as gateway, watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await talk(gateway, "amy", json.dumps(request), json.dumps({"kind": "chat", "payload": {}}))
        lines = await watch.captured(lambda lines: sum(line.get("dir") == "out" for line in lines) == 2)
        (answer,) = [line["frame"] for line in lines if line.get("dir") == "out"][1:]
        assert answer["kind"] == answered
        assert (answer["from"], answer["to"], answer["correlation_id"]) == ("watcher", ["amy"], correlation)
        assert answer["payload"] == {"result": {"tools": []}}


async def test_nothing_else_is_ever_sent(tmp_path: Path) -> None:
    heard: list[str | bytes] = []
    frames: list[Any] = [
        WELCOME,
        {"id": "q1", "from": "amy", "kind": "mcp/request", "to": ["somebody"], "payload": {"method": "tools/list"}},
        {"id": "q2", "from": "amy", "kind": "mcp/request", "to": ["watcher"], "payload": {"method": "tools/call"}},
        {"id": "q3", "from": "amy", "kind": "mcp/proposal", "to": ["watcher"], "payload": {"method": "tools/list"}},
        {"id": "q4", "from": "watcher", "kind": "mcp/request", "to": ["watcher"], "payload": {"method": "tools/list"}},
        {"id": 5, "from": {}, "kind": ["system"], "to": {"watcher": 1}, "payload": "tools/list"},
        {"id": "q6", "from": "amy", "kind": "mcp/request", "to": ["watcher"], "payload": {"method": "tools/list"}},
    ]

    async def greet(socket: ServerConnection) -> None:
        for frame in frames:
            await socket.send(json.dumps(frame))
        heard.extend([data async for data in socket])

    async with server(greet) as url, watching(tmp_path, url, answer_tools_list=False) as watch:
        await watch.captured(lambda lines: "q6" in json.dumps(lines))
    assert len(heard) == 1
    assert watch.frames()[1:] == frames


async def test_binary_stream_frames_are_captured(tmp_path: Path) -> None:
    async with DemoGateway(capabilities={"amy": [{"kind": "*"}]}) as gateway, watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await talk(gateway, "amy", '{"kind":"stream/request"}', b"#stream-1#one", b"#stream-1#\xff")
        lines = await watch.captured(lambda lines: any("b64" in line for line in lines))
        assert {"bin": True, "text": "#stream-1#one"}.items() <= next(line for line in lines if "text" in line).items()


async def test_the_token_never_reaches_the_capture(tmp_path: Path) -> None:
    token = "s3cret-Token/ä"
    async with (
        DemoGateway(capabilities={"watcher": [{"kind": "*"}]}, tokens={"watcher": token}) as gateway,
        watching(tmp_path, f"{gateway.url}/?token={token}&x=1", token=Secret(token)) as watch,
    ):
        sentence = await watch.until(SourceState.CONNECTED)
        assert "default" not in sentence
        await watch.source.close()
        said = watch.path.read_text() + repr(watch.states) + repr(watch.source.connection)
        assert "s3cret" not in said
        assert watch.frames()[0]["token"] == "********"


async def test_no_value_of_the_address_reaches_the_capture_or_a_sentence(tmp_path: Path) -> None:
    port = free_port()
    gateway = DemoGateway(port=port)
    await gateway.start()
    address = f"ws://ann:hush1@127.0.0.1:{port}/ws?X-Amz-Signature=hush2&apiKey=hush3;jwt=hush4&hush5&space=demo#hush6"
    async with watching(tmp_path, address) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(gateway)
        await watch.until(SourceState.RECONNECTING)
        async with asyncio.timeout(LONG_S):
            while watch.source.outage is None or not watch.source.outage.trouble:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await watch.source.close()
    said = watch.path.read_text() + repr(watch.states) + repr(watch.source.connection)
    assert f"ws://127.0.0.1:{port}/ws?X-Amz-Signature=********&" in said
    assert "hush" not in said


async def test_a_token_that_brings_only_defaults_is_remarked(tmp_path: Path) -> None:
    async with (
        DemoGateway(capabilities={"watcher": [{"kind": "*"}]}, tokens={"watcher": "right"}) as gateway,
        watching(tmp_path, gateway.url, token=Secret("wrong")) as watch,
    ):
        sentence = await watch.until(SourceState.CONNECTED)
        assert "only its default capabilities (chat, mcp/response)" in sentence


async def test_both_forms_of_handshake_are_sent(tmp_path: Path) -> None:
    seen: list[tuple[str, str | None, dict[str, Any]]] = []

    async def greet(socket: ServerConnection) -> None:
        assert socket.request is not None
        join = json.loads(await socket.recv())
        seen.append((socket.request.path, socket.request.headers.get("Authorization"), join))
        await socket.send(json.dumps(WELCOME))
        await socket.wait_closed()

    async with server(greet) as url, watching(tmp_path, f"{url}/v0.1/ws?a=b", token=Secret("t0k")) as watch:
        await watch.until(SourceState.CONNECTED)
    join = {"type": "join", "space": "demo", "token": "t0k", "participantId": "watcher", "capabilities": []}
    assert seen == [("/v0.1/ws?a=b&topic=demo&space=demo", "Bearer t0k", join)]


async def test_our_id_taken_by_another_is_remarked(tmp_path: Path) -> None:
    presence = {
        "from": "system",
        "kind": "system/presence",
        "payload": {"event": "join", "participant": {"id": "watcher"}},
    }

    async def greet(socket: ServerConnection) -> None:
        for frame in (WELCOME, presence, presence):
            await socket.send(json.dumps(frame))
        await socket.wait_closed()

    async with server(greet) as url, watching(tmp_path, url) as watch:
        await watch.captured(lambda lines: len(lines) >= 6)
        assert "Another client goes by our id watcher" in watch.states[-1][1]
        assert len([state for state in watch.states if state[0] is SourceState.CONNECTED]) == 2


@pytest.mark.sweep
async def test_a_flood_is_taken_whole_and_in_order_however_slow_we_are(tmp_path: Path) -> None:
    count = 20_000

    async def flood(socket: ServerConnection) -> None:
        for number in range(count):
            await socket.send(json.dumps({"kind": "chat", "payload": {"n": number, "text": "x" * 300}}))
        await socket.wait_closed()

    async with server(greet_then(flood)) as url, watching(tmp_path, url) as watch:
        await watch.until(SourceState.CONNECTED)
        async with asyncio.timeout(3 * LONG_S):
            while watch.source.recorder.recorded < count + 2:
                time.sleep(0.02)  # noqa: ASYNC251  the window is busy: the sender waits, and nobody hangs up
                await asyncio.sleep(0.01)
        assert watch.states[-1][0] is SourceState.CONNECTED
    assert [frame["payload"]["n"] for frame in watch.frames()[2:]] == list(range(count))


# gateways that do not; those that cannot even be opened are in test_failures.py


async def test_no_welcome(tmp_path: Path) -> None:
    async def mute(socket: ServerConnection) -> None:
        await socket.send('{"error":"Invalid message format"}')
        await socket.wait_closed()

    async with server(mute) as url, watching(tmp_path, url, timing=replace(QUICK, welcome_s=300 * MS)) as watch:
        sentence = await watch.until(SourceState.FAILED)
        assert "sent no welcome for space demo within " in sentence
        assert watch.frames()[-1] == {"error": "Invalid message format"}
        assert watch.lines()[-1]["mark"] == "closed"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (1000, "ended the connection (1000: why)"),
        (1009, "one of our frames too large (1009: why)"),
        (1011, "internal error (1011: why)"),
        (1012, "internal error (1012: why)"),
        (4000, "closed the connection (4000: why)"),
    ],
)
async def test_the_gateway_closes_and_is_sought_again(tmp_path: Path, code: int, sentence: str) -> None:
    async with server(greet_then(lambda socket: socket.close(code, "why"))) as url:
        said, gap = await loss(tmp_path, url)
        assert sentence in said
        assert sentence in gap["reason"]


@pytest.mark.parametrize("code", [1008, 4001, 4403])
async def test_a_refusal_after_the_welcome_is_final(tmp_path: Path, code: int) -> None:
    async with server(greet_then(lambda socket: socket.close(code, "why"))) as url:
        assert f"refused us ({code}: why). Check the token" in await failure(tmp_path, url)


async def test_a_broken_connection(tmp_path: Path) -> None:
    async with server(greet_then(abort)) as url:
        said, _gap = await loss(tmp_path, url)
        assert "broke off: no close was sent" in said


async def test_silence_and_a_failed_ping_are_lost(tmp_path: Path) -> None:
    async def freeze(socket: ServerConnection) -> None:
        await socket.recv()
        socket.transport.pause_reading()
        await frozen.wait()
        socket.transport.abort()

    frozen = asyncio.Event()
    async with server(greet_then(freeze)) as url:
        said, gap = await loss(tmp_path, url, timing=replace(QUICK, ping_s=50 * MS, pong_s=100 * MS, close_s=0.1))
        frozen.set()
        assert "did not answer a ping" in said
        assert "did not answer a ping" in gap["reason"]


async def test_a_big_frame_on_a_slow_link_is_no_silence(tmp_path: Path) -> None:
    timing = replace(QUICK, ping_s=50 * MS, pong_s=200 * MS)
    message = json.dumps({"kind": "chat", "payload": {"text": "x" * 50_000}})
    wire = Frame(Opcode.TEXT, message.encode()).serialize(mask=False)

    async def drip(socket: ServerConnection) -> None:
        calls.append(1)
        socket.transport.pause_reading()  # pongs come behind the frame
        for at in range(0, len(wire), 2000):
            socket.transport.write(wire[at : at + 2000])
            await asyncio.sleep(20 * MS)
        socket.transport.resume_reading()
        await socket.wait_closed()

    calls: list[int] = []
    async with server(greet_then(drip)) as url, watching(tmp_path, url, timing=timing) as watch:
        await watch.captured(lambda lines: json.loads(message) in [line.get("frame") for line in lines])
        await asyncio.sleep(2 * (timing.ping_s + timing.pong_s))  # and pings are answered again
        assert watch.states[-1][0] is SourceState.CONNECTED
    assert calls == [1]


async def test_a_full_disk_ends_it_with_a_sentence(tmp_path: Path) -> None:
    async with DemoGateway() as gateway, watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        watch.writer.error = OSError("Could not write the capture: No space left on device.")
        assert "No space left" in await watch.until(SourceState.FAILED)


async def test_closing_while_connecting(tmp_path: Path) -> None:
    async with tcp(None) as url, watching(tmp_path, url, timing=Timing()) as watch:
        await watch.until(SourceState.CONNECTING)
        await asyncio.sleep(0.05)
        await watch.source.close()
        assert watch.states[-1][0] is SourceState.CLOSED


async def test_closing_twice_at_once_while_connecting(tmp_path: Path) -> None:
    async with tcp(None) as url, watching(tmp_path, url, timing=Timing()) as watch:
        await watch.until(SourceState.CONNECTING)
        await asyncio.sleep(0.05)
        await asyncio.gather(watch.source.close(), watch.source.close())
        await watch.source.close()
        assert watch.states[-1][0] is SourceState.CLOSED


async def test_closing_twice_at_once_between_two_attempts(tmp_path: Path) -> None:
    timing = replace(QUICK, first_wait_s=60, longest_wait_s=60)
    gateway = DemoGateway(port=free_port())
    await gateway.start()
    async with watching(tmp_path, gateway.url, timing=timing) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(gateway)
        async with asyncio.timeout(LONG_S):
            while watch.source.outage is None or not watch.source.outage.trouble:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await asyncio.gather(watch.source.close(), watch.source.close())
        assert watch.states[-1][0] is SourceState.CLOSED


@pytest.mark.parametrize("url", ["", "http//x", "ftp://x", "ws://", "ws://x:99999", "ws://[::1"])
async def test_an_unusable_address(tmp_path: Path, url: str) -> None:
    async with asyncio.timeout(LONG_S):
        assert (await failure(tmp_path, url)).endswith(".")


# lost and sought again


async def test_a_lost_connection_comes_back_with_one_gap(tmp_path: Path) -> None:
    port = free_port()
    first, second = DemoGateway(port=port), DemoGateway(port=port)
    await first.start()
    async with watching(tmp_path, first.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(first)
        await watch.until(SourceState.RECONNECTING)
        await asyncio.sleep(0.15)
        await second.start()
        said = await watch.until(SourceState.CONNECTED)
        await talk(second, "amy", json.dumps({"kind": "chat", "payload": {}}))
        lines = await watch.captured(lambda lines: "leave" in json.dumps(lines))
        assert watch.source.outage is None
        await watch.source.close()
    await second.stop()
    assert said.startswith(f"Connected again to demo at ws://127.0.0.1:{port} as watcher-")
    assert watch.source.participant.startswith("watcher-")
    told = [line.get("mark") or line["frame"].get("kind", "join") for line in lines[1:]]
    assert told == [
        "opened", "join", "system/welcome", "closed",
        "gap", "opened", "join", "system/welcome", "system/presence", "chat", "system/presence",
    ]  # fmt: skip
    (gap,) = watch.marks("gap")
    assert gap["reason"].startswith("Messages may be missing: the connection was lost for ")
    assert "broke off: no close was sent." in gap["reason"]
    times = [line["t"] for line in lines[1:]]
    assert times == sorted(times)
    assert gap["until_ns"] > gap["t"]
    joined = [line["frame"]["participantId"] for line in lines if line.get("dir") == "out"]
    assert joined == ["watcher", watch.source.participant]


async def test_connect_now_does_not_wait(tmp_path: Path) -> None:
    port = free_port()
    gateway = DemoGateway(port=port)
    await gateway.start()
    timing = replace(QUICK, first_wait_s=600, longest_wait_s=600)
    async with watching(tmp_path, gateway.url, timing=timing) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(gateway)
        async with asyncio.timeout(LONG_S):
            while watch.source.outage is None or not watch.source.outage.trouble:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert "no program listens there" in watch.states[-1][1]
        assert watch.states[-1][0] is SourceState.RECONNECTING
        gateway = DemoGateway(port=port)
        await gateway.start()
        watch.source.retry_now()
        await watch.until(SourceState.CONNECTED)
        await gateway.stop()


async def test_it_does_not_give_up_and_can_be_stopped(tmp_path: Path) -> None:
    gateway = DemoGateway(port=free_port())
    await gateway.start()
    async with watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(gateway)
        async with asyncio.timeout(LONG_S):
            while watch.source.outage is None or watch.source.outage.attempts < 8:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await watch.source.close()
        assert watch.states[-1][0] is SourceState.CLOSED
        (gap,) = watch.marks("gap")
        assert "not regained in" in gap["reason"]
        assert [line["frame"].get("kind", "join") for line in watch.lines() if "frame" in line] == [
            "join",
            "system/welcome",
        ]


async def test_a_refusal_on_the_way_back_ends_it(tmp_path: Path) -> None:
    port = free_port()
    gateway = DemoGateway(port=port)
    await gateway.start()
    async with watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await kill(gateway)
        other = DemoGateway("elsewhere", port=port)
        await other.start()
        said = await watch.until(SourceState.FAILED)
        assert "refused us after our join, before its welcome (join) (1008: unknown space, this is elsewhere)" in said
        assert len(watch.marks("gap")) == 1
        await other.stop()


async def test_a_first_connection_that_fails_is_not_tried_again(tmp_path: Path) -> None:
    async with watching(tmp_path, f"ws://127.0.0.1:{free_port()}") as watch:
        await watch.until(SourceState.FAILED)
        assert SourceState.RECONNECTING not in {state for state, _ in watch.states}


async def test_a_gateway_that_throws_us_out_again_and_again_is_called_ever_more_rarely(tmp_path: Path) -> None:
    calls: list[float] = []
    enough = asyncio.Event()

    async def throw_out(socket: ServerConnection) -> None:
        calls.append(asyncio.get_running_loop().time())
        await socket.close(1013, "full")
        if len(calls) == 7:
            enough.set()

    timing = replace(QUICK, first_wait_s=0.05, longest_wait_s=0.2, steady_s=LONG_S)
    async with server(greet_then(throw_out)) as url, watching(tmp_path, url, timing=timing) as watch:
        await asyncio.wait_for(enough.wait(), LONG_S)
        await watch.source.close()
        # The first comes at once, the next after half to all of 0.05, 0.1, 0.2 and 0.2 s.
        waits = [after - before for before, after in pairwise(calls)]
        assert all(waited >= least for waited, least in zip(waits[1:], (0.025, 0.05, 0.1, 0.1), strict=False))
        assert len(watch.marks("gap")) == len(calls)


async def say_not_ready(socket: ServerConnection) -> None:
    await socket.send('{"error":"not ready"}')
    await socket.close(1013, "starting")


async def test_one_gap_covers_a_loss_whatever_failing_attempts_received(tmp_path: Path) -> None:
    calls: list[int] = []

    async def handle(socket: ServerConnection) -> None:
        await socket.recv()
        calls.append(1)
        if 1 < len(calls) < 6:
            await say_not_ready(socket)
            return
        await socket.send(json.dumps(WELCOME))
        if len(calls) == 1:
            socket.transport.abort()
        await socket.wait_closed()

    async with server(handle) as url, watching(tmp_path, url) as watch:
        await watch.captured(lambda lines: sum("system/welcome" in json.dumps(line) for line in lines) == 2)
        lines = watch.lines()[1:]
    told = [line.get("mark") or line["frame"].get("kind") or line["frame"].get("error", "join") for line in lines]
    attempt = ["opened", "join", "not ready", "closed"]
    greeted = ["opened", "join", "system/welcome"]
    assert told == [*greeted, "closed", "gap", *attempt * 4, *greeted]
    (gap,) = watch.marks("gap")
    assert gap["reason"].startswith("Messages may be missing: the connection was lost for ")
    assert gap["until_ns"] >= lines[-1]["t"] >= lines[-4]["t"] > gap["t"]
    assert [line["t"] for line in lines] == sorted(line["t"] for line in lines)


async def test_giving_up_ends_the_one_gap(tmp_path: Path) -> None:
    calls: list[int] = []

    async def handle(socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):  # the client may give up at any moment
            await socket.recv()
            calls.append(1)
            if len(calls) > 1:
                await say_not_ready(socket)
                return
            await socket.send(json.dumps(WELCOME))
            socket.transport.abort()

    async with server(handle) as url, watching(tmp_path, url) as watch:
        async with asyncio.timeout(LONG_S):
            while watch.source.outage is None or watch.source.outage.attempts < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await watch.source.close()
        (gap,) = watch.marks("gap")
        assert "not regained in" in gap["reason"]
        assert gap["until_ns"] >= watch.lines()[-1]["t"]
        assert '"not ready"' in json.dumps(watch.frames())


@pytest.mark.sweep
async def test_twenty_kills(tmp_path: Path) -> None:
    """Issue 3: each time back, one gap each, no message twice, the tree as the messages say."""
    port = free_port()
    number = 0
    sure: list[int] = []
    gateway = DemoGateway(port=port, capabilities={"amy": [{"kind": "*"}]})
    await gateway.start()
    async with watching(tmp_path, gateway.url) as watch:
        for life in range(21):
            await watch.until(SourceState.CONNECTED)
            said = [
                json.dumps({"kind": "chat", "context": f"work-{n % 3}/step-{n % 2}", "payload": {"n": n}})
                for n in range(number, number + 5)
            ]
            await talk(gateway, "amy", *said)
            last = number + 4
            await watch.captured(lambda lines, last=last: f'"n": {last}' in json.dumps(lines))
            sure += range(number, number + 5)
            number += 5
            if life == 20:
                break
            await kill(gateway)
            await watch.until(SourceState.RECONNECTING)
            gateway = DemoGateway(port=port, capabilities={"amy": [{"kind": "*"}]})
            await gateway.start()
        await watch.source.close()
    await gateway.stop()
    numbers = [frame["payload"]["n"] for frame in watch.frames() if "n" in frame.get("payload", {})]
    assert numbers == sure
    assert len(watch.marks("gap")) == 20
    document = CaptureDocument()
    document.load(watch.path)
    assert int(np.count_nonzero(document.capture.columns["flags"] & Flag.GAP)) == 20
    assert document.unreadable == 0
    steps = Counter(f"work-{n % 3}/step-{n % 2}" for n in sure)
    assert {node["path"]: node["messages"] for node in context_nodes(document) if node["messages"]} == steps
    assert {node["path"] for node in context_nodes(document)} == {*steps, "work-0", "work-1", "work-2"}
    document.close()

"""The gateway source over real loopback sockets: the demo gateway, and servers that misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from inspector.aio import spawn
from inspector.capture.writer import CaptureWriter
from inspector.demo.gateway import DemoGateway
from inspector.sources.connection import Connection, Secret
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState, Timing

QUICK = Timing(open_s=0.4, welcome_s=0.3, flush_s=0.02, close_s=0.3)
WELCOME = {
    "from": "system:gateway",
    "kind": "system/welcome",
    "payload": {"you": {"id": "watcher"}, "participants": []},
}


class Watch:
    """A running source and what it reported and captured."""

    def __init__(self, path: Path, connection: Connection, timing: Timing) -> None:
        self.path = path
        self.states: list[tuple[SourceState, str]] = []
        self.changed = asyncio.Event()
        self.writer = CaptureWriter(path, origin=connection.origin())
        self.source = GatewaySource(connection, self.writer, on_state=self._on_state, timing=timing)

    def _on_state(self, state: SourceState, sentence: str) -> None:
        self.states.append((state, sentence))
        self.changed.set()

    async def until(self, *wanted: SourceState) -> str:
        async with asyncio.timeout(3):
            while not self.states or self.states[-1][0] not in wanted:
                self.changed.clear()
                await self.changed.wait()
        return self.states[-1][1]

    async def captured(self, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        async with asyncio.timeout(3):
            while not enough(self.lines()):  # noqa: ASYNC110 - a file on disk has no event
                await asyncio.sleep(0.01)
        return self.lines()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def frames(self) -> list[Any]:
        return [line["frame"] for line in self.lines() if "frame" in line]


@asynccontextmanager
async def watching(tmp_path: Path, url: str, *, timing: Timing = QUICK, **facts: Any) -> AsyncGenerator[Watch]:
    connection = Connection(url=url, space="demo", participant="watcher", **facts)
    watch = Watch(tmp_path / "live.ctxcap", connection, timing)
    task = spawn(watch.source.run(), name="source under test")
    try:
        yield watch
    finally:
        await watch.source.close()
        await task
        watch.writer.close()


@asynccontextmanager
async def server(handler: Callable[[ServerConnection], Awaitable[None]]) -> AsyncGenerator[str]:
    async with serve(handler, "127.0.0.1", 0, close_timeout=0.3) as running:
        yield f"ws://127.0.0.1:{next(iter(running.sockets)).getsockname()[1]}"


@asynccontextmanager
async def tcp(answer: bytes | None) -> AsyncGenerator[str]:
    """A server that is no gateway: answers anything with ``answer``, or never."""
    writers: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.read(100)
        if answer is not None:
            writer.write(answer)
            writer.close()
        else:
            await reader.read()
            writer.close()

    running = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with running:
        yield f"ws://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    for writer in writers:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def talk(gateway: DemoGateway, name: str, *messages: str | bytes) -> None:
    async with connect(gateway.url, compression=None, proxy=None) as client:
        await client.send(json.dumps({"type": "join", "participantId": name, "space": "demo"}))
        await client.recv()
        for message in messages:
            await client.send(message)
            await client.recv()


async def failure(tmp_path: Path, url: str, **facts: Any) -> str:
    async with watching(tmp_path, url, **facts) as watch:
        return await watch.until(SourceState.FAILED)


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
        task = spawn(watch.source.run(), name="source under test")
        await watch.until(SourceState.CONNECTED)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert watch.states[-1][0] is SourceState.CLOSED
        await watch.source.close()
        watch.writer.close()


async def test_tools_list_is_answered_at_once(tmp_path: Path) -> None:
    request = {"id": "q1", "kind": "mcp/request", "to": ["watcher"], "payload": {"method": "tools/list"}}
    async with DemoGateway(capabilities={"amy": [{"kind": "*"}]}) as gateway, watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        await talk(gateway, "amy", json.dumps(request), json.dumps({"kind": "chat", "payload": {}}))
        lines = await watch.captured(lambda lines: sum(line.get("dir") == "out" for line in lines) == 2)
        (answer,) = [line["frame"] for line in lines if line.get("dir") == "out"][1:]
        assert answer["kind"] == "mcp/response"
        assert (answer["from"], answer["to"], answer["correlation_id"]) == ("watcher", ["amy"], ["q1"])
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


# gateways that do not


async def test_nothing_listens(tmp_path: Path) -> None:
    async with tcp(None) as url:
        pass
    assert "refused the connection (TCP)" in await failure(tmp_path, url)


async def test_no_such_host(tmp_path: Path) -> None:
    assert "(name lookup)" in await failure(tmp_path, "ws://no-such-host.invalid:1")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        pytest.param(b"220 mail.example ESMTP\r\n", "not as a WebSocket server (upgrade)", id="garbage"),
        pytest.param(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "HTTP 401 Unauthorized", id="401"),
        pytest.param(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "Check the path", id="404"),
        pytest.param(b"HTTP/1.1 302 Found\r\nLocation: ws://b/?token=x\r\n\r\n", "It points to ws://b", id="redirect"),
        pytest.param(None, "did not answer the WebSocket upgrade within 0.4 s (upgrade)", id="silence"),
    ],
)
async def test_a_server_that_is_no_gateway(tmp_path: Path, answer: bytes | None, sentence: str) -> None:
    async with tcp(answer) as url:
        assert sentence in await failure(tmp_path, url)


async def test_no_tls_on_that_port(tmp_path: Path) -> None:
    async with tcp(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        assert "does not speak TLS" in await failure(tmp_path, url.replace("ws:", "wss:"))


async def test_no_welcome(tmp_path: Path) -> None:
    async def mute(socket: ServerConnection) -> None:
        await socket.send('{"error":"Invalid message format"}')
        await socket.wait_closed()

    async with server(mute) as url, watching(tmp_path, url) as watch:
        sentence = await watch.until(SourceState.FAILED)
        assert "no welcome for space demo within 0.3 s (welcome)" in sentence
        assert watch.frames()[-1] == {"error": "Invalid message format"}
        assert watch.lines()[-1]["mark"] == "closed"


@pytest.mark.parametrize(
    ("code", "state", "sentence"),
    [
        (1000, SourceState.CLOSED, "ended the connection (1000: why)"),
        (1008, SourceState.FAILED, "refused us (1008: why). Check the token"),
        (1009, SourceState.FAILED, "one of our frames too large (1009: why)"),
        (1011, SourceState.FAILED, "internal error (1011: why)"),
    ],
)
async def test_the_gateway_closes(tmp_path: Path, code: int, state: SourceState, sentence: str) -> None:
    async def greet(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        await socket.close(code, "why")

    async with server(greet) as url, watching(tmp_path, url) as watch:
        assert sentence in await watch.until(SourceState.CLOSED, SourceState.FAILED)
        assert watch.states[-1][0] is state


async def test_a_broken_connection(tmp_path: Path) -> None:
    async def vanish(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        socket.transport.abort()

    async with server(vanish) as url:
        assert "broke off" in await failure(tmp_path, url)


async def test_silence_and_a_failed_ping_are_lost(tmp_path: Path) -> None:
    async def freeze(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        await socket.recv()
        socket.transport.pause_reading()
        await asyncio.sleep(0.5)
        socket.transport.abort()

    async with server(freeze) as url:
        timing = Timing(ping_s=0.05, pong_s=0.1, flush_s=0.02, close_s=0.1)
        assert "did not answer a ping" in await failure(tmp_path, url, timing=timing)


async def test_a_full_disk_ends_it_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError("Could not write the capture: No space left on device.")

    async with DemoGateway() as gateway, watching(tmp_path, gateway.url) as watch:
        await watch.until(SourceState.CONNECTED)
        with monkeypatch.context() as patch:
            patch.setattr(watch.writer, "flush", full)
            assert "No space left" in await watch.until(SourceState.FAILED)


async def test_closing_while_connecting(tmp_path: Path) -> None:
    async with tcp(None) as url, watching(tmp_path, url, timing=Timing()) as watch:
        await watch.until(SourceState.CONNECTING)
        await asyncio.sleep(0.05)
        await watch.source.close()
        assert watch.states[-1][0] is SourceState.CLOSED


@pytest.mark.parametrize("url", ["", "http//x", "ftp://x", "ws://", "ws://x:99999", "ws://[::1"])
async def test_an_unusable_address(tmp_path: Path, url: str) -> None:
    async with asyncio.timeout(2):
        assert (await failure(tmp_path, url)).endswith(".")

"""Gateways behind a proxy: what the system says about one is followed, and never for this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.demo.gateway import DemoGateway
from inspector.sources.state import SourceState
from tests.unit.sources.watching import failure, no_such_name, watching


@pytest.fixture(autouse=True)
def no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "ws", "wss", "socks", "all", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)


class Proxy:
    """An HTTP proxy on this machine that leads every CONNECT to one place, and notes what was asked for."""

    def __init__(self, port: int, leads_to: tuple[str, int], answer: bytes) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.asked: list[str] = []
        self._leads_to = leads_to
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(request.split(b"\r\n")[0].decode())
        writer.write(self._answer)
        if b" 200 " in self._answer:
            far_reader, far_writer = await asyncio.open_connection(*self._leads_to)
            start_task(_pass_on(far_reader, writer), name="from the gateway", owner=self._tasks)
            await _pass_on(reader, far_writer)
        writer.close()

    async def end(self) -> None:
        await cancel_and_wait(self._tasks)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


@asynccontextmanager
async def proxied(
    leads_to: str, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
) -> AsyncGenerator[Proxy]:
    parts = urlsplit(leads_to)
    made: list[Proxy] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await made[0].serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.append(Proxy(server.sockets[0].getsockname()[1], (parts.hostname or "", parts.port or 0), answer))
    try:
        yield made[0]
    finally:
        server.close()
        await made[0].end()


@pytest.mark.parametrize("variable", ["https_proxy", "http_proxy", "HTTPS_PROXY", "ws_proxy"])
async def test_a_gateway_is_reached_through_the_systems_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async with DemoGateway() as gateway, proxied(gateway.url) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        async with watching(tmp_path, "ws://gateway.test:8123") as watch:
            await watch.until(SourceState.CONNECTED)
        assert proxy.asked == ["CONNECT gateway.test:8123 HTTP/1.1"]


async def test_this_machine_is_reached_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with DemoGateway() as gateway, proxied(gateway.url) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        async with watching(tmp_path, gateway.url) as watch:
            await watch.until(SourceState.CONNECTED)
        assert proxy.asked == []


async def test_no_proxy_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxied("ws://127.0.0.1:9") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", ".invalid")
        monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
        await failure(tmp_path, "ws://gateway.invalid:8123")
        assert proxy.asked == []


async def test_a_proxy_that_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxied("ws://127.0.0.1:9", b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        sentence = await failure(tmp_path, "ws://gateway.test:8123")
        assert "proxy" in sentence
        assert "407" in sentence


async def test_a_socks_proxy_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5h://127.0.0.1:9")
    sentence = await failure(tmp_path, "ws://gateway.test:8123")
    assert "proxy" in sentence

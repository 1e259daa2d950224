"""Who may speak to a server through a tap: this computer's own programs, and no page of a browser (SECURITY.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from typing_extensions import override

from inspector.tap.http.address import Listening, upstream_of
from inspector.tap.http.ports import listened
from inspector.tap.http.proxy import TapProxy
from inspector.tap.http.recording import Headers, Recording

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HERE = "@"
"""In a request, where the tap listens."""


class Nothing(Recording):
    """Writes nothing down."""

    @override
    def begin(self, method: str, target: str, headers: Headers) -> int:
        return 1

    @override
    def asked(self, exchange: int, data: bytes) -> None: ...

    @override
    def asked_all(self, exchange: int) -> None: ...

    @override
    def answer_begun(self, exchange: int, status: int, headers: Headers) -> None: ...

    @override
    def answered(self, exchange: int, data: bytes) -> None: ...

    @override
    def frame(self, exchange: int, data: bytes, *, by_server: bool, binary: bool) -> None: ...

    @override
    def failed(self, exchange: int, status: int, text: str) -> None: ...

    @override
    def end(self, exchange: int, how: str, why: str = "") -> None: ...


@asynccontextmanager
async def tapped(
    served: Serve | None = None, recording: Recording | None = None, say: Callable[[str], None] = lambda _: None
) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """The port of a tap, and what reaches the server behind it; `served` answers in its place."""
    reached: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(served or serve, "127.0.0.1", 0)
    upstream = upstream_of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
    listener = listened(Listening("127.0.0.1", 0))
    port: int = listener.getsockname()[1]
    proxy = TapProxy(upstream, Listening("127.0.0.1", port), recording or Nothing(), say=say)
    await proxy.start(listener)
    try:
        yield port, reached
    finally:
        await proxy.close()
        server.close()


async def answers(requests: Iterable[str]) -> tuple[list[str], list[bytes]]:
    """The status that each request is answered with, "" for a connection that ends; and what reached the server."""
    found: list[str] = []
    async with tapped() as (port, reached):
        for request in requests:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            text = request.replace(HERE, f"127.0.0.1:{port}").replace("PORT", str(port)).replace("\n", "\r\n")
            writer.write(text.encode("latin-1"))
            head = await asyncio.wait_for(reader.readline(), 5)
            found.append(head.decode().partition(" ")[2][:3])
            writer.close()
    return found, reached


def post(*headers: str, target: str = "/mcp", version: str = "1.1", method: str = "POST") -> str:
    lines = "".join(f"{one}\n" for one in headers)
    return f"{method} {target} HTTP/{version}\n{lines}Content-Length: 2\nConnection: close\n\n{{}}"


OWN = (
    post(f"Host: {HERE}"),
    post("Host: localhost:PORT"),
    post("Host: LocalHost:PORT"),
    post("Host: [::1]:PORT"),
    post(f"Host: {HERE}", f"Origin: http://{HERE}", "Sec-Fetch-Site: same-origin"),
    post(f"Host: {HERE}", target=f"http://{HERE}/mcp"),
    post(f"Host: {HERE}", version="1.0"),
)
FOREIGN = (
    post("Host: evil.example"),
    post("Host: evil.example:PORT"),
    post("Host: 127.0.0.1.evil.example:PORT"),
    post("Host: localhost.:PORT"),
    post("Host: localhost.evil.example:PORT"),
    post("Host: 127.0.0.1"),
    post("Host: 127.0.0.1:1"),
    post("Host: 127.1:PORT"),
    post("Host: 2130706433:PORT"),
    post("Host: 0.0.0.0:PORT"),
    post("Host: [::ffff:127.0.0.1]:PORT"),
    post("Host: [::1%25evil]:PORT"),
    post(f"Host: {HERE}@evil.example"),
    post(f"Host: evil.example@{HERE}"),
    post(f"Host: {HERE}, evil.example"),
    post(f"Host: {HERE}", "Host: evil.example"),
    post("Host: evil.example", f"Host: {HERE}"),
    post("Host:"),
    post(),
    post(version="1.0"),
    post("Host: evil.example", version="1.0"),
    post("Host: evil.example", target=f"http://{HERE}/mcp"),
    post(f"Host: {HERE}", target="http://evil.example/mcp"),
    post(f"Host: {HERE}", target=f"http://{HERE}@evil.example/mcp"),
    post(f"Host: {HERE}", target="evil.example:443", method="CONNECT"),
    post(f"Host: {HERE}", target="@evil.example/mcp"),
    post(f"Host: {HERE}", target="*", method="OPTIONS"),
    post(f"Host: {HERE}", "Origin: http://evil.example"),
    post(f"Host: {HERE}", f"Origin: https://{HERE}"),
    post(f"Host: {HERE}", "Origin: http://localhost.:PORT"),
    post(f"Host: {HERE}", f"Origin: http://{HERE}.evil.example"),
    post(f"Host: {HERE}", f"Origin: http://http://{HERE}"),
    post(f"Host: {HERE}", "Origin: null"),
    post(f"Host: {HERE}", "Origin:"),
    post(f"Host: {HERE}", f"Origin: http://{HERE}", "Origin: http://evil.example"),
    post(f"Host: {HERE}", "Sec-Fetch-Site: cross-site"),
    post(f"Host: {HERE}", "Sec-Fetch-Site: same-site"),
    post(f"Host: {HERE}", "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"),
    post(f"Host: {HERE}", "Transfer-Encoding: chunked"),
    post(f"Host : {HERE}"),
    post("X: y", f" Host: {HERE}"),
)  # fmt: skip


def test_programs_of_this_computer_are_passed_on() -> None:
    found, reached = asyncio.run(answers(OWN))
    assert found == ["200"] * len(OWN)
    assert all(head.startswith((b"POST /mcp HTTP/1.1\r\n",)) and b"\r\nHost: 127.0.0.1:" in head for head in reached)


def test_nothing_else_reaches_the_server() -> None:
    found, reached = asyncio.run(answers(FOREIGN))
    assert [text for text, status in zip(FOREIGN, found, strict=True) if status not in ("400", "403", "404", "")] == []
    assert reached == []

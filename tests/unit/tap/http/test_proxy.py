"""What a server hears through a tap: what a client said, as often as it said it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from typing_extensions import override

from inspector.tap.http.address import Listening, upstream_of
from inspector.tap.http.proxy import TapProxy
from inspector.tap.http.recording import Headers
from tests.conftest import MS
from tests.unit.tap.http.test_access import Nothing, tapped


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_request_on_a_connection_that_breaks_is_not_sent_again(method: str) -> None:
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.readuntil(b"\r\n\r\n"):
            heard.append(request.partition(b"\r\n")[0])
            if len(heard) > 1:
                writer.transport.abort()
                return
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with tapped(serve) as (port, _), asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(f"{method} /2 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert await _rest(reader) == b""
        writer.close()
    assert heard == [b"GET /1 HTTP/1.1", f"{method} /2 HTTP/1.1".encode()]


async def test_an_answer_nobody_asked_for_reaches_nobody() -> None:
    """A server says 408 on a connection that is idle: the next answers are not shifted by one."""
    connections, ended = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        with suppress(asyncio.IncompleteReadError):
            while request := await reader.readuntil(b"\r\n\r\n"):
                name = request.split(b"/", 1)[1][:5]
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + name)
                if name == b"alice":
                    await asyncio.sleep(20 * MS)
                    writer.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 5\r\n\r\nSTRAY")
        writer.close()
        ended.set()

    async with tapped(serve) as (port, _), asyncio.timeout(10):
        first = await asyncio.open_connection("127.0.0.1", port)
        assert await _asked(first, port, "alice") == b"alice"
        await asyncio.sleep(60 * MS)
        assert await _asked(first, port, "again") == b"again", "the same client"
        assert await _asked(first, port, "third") == b"third"
        assert connections == 2, "a clean connection is used again"
        second = await asyncio.open_connection("127.0.0.1", port)
        assert await _asked(second, port, "carol") == b"carol"
        assert connections == 3, "no client shares one with another"
        for _, writer in (first, second):
            ended.clear()
            writer.close()
            await ended.wait()  # its connection with the server goes with it


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
@pytest.mark.parametrize("pause_s", [0.0, 20 * MS])
async def test_a_body_where_none_may_be_harms_no_answer(status: str, pause_s: float) -> None:
    served: list[bool] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(True)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while request := await reader.readuntil(b"\r\n\r\n"):
                if b"/empty" not in request:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")
                    continue
                head, body = f"HTTP/1.1 {status}\r\nA: b\r\n\r\n".encode(), b"<p>none</p>"
                writer.write(head if pause_s else head + body)
                await asyncio.sleep(pause_s)
                writer.write(body if pause_s else b"")
        writer.close()
        served.pop()

    async with tapped(serve) as (port, _), asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /empty HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status}".encode())
        assert b"A: b" in head
        await asyncio.sleep(pause_s * 2)
        assert await _asked((reader, writer), port, "again") == b"whole"
        writer.close()
        while served:  # noqa: ASYNC110 - until the server's tasks have ended
            await asyncio.sleep(1 * MS)


@pytest.mark.parametrize(
    ("line", "status"), [("GET /a%0Ab HTTP/1.1", 200), ("OPTIONS * HTTP/1.1", 400), ("CONNECT @ HTTP/1.1", 405)]
)
async def test_every_form_of_target_is_answered_and_recorded(line: str, status: int) -> None:
    recorded: list[tuple[str, str]] = []

    class Told(Nothing):
        @override
        def begin(self, method: str, target: str, headers: Headers) -> int:
            recorded.append((method, target))
            return 1

    async with tapped(recording=Told()) as (port, reached), asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        here = f"127.0.0.1:{port}"
        writer.write(f"{line.replace('@', here)}\r\nHost: {here}\r\nConnection: close\r\n\r\n".encode())
        assert int((await reader.readuntil(b"\r\n")).split()[1]) == status
        writer.close()
    method, target = line.replace("@", here).split()[:2]
    assert recorded == [(method, target)]
    assert [one.split()[1].decode() for one in reached] == [target] * (status == 200)


async def _asked(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], port: int, name: str) -> bytes:
    reader, writer = connection
    writer.write(f"GET /{name} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(5)


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def _answer_to(answer: bytes, request: str = "GET /mcp HTTP/1.1\r\nHost: @\r\n\r\n") -> tuple[bytes, list[str]]:
    """The head of the answer through a tap, and the sentences of the tap; SERVER in `answer` is the server."""
    said: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host = head.partition(b"Host: ")[2].partition(b"\r\n")[0]
        writer.write(answer.replace(b"SERVER", host))
        await writer.drain()
        writer.close()

    async with tapped(serve, say=said.append) as (port, _), asyncio.timeout(10):
        here = f"127.0.0.1:{port}"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.replace("@", here).encode("latin-1"))
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    return head.replace(here.encode(), b"TAP"), said


@pytest.mark.parametrize(
    ("location", "seen"),
    [
        ("http://SERVER/x?y#z", "http://TAP/x?y#z"),
        ("HTTP://SERVER", "http://TAP"),
        ("http://SERVER#z", "http://TAP#z"),
        ("//SERVER/x", "http://TAP/x"),
        ("//other.example/x", "http://other.example/x"),
        ("http://other.example/x", "http://other.example/x"),
        ("http://SERVER.other.example/x", None),
        ("http://SERVER@other.example/x", None),
        ("https://SERVER/x", None),
        ("/x//y", "/x//y"),
    ],
)
async def test_a_redirect_leads_past_the_tap_only_to_other_servers(location: str, seen: str | None) -> None:
    head, _ = await _answer_to(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
    found = head.partition(b"Location: ")[2].partition(b"\r\n")[0].decode()
    assert found == seen if seen is not None else "TAP" not in found


def test_an_address_without_a_scheme_keeps_that_of_the_server() -> None:
    proxy = TapProxy(
        upstream_of("https://host.example/mcp"), Listening("127.0.0.1", 8123), Nothing(), say=lambda _: None
    )
    shown = {one: proxy._tap_address(one) for one in (  # pyright: ignore[reportPrivateUsage]
        "//host.example/x", "https://host.example:443/x", "//other.example/x", "http://host.example/x", "/x", "x//y",
    )}  # fmt: skip
    assert shown == {
        "//host.example/x": "http://127.0.0.1:8123/x", "https://host.example:443/x": "http://127.0.0.1:8123/x",
        "//other.example/x": "https://other.example/x", "http://host.example/x": None, "/x": None, "x//y": None,
    }  # fmt: skip


async def test_a_body_in_a_coding_of_the_hop_is_not_taken_for_plain() -> None:
    head, _ = await _answer_to(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n\x1f\x8b\r\n0\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 ")
    asked = "POST /mcp HTTP/1.1\r\nHost: @\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nxx\r\n0\r\n\r\n"
    head, _ = await _answer_to(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", asked)
    assert head.startswith(b"HTTP/1.1 501 ")


async def test_a_sentence_quotes_no_header_and_no_target() -> None:
    secret = "plantedValue0123"
    for answer in (f"Set-Cookie: sid={secret}\0\r\n", f"Set-Cookie: {secret}{'a' * (1 << 20)}\r\n"):
        head, said = await _answer_to(f"HTTP/1.1 200 OK\r\n{answer}\r\n".encode())
        assert head.startswith(b"HTTP/1.1 502 ")
        assert said
        assert secret not in "".join(said)
    request = f"GET file:///x?token={secret} HTTP/1.1\r\nHost: @\r\n\r\n"
    head, said = await _answer_to(b"", request)
    assert head.startswith(b"HTTP/1.0 400 ")
    assert said
    assert secret not in "".join(said)

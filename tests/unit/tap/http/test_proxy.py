"""What a server hears through a tap: what a client said, as often as it said it."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.tap.http.test_door import tapped


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


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""

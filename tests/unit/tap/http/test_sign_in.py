"""The question for a sign-in, to servers that answer it badly."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from inspector.tap.http.address import upstream_of
from inspector.tap.http.sign_in import asks_for_sign_in


async def _is_asked(answers: list[bytes]) -> tuple[bool, list[bytes]]:
    """The verdict on a server with these answers in turn, and the first lines of the requests."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while request := await reader.readuntil(b"\r\n\r\n"):
                heard.append(request.partition(b"\r\n")[0])
                writer.write(answers[min(len(heard), len(answers)) - 1].replace(b"PORT", str(port).encode()))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    try:
        return await asks_for_sign_in(upstream_of(f"http://127.0.0.1:{port}/mcp"), None), heard
    finally:
        server.close()


def _json(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def _redirect(to: bytes) -> bytes:
    return b"HTTP/1.1 307 X\r\nLocation: " + to + b"\r\nContent-Length: 0\r\n\r\n"


REFUSED = b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"


async def test_redirects_to_other_servers_are_not_followed() -> None:
    for elsewhere in (b"http://localhost:PORT/inside", b"http://[::1]:PORT/inside", b"http://127.0.0.1:1/inside"):
        verdict, heard = await _is_asked([_redirect(elsewhere), _json(b'{"resource": "x"}'), REFUSED])
        assert not verdict
        assert len(heard) == 1


async def test_redirects_within_the_server_are_followed() -> None:
    verdict, heard = await _is_asked([_redirect(b"/meta"), _json(b'{"resource": "x"}'), _redirect(b"/mcp/"), REFUSED])
    assert verdict
    assert [line.split()[1] for line in heard][1:] == [b"/meta", b"/mcp", b"/mcp/"]


@pytest.mark.parametrize("body", [b"[" * 60_000, b"\xff", b"", b"[]", b'{"resource": "x"}'])
async def test_any_answer_lets_the_tap_start(body: bytes) -> None:
    assert not (await _is_asked([_json(body)]))[0]

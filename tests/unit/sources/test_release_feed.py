"""Tests of `inspector.sources.release_feed` against real servers on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from inspector.sources.release_feed import FeedError, Release, is_feed_address, latest_release

CERTIFICATES = Path(__file__).parents[2] / "data" / "tls"
PAGE = "https://example.com/releases/v9.1.0"
GOOD = json.dumps({"tag_name": "v9.1.0", "html_url": PAGE, "body": "x" * 100_000}).encode()
LONG_S = 30.0
Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


def trust() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTIFICATES / "authority.pem"))


@asynccontextmanager
async def feed(answer: Answer, heads: list[bytes] | None = None) -> AsyncGenerator[str]:
    """Serves one answer to every request, over TLS; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            if heads is not None:
                heads.append(head)
            await answer(writer)
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "good.pem", CERTIFICATES / "key.pem")
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/releases/latest"


def response(body: bytes, status: str = "200 OK", *more: str) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *more, "", ""])
        writer.write(head.encode() + body)
        await writer.drain()

    return answer


async def ask(address: str, patience_s: float = LONG_S) -> Release:
    return await asyncio.to_thread(latest_release, address, trust=trust(), patience_s=patience_s)


async def problem(answer: Answer, patience_s: float = LONG_S) -> str:
    async with feed(answer) as address:
        with pytest.raises(FeedError) as raised:
            await ask(address, patience_s)
    sentence = str(raised.value)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    return sentence


async def test_the_request_is_plain() -> None:
    heads: list[bytes] = []
    async with feed(response(GOOD, "200 OK", "Set-Cookie: a=b"), heads) as address:
        assert await ask(address) == Release("9.1.0", PAGE)
        await ask(address)
    host = address.split("/")[2]
    expected = {
        "GET /releases/latest HTTP/1.1", f"Host: {host}", "Accept: application/json", "Accept-Encoding: identity",
        "User-Agent: context-inspector",
    }  # fmt: skip
    assert [set(head.decode().strip().split("\r\n")) for head in heads] == [expected, expected]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<!doctype html><title>Sign in</title>", b"\xff\xfe", b"[]", b"null", b"[" * 200_000, b'{"tag_name": 9}',
        b'{"tag_name": "v9.1.0"', b'{"name": "v9.1.0"}',
    ],
)  # fmt: skip
async def test_an_answer_that_describes_no_release(body: bytes) -> None:
    assert await problem(response(body)) == "The answer of the release feed describes no release."


@pytest.mark.parametrize(
    "answer",
    [
        {"tag_name": "nightly"}, {"tag_name": "9.1.0\x1b[2J"}, {"tag_name": "9.1.0\u202e"}, {"tag_name": "9" * 5_000},
        {"tag_name": "v9.1.0-rc.1"}, {"tag_name": "v9.1.0", "draft": True}, {"tag_name": "v9.1.0", "prerelease": True},
    ],
)  # fmt: skip
async def test_an_answer_without_a_version(answer: dict[str, object]) -> None:
    assert await problem(response(json.dumps(answer).encode())) == "The release feed names no version."


@pytest.mark.parametrize(
    "page",
    ["http://example.com/", "javascript:alert(1)", "https://user:secret@example.com/", "https://", "", "https://a b"],
)
async def test_a_page_that_is_no_https_address_is_left_out(page: str) -> None:
    async with feed(response(json.dumps({"tag_name": "v9.1.0", "html_url": page}).encode())) as address:
        assert await ask(address) == Release("9.1.0", "")


@pytest.mark.parametrize("status", ["404 Not Found", "301 Moved", "500 \x07Oops"])
async def test_another_status(status: str) -> None:
    sentence = await problem(response(GOOD, status, "Location: http://127.0.0.1:1/"))
    assert sentence in (
        f"The release feed at 127.0.0.1 answered with status {status[:3]}.",
        "The release feed at 127.0.0.1 cannot be reached.",
    )


async def test_an_answer_without_end_is_cut_off() -> None:
    written = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while written < 64 << 20 and not writer.is_closing():
            writer.write(b" " * 65_536)
            written += 65_536
            await writer.drain()
            await asyncio.sleep(0)  # a drain of a lost connection does not wait, and the loop has to hear of the loss

    assert await problem(endless) == "The answer of the release feed at 127.0.0.1 is too long."
    assert written < 64 << 20


async def test_a_compressed_answer_is_not_unpacked() -> None:
    import gzip

    answer = response(gzip.compress(b" " * (64 << 20)), "200 OK", "Content-Encoding: gzip")
    assert await problem(answer) == "The answer of the release feed describes no release."


async def test_an_answer_in_drops_ends_in_time() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)

    assert await problem(slow, patience_s=1.0) == "The release feed at 127.0.0.1 did not answer in time."


async def test_an_answer_that_is_no_http() -> None:
    async def noise(writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x00\x1b]0;title\x07" * 1_000)
        await writer.drain()

    assert await problem(noise) == "The release feed at 127.0.0.1 cannot be reached."


async def test_an_unknown_authority() -> None:
    async with feed(response(GOOD)) as address:
        with pytest.raises(FeedError, match="cannot be reached"):
            await asyncio.to_thread(latest_release, address, patience_s=LONG_S)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://api.github.com/repos/o/n/releases/latest", True), ("https://[::1]:8443/x", True),
        ("http://127.0.0.1/", False), ("file:///etc/passwd", False), ("https://u@h/", False),
        ("https:///x", False), ("https://h/\n", False), ("https://h\u0131/", False), ("https://h/" + "a" * 500, False),
        ("https://[", False), ("https://h:99999/", False),
    ],
)  # fmt: skip
def test_addresses(address: str, allowed: bool) -> None:
    assert is_feed_address(address) is allowed
    if not allowed:
        with pytest.raises(FeedError, match="no https address"):
            latest_release(address)

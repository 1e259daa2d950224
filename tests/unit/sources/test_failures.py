"""What is said of gateways that cannot be joined: each against a real little server on this machine."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode

from inspector.sources import failures, opening
from inspector.sources.state import SourceState
from tests.conftest import MS
from tests.unit.sources.watching import (
    IMPATIENT,
    LONG_S,
    QUICK,
    WELCOME,
    failure,
    free_port,
    loss,
    no_such_name,
    server,
    tcp,
    watching,
)

CERTIFICATES = Path(__file__).parents[2] / "data" / "tls"
AUTHORITY = str(CERTIFICATES / "authority.pem")


async def test_no_such_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    assert "(name lookup). Check the spelling" in await failure(tmp_path, "ws://no-such-host.invalid:1")


async def test_a_name_server_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_url: str) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(opening, "_look_up", never)
    said = await failure(tmp_path, "ws://gateway.example", timing=IMPATIENT)
    assert f"was not resolved within {IMPATIENT.open_s:.2g} s (name lookup)" in said


async def test_nothing_listens(tmp_path: Path) -> None:
    said = await failure(tmp_path, f"ws://127.0.0.1:{free_port()}")
    assert "refused the connection (TCP): no program listens there" in said


@pytest.mark.parametrize("url", ["", "http//x", "ftp://x", "ws://", "ws://x:99999", "ws://[::1"])
async def test_an_unusable_address(tmp_path: Path, url: str) -> None:
    async with asyncio.timeout(LONG_S):
        assert (await failure(tmp_path, url)).endswith(".")


# upgrade

UNANSWERED = f"did not answer the WebSocket upgrade within {IMPATIENT.open_s:.2g} s (upgrade)"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        pytest.param(b"220 mail.example ESMTP\r\n", "not as a WebSocket server (upgrade)", id="garbage"),
        pytest.param(b"\x00\xff\x80" * 50, "not as a WebSocket server (upgrade)", id="binary"),
        pytest.param(b"", "hung up without answering the WebSocket upgrade (upgrade)", id="hangs-up"),
        pytest.param(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "HTTP 401 Unauthorized", id="401"),
        pytest.param(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "Check the path", id="404"),
        pytest.param(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "the proxy before it", id="502"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "A web server listens there, no gateway", id="200"
        ),
        pytest.param(b"HTTP/1.1 302 Found\r\nLocation: ws://b/?token=x\r\n\r\n", "It points to ws://b", id="redirect"),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: wrong\r\n\r\n",
            "not as a WebSocket server (upgrade)",
            id="wrong-accept",
        ),
        pytest.param(None, UNANSWERED, id="silence"),
    ],
)
@pytest.mark.parametrize("hang_up", [True, False], ids=["hangs-up", "stays"])
async def test_a_server_that_is_no_gateway(tmp_path: Path, answer: bytes | None, sentence: str, hang_up: bool) -> None:
    if not hang_up and not answer:
        sentence = UNANSWERED
    async with tcp(answer, hang_up=hang_up) as url:
        assert sentence in await failure(tmp_path, url, timing=IMPATIENT if sentence == UNANSWERED else QUICK)


# TLS


def served_by(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{certificate}.pem", CERTIFICATES / "key.pem")
    return context


async def greet(socket: ServerConnection) -> None:
    await socket.send(json.dumps(WELCOME))
    await socket.wait_closed()


async def test_a_good_certificate(tmp_path: Path) -> None:
    trusting = ssl.create_default_context(cafile=AUTHORITY)
    async with (
        server(greet, tls=served_by("good")) as url,
        watching(tmp_path, url.replace("ws:", "wss:"), ssl_context=trusting) as watch,
    ):
        await watch.until(SourceState.CONNECTED)


@pytest.mark.logs_warnings
@pytest.mark.parametrize(
    ("certificate", "trust", "why"),
    [
        ("self-signed", True, "it is signed by itself"),
        ("good", False, "the authority that issued it is not known"),
        ("other-name", True, "it was issued for another name"),
        ("expired", True, "it has expired"),
    ],
)
async def test_a_certificate_that_does_not_verify(tmp_path: Path, certificate: str, trust: bool, why: str) -> None:
    context = ssl.create_default_context(cafile=AUTHORITY if trust else None)
    async with server(greet, tls=served_by(certificate)) as url:
        said = await failure(tmp_path, url.replace("ws:", "wss:"), ssl_context=context)
        assert f"The certificate of {url.replace('ws:', 'wss:')} is not trusted (TLS): {why}" in said


async def test_no_tls_on_that_port(tmp_path: Path) -> None:
    async with tcp(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url:
        assert "does not speak TLS on that port (TLS). Try ws://" in await failure(tmp_path, url.replace("ws:", "wss:"))


async def test_a_server_that_hangs_up_during_tls(tmp_path: Path) -> None:
    async with tcp(b"") as url:
        assert "hung up during the TLS handshake (TLS)" in await failure(tmp_path, url.replace("ws:", "wss:"))


async def test_a_server_that_says_nothing_during_tls(tmp_path: Path) -> None:
    async with tcp(None) as url:
        said = await failure(tmp_path, url.replace("ws:", "wss:"), timing=IMPATIENT)
        assert "did not finish the TLS handshake" in said


# join and welcome


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (1000, "ended the connection after our join, before its welcome (join) (1000: why)"),
        (1008, "refused us after our join, before its welcome (join) (1008: why). Check the token"),
        (1009, "found one of our frames too large"),
        (1011, "had an internal error"),
        (4401, "refused us"),
        (4999, "closed the connection"),
    ],
)
async def test_a_close_before_the_welcome(tmp_path: Path, code: int, sentence: str) -> None:
    async def refuse(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.close(code, "why")

    async with server(refuse) as url:
        assert sentence in await failure(tmp_path, url)


# nonsense after the upgrade


def raw_frame(head: int, length: int = 0) -> bytes:
    return bytes([head, 127]) + length.to_bytes(8, "big")


NONSENSE = {
    "junk": (b"\xde\xad\xbe\xef" * 20, "sent something that is not WebSocket"),
    "reserved-opcode": (b"\x83\x01a", "sent something that is not WebSocket"),
    "reserved-bit": (b"\xc1\x01a", "sent something that is not WebSocket"),
    "masked": (b"\x81\x81abcde", "sent something that is not WebSocket"),
    "long-ping": (b"\x89\x7e\x01\x00", "sent something that is not WebSocket"),
    "lone-continuation": (b"\x80\x01a", "sent something that is not WebSocket"),
    "torn-message": (b"\x01\x01a\x81\x01b", "(1002: expected a continuation frame)"),
    "invalid-utf-8": (b"\x81\x02\xc3\x28", "(1007: invalid continuation byte at position 0)"),
    "too-large": (
        raw_frame(0x82, (100 << 20) + 1),
        "sent a message above 100 MiB, so the connection was closed (1009)",
    ),
}


@pytest.mark.parametrize("stays", [False, True], ids=["hangs-up", "stays"])
@pytest.mark.parametrize("nonsense", list(NONSENSE))
async def test_nonsense_after_the_welcome_is_said_and_the_gateway_sought_again(
    tmp_path: Path, nonsense: str, stays: bool
) -> None:
    sent, sentence = NONSENSE[nonsense]

    async def babble(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        socket.transport.write(sent)
        if stays:
            socket.transport.pause_reading()  # and never answers our close
            await asyncio.sleep(250 * MS)
        else:
            await socket.wait_closed()
        socket.transport.abort()

    async with server(babble) as url:
        said, gap = await loss(tmp_path, url, timing=replace(QUICK, close_s=0.1))
        assert sentence in said
        assert sentence in gap["reason"]


async def test_fragments_above_the_limit_together_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_FRAME_BYTES", 1000)

    async def swell(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        for head in (Opcode.TEXT, *[Opcode.CONT] * 20):
            socket.transport.write(Frame(head, b"x" * 100, fin=False).serialize(mask=False))
        await socket.wait_closed()

    async with server(swell) as url:
        said, _gap = await loss(tmp_path, url)
        assert "(1009)" in said


async def test_a_frame_of_the_full_size_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "MAX_FRAME_BYTES", 300_000)

    async def send(socket: ServerConnection) -> None:
        await socket.send(json.dumps(WELCOME))
        await socket.send(b"x" * 300_000)
        await socket.wait_closed()

    async with server(send) as url, watching(tmp_path, url) as watch:
        await watch.captured(lambda lines: len(lines[-1].get("text", "")) == 300_000)
        assert watch.states[-1][0] is SourceState.CONNECTED


# words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "10 ms"),
        (0.043, "40 ms"),
        (0.94, "940 ms"),
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (61, "1 min 1 s"),
        (7500, "2:05:00"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert failures.duration(seconds) == words


def test_gaps() -> None:
    assert failures.gap_sentence("It broke off.", lost_s=3.2, attempts=2, back=True) == (
        "Messages may be missing: the connection was lost for 3.2 s. It broke off."
    )
    assert failures.gap_sentence("It broke off.", lost_s=90, attempts=12, back=False) == (
        "Messages may be missing: the connection was lost and not regained in 1 min 30 s and 12 attempts. It broke off."
    )

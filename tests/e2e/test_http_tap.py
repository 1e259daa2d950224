"""The tap over HTTP between real clients and servers: what passed byte for byte, what it recorded read back."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from mcp import Client

from tests.bench.http_tap import tapping
from tests.conftest import MS
from tests.http_server import ROOT, serving

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

RECORDINGS = ROOT / "tests" / "data" / "recordings" / "mcp"
PLANTED = "plantedSecret0123456789"
PROGRAM = (sys.executable, "-m", "inspector")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def server() -> Generator[str]:
    with serving() as (origin, _):
        yield origin


def lines(capture: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capture.read_bytes().rpartition(b"\n")[0].splitlines()]


def of(capture: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in lines(capture) if line.get("kind") == kind]


@contextmanager
def running(*routes: web.RouteDef, secure: ssl.SSLContext | None = None) -> Generator[str]:
    """A server in this process, on a thread of its own; its origin."""
    loop, found = asyncio.new_event_loop(), list[str]()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.add_routes(routes)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=secure)
        await site.start()
        found.append(site.name)
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(runner.cleanup())
        loop.close()


def until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 30_000 * MS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def answer_of(address: str, request: bytes) -> bytes:
    """All that comes back to a request, as bytes of the socket."""
    host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as made:
        made.sendall(request)
        parts: list[bytes] = []
        while data := made.recv(1 << 16):
            parts.append(data)
    return b"".join(parts)


def asked(address: str, target: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    host = address.removeprefix("http://").partition("/")[0]
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return answer_of(address, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def unchunked(answer: bytes) -> tuple[list[bytes], bytes]:
    """Head lines without those of the connection, and the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    names = (b"connection:", b"transfer-encoding:", b"keep-alive:")
    kept = sorted(line for line in head.split(b"\r\n") if not line.lower().startswith(names))
    if b"transfer-encoding: chunked" in head.lower():
        whole, rest = b"", body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            whole, rest = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
        body = whole
    return kept, body


def test_a_real_client_of_both_eras_talks_to_a_real_server(tmp_path: Path) -> None:
    capture = tmp_path / "both.ctxcap"

    async def talk(address: str) -> None:
        for mode in ("auto", "legacy"):
            async with Client(address, mode=mode) as client:
                assert [tool.name for tool in (await client.list_tools()).tools][3] == "echo"
                result = await client.call_tool("echo", {"text": "tide ", "times": 3})
                assert result.content[0].text == "tide tide tide "  # pyright: ignore[reportAttributeAccessIssue]

    with serving("--http", module="tests.mcp_server") as (origin, _), tapping(f"{origin}/mcp", capture) as (address, _):
        asyncio.run(talk(address))
    told = json.loads(
        subprocess.run([*PROGRAM, "summary", str(capture), "--json"], cwd=ROOT, capture_output=True, check=True).stdout
    )
    assert told["format"] == "http-lines"
    assert told["unreadable"] == 0
    assert told["tool_counts"] == {"echo": 2}
    assert told["calls"] == {"tools": 2, "answered": 2, "failed": 0, "unanswered": 0, "rejected": 0}
    assert set(told["rpc"]["versions"]) == {"2025-11-25", "2026-07-28"}
    assert (told["rpc"]["requests"], told["rpc"]["answered"], told["rpc"]["errors"]) == (6, 6, 0)
    assert capture.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("target", "method", "headers"),
    [
        ("/call", "POST", ("Content-Type: application/json",)),
        ("/call?a=%2F%20&b=1", "HEAD", ()),
        ("/status?code=404", "GET", ()),
        ("/status?code=401", "POST", ()),
        ("/status?code=503", "POST", ()),
        ("/status?code=307", "POST", ()),
        ("/gzip", "GET", ("Accept-Encoding: gzip",)),
        ("/zstd", "GET", ("Accept-Encoding: zstd",)),
        ("/events?count=40&shape=LF", "GET", ()),
        ("/events?count=40&shape=CRLF", "GET", ()),
        ("/events?count=40&shape=CR", "GET", ()),
        ("/nothing", "DELETE", ()),
        ("/big?size=3000000", "GET", ()),
        ("/short?size=100000", "GET", ()),
        ("/silent", "POST", ()),
    ],
)
def test_an_answer_is_that_of_the_server_byte_for_byte(
    server: str, tmp_path: Path, target: str, method: str, headers: tuple[str, ...]
) -> None:
    with tapping(f"{server}/call", tmp_path / "a.ctxcap") as (address, _):
        found = [unchunked(asked(base, target, *headers, method=method)) for base in (server, address)]
    direct, tapped = found
    assert tapped[0] == direct[0]
    if target.startswith("/events"):  # each says when it was sent
        assert len(tapped[1]) == pytest.approx(len(direct[1]), rel=0.02)
    else:
        assert hashlib.sha256(tapped[1]).digest() == hashlib.sha256(direct[1]).digest()


def test_every_message_of_the_recordings_passes_and_is_written_as_it_was(server: str, tmp_path: Path) -> None:
    """As bodies of requests, which come back as those of answers: so each passes both ways.

    TAP_RECORDINGS names another folder of recordings to take.
    """
    bodies = [
        json.dumps(line["message"], ensure_ascii=False).encode()
        for file in sorted(Path(os.environ.get("TAP_RECORDINGS", RECORDINGS)).glob("*.jsonl"))
        for line in map(json.loads, file.read_text().splitlines())
        if "message" in line
    ]
    assert len(bodies) > 150
    capture = tmp_path / "a.ctxcap"

    async def talk(address: str) -> None:
        async with aiohttp.ClientSession() as session:
            for body in bodies:
                headers = {"Content-Type": "application/json"}
                async with session.post(f"{address}/echo", data=body, headers=headers) as answer:
                    assert await answer.read() == body

    with tapping(server, capture) as (address, _):
        asyncio.run(talk(address.rstrip("/")))
    written = capture.read_bytes().splitlines()
    for kind in (b'"kind":"http-request"', b'"kind":"http-response"'):
        said = [line.partition(b'"message":')[2][:-1] for line in written if kind in line]
        assert said == bodies


def test_requests_reach_the_server_as_they_were(server: str, tmp_path: Path) -> None:
    headers = ("Mcp-Param-Region: =?base64?w5xiZXJzZWU=?=", "X-Odd: a", "X-Odd: b", "Accept: */*", "User-Agent: odd/1")
    with tapping(f"{server}/call", tmp_path / "a.ctxcap") as (address, _):
        direct, tapped = (
            json.loads(unchunked(asked(base, "/headers?x=%20", *headers))[1]) for base in (server, address)
        )
    assert tapped["target"] == direct["target"] == "/headers?x=%20"
    without = ("connection",)
    assert [one for one in map(tuple, tapped["headers"]) if one[0].lower() not in without] == [
        one for one in map(tuple, direct["headers"]) if one[0].lower() not in without
    ]


def test_a_hang_up_reaches_the_server_at_once(server: str, tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with tapping(f"{server}/call", capture) as (address, _):
        host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as made:
            made.sendall(f"GET /hang HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            assert made.recv(1 << 16).startswith(b"HTTP/1.1 200")
        left = time.monotonic()
        until(lambda: json.loads(unchunked(asked(server, "/left"))[1])["left"] == 1)
        assert time.monotonic() - left < 2_000 * MS
        until(lambda: of(capture, "http-end"))
    assert [end["how"] for end in of(capture, "http-end")] == ["client-closed"]


def test_events_come_one_by_one(server: str, tmp_path: Path) -> None:
    """Each is there before the next one is sent."""

    async def talk(address: str) -> None:
        async with aiohttp.ClientSession() as session, session.get(f"{address}?count=20&every=0.02") as answer:
            pieces = [piece async for piece in answer.content.iter_any()]
            assert len(pieces) >= 15

    with tapping(f"{server}/events", tmp_path / "a.ctxcap") as (address, _):
        asyncio.run(talk(address))


def test_many_paced_streams_are_whole(server: str, tmp_path: Path) -> None:
    """A hundred at once; TAP_STREAMS takes more, as many at a time."""
    capture, streams, events = tmp_path / "a.ctxcap", int(os.environ.get("TAP_STREAMS", "100")), 20
    at_once = asyncio.Semaphore(100)

    async def one(session: aiohttp.ClientSession, address: str) -> int:
        async with at_once, session.get(f"{address}?count={events}&every=0.01") as answer:
            return (await answer.read()).count(b"\n\n")

    async def talk(address: str) -> list[int]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            return await asyncio.gather(*(one(session, address) for _ in range(streams)))

    with tapping(f"{server}/events", capture) as (address, _):
        assert asyncio.run(talk(address)) == [events] * streams
    assert len(of(capture, "sse-event")) == streams * events
    assert [end["how"] for end in of(capture, "http-end")] == ["complete"] * streams


def test_a_big_answer_is_passed_on_and_written(server: str, tmp_path: Path) -> None:
    capture, size = tmp_path / "a.ctxcap", 50_000_000
    with tapping(f"{server}/big", capture) as (address, _):
        _, body = unchunked(asked(address, f"/big?size={size}"))
        assert len(body) == size
    (response,) = of(capture, "http-response")
    assert len(response["text"]) == size


def test_a_server_that_lies_about_its_length_breaks_the_answer_and_not_the_tap(server: str, tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with tapping(f"{server}/call", capture) as (address, _):
        assert unchunked(asked(address, "/short?size=1000"))[1] == b"z" * 500
        assert unchunked(asked(address, "/call", method="POST"))[1].startswith(b"{")
    assert [end["how"] for end in of(capture, "http-end")] == ["server-broke", "complete"]


def test_a_server_that_is_down_is_a_sentence_and_a_row_and_comes_back(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with serving() as (origin, process), tapping(f"{origin}/call", capture) as (address, _):
        assert b" 200 " in asked(address, "/call")
        process.kill()
        process.wait()
        answer = asked(address, "/call")
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"cannot be reached" in answer
    (row,) = of(capture, "http-error")
    assert (row["status"], "cannot be reached" in row["text"]) == (502, True)


@pytest.mark.parametrize(
    "header", ["Host: evil.example", "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"]
)
def test_web_pages_and_foreign_names_are_refused(server: str, tmp_path: Path, header: str) -> None:
    capture = tmp_path / "a.ctxcap"
    with tapping(f"{server}/call", capture) as (address, _):
        host = "" if header.startswith("Host") else f"Host: {address.removeprefix('http://').partition('/')[0]}\r\n"
        answer = answer_of(address, f"POST /call HTTP/1.1\r\n{host}{header}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403 ")
    assert [row["status"] for row in of(capture, "http-error")] == [403]


def test_no_planted_secret_is_on_the_disk(server: str, home: Path) -> None:
    capture = home / "a.ctxcap"
    headers = (
        f"Authorization: Bearer {PLANTED}A", f"Cookie: a={PLANTED}B", f"X-Api-Key: {PLANTED}C", f"X-A-Key: {PLANTED}D",
        f"Mcp-Session-Token: {PLANTED}E", f"Proxy-Authorization: Basic {PLANTED}F", "Content-Type: application/json",
        f"A-Secret: {PLANTED}G", f"User-Agent: agent Bearer {PLANTED}H",
    )  # fmt: skip
    body = json.dumps({"api_key": f"{PLANTED}I", "text": f"Authorization: Bearer {PLANTED}J", "again": f"{PLANTED}A"})
    with tapping(f"{server}/headers?token={PLANTED}K", capture) as (address, _):
        for target in ("/headers", "/echo", f"/headers?key={PLANTED}L&x=1", f"/a/{PLANTED}0123456789abcdef/b"):
            assert (
                PLANTED in asked(address, target, *headers, method="POST", body=body.encode()).decode()
                or "/a/" in target
            )
    found = [file for file in home.rglob("*") if file.is_file() and PLANTED.encode() in file.read_bytes()]
    assert not found
    assert len(of(capture, "http-request")) == 4


def test_only_requests_with_the_key_carry_the_token_of_the_address(server: str, home: Path) -> None:
    capture = home / "a.ctxcap"
    token = f"token={PLANTED}"
    with tapping(f"{server}/headers?{token}", capture) as (address, _):
        path, _, tap = address.removeprefix("http://").partition("/")[2].partition("?")
        key = tap.removeprefix("tap=")
        assert (path, tap) == ("headers", f"tap={key}")
        assert len(key) >= 20
        sent = {
            f"/headers?tap={key}": f"/headers?{token}",
            f"/headers?a=1&tap={key}&b=%20": f"/headers?a=1&{token}&b=%20",
            "/headers": "/headers",
            "/headers?a=1": "/headers?a=1",
            "/headers?tap=": "/headers?tap=",
            f"/headers?tap={key[:-1]}": f"/headers?tap={key[:-1]}",
            f"/headers?tap={key[::-1]}": f"/headers?tap={key[::-1]}",
        }
        received = {target: json.loads(unchunked(asked(address, target))[1])["target"] for target in sent}
    assert received == sent
    assert len(of(capture, "http-request")) == len(sent)
    found = [file for file in home.rglob("*") if file.is_file() and PLANTED.encode() in file.read_bytes()]
    assert not found
    assert key.encode() not in capture.read_bytes()


def test_a_server_with_sign_in_is_refused_at_once(home: Path) -> None:
    async def metadata(_request: web.Request) -> web.Response:
        return web.json_response({"resource": "http://x/mcp", "authorization_servers": ["http://x"]})

    async def refuse(_request: web.Request) -> web.Response:
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    routes = (
        web.get("/.well-known/oauth-protected-resource/mcp", metadata),
        web.route("*", "/mcp", refuse),
    )
    with running(*routes) as origin:
        words = [*PROGRAM, "tap", "--http", f"{origin}/mcp", "-o", str(home / "a.ctxcap")]
        ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "mcp-remote" in ended.stderr
    assert not (home / "a.ctxcap").exists()


def test_a_websocket_passes_and_its_frames_are_rows(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"

    async def echo(request: web.Request) -> web.WebSocketResponse:
        made = web.WebSocketResponse(protocols=("mcp",))
        await made.prepare(request)
        async for message in made:
            await (
                made.send_str(message.data) if message.type is aiohttp.WSMsgType.TEXT else made.send_bytes(message.data)
            )
        return made

    with running(web.get("/ws", echo)) as origin, tapping(f"{origin}/ws", capture) as (address, _):

        async def exchange() -> None:
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(address, protocols=("mcp",)) as made,
            ):
                assert made.protocol == "mcp"
                await made.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
                assert await made.receive_str() == '{"jsonrpc":"2.0","id":1,"method":"ping"}'
                await made.send_bytes(b"\xff\x00")
                assert await made.receive_bytes() == b"\xff\x00"

        asyncio.run(exchange())
    frames = of(capture, "websocket-frame")
    assert [frame["dir"] for frame in frames] == ["client->server", "server->client"] * 2
    assert frames[0]["message"] == {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_tap_that_is_killed_has_written_what_was_said(server: str, tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with tapping(f"{server}/call", capture) as (address, process):
        for _ in range(20):
            assert b" 200 " in asked(address, "/call", method="POST")
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        until(lambda: b'"mark":"closed"' in capture.read_bytes())
    assert len(of(capture, "http-response")) == 20
    assert "killed" in lines(capture)[-1]["reason"]


def test_the_address_stays(server: str, tmp_path: Path) -> None:
    found: set[str] = set()
    for name in ("a.ctxcap", "b.ctxcap"):
        with tapping(f"{server}/call", tmp_path / name) as (address, _):
            found.add(address)
    assert len(found) == 1

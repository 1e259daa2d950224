"""The tap over HTTP when something goes wrong on either side, and in forms of HTTP that are rare."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import time
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.bench.http_tap import tapping
from tests.conftest import MS
from tests.e2e.test_http_tap import asked, lines, of, running, unchunked, until
from tests.e2e.test_listeners import listeners_of
from tests.http_server import ROOT, serving

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

CERTIFICATES = ROOT / "tests" / "data" / "tls"
_IPV4_LOOPBACK = "0100007F"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "home"))


def spoken_to(address: str, request: str) -> socket.socket:
    """A connection with a request on it."""
    host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
    made = socket.create_connection((host, int(port)), timeout=20)
    made.sendall(request.replace("HOST", f"{host}:{port}").encode())
    return made


def rest_of(made: socket.socket) -> bytes:
    parts: list[bytes] = []
    try:
        while data := made.recv(1 << 16):
            parts.append(data)
    except ConnectionError:
        pass
    return b"".join(parts)


def test_a_server_killed_in_a_stream_ends_it_without_an_end(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with serving() as (origin, process), tapping(f"{origin}/events", capture) as (address, _):
        with spoken_to(address, "GET /events?count=9999&every=0.01 HTTP/1.1\r\nHost: HOST\r\n\r\n") as made:
            assert b"data: " in made.recv(1 << 16) + made.recv(1 << 16)
            process.kill()
            assert not rest_of(made).endswith(b"0\r\n\r\n"), "nobody takes it for whole"
        process.wait()  # while it is dying, what connects to it is hung up on
        assert asked(address, "/call").startswith(b"HTTP/1.1 502 ")
    (end,) = of(capture, "http-end")
    assert end["how"] == "server-broke"
    assert of(capture, "sse-event")


def test_a_client_that_vanishes_or_lies_harms_nobody_else(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with serving() as (origin, _), tapping(f"{origin}/call", capture) as (address, _):
        with spoken_to(address, "POST /echo HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1000\r\n\r\nhalf"):
            pass  # it leaves in the middle of what it promised
        with spoken_to(address, "GET /events?count=9999&every=0.01 HTTP/1.1\r\nHost: HOST\r\n\r\n") as made:
            made.recv(1 << 16)
        with spoken_to(address, "this is no HTTP\r\n\r\n") as made:
            assert rest_of(made).startswith(b"HTTP/1.")
        assert unchunked(asked(address, "/call", method="POST"))[1].startswith(b"{")
        until(lambda: len(of(capture, "http-end")) == 3)
    assert sorted(end["how"] for end in of(capture, "http-end")) == ["client-closed", "client-closed", "complete"]
    cut = next(line for line in of(capture, "http-request") if line["path"] == "/echo")
    assert cut["cut"] is True


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_tap_killed_in_a_stream_leaves_what_came(tmp_path: Path) -> None:
    capture = tmp_path / "a.ctxcap"
    with serving() as (origin, _), tapping(f"{origin}/events", capture) as (address, process):
        with spoken_to(address, "GET /events?count=9999&every=0.01 HTTP/1.1\r\nHost: HOST\r\n\r\n") as made:
            until(lambda: len(of(capture, "sse-event")) > 10)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            rest_of(made)
        until(lambda: b'"mark":"closed"' in capture.read_bytes())
    assert of(capture, "http-end")[0]["how"] == "tap-ended"
    assert "killed" in lines(capture)[-1]["reason"]


def test_it_listens_on_the_loopback_alone(tmp_path: Path) -> None:
    with serving() as (origin, _), tapping(f"{origin}/call", tmp_path / "a.ctxcap") as (_, process):
        assert listeners_of(process.pid) == {_IPV4_LOOPBACK}


def test_a_server_behind_tls_is_spoken_to_when_its_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"secure": True})

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "good.pem", CERTIFICATES / "key.pem")
    capture = tmp_path / "a.ctxcap"
    with running(web.route("*", "/mcp", answer), secure=context) as origin:
        with tapping(f"{origin}/mcp", capture) as (address, _):
            refused = asked(address, "/mcp", method="POST")
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "authority.pem"))
        with tapping(f"{origin}/mcp", tmp_path / "b.ctxcap") as (address, _):
            assert unchunked(asked(address, "/mcp", method="POST"))[1] == b'{"secure": true}'
    assert b" 502 " in refused.partition(b"\r\n")[0]
    assert "certificate is not trusted" in of(capture, "http-error")[0]["text"]


def test_the_older_transport_stays_within_the_tap(tmp_path: Path) -> None:
    """Its stream says where to post to; as a whole address that would lead past the tap."""
    capture, posted = tmp_path / "a.ctxcap", asyncio.Event()
    message = '{"jsonrpc":"2.0","id":1,"result":{}}'

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(f"event: endpoint\ndata: http://{request.host}/post?session_id=one\n\n".encode())
        await posted.wait()
        await response.write(f"event: message\ndata: {message}\n\n".encode())
        return response

    async def post(_request: web.Request) -> web.Response:
        posted.set()
        return web.Response(status=202)

    async def talk(address: str) -> str:
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            place = (await answer.content.readuntil(b"\n\n")).decode().partition("data: ")[2].strip()
            assert place == f"{address.removesuffix('/sse')}/post?session_id=one"
            async with session.post(place, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}) as accepted:
                assert accepted.status == 202
            return (await answer.content.readuntil(b"\n\n")).decode()

    routes = web.get("/sse", stream), web.post("/post", post)
    with running(*routes) as origin, tapping(f"{origin}/sse", capture) as (address, _):
        assert message in asyncio.run(talk(address))
    assert [line["message"]["id"] for line in lines(capture) if "message" in line] == [1, 1]


def test_what_is_no_websocket_is_answered_and_written(tmp_path: Path) -> None:
    """A server that refuses one is passed on as it refuses; what cannot be one is refused by the tap."""
    capture = tmp_path / "a.ctxcap"
    upgrade = "GET PATH HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

    async def refuse(_request: web.Request) -> web.Response:
        return web.Response(status=403, headers={"X-Why": "because"})

    async def accept(request: web.Request) -> web.WebSocketResponse:
        made = web.WebSocketResponse()
        await made.prepare(request)
        return made

    routes = web.get("/no", refuse), web.get("/mcp", accept)
    with running(*routes) as origin, tapping(f"{origin}/mcp", capture) as (address, _):
        for path, more, expected in (
            ("/no", key, b"HTTP/1.1 403 "),
            ("/no", "", b"HTTP/1.1 403 "),
            ("/mcp", "", b"HTTP/1.1 400 "),
        ):
            with spoken_to(address, f"{upgrade.replace('PATH', path)}{more}\r\n") as made:
                answered = made.recv(1 << 16)
            assert answered.startswith(expected), answered
            assert (b"X-Why: because" in answered) == (path == "/no")
    assert [end["status"] for end in of(capture, "http-error")] == [400]
    assert [end["how"] for end in of(capture, "http-end")] == ["complete", "complete"]


def test_redirects_stay_within_the_tap_and_are_not_followed(tmp_path: Path) -> None:
    async def move(request: web.Request) -> web.Response:
        place = {"own": f"http://{request.host}/x?a=1", "other": "https://host.example/x", "near": "/x"}
        return web.Response(status=307, headers={"Location": place[request.query["to"]]})

    with running(web.get("/mcp", move)) as origin, tapping(f"{origin}/mcp", tmp_path / "a.ctxcap") as (address, _):
        base = address.removesuffix("/mcp")
        places = [
            next(line.partition(b": ")[2].decode() for line in head if line.startswith(b"Location"))
            for to in ("own", "other", "near")
            for head, _ in [unchunked(asked(address, f"/mcp?to={to}"))]
        ]
    assert places == [f"{base}/x?a=1", "https://host.example/x", "/x"]


def test_a_million_pieces_are_passed_on_as_they_come(tmp_path: Path) -> None:
    """A hundred megabytes of events, faster than they can be written."""
    capture, count = tmp_path / "a.ctxcap", int(os.environ.get("TAP_EVENTS", "100000"))

    async def talk(address: str) -> int:
        seen, end = 0, b""
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{address}?count={count}") as answer:
            async for piece in answer.content.iter_any():
                seen += (end + piece).count(b"\n\n")
                end = piece[-1:] if not piece.endswith(b"\n\n") else b""  # an event may end in two pieces
        return seen

    with serving() as (origin, _), tapping(f"{origin}/events", capture) as (address, _):
        begun = time.monotonic()
        assert asyncio.run(talk(address)) == count
        assert time.monotonic() - begun < 60_000 * MS
    missing = sum(line.get("bytes", 0) for line in lines(capture) if line.get("mark") == "gap")
    assert len(of(capture, "sse-event")) == count or missing > 0, "what is missing is said to be"


@pytest.mark.parametrize("every", ["0.002", "9"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_a_stream_is_open(tmp_path: Path, number: signal.Signals, every: str) -> None:
    capture = tmp_path / "a.ctxcap"
    request = f"GET /events?count=9999&every={every} HTTP/1.1\r\nHost: HOST\r\n\r\n"
    with (
        serving() as (origin, _),
        tapping(f"{origin}/events", capture) as (address, process),
        spoken_to(address, request) as made,
    ):
        made.recv(1 << 16)
        process.send_signal(number)
        assert process.wait(10_000 * MS) == 0
        rest_of(made)
    (end,) = of(capture, "http-end")
    assert end["how"] == "tap-ended"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")
def test_a_recorder_that_died_is_started_again_in_the_same_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture, target = tmp_path / "a.ctxcap", "/call"
    with serving() as (origin, _), tapping(f"{origin}{target}", capture) as (address, process):
        asked(address, target, method="POST")
        until(lambda: len(of(capture, "http-end")) == 1)
        time.sleep(2_200 * MS)  # one that ends sooner is not started again at once
        (recorder,) = _recorders_of(process.pid)
        os.kill(recorder, signal.SIGKILL)
        until(lambda: [one for one in _recorders_of(process.pid) if one != recorder])
        until(lambda: [one for one in lines(capture) if one.get("mark") == "gap"])
        asked(address, target, method="POST")
        until(lambda: len(of(capture, "http-end")) == 2)
        with spoken_to(address, "GET /events?count=9999&every=9 HTTP/1.1\r\nHost: HOST\r\n\r\n") as made:
            made.recv(1 << 16)
            (recorder,) = _recorders_of(process.pid)
            os.kill(recorder, signal.SIGKILL)
            process.send_signal(signal.SIGINT)
            assert process.wait(10_000 * MS) == 0, "also when the recorder is dead"
    told = [one["reason"] for one in lines(capture) if one.get("mark") == "gap"]
    assert set(told) == {"the recording process ended; exchanges that were open then are missing"}


def _recorders_of(pid: int) -> list[int]:
    """The processes that write a tap's capture."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"spawn_main" in place.joinpath("cmdline").read_bytes():
                found.append(int(place.name))
    return found

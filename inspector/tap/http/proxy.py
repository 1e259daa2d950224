"""Reverse proxy to one server: passes requests, answers and WebSockets on, and reports them to a `Recording`.

docs/tap.md, Over HTTP, lists the rules. Bytes are not buffered, and a hang-up is passed on at once (since MCP
2026-07-28 it cancels). Errors and compression are left alone, and redirects are not followed. Only the clients'
timeouts apply, except for the timeout on connecting.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import AsyncGenerator, Callable, Iterable
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp import ClientResponse, web
from aiohttp.http_exceptions import HttpProcessingError, InvalidURLError
from aiohttp.typedefs import Handler
from multidict import CIMultiDict, CIMultiDictProxy
from typing_extensions import override

from inspector.base.loopback_access import refusal_reason
from inspector.tap.http.address import Listening, Upstream
from inspector.tap.http.connections import LONGEST_HEADER, PIECE_BYTES, ServerConnections, reason_of
from inspector.tap.http.endpoint import EndpointAddress
from inspector.tap.http.recording import Recording
from inspector.tap.http.responses import ResponseCalls
from inspector.tap.http.websocket import pass_frames

# The clients' own timeouts apply (docs/tap.md), so an idle connection stays open for long.
_IDLE_S = 3_600.0
_HANG_UP_S = 0.2
"""Seconds for a handler to notice that its client hung up. aiohttp waits for ever if it is 0."""
_HOPS = frozenset((
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authorization",
))  # fmt: skip
"""Hop-by-hop headers (RFC 9110, 7.6.1)."""
_ADDED_BY_AIOHTTP = ("Content-Type", "Date", "Server")  # aiohttp adds them to responses of servers that left them out
_ADDRESS = re.compile(r"(?is)(?:(https?):)?//([^/?#]*)(.*)")
_DEFAULT_PORT = {"http": ":80", "https": ":443"}
_SIGN_IN = "resource_metadata"
_QUOTED = re.compile(r":? b['\"]")
_MAX_NOTICES = 20
"""Limit of different sentences about unreadable requests."""


class TapProxy:
    """Listens on loopback and forwards to one server."""

    def __init__(
        self, upstream: Upstream, listening: Listening, recording: Recording, *, say: Callable[[str], None],
        model: bool = False,
    ) -> None:  # fmt: skip
        """Prepares the proxy; `start` begins to listen.

        Args:
            upstream: the server.
            listening: address for clients.
            recording: receives all events.
            say: shows the user a sentence.
            model: True for a model API, whose WebSockets carry calls.
        """
        self._upstream = upstream
        self._listening = listening
        self._recording = recording
        self._say = say
        self._model = model
        self._names = listening.names()
        self._proxy = proxy_for(upstream)
        self._connections = ServerConnections()
        self._runner: web.AppRunner | None = None
        self._has_reported_sign_in = False
        self._told: set[str] = set()
        self._closing = False

    async def start(self, listener: socket.socket) -> None:
        """Begins to take requests from a listening socket."""
        # aiohttp answers an unreadable request itself, and tells only its logger about it.
        log = logging.Logger("tap")  # noqa: LOG001 - a logger for one proxy; a shared one would mix several
        log.addHandler(_Unread(self._report_unread))
        app = web.Application(logger=log)
        # A middleware rather than a route: routes match neither encoded line ends nor `*`.
        app.middlewares.append(self._handle_all)
        app.on_response_prepare.append(_leave_as_answered)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, auto_decompress=False, keepalive_timeout=_IDLE_S,
            max_line_size=LONGEST_HEADER, max_field_size=LONGEST_HEADER, read_bufsize=PIECE_BYTES,
            shutdown_timeout=_HANG_UP_S, logger=log,
        )  # fmt: skip
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    async def close(self) -> None:
        """Closes all connections."""
        self._closing = True
        if self._runner is not None:
            await self._runner.cleanup()
        await self._connections.close()

    # One exchange

    @web.middleware
    async def _handle_all(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answers requests for any path: aiohttp's routes match no line end and no `*`."""
        return await self._handle(request)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        recording = self._recording
        target = request.raw_path
        if "://" in target and not target.startswith("/"):  # the form for a forward proxy
            target = request.rel_url.raw_path_qs
        target = self._upstream.target_of(target)
        exchange = recording.begin(request.method, target, request.headers.items())
        refused = refusal_reason("tap", self._listening.origin, self._names, request.raw_path, request.headers)
        if refused:
            return self._answer(request, exchange, 403, refused)
        if request.method == "CONNECT":
            why = f"Not a forward proxy: give the client {self._listening.origin} instead of the server's address."
            return self._answer(request, exchange, 405, why)
        if not target.startswith("/"):  # appended to the server's name it would make another host name
            return self._answer(request, exchange, 400, "The request has no path.")
        if coding := _foreign_coding(request.headers):
            return self._answer(request, exchange, 501, f"The request uses the transfer coding {coding}.")
        try:
            if request.headers.get("Upgrade", "").lower() == "websocket":
                return await self._upgrade(request, exchange, target)
            return await self._pass_on(request, exchange, target)
        except asyncio.CancelledError:
            recording.end(exchange, "tap-ended" if self._closing else "client-closed")
            raise
        except ConnectionError as error:  # the client closed its connection during the response
            recording.end(exchange, "client-closed", str(error))
            return _hung_up(request)
        except web.HTTPException as error:  # an invalid upgrade request
            return self._answer(request, exchange, error.status, error.text or error.reason)

    async def _pass_on(self, request: web.Request, exchange: int, target: str) -> web.StreamResponse:
        try:
            answer = await self._connections.session_for(request).request(
                request.method,
                self._upstream.url(target),
                headers=self._headers_on(request),
                data=await self._body(request, exchange),
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError) as error:
            return self._answer(request, exchange, 502, f"{self._upstream.host} cannot be reached: {reason_of(error)}")
        except aiohttp.ClientResponseError as error:
            return self._answer(
                request, exchange, 502, f"{self._upstream.host} does not answer with HTTP: {_first_line(error.message)}"
            )
        except aiohttp.ClientError as error:  # as without a tap: the connection ends without a response
            self._recording.end(exchange, "server-broke", f"the server hung up without an answer ({reason_of(error)})")
            return _hung_up(request)
        try:
            # Bytes after it would be of a protocol that the client has not requested.
            if answer.status == 101:
                why = "switches to another protocol without a request for it"
                return self._answer(request, exchange, 502, f"{self._upstream.host} {why}.")
            # The coding is a hop's own, so the client would take the coded bytes for the body.
            if coding := _foreign_coding(answer.headers):
                why = f"answers with the transfer coding {coding}"
                return self._answer(request, exchange, 502, f"{self._upstream.host} {why}.")
            return await self._pass_back(request, exchange, answer)
        finally:
            answer.close()  # at once, so that the server stops an unwanted response

    async def _pass_back(self, request: web.Request, exchange: int, answer: ClientResponse) -> web.StreamResponse:
        recording = self._recording
        headers = list(answer.headers.items())
        recording.answer_begun(exchange, answer.status, headers)
        if answer.status == 401:
            self._report_sign_in(request, answer)
        response = _ServerResponse(
            status=answer.status, reason=answer.reason or "", headers=self._headers_back(headers)
        )
        response.server_headers = answer.headers
        # HTTP/1.0 knows no chunks; there the end of the connection ends the body.
        chunked = "Content-Length" not in answer.headers and request.version >= aiohttp.HttpVersion11
        if chunked and request.method != "HEAD" and answer.status not in (204, 304) and answer.status >= 200:
            response.enable_chunked_encoding()
        await response.prepare(request)
        # Only the first event of HTTP+SSE has an address. Later pieces are passed on unread.
        endpoint = EndpointAddress(self._own_endpoint)
        is_stream = request.method == "GET" and answer.content_type == "text/event-stream"
        endpoint.is_over = not is_stream or "Content-Encoding" in answer.headers
        while True:
            try:
                piece = await answer.content.readany()
            except (aiohttp.ClientError, TimeoutError) as error:
                recording.end(exchange, "server-broke", reason_of(error))
                return _hung_up(request, response)
            if not piece:
                break
            recording.answered(exchange, piece)
            if not endpoint.is_over:
                piece = endpoint.feed(piece)
            await response.write(piece)
        await response.write_eof(endpoint.rest())
        recording.end(exchange, "complete")
        return response

    async def _body(self, request: web.Request, exchange: int) -> bytes | AsyncGenerator[bytes] | None:
        """Returns the body of a request: complete if it has arrived, else piece by piece."""
        if not request.body_exists:
            self._recording.asked_all(exchange)
            return None
        if request.content.is_eof():  # all of it has arrived
            data = await request.content.read()
            self._recording.asked(exchange, data)
            self._recording.asked_all(exchange)
            return data
        return self._pieces(request, exchange)

    async def _pieces(self, request: web.Request, exchange: int) -> AsyncGenerator[bytes]:
        while piece := await request.content.readany():
            self._recording.asked(exchange, piece)
            yield piece
        self._recording.asked_all(exchange)

    async def _upgrade(self, request: web.Request, exchange: int, target: str) -> web.StreamResponse:
        self._recording.asked_all(exchange)
        calls = ResponseCalls(self._recording, target, request.headers.items()) if self._model else None
        session = self._connections.session_for(request)
        try:
            return await pass_frames(
                request, session, self._upstream.url(target), self._headers_on(request), self._proxy,
                self._recording, exchange, calls,
            )  # fmt: skip
        except aiohttp.WSServerHandshakeError as error:
            if error.status == 101:
                return self._answer(
                    request, exchange, 502, f"{self._upstream.host} does not support WebSockets: {error.message}"
                )
            headers = list((error.headers or CIMultiDict[str]()).items())
            self._recording.answer_begun(exchange, error.status, headers)
            self._recording.end(exchange, "complete")
            # The handshake error has no body, so a length would leave the client waiting.
            kept = [(k, v) for k, v in self._headers_back(headers).items() if k.lower() != "content-length"]
            return web.Response(status=error.status, headers=CIMultiDict(kept))
        except aiohttp.ClientError as error:
            return self._answer(request, exchange, 502, f"{self._upstream.host} cannot be reached: {reason_of(error)}")

    # Changes to headers and addresses

    def _headers_on(self, request: web.Request) -> CIMultiDict[str]:
        """Returns the headers for the server: with its own name, without hop-by-hop headers."""
        headers = _without_hops(request.headers.items())
        passed = CIMultiDict((k, v) for k, v in headers if k.lower() not in ("host", "expect"))
        # A server may have several sites and select one by Host.
        passed["Host"] = self._upstream.host
        if "origin" in (k.lower() for k, _ in headers):
            passed["Origin"] = self._upstream.origin
        # A length beside chunks is how requests are smuggled (RFC 9112, 6.3).
        if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
            passed.popall("Content-Length", None)
        return passed

    def _headers_back(self, headers: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
        """Returns the headers for the client; a Location on the server is replaced by one on the tap."""
        passed = CIMultiDict(_without_hops(headers))
        location = passed.get("Location", "")
        if location and (inside := self._tap_address(location)) is not None:
            passed["Location"] = inside
        return passed

    def _tap_address(self, address: str) -> str | None:
        """Translates an address of the server to one of the tap; returns None for other addresses and for paths.

        An address without a scheme has that of the server. Clients would take that of the tap: http.
        """
        found = _ADDRESS.fullmatch(address)
        if found is None:
            return None
        own = self._upstream.origin.partition("://")[0]
        scheme = (found[1] or own).lower()
        host = found[2].lower().removesuffix(_DEFAULT_PORT[scheme])
        if (scheme, host) == (own, self._upstream.host.lower()):
            return self._listening.origin + found[3]
        return None if found[1] else f"{own}:{address}"

    def _own_endpoint(self, address: str) -> str:
        """Returns the address of an `endpoint` event for the client."""
        inside = self._tap_address(address)
        if _ADDRESS.fullmatch(address) and not (inside or "").startswith(self._listening.origin):
            self._say("The server has clients post to another address, so only its answers are recorded.")
        return address if inside is None else inside

    # Responses and messages of the tap itself

    def _answer(self, request: web.Request, exchange: int, status: int, text: str) -> web.Response:
        self._recording.failed(exchange, status, text)
        if status == 502:
            self._say(text)
        response = web.Response(status=status, text=f"context-inspector tap: {text}\n")
        # The rest of an unread body would be parsed as the next request.
        if request.body_exists and not request.content.is_eof():
            response.force_close()
        return response

    def _report_unread(self, error: BaseException) -> None:
        if isinstance(error, InvalidURLError):  # its message is the target, maybe with a secret
            why = "A request could not be read, and was answered with 400: its target is no path."
        elif isinstance(error, HttpProcessingError):
            why = f"A request could not be read, and was answered with {error.code}: {_first_line(error.message)}."
        else:
            why = f"A request could not be passed on: {type(error).__name__}: {error}."
        # A port scanner could otherwise fill the terminal.
        if why not in self._told and len(self._told) < _MAX_NOTICES:
            self._told.add(why)
            self._say(why)

    def _report_sign_in(self, request: web.Request, answer: ClientResponse) -> None:
        # A client with a token of its own has signed in; a 401 then means that the token is wrong.
        if self._has_reported_sign_in or "Authorization" in request.headers:
            return
        if any(_SIGN_IN in value for value in answer.headers.getall("WWW-Authenticate", [])):
            from inspector.tap.http.sign_in import SENTENCE

            self._has_reported_sign_in = True
            self._say(SENTENCE.format(address=self._upstream.origin + self._upstream.path))


class _Unread(logging.Handler):
    """Reports requests that reach no handler; aiohttp only logs them."""

    def __init__(self, tell: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._tell = tell

    @override
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self._tell(error)


class _ServerResponse(web.StreamResponse):
    """Response of the server; `server_headers` has its headers."""

    server_headers: CIMultiDictProxy[str]


async def _leave_as_answered(_request: web.Request, response: web.StreamResponse) -> None:
    """Removes headers that aiohttp adds to a response."""
    if isinstance(response, _ServerResponse):
        for name in _ADDED_BY_AIOHTTP:
            if name not in response.server_headers:
                response.headers.popall(name, None)


def _without_hops(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    headers = list(headers)
    named = {one.strip().lower() for name, value in headers if name.lower() == "connection" for one in value.split(",")}
    return [(name, value) for name, value in headers if (low := name.lower()) not in _HOPS and low not in named]


def _hung_up(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Aborts the client's connection, since the server's ended without the end of a response."""
    if request.transport is not None:
        request.transport.abort()
    return response or web.Response(status=502)


def _first_line(text: str) -> str:
    """Returns the first line of a parser's message, without quoted input: that has any length, and secrets."""
    return _QUOTED.split(text.partition("\n")[0])[0].rstrip(":.")[:200]


def _foreign_coding(headers: CIMultiDictProxy[str]) -> str:
    """Returns the transfer codings besides chunks; "" if there is none."""
    codings = {one.strip().lower() for one in ",".join(headers.getall("Transfer-Encoding", [])).split(",")}
    return ", ".join(sorted(one for one in codings - {"chunked", ""} if one.isprintable()))


def proxy_for(upstream: Upstream) -> str | None:
    """Returns the proxy that the environment sets for a server; None for this computer itself."""
    scheme, _, host = upstream.origin.partition("://")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if name.strip("[]") in ("localhost", "127.0.0.1", "::1") or proxy_bypass(name.strip("[]")):
        return None
    proxies = getproxies()
    found = proxies.get(scheme) or proxies.get("all")
    return found if found and found.startswith(("http://", "https://")) else None

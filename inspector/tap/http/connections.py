"""Connections to the server: one pool for each client connection, so that no answer reaches another client."""

from __future__ import annotations

import asyncio
import re
import select
import weakref

import aiohttp
from aiohttp import ClientResponse, ClientSession, web
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from typing_extensions import override

from inspector.base.async_tasks import start_task

CONNECT_S = 30.0
"""Timeout in seconds for a connection to the server."""
# The usual limit of aiohttp, 8 KB, would refuse longer headers, which the client may accept.
LONGEST_HEADER = 1 << 20
PIECE_BYTES = 1 << 16
_NO_BODY = re.compile(rb"HTTP/1\.[01] (?:204|304) ")
# aiohttp adds these to requests without them, so the server would see another client.
_NEVER_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class ServerConnections:
    """Sessions with the server, one for each client connection; each ends with its client connection."""

    def __init__(self) -> None:
        self._sessions: dict[asyncio.Task[None], ClientSession] = {}

    def session_for(self, request: web.BaseRequest) -> ClientSession:
        """Returns the session of the client connection that a request came by."""
        task = request.task  # serves one client connection until that closes
        session = self._sessions.get(task)
        if session is None:
            session = self._sessions[task] = _new_session()
            task.add_done_callback(self._discard)
        return session

    async def close(self) -> None:
        sessions = [*self._sessions.values()]
        self._sessions.clear()
        for session in sessions:
            await session.close()

    def _discard(self, task: asyncio.Task[None]) -> None:
        session = self._sessions.pop(task, None)
        if session is not None:
            start_task(session.close(), name="close the connections of a client")


def _new_session() -> ClientSession:
    return ClientSession(
        # No limit: a waiting request would look like a slow server.
        connector=_CheckedConnector(limit=0),
        # Cookies belong to the client: a jar here would also share them between clients.
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        auto_decompress=False,
        skip_auto_headers=_NEVER_ADDED,
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
        read_bufsize=PIECE_BYTES,
        middlewares=(_send_once,),
    )


class _CheckedConnector(aiohttp.TCPConnector):
    """Replaces idle connections with unrequested bytes from the server.

    A server may send 408 on an idle connection. Read as the next answer it would shift all later answers by one.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(limit=limit)
        self._used = weakref.WeakKeyDictionary[ResponseHandler, _FirstBytes]()

    @override
    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        # Several idle connections may have unread bytes.
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None:
                return connection
            first = self._used.get(protocol)
            if first is None:  # new: a busy server may refuse before any request
                self._used[protocol] = first = _FirstBytes(protocol)
            elif _has_unread(protocol):
                connection.close()
                continue
            first.awaited = True
            return connection


class _FirstBytes:
    """Removes a body sent right after 204 or 304: they have none, and aiohttp would refuse the answer.

    Attributes:
        awaited: an answer begins with the next bytes.
    """

    def __init__(self, protocol: ResponseHandler) -> None:
        self.awaited = False
        self._close = protocol.force_close
        self._receive = protocol.data_received
        protocol.data_received = self  # type: ignore[method-assign] - replaces the method of one instance

    def __call__(self, data: bytes) -> None:
        if data and self.awaited:
            self.awaited = False
            if _NO_BODY.match(data) and 0 < (end := data.find(b"\r\n\r\n") + 4) < len(data) and end > 3:
                self._close()  # further bytes are not an answer
                data = data[:end]
        self._receive(data)


def _has_unread(protocol: ResponseHandler) -> bool:
    """Checks for bytes, or an end, that came after the last answer: parsed, or still in the kernel's buffer."""
    if protocol.should_close or protocol.transport is None:
        return True
    socket = protocol.transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return True
    if not hasattr(select, "poll"):  # Windows, whose select takes any descriptor number
        return bool(select.select([socket], [], [], 0)[0])
    poll = select.poll()
    poll.register(socket.fileno(), select.POLLIN)
    return bool(poll.poll(0))


async def _send_once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> ClientResponse:
    """Sends a request once and never retries it: the client decides, as without a tap.

    aiohttp repeats idempotent requests (RFC 9110, 9.2.2), so the server would get two for one.
    """
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:  # no bytes were sent
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """Returns why a connection failed, in the words of the system, without a full stop."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted ({error.certificate_error})"
    cause = getattr(error, "os_error", None) or error
    return str(getattr(cause, "strerror", None) or cause).rstrip(".") or type(error).__name__

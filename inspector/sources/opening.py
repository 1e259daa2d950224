"""Opening a WebSocket to a gateway, step by step: name lookup, TCP, TLS, upgrade. Gives a connection or a sentence."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

from typing_extensions import override
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from inspector.sources import failures, handshake
from inspector.sources.connection import AddressError, Connection
from inspector.sources.state import Timing

MAX_FRAME_BYTES = 100 << 20
"""Largest frame accepted, as the MEW v0.4 gateway itself allows."""

_QUEUED_FRAMES = 1024
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_DEFAULT_PORTS = {"ws": 80, "wss": 443}


class OpeningError(Exception):
    """The connection could not be opened; the text is one sentence for the user."""


async def open_websocket(
    connection: Connection, *, timing: Timing, ssl_context: ssl.SSLContext | None = None
) -> ClientConnection:
    """Open the WebSocket; the join is the caller's.

    No compression, no pings, frames up to ``MAX_FRAME_BYTES``, the closing handshake limited to ``timing.close_s``.

    Args:
        connection: Where to.
        timing: ``open_s`` limits all steps together.
        ssl_context: For ``wss``; default: the system's trusted certificates.

    Raises:
        OpeningError: Any of the steps failed.
    """
    step = "name lookup"

    class Watched(ClientConnection):
        @override
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            nonlocal step
            step = "upgrade"  # TCP, and TLS where there is any, are done
            super().connection_made(transport)

    try:
        url = handshake.handshake_url(connection)
        async with asyncio.timeout(timing.open_s):
            proxy = _proxy(url)
            if proxy is None:  # a proxy looks names up itself
                await _look_up(url)
            step = "TCP"
            return await _Connect(
                url,
                additional_headers=handshake.handshake_headers(connection),
                proxy=proxy,
                compression=None,
                max_size=MAX_FRAME_BYTES,
                max_queue=_QUEUED_FRAMES,
                open_timeout=None,
                ping_interval=None,
                close_timeout=timing.close_s,
                create_connection=Watched,
                **_tls_options(url, timing, ssl_context),
            )
    except AddressError as error:
        raise OpeningError(str(error)) from error
    except (OSError, EOFError, ValueError, ImportError, WebSocketException) as error:
        sentence = failures.open_failure(error, url=connection.url, step=step, timeout_s=timing.open_s)
        raise OpeningError(sentence) from error


class _Connect(connect):
    """Follows no redirect: our join would carry the token to wherever it points."""

    @override
    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _look_up(url: str) -> None:
    """Resolve the host by itself first, so that a slow or failing lookup is named as such."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)


def _proxy(url: str) -> Literal[True] | None:
    """Whether the system's proxy settings may apply: never to this machine."""
    return True if urlsplit(url).hostname not in _LOOPBACK and getproxies() else None


def _tls_options(url: str, timing: Timing, ssl_context: ssl.SSLContext | None) -> dict[str, Any]:
    if urlsplit(url).scheme != "wss":
        return {}
    # Shorter than the time for all, so that a hanging handshake is named rather than a hanging connection.
    return {"ssl": ssl_context or True, "ssl_handshake_timeout": 0.8 * timing.open_s}

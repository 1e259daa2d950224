"""Opens a WebSocket to a gateway in steps: name lookup, TCP, TLS, upgrade. Errors become sentences."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit
from urllib.request import getproxies

from typing_extensions import override
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from inspector.sources import failures, handshake
from inspector.sources.connection import AddressError, Connection
from inspector.sources.gateway_socket import GatewaySocket
from inspector.sources.timing import Timing

MAX_FRAME_BYTES = 100 << 20
"""Largest accepted frame, the limit of the MEW v0.4 gateway itself."""

# At level DEBUG, websockets logs every header and frame, including our token. This logger stays above it, whatever
# level others have.
_quiet_log = logging.getLogger(f"{__name__}.websocket")
_quiet_log.setLevel(logging.INFO)

_ROOM_BYTES = 4 << 20
_MOST_ROOM = Path("/proc/sys/net/core/rmem_max")  # Linux; 4 MiB since 6.16, 208 KiB before

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_DEFAULT_PORTS = {"ws": 80, "wss": 443}


# The system's own probes detect dead hosts: a busy gateway answers them, unlike WebSocket pings.
_PROBES = {"TCP_KEEPIDLE": 3, "TCP_KEEPALIVE": 3, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 5}


class OpeningError(Exception):
    """The connection could not be opened; the text is a sentence or two for the user.

    Attributes:
        trouble: the same in parts.
    """

    def __init__(self, trouble: failures.ConnectionFailure) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


async def open_websocket(
    connection: Connection, *, timing: Timing, ssl_context: ssl.SSLContext | None = None, limit_s: float | None = None
) -> GatewaySocket:
    """Opens the WebSocket; the caller joins.

    No compression, no pings, messages up to ``MAX_FRAME_BYTES``, closing handshake limited to ``timing.close_s``.

    Args:
        connection: the address.
        timing: ``open_s`` limits all steps together.
        ssl_context: for ``wss``; default: the system's trusted certificates.
        limit_s: replaces ``timing.open_s``.

    Raises:
        OpeningError: a step failed.
    """
    step = "name lookup"
    made: list[GatewaySocket] = []

    def make(*args: Any, **options: Any) -> GatewaySocket:
        made.append(GatewaySocket(*args, max_message_bytes=MAX_FRAME_BYTES, **options))
        return made[-1]

    allowed_s = timing.open_s if limit_s is None else limit_s
    try:
        url = handshake.handshake_url(connection)
        async with asyncio.timeout(allowed_s):
            proxy = _proxy(url)
            if proxy is None:  # a proxy resolves names itself
                await _look_up(url)
            step = "TCP"
            opened = await _Connect(
                url,
                additional_headers=handshake.handshake_headers(connection),
                proxy=proxy,
                compression=None,
                max_size=MAX_FRAME_BYTES,
                open_timeout=None,
                ping_interval=None,
                close_timeout=timing.close_s,
                logger=_quiet_log,
                create_connection=make,  # pyright: ignore[reportArgumentType] - a factory is as good as the class
                **_tls_options(url, allowed_s, ssl_context),
            )
    except AddressError as error:
        raise OpeningError(failures.ConnectionFailure(str(error), permanent=True)) from error
    except (OSError, EOFError, ValueError, ImportError, WebSocketException) as error:
        step = made[-1].reached if made else step
        trouble = failures.open_failure(error, url=connection.url, step=step, timeout_s=allowed_s)
        raise OpeningError(trouble) from error
    sock = opened.transport.get_extra_info("socket")
    _keep_alive(sock)
    _make_room(sock)
    return cast("GatewaySocket", opened)


class _Connect(connect):
    """Follows no redirect: our join would carry the token to the target."""

    @override
    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def _look_up(url: str) -> None:
    """Resolves the host separately, so that a slow or failed lookup is reported as such."""
    parts = urlsplit(url)
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)


def _proxy(url: str) -> Literal[True] | None:
    """Returns True if the system's proxy settings apply, else None; never for this machine.

    `urllib` finds them: in the environment (`https_proxy`, `no_proxy`...) as with curl and git, on Windows and macOS in
    the system. Qt's `QNetworkProxyFactory` finds no more without libproxy, which its wheels lack.
    """
    return True if urlsplit(url).hostname not in _LOOPBACK and getproxies() else None


def _keep_alive(sock: socket.socket | None) -> None:
    """Enables TCP keep-alive probes every few seconds, if the system can."""
    if sock is None:
        return
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _PROBES.items():
            option = getattr(socket, name, None)
            if option is not None:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _make_room(sock: socket.socket | None) -> None:
    """Enlarges the receive buffer to some seconds of data, so that bytes arrive on time while the window paints.

    Only if the system grants the full size: the option disables its own growth, which goes up to 6 MB elsewhere.
    """
    with contextlib.suppress(OSError, ValueError):
        if sock is not None and int(_MOST_ROOM.read_text()) >= _ROOM_BYTES:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM_BYTES)


def _tls_options(url: str, allowed_s: float, ssl_context: ssl.SSLContext | None) -> dict[str, Any]:
    if urlsplit(url).scheme != "wss":
        return {}
    context = ssl_context or ssl.create_default_context()
    # Shorter than the total timeout, so that the error names a hanging handshake, not a hanging connection.
    return {"ssl": context, "ssl_handshake_timeout": 0.8 * allowed_s}

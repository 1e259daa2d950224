"""Passes WebSocket frames through in both directions and records each."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web
from multidict import CIMultiDict
from yarl import URL

from inspector.base.async_tasks import start_task
from inspector.tap.http.lines import LONGEST_BODY_BYTES
from inspector.tap.http.recording import Recording
from inspector.tap.http.responses import ResponseCalls

# Each side makes its own: a key belongs to one connection, and extensions such as compression stay off.
_HANDSHAKE = ("sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-protocol")
_FRAMES = (WSMsgType.TEXT, WSMsgType.BINARY)
# Seconds for the other side to answer a close frame; it may have gone.
_CLOSE_TIMEOUT_S = 2.0
_MAX_MESSAGE_BYTES = LONGEST_BODY_BYTES
"""Limit of a message, as it is buffered whole; a longer one ends the WebSocket (1009)."""

Side = web.WebSocketResponse | ClientWebSocketResponse


async def pass_frames(
    request: web.Request, session: ClientSession, url: URL, headers: CIMultiDict[str], proxy: str | None,
    recording: Recording, exchange: int, calls: ResponseCalls | None = None,
) -> web.StreamResponse:  # fmt: skip
    """Connects a client's WebSocket with one to the server until either closes.

    Frames are not compressed, so that they can be recorded.

    Args:
        request: upgrade request of the client.
        session: session with the server.
        url: address of the server.
        headers: headers for the server.
        proxy: proxy for the server.
        recording: receives each frame.
        exchange: number of the exchange.
        calls: records frames that are calls of a model.

    Raises:
        aiohttp.WSServerHandshakeError: if the server refuses the upgrade.
        aiohttp.ClientError: if the server cannot be reached.
    """
    asked = [one.strip() for one in request.headers.get("Sec-WebSocket-Protocol", "").split(",") if one.strip()]
    passed = CIMultiDict((k, v) for k, v in headers.items() if k.lower() not in _HANDSHAKE)
    server = await session.ws_connect(
        url,
        headers=passed,
        protocols=asked,
        autoclose=False,
        autoping=False,
        compress=0,
        max_msg_size=_MAX_MESSAGE_BYTES,
        proxy=proxy,
    )
    async with server:
        chosen = (server.protocol,) if server.protocol else ()
        client = web.WebSocketResponse(
            autoclose=False, autoping=False, compress=False, max_msg_size=_MAX_MESSAGE_BYTES, protocols=chosen
        )
        await client.prepare(request)
        recording.answer_begun(exchange, 101, [("Upgrade", "websocket")])
        how, why = await _pump_frames(client, server, recording, exchange, calls)
        recording.end(exchange, how, why)
        return client


async def _pump_frames(
    client: web.WebSocketResponse, server: ClientWebSocketResponse, recording: Recording, exchange: int,
    calls: ResponseCalls | None,
) -> tuple[str, str]:  # fmt: skip
    """Pumps frames both ways. Returns how it ended, and the reason if there is one."""

    async def pump(source: Side, sink: Side, *, by_server: bool) -> str:
        while True:
            message = await source.receive()
            if message.type in _FRAMES:
                binary = message.type is WSMsgType.BINARY
                # A text frame may hold half of a surrogate pair, which plain UTF-8 refuses.
                data = message.data if binary else message.data.encode("utf-8", "surrogatepass")
                if calls is None or not calls.is_recorded(data, by_server=by_server):
                    recording.frame(exchange, data, by_server=by_server, binary=binary)
                await (sink.send_bytes(message.data) if binary else sink.send_str(message.data))
            elif message.type is WSMsgType.PING:
                await sink.ping(message.data)
            elif message.type is WSMsgType.PONG:
                await sink.pong(message.data)
            else:
                code = message.data if message.type is WSMsgType.CLOSE else source.close_code
                with suppress(asyncio.TimeoutError, ConnectionError):
                    async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                        await sink.close(code=code or 1000, message=(message.extra or "").encode())
                return str(message.data) if message.type is WSMsgType.ERROR else ""

    ways = {
        start_task(pump(client, server, by_server=False), name="frames to the server"): "client-closed",
        start_task(pump(server, client, by_server=True), name="frames to the client"): "complete",
    }
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        how, why = next((ways[one], one.result()) for one in done)
        if calls is not None:
            calls.end(how, why)
        return how, why
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)

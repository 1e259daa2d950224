"""A small local gateway that speaks MEW v0.4 over WebSocket.

It matches the released gateway in everything visible to a client (docs/protocols.md 9, 10, 16). A join is required and
may carry its fields at top level or in ``payload``. Everything is broadcast to everyone, the sender included. A denied
message returns to its sender alone as ``system/error``. A ``stream/open`` precedes the broadcast of its request. Stream
frames are sent as binary messages. It keeps no history and writes no log. It manages clients and streams; the script
decides participants and content.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, cast

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from inspector.demo.capabilities import DEFAULT_CAPABILITIES, IMPLICIT_CAPABILITY, Pattern, may_send
from inspector.demo.envelopes import PROTOCOL, Envelope, new_id, now_ms, timestamp, to_compact_json

# The released gateway has the same limit.
MAX_FRAME_BYTES = 100 << 20
"""Largest frame; larger ones close with 1009."""

MAX_CLIENTS = 64
"""Limit of clients; further ones are closed with 1013 (try again later)."""

MAX_STREAMS = 1024
"""Limit of open streams in a space; a further request gets a ``system/error``."""

_FROM_GATEWAY = "system:gateway"
_log = logging.getLogger(__name__)
_log.setLevel(logging.INFO)  # below it, websockets logs every header and frame, tokens too


@dataclass
class _Client:
    """One joined connection."""

    id: str
    socket: ServerConnection
    capabilities: Sequence[Pattern]

    def description(self) -> dict[str, object]:
        return {"id": self.id, "capabilities": list(self.capabilities)}


@dataclass
class _Stream:
    """One open stream."""

    id: str
    owner: str
    open_id: str
    request_id: str
    facts: dict[str, Any] = field(default_factory=dict)

    def description(self) -> dict[str, object]:
        return {**self.facts, "stream_id": self.id, "owner": self.owner, "authorized_writers": [self.owner]}


class DemoGateway:
    """A gateway for one space: ``async with DemoGateway(space="demo") as gateway: ... gateway.url``.

    Attributes:
        space: The only space; a join to another is closed with 1008.
    """

    def __init__(
        self,
        space: str = "demo",
        *,
        capabilities: Mapping[str, Sequence[Pattern]] | None = None,
        tokens: Mapping[str, str] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """Creates a gateway; ``start`` or ``async with`` opens the port.

        Args:
            space: Name of the space.
            capabilities: Permissions by participant id; ``mcp/response`` is added. Others get the defaults.
            tokens: Token by participant id. A join with such an id and a wrong token gets only the defaults.
            host: Address to listen at.
            port: 0 for a free one.
        """
        self.space: str = space
        self._capabilities = dict(capabilities or {})
        self._tokens = dict(tokens or {})
        self._host, self._port = host, port
        self._server: Server | None = None
        self._clients: dict[str, _Client] = {}
        self._streams: dict[str, _Stream] = {}
        self._streams_opened = 0

    @property
    def url(self) -> str:
        """``ws://127.0.0.1:<port>``.

        Raises:
            RuntimeError: If the gateway is not running.
        """
        if self._server is None:
            raise RuntimeError("the demo gateway is not running")
        host, port = next(iter(self._server.sockets)).getsockname()[:2]
        return f"ws://{host}:{port}"

    @property
    def participants(self) -> list[str]:
        """Ids of present participants, in order of their joins."""
        return list(self._clients)

    async def start(self) -> None:
        """Opens the port.

        Raises:
            OSError: If the port is taken or not allowed.
        """
        self._server = await serve(
            self._serve_client,
            self._host,
            self._port,
            # The released gateway does not compress either.
            compression=None,
            max_size=MAX_FRAME_BYTES,
            ping_interval=None,  # the released gateway never pings
            close_timeout=2,
            server_header=None,
            logger=_log,
        )

    async def stop(self) -> None:
        """Closes every connection (1001) and the port; returns after all have ended."""
        if self._server is not None:
            # Closing the server also closes its connections.
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        self._clients.clear()
        self._streams.clear()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    # one client

    async def _serve_client(self, socket: ServerConnection) -> None:
        client: _Client | None = None
        try:
            async for data in socket:
                if client is None:
                    client = await self._join(socket, data)
                elif data[:1] in ("#", b"#"):
                    self._stream_frame(client, data)
                else:
                    await self._message(client, data)
        except ConnectionClosed:
            pass  # the leave below reports it
        finally:
            # A second connection of the same name has replaced this one.
            if client is not None and self._clients.get(client.id) is client:
                self._remove_client(client)

    async def _join(self, socket: ServerConnection, data: str | bytes) -> _Client | None:
        """Processes a join; an earlier frame gets an error, and the connection stays (as released)."""
        frame = _decode(data)
        payload = frame.get("payload") if frame is not None else None
        if frame is None or (frame.get("type") != "join" and frame.get("kind") != "system/join"):
            await socket.send(
                to_compact_json({"kind": "system/error", "to": [None], "payload": {"error": "join_required"}})
            )
            return None
        fields = (cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}) | frame
        if fields.get("space", self.space) != self.space:
            await socket.close(1008, f"unknown space, this is {self.space}")
            return None
        if len(self._clients) >= MAX_CLIENTS:
            await socket.close(1013, "too many participants")
            return None
        name = fields.get("participantId")
        client_id = name if isinstance(name, str) and name else f"participant-{now_ms()}"
        if client_id in self._clients and not self._has_valid_token(client_id, fields.get("token")):
            # Unlike the released gateway: a stranger cannot take over the id of a demo participant.
            await socket.close(1008, f"{client_id} is here already, and the token is not theirs")
            return None
        client = _Client(client_id, socket, self._granted(client_id, fields.get("token")))
        self._clients[client_id] = client  # a second one with the same id takes over delivery
        await socket.send(to_compact_json(self._welcome(client)))
        self._announce("join", client)
        return client

    def _granted(self, client_id: str, token: object) -> Sequence[Pattern]:
        granted = self._capabilities.get(client_id)
        if granted is None or not self._has_valid_token(client_id, token):
            return DEFAULT_CAPABILITIES
        return (*granted, IMPLICIT_CAPABILITY)

    def _has_valid_token(self, client_id: str, token: object) -> bool:
        return self._tokens.get(client_id) in (None, token)

    def _welcome(self, client: _Client) -> Envelope:
        others = [one.description() for one in self._clients.values() if one is not client]
        streams = [stream.description() for stream in self._streams.values()]
        payload = {"you": client.description(), "participants": others, "active_streams": streams}
        return self._gateway_envelope("welcome", "system/welcome", payload, to=[client.id])

    def _announce(self, event: str, client: _Client) -> None:
        who = client.description() if event == "join" else {"id": client.id}
        envelope = self._gateway_envelope("presence", "system/presence", {"event": event, "participant": who})
        self._broadcast(to_compact_json(envelope), without=client)

    def _remove_client(self, client: _Client) -> None:
        del self._clients[client.id]
        for stream in [one for one in self._streams.values() if one.owner == client.id]:
            del self._streams[stream.id]
        self._announce("leave", client)

    # messages

    async def _message(self, client: _Client, data: str | bytes) -> None:
        envelope = _decode(data)
        if envelope is None:
            # As released: neither id, ts, from nor to.
            error = {"error": "Invalid message format", "message": "not a JSON object"}
            await client.socket.send(to_compact_json({"kind": "system/error", "payload": error}))
            return
        envelope = self._add_missing_fields(envelope, client)
        if not may_send(client.capabilities, envelope):
            await self._refuse(client, envelope)
            return
        if envelope.get("kind") == "stream/request" and not await self._open_stream(client, envelope):
            return
        self._broadcast(to_compact_json(envelope))
        if envelope.get("kind") == "stream/close":
            self._close_stream(client, envelope)

    def _add_missing_fields(self, envelope: Envelope, client: _Client) -> Envelope:
        """Adds missing fields; unlike the released gateway, never trusts a sender's ``from``."""
        stamped = {"protocol": PROTOCOL, "id": new_id("msg"), "ts": timestamp()} | envelope | {"from": client.id}
        if isinstance(stamped.get("correlation_id"), str):
            stamped["correlation_id"] = [stamped["correlation_id"]]
        return stamped

    async def _refuse(self, client: _Client, envelope: Envelope) -> None:
        payload = {
            "error": "capability_violation",
            "message": f"{client.id} holds no capability that allows this {envelope.get('kind')}",
            "attempted_kind": envelope.get("kind"),
            "your_capabilities": list(client.capabilities),
        }
        error = self._gateway_envelope("error", "system/error", payload, to=[client.id], cause=envelope.get("id"))
        await client.socket.send(to_compact_json(error))

    def _gateway_envelope(
        self, prefix: str, kind: str, payload: object, *, to: list[str] | None = None, cause: object = None
    ) -> Envelope:
        envelope: Envelope = {"protocol": PROTOCOL, "id": f"{prefix}-{now_ms()}", "ts": timestamp()}
        envelope["from"] = _FROM_GATEWAY
        if to is not None:
            envelope["to"] = to
        envelope["kind"] = kind
        if cause is not None:
            envelope["correlation_id"] = [cause]
        envelope["payload"] = payload
        return envelope

    def _broadcast(self, message: str | bytes, *, without: _Client | None = None) -> None:
        # Never waits for a slow reader, as the released gateway.
        broadcast([one.socket for one in self._clients.values() if one is not without], message)

    # streams

    async def _open_stream(self, client: _Client, request: Envelope) -> bool:
        """Opens a stream and announces it; the request itself is broadcast afterwards, as released."""
        if len(self._streams) >= MAX_STREAMS:
            payload = {
                "error": "resource_limit",
                "message": "too many open streams",
                "attempted_kind": "stream/request",
            }
            error = self._gateway_envelope("error", "system/error", payload, to=[client.id], cause=request["id"])
            await client.socket.send(to_compact_json(error))
            return False
        self._streams_opened += 1
        asked = request.get("payload")
        facts = dict(cast("dict[str, Any]", asked)) if isinstance(asked, dict) else {}
        facts["created"] = timestamp()
        stream_id = f"stream-{self._streams_opened}"
        stream = _Stream(stream_id, client.id, new_id("stream-open"), str(request["id"]), facts)
        self._streams[stream_id] = stream
        opened: Envelope = {
            "protocol": PROTOCOL,
            "id": stream.open_id,
            "ts": timestamp(),
            "from": "gateway",
            "to": [client.id],
            "kind": "stream/open",
            "correlation_id": [request["id"]],
            "payload": {
                "stream_id": stream_id,
                "encoding": "text",
                "owner": client.id,
                "authorized_writers": [client.id],
            },
        }
        self._broadcast(to_compact_json(opened))
        return True

    def _stream_frame(self, client: _Client, data: str | bytes) -> None:
        raw = data.encode() if isinstance(data, str) else data
        stream_id, hash_sign, _ = raw[1:].partition(b"#")
        stream = self._streams.get(stream_id.decode("utf-8", "replace"))
        # Only the owner may write to a stream.
        if hash_sign and stream is not None and stream.owner == client.id:
            self._broadcast(raw)

    def _close_stream(self, client: _Client, envelope: Envelope) -> None:
        payload = envelope.get("payload")
        named = cast("dict[str, Any]", payload).get("stream_id") if isinstance(payload, dict) else None
        causes = envelope.get("correlation_id")
        # A stream is named by its id, its request, or the message that opened it.
        named_at_all = [named, *(cast("list[Any]", causes) if isinstance(causes, list) else [])]
        names = {name for name in named_at_all if isinstance(name, str)}
        for stream in list(self._streams.values()):
            if stream.owner == client.id and names & {stream.id, stream.open_id, stream.request_id}:
                del self._streams[stream.id]


def _decode(data: str | bytes) -> Envelope | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

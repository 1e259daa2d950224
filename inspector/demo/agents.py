"""Participants of the demo: WebSocket clients that call, answer, propose and stream.

Implements the mechanics of an agent (join, send, request with answer, stream) and its automatic reactions. Agents
answer ``tools/list``, and reasoning agents ask every participant for its tools, as released agents do
(docs/protocols.md 16). The story decides the content and timing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.demo.envelopes import PROTOCOL, Envelope, new_id, timestamp, to_compact_json
from inspector.demo.gateway import MAX_FRAME_BYTES

ANSWER_TIMEOUT_S = 15.0
"""Timeout of any answer in real seconds, independent of the pace."""


@dataclass(frozen=True)
class Pace:
    """Speed of the story."""

    scale: float = 1.0
    """Factor on every wait: 1 is a human pace, 0.01 a hundred times as fast."""

    async def wait_seconds(self, seconds: float) -> None:
        """Waits for ``seconds`` of the story."""
        await asyncio.sleep(seconds * self.scale)


class Agent:
    """One participant.

    Attributes:
        name: Participant id.
        pace: Speed of its actions.
        tools: Its answer to ``tools/list``.
        errors: Every ``system/error`` from the gateway, oldest first.
    """

    asks_for_tools: bool = False
    """Ask all participants for their tools, on its own welcome and on every join."""

    def __init__(self, name: str, *, pace: Pace, token: str = "") -> None:
        """Creates a participant without a connection."""
        self.name: str = name
        self.pace: Pace = pace
        self.tools: list[dict[str, object]] = []
        self.errors: list[Envelope] = []
        self._token = token
        self._socket: ClientConnection | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._awaited: dict[str, asyncio.Future[Envelope]] = {}
        self._fulfilments: dict[str, asyncio.Future[Envelope]] = {}
        self._watchers: list[tuple[Callable[[Envelope], bool], asyncio.Future[Envelope]]] = []
        self._sent = 0
        self._calls = 0

    async def join(self, url: str, space: str) -> None:
        """Connects and joins; returns after the welcome.

        Raises:
            OSError: If the gateway cannot be reached.
            TimeoutError: If it sends no welcome.
        """
        # As the released gateway: no compression and no pings. No proxy, since the gateway is on this machine.
        self._socket = await connect(
            url, compression=None, max_size=MAX_FRAME_BYTES, ping_interval=None, close_timeout=2, proxy=None
        )
        join = {"type": "join", "space": space, "token": self._token, "participantId": self.name, "capabilities": []}
        await self._socket.send(to_compact_json(join))
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            welcome = json.loads(await self._socket.recv())
        # The reader starts after the welcome, which it would otherwise consume.
        self._start(self._read(self._socket), "reader")
        if self.asks_for_tools:
            for other in welcome["payload"]["participants"]:
                self._start(self._ask_for_tools(other["id"]), "tools/list")

    async def leave(self) -> None:
        """Stops all tasks and closes the connection (1000)."""
        # The tasks first: they may still send.
        await cancel_and_wait(self._tasks)
        self._awaited.clear()
        self._fulfilments.clear()
        self._watchers.clear()
        if self._socket is not None:
            await self._socket.close()
            self._socket = None

    # sending

    async def send(
        self,
        kind: str,
        payload: object = None,
        *,
        to: str | None = None,
        context: str | None = None,
        about: str | None = None,
        message_id: str | None = None,
    ) -> str:
        """Sends one envelope and returns its id.

        Args:
            kind: As in docs/protocols.md 4.
            payload: Absent if None.
            to: The one recipient; None is everybody.
            context: The context string; None is main.
            about: The id it correlates to.
            message_id: Its id; generated if None.

        Raises:
            ConnectionClosed: If the gateway has disappeared.
        """
        # Counted, so that the ids of a demo are readable.
        self._sent += 1
        sent_id = message_id or f"{self.name}-{new_id(str(self._sent))}"
        envelope: Envelope = {"protocol": PROTOCOL, "id": sent_id, "ts": timestamp(), "from": self.name}
        optional = {
            "to": [to] if to else None,
            "kind": kind,
            "correlation_id": [about] if about else None,
            "context": context,
            "payload": payload,
        }
        envelope |= {key: value for key, value in optional.items() if value is not None}
        await self._connected().send(to_compact_json(envelope))
        return sent_id

    async def chat(
        self, text: str, *, to: str | None = None, context: str | None = None, about: str | None = None
    ) -> str:
        """Sends a chat message and returns its id."""
        return await self.send("chat", {"text": text, "format": "plain"}, to=to, context=context, about=about)

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, object],
        *,
        context: str | None = None,
    ) -> Envelope:
        """Calls a tool and returns the response, or the ``system/error`` in its place.

        Raises:
            TimeoutError: If neither arrives.
            ConnectionClosed: If the gateway has disappeared.
        """
        params = {"name": tool, "arguments": arguments}
        return await self.request(server, "tools/call", params, context=context)

    async def request(
        self, server: str, method: str, params: object = None, *, context: str | None = None, about: str | None = None
    ) -> Envelope:
        """Sends an ``mcp/request`` and returns its answer; raises as ``call``."""
        self._calls += 1
        payload: dict[str, object] = {"jsonrpc": "2.0", "id": self._calls, "method": method}
        if params is not None:
            payload["params"] = params
        request_id = new_id(f"{self.name}-req")
        # The future exists before the request is sent, so the answer is never missed.
        answer = self.answer_to(request_id)
        await self.send("mcp/request", payload, to=server, context=context, about=about, message_id=request_id)
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            return await answer

    def answer_to(self, message_id: str) -> asyncio.Future[Envelope]:
        """Returns a future for the first response, fulfilment, rejection, stream/open or error about ``message_id``."""
        answer: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self._awaited[message_id] = answer
        # Also removed after a timeout, which cancels the future.
        answer.add_done_callback(lambda _: self._awaited.pop(message_id, None))
        return answer

    def next_message(
        self,
        kind: str,
        *,
        sender: str,
        about: str | None = None,
        to_us: bool = False,
        having: Callable[[Envelope], bool] | None = None,
    ) -> asyncio.Future[Envelope]:
        """Returns a future for the next message of a kind from ``sender``; create it before the message can arrive."""

        def wanted(envelope: Envelope) -> bool:
            return (
                envelope.get("kind") == kind
                and envelope.get("from") == sender
                and (about is None or about in envelope.get("correlation_id", ()))
                and (not to_us or self.name in envelope.get("to", ()))
                and (having is None or having(envelope))
            )

        seen: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        self._watchers.append((wanted, seen))
        return seen

    async def propose(
        self, server: str, tool: str, arguments: Mapping[str, object], *, context: str, patience_s: float
    ) -> Envelope | None:
        """Proposes a tool call and returns the outcome.

        Returns:
            The response to the request that fulfilled it, or the rejection. None without an answer within
            ``patience_s`` of
            the story; the proposal is withdrawn then.
        """
        proposal_id = new_id(f"{self.name}-proposal")
        # The future is created before the message is sent, so that no answer is missed.
        answer = self.answer_to(proposal_id)
        payload = {"method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        await self.send("mcp/proposal", payload, to=server, context=context, message_id=proposal_id)
        try:
            async with asyncio.timeout(patience_s * self.pace.scale):
                outcome = await answer
        except TimeoutError:
            await self.send("mcp/withdraw", {"reason": "timeout"}, context=context, about=proposal_id)
            return None
        if outcome["kind"] != "mcp/request":
            return outcome
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            return await self._fulfilments.pop(proposal_id)

    async def stream(self, stream_id: str, data: str) -> None:
        """Sends one data frame of a stream."""
        await self._connected().send(f"#{stream_id}#{data}")

    # receiving

    async def on_message(self, envelope: Envelope) -> None:
        """Reacts to a message; each call runs as its own task. For subclasses."""

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for data in socket:
                if isinstance(data, str):
                    self._dispatch(json.loads(data))
        except ConnectionClosed:
            pass
        # Waiting coroutines end with an error instead of waiting forever.
        for answer in [*self._awaited.values(), *(one for _, one in self._watchers)]:
            # A future that was cancelled by its timeout is done already.
            if not answer.done():
                answer.set_exception(ConnectionError(f"{self.name} lost the gateway"))
                answer.exception()  # retrieved once, so that asyncio reports no unhandled exception

    def _dispatch(self, envelope: Envelope) -> None:
        kind, payload = envelope.get("kind"), envelope.get("payload") or {}
        if kind == "system/error":
            self.errors.append(envelope)
        self._resolve_futures(envelope)
        # The gateway sends each message to its own sender too.
        if envelope.get("from") == self.name:
            return
        if kind == "system/presence" and payload.get("event") == "join" and self.asks_for_tools:
            self._start(self._ask_for_tools(payload["participant"]["id"]), "tools/list")
        elif kind == "mcp/request" and self.name in envelope.get("to", ()) and payload.get("method") == "tools/list":
            self._start(self.answer(envelope, {"tools": self.tools}), "tools/list answer")
        else:
            self._start(self.on_message(envelope), "reaction")

    def _resolve_futures(self, envelope: Envelope) -> None:
        """Resolves the futures that wait for this message."""
        if envelope.get("kind") in _ANSWERS:
            for message_id in envelope.get("correlation_id", ()):
                answer = self._awaited.get(message_id)
                if answer is None or answer.done():
                    continue
                if envelope["kind"] == "mcp/request":  # another participant fulfils a proposal of this one
                    self._fulfilments[message_id] = self.answer_to(envelope["id"])
                answer.set_result(envelope)
        for watcher in [one for one in self._watchers if one[1].done() or one[0](envelope)]:
            self._watchers.remove(watcher)
            if not watcher[1].done():
                watcher[1].set_result(envelope)

    async def answer(self, request: Envelope, result: Mapping[str, object]) -> None:
        """Sends the ``mcp/response`` to a request, in the request's context."""
        called = request.get("payload") or {}
        payload = {"jsonrpc": "2.0", "id": called["id"], "result": result} if "id" in called else {"result": result}
        await self.send(
            "mcp/response", payload, to=request["from"], context=request.get("context"), about=request["id"]
        )

    async def _ask_for_tools(self, other: str) -> None:
        await self.pace.wait_seconds(0.3)
        try:
            await self.request(other, "tools/list")
        except TimeoutError:
            return  # a silent participant has no tools, as for released agents

    def _start(self, action: Coroutine[Any, Any, None], what: str) -> None:
        async def quietly() -> None:
            try:
                await action
            except ConnectionClosed:
                return  # the demo is stopping, or the script joins again

        task = start_task(quietly(), name=f"demo {self.name}: {what}", owner=self._tasks)
        task.add_done_callback(lambda _: action.close())  # a task cancelled at once has not begun its coroutine

    def _connected(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError(f"{self.name} has not joined")
        return self._socket


_ANSWERS = frozenset({"mcp/response", "mcp/request", "mcp/reject", "stream/open", "system/error"})

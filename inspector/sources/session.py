"""One gateway connection from name lookup to end: joins, records every frame, answers ``tools/list``.

It sends no other messages, and interprets traffic only as far as needed (welcome, presence of our own id,
``tools/list`` to us). Behaviour of real gateways: docs/protocols.md 10 and 16. `gateway` decides about reconnection.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec
from websockets.exceptions import ConnectionClosed

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.sources import failures, handshake
from inspector.sources.connection import Connection
from inspector.sources.failures import ConnectionFailure
from inspector.sources.opening import OpeningError, open_websocket
from inspector.sources.recorder import Recorder
from inspector.sources.timing import Timing

if TYPE_CHECKING:
    from inspector.sources.gateway_socket import GatewaySocket

_MAX_ANSWERS_UNDER_WAY = 64
_MOST_READ_CHARS = 1 << 20
_OWN_JOIN_ECHO_S = 2.0


@dataclass(frozen=True)
class Ending:
    """End of a session."""

    trouble: ConnectionFailure | None
    """The cause; None if we left."""

    code: int | None = None
    """WebSocket close code, if any."""

    welcomed: bool = False
    """The gateway had sent its welcome."""

    well: bool = False
    """It had, and one side closed the connection in order."""

    silent: bool = False
    """Lost without a close: frames may be missing since the last one, not since the loss was noticed."""

    lasted_s: float = 0.0
    """Seconds from the welcome to the end."""


@dataclass(frozen=True)
class Hooks:
    """Callbacks, on the loop's thread."""

    joining: Callable[[], None]
    """The WebSocket is open, and the join follows."""

    welcomed: Callable[[handshake.Welcome], None]
    """The first welcome arrived and is recorded."""

    remark: Callable[[str], None]
    """A sentence for the user about a connection that continues."""


class Session:
    """One connection; can be run once.

    Attributes:
        connection: address and identity.
        participant: our id according to the welcome.
        took_s: seconds from the start to the welcome.
    """

    def __init__(
        self,
        connection: Connection,
        recorder: Recorder,
        hooks: Hooks,
        *,
        timing: Timing,
        ssl_context: ssl.SSLContext | None = None,
        limit_s: float | None = None,
    ) -> None:
        """Prepares the session; ``run`` starts it.

        Args:
            connection: address and identity.
            recorder: receives every frame.
            hooks: callbacks.
            timing: timeouts.
            ssl_context: for ``wss``; default: the system's trusted certificates.
            limit_s: timeout for opening and welcome together, instead of the timeouts in ``timing``.
        """
        self.connection: Connection = connection
        self.participant: str = connection.participant
        self.took_s: float = 0.0
        self._recorder = recorder
        self._hooks = hooks
        self._timing = timing
        self._ssl_context = ssl_context
        self._limit_s = limit_s
        self._ws: GatewaySocket | None = None
        self._answers: set[asyncio.Task[Any]] = set()
        self._started_s = 0.0
        self._welcomed_s: float | None = None
        self._closing = False
        self._welcome_late = False
        self._lost = False
        self._own_joins = 0

    @property
    def is_open(self) -> bool:
        """Returns True if there is a WebSocket that ``close`` can close."""
        return self._ws is not None

    @property
    def frames_in(self) -> int:
        """Number of received frames."""
        return self._ws.messages_in if self._ws is not None else 0

    async def run(self) -> Ending:
        """Connects, joins and records until ``close``, cancellation, or the connection's end.

        Returns errors in the ending.
        """
        self._started_s = self._loop_time()
        try:
            ws = await open_websocket(
                self.connection, timing=self._timing, ssl_context=self._ssl_context, limit_s=self._limit_s
            )
        except OpeningError as error:
            return Ending(error.trouble)
        self._ws = ws
        self._recorder.record_mark(
            "opened",
            url=self.connection.shown_url,
            space=self.connection.space,
            participant=self.connection.participant,
        )
        beside: set[asyncio.Task[Any]] = set()
        try:
            start_task(self._keep_alive(ws), name="gateway ping", owner=beside)
            self._hooks.joining()
            await self._join(ws)
            await ws.ended.wait()
            if not (self._closing or self._welcome_late):
                await ws.close()  # our half of the closing handshake
            return self._ending(ws)
        finally:
            # Before closing, so that no task writes to a closed connection.
            await cancel_and_wait(beside | self._answers)
            await ws.close()  # close code 1000; returns at once if already closed

    def close(self) -> None:
        """Makes ``run`` leave the gateway (close code 1000) and return; needs an open WebSocket."""
        self._closing = True
        if self._ws is not None:
            self._ws.ended.set()

    # joining

    async def _join(self, ws: GatewaySocket) -> None:
        # The capture gets the masked frame: it must not contain the token.
        join, masked = handshake.join_frames(self.connection)
        self._recorder.record_sent(masked)
        self._loop.call_later(self._welcome_s, self._miss_welcome, ws)
        ws.listen(partial(self._on_frame, ws), self._recorder.is_full)
        # A gateway that has already closed may have sent its reason: reading continues, and ends with it.
        with contextlib.suppress(ConnectionClosed):
            await ws.send(join)

    @property
    def _welcome_s(self) -> float:
        if self._limit_s is None:
            return self._timing.welcome_s
        # A slow opening must not leave the welcome without any time.
        return max(self._limit_s - (self._loop_time() - self._started_s), self._limit_s / 3)

    def _miss_welcome(self, ws: GatewaySocket) -> None:
        if self._welcomed_s is None and not ws.ended.is_set():
            self._welcome_late = True
            ws.ended.set()

    # frames

    def _on_frame(self, ws: GatewaySocket, data: str | bytes) -> None:
        """Records one frame and checks if it concerns the connection. Takes under 1 µs besides the write."""
        self._recorder.record_received(data, ws.arrived_ns)
        if not isinstance(data, str) or (len(data) > _MOST_READ_CHARS and self._welcomed_s is not None):
            return
        # A gateway sends envelopes as text. Few frames contain one of these words, so the rest is not decoded here.
        if "tools/list" in data or "system" in data or "presence" in data:
            try:
                decoded = msgspec.json.decode(data)
            except (msgspec.MsgspecError, RecursionError, UnicodeError):
                return
            if isinstance(decoded, dict):
                self._inspect_envelope(cast("dict[str, Any]", decoded))

    def _inspect_envelope(self, envelope: Mapping[str, Any]) -> None:
        welcome = handshake.read_welcome(envelope)
        if welcome is not None:
            if self._welcomed_s is None:
                self._welcomed_s = self._loop_time()
                self.took_s = self._welcomed_s - self._started_s
                self.participant = welcome.participant or self.connection.participant
                self._hooks.welcomed(welcome)
            return
        presence = handshake.read_presence(envelope)
        if presence is not None:
            self._note_presence(presence)
            return
        # Some agents wait for the tools of every participant before they work (docs/protocols.md 16).
        if self.connection.answer_tools_list and self._welcomed_s is not None:
            # A gateway may rename us, yet pass on requests to the id we asked for.
            own_ids = frozenset({self.connection.participant, self.participant})
            answer = handshake.tools_list_answer(
                envelope, own_ids=own_ids, participant=self.participant, time_ns=self._recorder.last_in_ns
            )
            if answer is not None and len(self._answers) < _MAX_ANSWERS_UNDER_WAY:
                # Not awaited: reading must continue even if the gateway is slow to accept our answer.
                start_task(self._send(answer), name="tools/list answer", owner=self._answers)

    def _note_presence(self, presence: handshake.Presence) -> None:
        if presence.participant != self.participant or self._welcomed_s is None:
            return
        self._own_joins += presence.event == "join"
        late = self._loop_time() - self._welcomed_s > _OWN_JOIN_ECHO_S
        # Gateways before v0.2 announce a joiner to itself, once and at once.
        if presence.event == "leave" or (presence.event == "join" and (late or self._own_joins > 1)):
            self._hooks.remark(
                f"Another client goes by our id {self.participant}: the gateway may stop sending to us. Connect again."
            )

    async def _send(self, text: str) -> None:
        if self._ws is not None:
            self._recorder.record_sent(text)
            with contextlib.suppress(ConnectionClosed):  # other code handles the end
                await self._ws.send(text)

    # keep-alive

    async def _keep_alive(self, ws: GatewaySocket) -> None:
        """Pings after a silence. The connection is lost if neither a pong nor any byte follows.

        A pong comes after data already being sent, so a frame may take any time on a slow link.
        """
        while True:
            before = ws.bytes_in
            await asyncio.sleep(self._timing.ping_s)
            if ws.bytes_in != before:
                continue
            try:
                async with asyncio.timeout(self._timing.pong_s):
                    await (await ws.ping())
            except TimeoutError:
                # Data that arrived while our own loop was blocked is not read yet: wait one more turn.
                await asyncio.sleep(min(0.1, self._timing.pong_s / 10))
                if ws.bytes_in == before:
                    self._lost = True
                    ws.transport.abort()  # a closing handshake would only wait once more
                    return
            except ConnectionClosed:
                return

    # end

    def _ending(self, ws: GatewaySocket) -> Ending:
        welcomed = self._welcomed_s is not None
        lasted_s = self._loop_time() - self._welcomed_s if self._welcomed_s is not None else 0.0
        if self._closing:
            return Ending(None, 1000, welcomed=welcomed, well=True, lasted_s=lasted_s)
        # Tested before the close code, which is our own here.
        if self._welcome_late:
            waited_s = self._welcome_s if self._limit_s is None else self._loop_time() - self._started_s
            return Ending(
                failures.welcome_timeout(url=self.connection.url, space=self.connection.space, timeout_s=waited_s)
            )
        # The same object that `recv()` would raise.
        closed = ws.protocol.close_exc
        side = closed.rcvd or closed.sent
        code = side.code if side is not None else None
        trouble = failures.closed_failure(closed, url=self.connection.url, lost=self._lost, welcomed=welcomed)
        well = welcomed and code in (1000, 1001) and not self._lost
        return Ending(trouble, code, welcomed=welcomed, well=well, silent=self._lost, lasted_s=lasted_s)

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    def _loop_time(self) -> float:
        return self._loop.time()

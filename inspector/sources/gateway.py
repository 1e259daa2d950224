"""Watching a live gateway: join, write every frame to a capture, answer ``tools/list``, say nothing else.

Owns one connection and its state. It does not interpret traffic beyond what the connection itself needs (welcome,
presence of our own id, ``tools/list`` to us); everything else is read back from the capture (design.md 4, one way for
live and file). Behaviour of real gateways: protocols.md 10 and 16. It does not reconnect by itself: ``run`` is one
``_session`` and its ending, so that a loop around it is all that is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from inspector.aio import cancel_and_wait, spawn
from inspector.sources import failures, handshake
from inspector.sources.connection import Connection
from inspector.sources.opening import OpeningError, open_websocket
from inspector.sources.state import SourceState, Timing

if TYPE_CHECKING:
    from inspector.capture.writer import CaptureWriter

_MAX_ANSWERS_UNDER_WAY = 64
_LOOKED_AT_CHARS = 1 << 22
_OWN_JOIN_ECHO_S = 2.0


@dataclass(frozen=True)
class _Ending:
    """How a session ended."""

    state: SourceState
    sentence: str
    code: int | None = None


class GatewaySource:
    """Joins a MEW gateway and writes every frame to a capture writer. The writer stays the caller's to close.

    Attributes:
        connection: What it connects to.
        state: The state last reported.
        sentence: The sentence last reported.
        participant: The id we go by, as the gateway's welcome gives it.
    """

    def __init__(
        self,
        connection: Connection,
        writer: CaptureWriter,
        *,
        on_state: Callable[[SourceState, str], None],
        clock_ns: Callable[[], int] = time.time_ns,
        timing: Timing | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; nothing happens before ``run``.

        Args:
            connection: Where to and as whom.
            writer: Gets every frame; flushed while running and at the end, not closed.
            on_state: Called on the loop's thread with each state and one sentence for the user.
            clock_ns: The arrival clock, nanoseconds since the Unix epoch.
            timing: Time allowances; the defaults are meant for people.
            ssl_context: For ``wss``; default: the system's trusted certificates.
        """
        self.connection: Connection = connection
        self.state: SourceState = SourceState.CONNECTING
        self.sentence: str = ""
        self.participant: str = connection.participant
        self._writer = writer
        self._on_state = on_state
        self._clock_ns = clock_ns
        self._timing = timing or Timing()
        self._ssl_context = ssl_context
        self._ws: ClientConnection | None = None
        self._runner: asyncio.Task[Any] | None = None
        self._finished = asyncio.Event()
        self._answers: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._welcomed = False
        self._lost = False
        self._write_error: OSError | None = None
        self._frames_in = 0
        self._own_joins = 0
        self._joined_at_s = 0.0

    async def run(self) -> None:
        """Connect, join and capture until ``close``, cancellation, or the connection's end.

        Trouble with the network or the disk is reported as ``SourceState.FAILED`` and never raised. To be called once.
        """
        self._runner = asyncio.current_task()
        ending: _Ending | None = None
        try:
            ending = await self._session()
        except asyncio.CancelledError:
            ending = self._closed_by_us()
            # close() cancels us while there is no connection it could close; anybody else means it.
            if not (self._closing and self._ws is None and self._runner is not None and self._runner.uncancel() == 0):
                raise
        finally:
            self._end(ending or _Ending(SourceState.FAILED, "The connection ended through a fault of ours."))

    async def close(self) -> None:
        """Leave: WebSocket close 1000, mark ``closed``, flush. Returns when ``run`` is done; safe to call twice."""
        self._closing = True
        if self._runner is None or self._finished.is_set():
            return
        if self._ws is not None:
            # Never by cancelling the reader: that would close with 1011 (platform.md).
            await self._ws.close()
        else:
            self._runner.cancel()
        await self._finished.wait()

    # one session

    async def _session(self) -> _Ending:
        if self._closing:
            return self._closed_by_us()
        where = self.connection.shown_url
        self._report(SourceState.CONNECTING, f"Connecting to {where}.")
        try:
            ws = await open_websocket(self.connection, timing=self._timing, ssl_context=self._ssl_context)
        except OpeningError as error:
            return _Ending(SourceState.FAILED, str(error))
        self._ws = ws
        self._mark("opened", url=where, space=self.connection.space, participant=self.connection.participant)
        beside: set[asyncio.Task[Any]] = set()
        try:
            spawn(self._keep_flushing(ws), name="gateway flush", owner=beside)
            spawn(self._keep_alive(ws), name="gateway ping", owner=beside)
            self._report(SourceState.CONNECTING, f"Joining space {self.connection.space} at {where}.")
            return await self._join_and_receive(ws)
        except ConnectionClosed as closed:
            return self._why_closed(closed)
        finally:
            await cancel_and_wait(beside | self._answers)
            await ws.close()  # close code 1000; returns at once when closed already

    async def _join_and_receive(self, ws: ClientConnection) -> _Ending:
        join, masked = handshake.join_frames(self.connection)
        self._writer.frame(masked, direction="out", time_ns=self._clock_ns())
        # A gateway that closed already may have said why: then reading goes on, and ends with the reason.
        with contextlib.suppress(ConnectionClosed):
            await ws.send(join)
        try:
            async with asyncio.timeout(self._timing.welcome_s):
                while not self._welcomed:
                    self._take(ws, await ws.recv())
        except TimeoutError:
            sentence = failures.welcome_timeout(
                url=self.connection.url, space=self.connection.space, timeout_s=self._timing.welcome_s
            )
            return _Ending(SourceState.FAILED, sentence)
        while True:
            # recv() does not yield while frames are queued; the queue is what one read of the socket brought.
            self._take(ws, await ws.recv())

    # frames

    def _take(self, ws: ClientConnection, data: str | bytes) -> None:
        """Capture one frame and look whether the connection itself is concerned. About 1 µs beside the writing."""
        time_ns = self._clock_ns()
        self._frames_in += 1
        self._writer.frame(data, direction="in", time_ns=time_ns)
        # A gateway sends envelopes as text. Few frames hold one of these, so the rest is not decoded here.
        if isinstance(data, str) and self._may_concern_us(data):
            try:
                decoded = msgspec.json.decode(data)
            except (msgspec.MsgspecError, RecursionError, UnicodeError):
                return
            if isinstance(decoded, dict):
                self._look_at(ws, cast("dict[str, Any]", decoded), time_ns)

    def _may_concern_us(self, data: str) -> bool:
        if self._welcomed and len(data) > _LOOKED_AT_CHARS:
            return False
        return "tools/list" in data or "system" in data or "presence" in data

    def _look_at(self, ws: ClientConnection, envelope: Mapping[str, Any], time_ns: int) -> None:
        welcome = handshake.read_welcome(envelope)
        if welcome is not None:
            if not self._welcomed:
                self._greeted(welcome)
            return
        presence = handshake.read_presence(envelope)
        if presence is not None:
            self._note_presence(presence)
            return
        if self.connection.answer_tools_list and self._welcomed:
            own_ids = frozenset({self.connection.participant, self.participant})
            answer = handshake.tools_list_answer(
                envelope, own_ids=own_ids, participant=self.participant, time_ns=time_ns
            )
            if answer is not None and len(self._answers) < _MAX_ANSWERS_UNDER_WAY:
                # Not awaited here: reading must go on even when the gateway is slow to take our answer.
                spawn(self._send(ws, answer), name="tools/list answer", owner=self._answers)

    def _greeted(self, welcome: handshake.Welcome) -> None:
        self._welcomed = True
        self._joined_at_s = asyncio.get_running_loop().time()
        self.participant = welcome.participant or self.connection.participant
        sentence = f"Connected to {self.connection.space} at {self.connection.shown_url} as {self.participant}."
        if self.participant != self.connection.participant:
            sentence += f" The gateway did not take our id {self.connection.participant}."
        if self.connection.token and welcome.defaults_only:
            held = ", ".join(dict.fromkeys(welcome.kinds or ())) or "none"
            sentence += (
                f" It granted only its default capabilities ({held}), so it may not know the token; "
                "watching works all the same."
            )
        self._report(SourceState.CONNECTED, sentence)

    def _note_presence(self, presence: handshake.Presence) -> None:
        if presence.participant != self.participant or not self._welcomed:
            return
        self._own_joins += presence.event == "join"
        late = asyncio.get_running_loop().time() - self._joined_at_s > _OWN_JOIN_ECHO_S
        # Gateways before v0.2 announce a joiner to itself, once and at once.
        if presence.event == "leave" or (presence.event == "join" and (late or self._own_joins > 1)):
            self._report(
                SourceState.CONNECTED,
                f"Another client goes by our id {self.participant}: the gateway may stop sending to us. Connect again.",
            )

    async def _send(self, ws: ClientConnection, text: str) -> None:
        self._writer.frame(text, direction="out", time_ns=self._clock_ns())
        with contextlib.suppress(ConnectionClosed):  # the reader says why
            await ws.send(text)

    # beside the reader

    async def _keep_flushing(self, ws: ClientConnection) -> None:
        while True:
            await asyncio.sleep(self._timing.flush_s)
            try:
                self._writer.flush()
            except OSError as error:
                self._write_error = error
                await ws.close()
                return

    async def _keep_alive(self, ws: ClientConnection) -> None:
        """Ping. Lost means no pong and nothing else either: a busy gateway may be late with its pongs."""
        while True:
            await asyncio.sleep(self._timing.ping_s)
            before = self._frames_in
            try:
                async with asyncio.timeout(self._timing.pong_s):
                    await (await ws.ping())
            except TimeoutError:
                if self._frames_in == before:
                    self._lost = True
                    ws.transport.abort()  # a closing handshake would only wait once more
                    return
            except ConnectionClosed:
                return

    # the end

    def _why_closed(self, closed: ConnectionClosed) -> _Ending:
        code = closed.rcvd.code if closed.rcvd is not None else closed.sent.code if closed.sent is not None else None
        if self._write_error is not None:
            return _Ending(SourceState.FAILED, str(self._write_error), code)
        if self._closing:
            return self._closed_by_us()
        sentence = failures.closed_sentence(closed, url=self.connection.url, lost=self._lost, welcomed=self._welcomed)
        ended_well = self._welcomed and code in (1000, 1001) and not self._lost
        return _Ending(SourceState.CLOSED if ended_well else SourceState.FAILED, sentence, code)

    def _closed_by_us(self) -> _Ending:
        return _Ending(SourceState.CLOSED, f"Disconnected from {self.connection.shown_url}.", 1000)

    def _end(self, ending: _Ending) -> None:
        """Mark, flush and report."""
        try:
            if self._ws is not None and not self._writer.closed:
                self._mark("closed", reason=ending.sentence, code=ending.code)
            self._writer.flush()
        except OSError as error:
            ending = _Ending(SourceState.FAILED, str(error))
        self._finished.set()
        self._report(ending.state, ending.sentence)

    def _mark(self, name: str, **facts: str | int | None) -> None:
        self._writer.mark(name, time_ns=self._clock_ns(), src=0, **facts)

    def _report(self, state: SourceState, sentence: str) -> None:
        self.state, self.sentence = state, sentence
        self._on_state(state, sentence)

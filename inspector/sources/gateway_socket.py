"""WebSocket client connection that delivers messages as it parses them, without a queue.

A gateway may send tens of thousands of small messages a second to the thread that also paints the window. The library's
``recv()`` costs several times as much per message (tests/bench/tried.md). Here whole data frames are cut from the
received bytes. The library handles the rest frame by frame: opening handshake, pings and closing. There is no
read-ahead: under load the socket's buffer fills, and the sender waits.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from typing_extensions import override
from websockets.asyncio.client import ClientConnection
from websockets.frames import CloseCode
from websockets.protocol import State

from inspector.sources import frame_heads as heads

MessageHandler = Callable[[str | bytes], None]
"""Receives a message: ``str`` for text, ``bytes`` for binary."""

SLICE_S = 0.005
"""Seconds of parsing after which it pauses for paint timers and the heartbeat."""

_FULL_S = 0.02
"""Seconds between two checks for free space in the writer."""

BIG_BYTES = 1 << 20
"""Size in bytes above which a frame gets an event-loop turn of its own."""

_END_OF_HEADERS = b"\r\n\r\n"
_MOST_HEADERS = 1 << 16
_NAMES_ITS_LENGTH = re.compile(rb"\r\n(content-length|transfer-encoding):", re.IGNORECASE)
_LOOK_AT_CLOCK = 0x1F  # every 32 frames


class ReadTimes:
    """Times at which the bytes of a connection were read, by their places."""

    def __init__(self, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self._clock_ns = clock_ns
        self._known: deque[tuple[int, int]] = deque()  # (place, time) pairs, both ascending

    def on_read(self, place: int) -> None:
        """Records that bytes up to a place were just read."""
        self._known.append((place, self._clock_ns()))

    def time_of(self, place: int) -> tuple[int, int]:
        """Returns the time of the byte before a place, and the end of its validity. Places must ascend."""
        known = self._known
        # Places ascend, so earlier times are never asked again.
        while len(known) > 1 and known[0][0] < place:
            known.popleft()
        upto, time_ns = known[0]
        return time_ns, upto


class GatewaySocket(ClientConnection):
    """Client connection for ``connect(create_connection=...)``, without compression; ``listen`` replaces ``recv``.

    Attributes:
        reached: progress of opening: ``TLS`` after TCP is connected, ``upgrade`` after TLS or without it.
        ended: set as soon as no more messages will come.
        messages_in: number of messages delivered.
        bytes_in: bytes received, including the response to the upgrade.
        arrived_ns: arrival time of the last byte of the last message, nanoseconds since the Unix epoch.
    """

    def __init__(self, *args: Any, max_message_bytes: int, **options: Any) -> None:
        """Prepares the connection; the library calls this with its own arguments.

        Args:
            args: of ``ClientConnection``.
            max_message_bytes: larger messages end the connection with 1009.
            options: of ``ClientConnection``.
        """
        super().__init__(*args, **options)
        self.reached: str = "TLS"
        self.ended = asyncio.Event()
        self.messages_in: int = 0
        self.bytes_in: int = 0
        self._most_bytes = max_message_bytes
        self.arrived_ns: int = 0
        self._times = ReadTimes()
        self._arrived_upto = 0  # `arrived_ns` holds up to this place, counted as `bytes_in`
        self._early: list[tuple[str | bytes, int]] = []
        self._take: MessageHandler = self._keep_early
        self._is_full: Callable[[], bool] | None = None
        self._rest = bytearray()  # the start of an incomplete frame
        self._needed = 2  # bytes needed before parsing can continue
        self._big: str | bytes | None = None  # a message that waits for a turn of its own
        self._parts = bytearray()  # of a message in several frames
        self._parts_kind: int | None = None  # its first opcode; None if there is no such message
        self._upgraded = False
        self._paused = False
        self._deaf = False  # from here on all bytes go to the library
        self._over = False  # from here on bytes are dropped

    def listen(self, take: MessageHandler, is_full: Callable[[], bool] | None = None) -> None:
        """Delivers every message from now on, after the messages received earlier.

        Args:
            take: receives each message.
            is_full: while it returns True, reading pauses, so that the sender waits.
        """
        self._is_full = is_full
        early = list(self._early)
        self._early.clear()
        self._take = take
        after_ns = self.arrived_ns
        # Each early message is delivered with its own arrival time.
        for message, self.arrived_ns in early:
            take(message)
        self.arrived_ns = after_ns

    def _keep_early(self, message: str | bytes) -> None:
        self._early.append((message, self.arrived_ns))

    # asyncio.Protocol

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.reached = "upgrade"
        super().connection_made(transport)

    @override
    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        self.bytes_in += len(data)
        self._times.on_read(self.bytes_in)
        if not self._upgraded:
            data = self._answer_to_upgrade(data)
            if not self._upgraded:
                return
        if self._rest or self._paused:
            self._rest += data
            # A huge frame comes in many pieces; they are joined once, at the end.
            if self._paused or len(self._rest) < self._needed:
                return
            if self._needed > BIG_BYTES and self._parts_kind is None and self._rest[0] in heads.WHOLE_FRAMES:
                self._big_frame()
                return
            data = bytes(self._rest)
            self._rest.clear()
        self._parse(data)
        if self._is_full is not None and not (self._paused or self._over) and self._is_full():
            self._pause_reading(b"")

    @override
    def eof_received(self) -> None:
        self._parse_what_waits()
        super().eof_received()
        self._note_end()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._parse_what_waits()
        super().connection_lost(exc)
        self.ended.set()

    def _answer_to_upgrade(self, data: bytes) -> bytes:
        """Passes the response to the upgrade to the library; returns the bytes after it."""
        received = bytes(self._rest) + data
        self._rest.clear()
        # The response may come byte by byte, so a prefix of it counts as well.
        is_http = received[:5] == b"HTTP/"[: len(received)]
        end = received.find(_END_OF_HEADERS)
        if is_http and end < 0 and len(received) < _MOST_HEADERS:
            self._rest += received
            return b""
        self._upgraded = True
        if not is_http:
            super().data_received(received + _END_OF_HEADERS)  # it would wait for the end of a line
            self._deaf = True
            return b""
        end = len(received) if end < 0 else end + len(_END_OF_HEADERS)
        super().data_received(received[:end])
        # A refusal has a body, not frames; the library reads it.
        self._deaf = self.protocol.state is not State.OPEN
        if self._deaf and not _NAMES_ITS_LENGTH.search(received[:end]):
            super().eof_received()  # a refusal needs no body; waiting for one would last until the server hangs up
            self._over = True
        return received[end:]

    # frames

    def _parse(self, data: bytes, *, may_pause: bool = True) -> None:
        """Delivers the messages of complete frames in ``data``; keeps an incomplete one. About 1 µs per frame."""
        at, end, count, needed = 0, len(data), 0, 2
        begin = self.bytes_in - end
        # The window paints on this thread; without a limit, a flood would freeze it.
        until = self.loop.time() + SLICE_S
        while not self._deaf:
            start = at + 2
            if start > end:
                break
            head, length = data[at], data[at + 1]
            if length in heads.LENGTH_BYTES:
                start += heads.LENGTH_BYTES[length]
                if start > end:
                    needed = start - at
                    break
                length = int.from_bytes(data[at + 2 : start], "big")
            elif length >= heads.MASKED:
                # RFC 6455, 5.1: a server must not mask its frames.
                self._fail(CloseCode.PROTOCOL_ERROR, "incorrect masking")
                break
            if head != heads.WHOLE_TEXT or length > self._most_bytes:
                refused = heads.refusal(head, length, self._most_bytes)
                if refused is not None:
                    self._fail(*refused)
                    break
            stop = start + length
            if stop > end:
                needed = stop - at
                break
            # Many frames arrive in one read, so they share one lookup.
            if begin + stop > self._arrived_upto:
                self.arrived_ns, self._arrived_upto = self._times.time_of(begin + stop)
            if head == heads.WHOLE_TEXT and self._parts_kind is None:
                self._text(data[start:stop])
            else:
                # The library parses control frames itself, so it gets the header too.
                self._other_frame(head, data[at if head in heads.CONTROL else start : stop])
                if self._big is not None:
                    if may_pause:
                        self._pause_reading(data[stop:])
                        return
                    self._hand_over_big()
            at = stop
            count += 1
            if may_pause and not count & _LOOK_AT_CLOCK and self.loop.time() > until:
                self._pause_reading(data[at:])
                return
        if self._over:
            return
        if self._deaf:
            super().data_received(data[at:])
            self._note_end()
        else:
            self._rest += data[at:]
            self._needed = needed

    def _big_frame(self) -> None:
        """Extracts a big frame without needless copies; delivers it in a turn of its own."""
        start = 2 + heads.LENGTH_BYTES.get(self._rest[1], 0)
        # Released before `_rest` is replaced: an exported bytearray cannot be resized.
        with memoryview(self._rest) as view, view[start : self._needed] as payload:
            self._defer_big(payload, is_text=self._rest[0] == heads.WHOLE_TEXT)
            rest = bytes(view[self._needed :])
        self.arrived_ns, self._arrived_upto = self._times.time_of(self.bytes_in - len(rest))
        self._rest = bytearray()
        self._pause_reading(rest)

    def _defer_big(self, payload: memoryview | bytearray, *, is_text: bool) -> None:
        """Defers a big message to a turn of its own: decoding 50 MB takes about 50 ms, and so does its processing."""
        try:
            self._big = str(payload, "utf-8") if is_text else bytes(payload)
        except UnicodeDecodeError as error:
            self._fail(CloseCode.INVALID_DATA, f"{error.reason} at position {error.start}")

    def _hand_over_big(self) -> None:
        message, self._big = self._big, None
        if message is not None:
            self.messages_in += 1
            self._take(message)

    def _text(self, raw: bytes) -> None:
        try:
            message = raw.decode()
        except UnicodeDecodeError as error:
            self._fail(CloseCode.INVALID_DATA, f"{error.reason} at position {error.start}")
            return
        self.messages_in += 1
        self._take(message)

    def _binary(self, raw: bytes) -> None:
        self.messages_in += 1
        self._take(raw)

    def _other_frame(self, head: int, data: bytes) -> None:
        """Handles all frames but whole text messages. `data` is a whole control frame, or the payload of others."""
        if head in heads.CONTROL:
            super().data_received(data)
            self._deaf = head == heads.CLOSE
            self._note_end()
        elif head in (heads.CONTINUATION, heads.LAST_CONTINUATION):
            self._add_part(data, last=head == heads.LAST_CONTINUATION)
        elif self._parts_kind is not None:
            self._fail(CloseCode.PROTOCOL_ERROR, "expected a continuation frame")
        elif head == heads.WHOLE_BINARY:
            self._binary(data)
        else:
            self._parts_kind = head
            self._parts += data

    def _add_part(self, payload: bytes, *, last: bool) -> None:
        if self._parts_kind is None:
            self._fail(CloseCode.PROTOCOL_ERROR, "unexpected continuation frame")
            return
        # Each part may be small, so the sum is limited too.
        if len(self._parts) + len(payload) > self._most_bytes:
            self._fail(CloseCode.MESSAGE_TOO_BIG, f"its parts are over the limit of {self._most_bytes} bytes")
            return
        self._parts += payload
        if not last:
            return
        parts, is_text = self._parts, self._parts_kind == heads.TEXT
        self._parts, self._parts_kind = bytearray(), None
        if len(parts) > BIG_BYTES:
            self._defer_big(parts, is_text=is_text)
        else:
            (self._text if is_text else self._binary)(bytes(parts))

    # turns

    def _pause_reading(self, rest: bytes) -> None:
        self._rest += rest
        self._paused = True
        # The socket's buffer fills meanwhile, and TCP slows the sender down.
        self.transport.pause_reading()
        self.loop.call_soon(self._resume)

    def _resume(self) -> None:
        if not self._paused:
            return
        if self._is_full is not None and self._is_full():
            self.loop.call_later(_FULL_S, self._resume)
            return
        if self._big is not None:
            self._hand_over_big()
            self.loop.call_soon(self._resume)
            return
        self._paused = False
        data = bytes(self._rest)
        self._rest.clear()
        self._parse(data)
        if not self._paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def _parse_what_waits(self) -> None:
        if self._paused:
            self._paused = False
            self._hand_over_big()
            data = bytes(self._rest)
            self._rest.clear()
            # There is no later turn: the connection has ended.
            self._parse(data, may_pause=False)

    # end

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.protocol.fail(code, reason)
        self.send_data()
        self._deaf = True
        self._note_end()

    def _note_end(self) -> None:
        if self.protocol.state is not State.OPEN:
            self.ended.set()

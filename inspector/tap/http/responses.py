"""Records calls of OpenAI's Responses API over a WebSocket as HTTP exchanges.

A client sends `response.create` repeatedly on one connection; the server answers each with the events of its HTTP
stream. Readers of model calls need only know the HTTP form.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from inspector.tap.http.recording import Headers, Recording

_CREATE = b"response.create"
_ENDS = frozenset({"response.completed", "response.failed", "response.incomplete", "error"})
_STREAM: Iterable[tuple[str, str]] = (("Content-Type", "text/event-stream"),)


class _Typed(msgspec.Struct, gc=False):
    type: str = ""


_decode_type = msgspec.json.Decoder(_Typed).decode


class ResponseCalls:
    """Calls on one connection; the server answers them in order."""

    def __init__(self, recording: Recording, target: str, headers: Headers) -> None:
        """Prepares the recording.

        Args:
            recording: receives the calls.
            target: path and query of the connection.
            headers: headers of the request that opened it.
        """
        self._recording = recording
        self._target = target
        self._headers = list(headers)
        self._open: deque[int] = deque()
        self._answered = 0

    def is_recorded(self, data: bytes, *, by_server: bool) -> bool:
        """Records a frame that is part of a call; returns False for any other frame."""
        # A search costs less than decoding every frame of a client.
        sort = _type_of(data) if by_server or _CREATE in data else ""
        if not by_server:
            if sort == _CREATE.decode():
                self._begin(data)
            return sort == _CREATE.decode()
        if not self._open or not (sort.startswith("response.") or sort == "error"):
            return False
        self._answer(data, sort)
        return True

    def end(self, how: str, why: str) -> None:
        """Ends the calls without an answer, since the connection has ended."""
        while self._open:
            # A connection may end in order while a call has no end yet.
            self._recording.end(self._open.popleft(), how if how != "complete" else "server-broke", why)

    def _begin(self, data: bytes) -> None:
        exchange = self._recording.begin("POST", self._target, self._headers)
        self._recording.asked(exchange, data)
        self._recording.asked_all(exchange)
        self._open.append(exchange)

    def _answer(self, data: bytes, sort: str) -> None:
        exchange = self._open[0]
        if self._answered != exchange:
            self._answered = exchange
            self._recording.answer_begun(exchange, 200, _STREAM)
        # A line end inside the data would end the field.
        event = b"event: " + sort.encode() + b"\ndata: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"
        self._recording.answered(exchange, event)
        if sort in _ENDS:
            self._recording.end(exchange, "complete")
            self._open.popleft()


def _type_of(data: bytes) -> str:
    try:
        sort = _decode_type(data).type
    except (msgspec.MsgspecError, RecursionError):
        return ""
    # A line end in the type would forge a further field of the event.
    return sort if sort.isascii() and sort.isprintable() else ""

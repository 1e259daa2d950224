"""Incremental parser of server-sent events (HTML Living Standard, 9.2.6). No I/O."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from inspector.base.bounded_buffers import BoundedBuffer, BufferLimit

LONGEST_EVENT_BYTES = 1 << 28
"""A longer event is passed on but not recorded."""


class ServerSentEvent(NamedTuple):
    """One event, or a block of comments."""

    data: bytes | None
    """Its joined data lines; None without any."""
    event: str | None = None
    id: str | None = None
    retry: str | None = None
    comment: str | None = None


class EventMaker:
    """Splits a stream's bytes into events.

    Attributes:
        lost_bytes: bytes of events that were too long.
    """

    def __init__(self, longest_bytes: int = LONGEST_EVENT_BYTES, room: BufferLimit | None = None) -> None:
        """Prepares the parser.

        Args:
            longest_bytes: limit of one event.
            room: limit shared by all streams; None for a limit of its own.
        """
        self.lost_bytes = 0
        self._longest_bytes = longest_bytes
        self._held = BoundedBuffer(room or BufferLimit(longest_bytes))
        self._last = b""  # last byte, also of dropped data: it may be the first half of a blank line
        self._begun = False
        self._ends_in_return = False
        self._skipping = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Returns the events completed by these bytes."""
        if not data:  # keeps `_ends_in_return`, since a line end may continue in later bytes
            return []
        if self._ends_in_return and data[:1] == b"\n":  # second half of a CR LF
            data = data[1:]
        # A piece may end between CR and LF: both together are one line end.
        self._ends_in_return = data[-1:] == b"\r"
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if self._last == data[:1] == b"\n":
            self._hold(b"\n")
            data = data[1:]
            whole = [self._take()]
        else:
            whole = []
        first, *others = data.split(b"\n\n")
        if others:
            self._hold(first)
            whole += [self._take(), *others[:-1]]
            self._hold(others[-1])
        else:
            self._hold(first)
        return [event for block in whole if (event := _event(block)) is not None]

    def rest(self) -> ServerSentEvent | None:
        """Returns and clears the unfinished event."""
        block = self._take()
        return _event(block) if block.strip(b"\n") else None

    def lose(self) -> None:
        """Notes missing bytes: the pending event has no end, and the next one no beginning."""
        self._held.clear()
        self._last, self._skipping = b"", True

    def _take(self) -> bytes:
        block = self._held.take_contents()
        self._last, self._skipping = b"", False
        # The standard drops one byte order mark at the beginning of a stream.
        if not self._begun:
            self._begun, block = True, block.removeprefix(codecs.BOM_UTF8)
        return block

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._last = part[-1:]
        if not self._skipping and len(self._held) + len(part) <= self._longest_bytes and self._held.append(part):
            return
        self.lost_bytes += self._held.clear() + len(part)
        self._skipping = True


def _event(block: bytes) -> ServerSentEvent | None:
    """Parses a block of lines; returns None if it has no known field."""
    data: list[bytes] = []
    event = identifier = retry = comment = None
    for line in block.split(b"\n"):
        if not line:
            continue
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value.decode(errors="replace")
        elif name == b"id":
            identifier = value.decode(errors="replace")
        elif name == b"retry":
            retry = value.decode(errors="replace")
        elif not name:
            text = value.decode(errors="replace")
            comment = text if comment is None else f"{comment}\n{text}"
    if not data and event is identifier is retry is comment is None:
        return None
    return ServerSentEvent(b"\n".join(data) if data else None, event, identifier, retry, comment)

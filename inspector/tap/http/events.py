"""Server-sent events out of bytes that come cut anywhere (HTML Living Standard, 9.2.6). No I/O."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from inspector.base.bounded_buffers import HeldBytes, Room

LONGEST_EVENT_BYTES = 1 << 28
"""A longer one is passed on like any other, and not written down."""


class ServerSentEvent(NamedTuple):
    """One event, or a block of comments."""

    data: bytes | None
    """Its lines of data joined; None where there is none."""
    event: str | None = None
    id: str | None = None
    retry: str | None = None
    comment: str | None = None


class EventMaker:
    """Makes whole events of a stream's bytes.

    Attributes:
        lost_bytes: of events that were too long.
    """

    def __init__(self, longest_bytes: int = LONGEST_EVENT_BYTES, room: Room | None = None) -> None:
        """Prepare.

        Args:
            longest_bytes: a longer event is lost.
            room: of all streams together; its own where there is none.
        """
        self.lost_bytes = 0
        self._longest_bytes = longest_bytes
        self._held = HeldBytes(room or Room(longest_bytes))
        self._last = b""  # the last byte held, also of what is lost: a line end may be the half of a blank line
        self._begun = False
        self._ends_in_return = False
        self._skipping = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Events that these bytes end."""
        if not data:  # a line end may go on behind it
            return []
        if self._ends_in_return and data[:1] == b"\n":  # a line end that was cut in two
            data = data[1:]
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
        """The event that has no end yet; it is taken."""
        block = self._take()
        return _event(block) if block.strip(b"\n") else None

    def lose(self) -> None:
        """Bytes are missing here: what is held has no end, and what comes next no beginning."""
        self._held.drop()
        self._last, self._skipping = b"", True

    def _take(self) -> bytes:
        block = self._held.take()
        self._last, self._skipping = b"", False
        if not self._begun:
            self._begun, block = True, block.removeprefix(codecs.BOM_UTF8)
        return block

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._last = part[-1:]
        if not self._skipping and len(self._held) + len(part) <= self._longest_bytes and self._held.add(part):
            return
        self.lost_bytes += self._held.drop() + len(part)
        self._skipping = True


def _event(block: bytes) -> ServerSentEvent | None:
    """What a block of lines says; None where it says nothing."""
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

"""What a proxy tells its recorder, as bytes for a pipe."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

_HEAD = struct.Struct("<BIqI")


class Sort(IntEnum):
    """What an entry tells."""

    BEGIN = 0
    """An exchange: `{"method","target","headers"}`."""
    ASKED = 1
    """Bytes of the request's body."""
    ASKED_ALL = 2
    """The request is whole."""
    HEAD = 3
    """How it is answered: `{"status","headers"}`."""
    ANSWERED = 4
    """Bytes of the answer's body."""
    FRAME = 5
    """A frame of a WebSocket, behind a byte: 1 by the server, 2 binary."""
    LOST = 6
    """So many bytes are missing here, as a number."""
    ERROR = 7
    """The tap answered itself: `{"status","text"}`; the exchange ends."""
    END = 8
    """`{"how","why"}`: `complete`, `client-closed`, `server-broke`, `refused`."""
    CLOSE = 9
    """The tap ends: `{"reason"}`."""


class Entry(NamedTuple):
    """One thing that happened."""

    sort: Sort
    exchange: int
    time_ns: int
    """Nanoseconds since the Unix epoch."""
    data: bytes = b""

    def facts(self) -> dict[str, Any]:
        """What data says that is JSON."""
        return json.loads(self.data) if self.data else {}


def packed(entries: list[Entry]) -> bytes:
    """Entries as they go through a pipe."""
    parts: list[bytes] = []
    for sort, exchange, time_ns, data in entries:
        parts += (_HEAD.pack(sort, exchange & 0xFFFFFFFF, time_ns, len(data)), data)
    return b"".join(parts)


def unpacked(data: bytes) -> Iterator[Entry]:
    """The entries that were packed."""
    place = 0
    while place < len(data):
        sort, exchange, time_ns, size = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        yield Entry(Sort(sort), exchange, time_ns, data[place : place + size])
        place += size

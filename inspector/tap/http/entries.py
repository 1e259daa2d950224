"""Packs events of the proxy as bytes for the pipe to the recording process."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

_HEAD = struct.Struct("<BIqI")


class Sort(IntEnum):
    """Type of an entry."""

    BEGIN = 0
    """New exchange: `{"method","target","headers"}`."""
    ASKED = 1
    """Bytes of the request's body."""
    ASKED_ALL = 2
    """The request is complete."""
    HEAD = 3
    """Head of the response: `{"status","headers"}`."""
    ANSWERED = 4
    """Bytes of the response's body."""
    FRAME = 5
    """WebSocket frame after a byte of flags: 1 from the server, 2 binary."""
    LOST = 6
    """Number of bytes that are missing here."""
    ERROR = 7
    """Response of the tap itself: `{"status","text"}`; the exchange ends."""
    END = 8
    """`{"how","why"}`: `complete`, `client-closed`, `server-broke`, `refused`."""
    CLOSE = 9
    """The tap ends: `{"reason"}`."""


class Entry(NamedTuple):
    """One event of an exchange."""

    sort: Sort
    exchange: int
    time_ns: int
    """Nanoseconds since the Unix epoch."""
    data: bytes = b""

    def facts(self) -> dict[str, Any]:
        """Decodes data that is JSON."""
        return json.loads(self.data) if self.data else {}


def packed(entries: list[Entry]) -> bytes:
    """Packs entries for the pipe."""
    parts: list[bytes] = []
    for sort, exchange, time_ns, data in entries:
        parts += (_HEAD.pack(sort, exchange & 0xFFFFFFFF, time_ns, len(data)), data)
    return b"".join(parts)


def unpacked(data: bytes) -> Iterator[Entry]:
    place = 0
    while place < len(data):
        sort, exchange, time_ns, size = _HEAD.unpack_from(data, place)
        place += _HEAD.size
        yield Entry(Sort(sort), exchange, time_ns, data[place : place + size])
        place += size

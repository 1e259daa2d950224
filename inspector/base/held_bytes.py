"""Bytes that are not whole yet, of many exchanges: bounded together, and no object for each piece. No I/O."""

from __future__ import annotations

_MUCH_BYTES = 1 << 20


class Room:
    """How much may be held at the same time.

    Twice as much where what holds it has less than a megabyte: a few that are large do not cost all others.

    Attributes:
        taken_bytes: held now.
    """

    def __init__(self, most_bytes: int) -> None:
        self.taken_bytes = 0
        self._most_bytes = most_bytes

    def is_full(self, size: int) -> bool:
        """Whether something that would have this size is too much."""
        return self.taken_bytes > self._most_bytes * (1 if size > _MUCH_BYTES else 2)


class HeldBytes:
    """What one body or event has so far. A million pieces of two bytes as objects would take forty megabytes."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: bytes) -> bool:
        """Hold some more; False where there is no room for it."""
        if self._room.is_full(len(self._data) + len(data)):
            return False
        self._data += data
        self._room.taken_bytes += len(data)
        return True

    def take(self) -> bytes:
        """All of it; nothing is held after that."""
        data = bytes(self._data)
        self.drop()
        return data

    def drop(self) -> int:
        """Hold nothing any more; how many bytes that were."""
        size = len(self._data)
        self._room.taken_bytes -= size
        self._data = bytearray()
        return size

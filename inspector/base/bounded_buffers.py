"""Buffers for incomplete bodies and events of many exchanges, with a shared limit. No I/O."""

from __future__ import annotations

_LARGE_BYTES = 1 << 20


class BufferLimit:
    """Shared limit of buffered bytes.

    Buffers below a megabyte may use twice the limit, so that a few large ones do not starve all others.

    Attributes:
        taken_bytes: bytes in use.
    """

    def __init__(self, most_bytes: int) -> None:
        self.taken_bytes = 0
        self._most_bytes = most_bytes

    def is_full(self, size: int) -> bool:
        """Returns True if a buffer of this size would exceed the limit."""
        return self.taken_bytes > self._most_bytes * (1 if size > _LARGE_BYTES else 2)


class BoundedBuffer:
    """Buffer of one body or event. As separate objects, a million pieces of two bytes would take forty megabytes."""

    def __init__(self, room: BufferLimit) -> None:
        self._room = room
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data)

    def append(self, data: bytes) -> bool:
        """Appends data; returns False if the limit is reached."""
        if self._room.is_full(len(self._data) + len(data)):
            return False
        self._data += data
        self._room.taken_bytes += len(data)
        return True

    def take_contents(self) -> bytes:
        """Returns the contents and clears the buffer."""
        data = bytes(self._data)
        self.clear()
        return data

    def clear(self) -> int:
        """Clears the buffer; returns its size."""
        size = len(self._data)
        self._room.taken_bytes -= size
        self._data = bytearray()
        return size

"""One of the files that were at a log's place, one after the other: how far it was taken, and whether it still is."""

from __future__ import annotations

import os

from inspector.store.files.source_files import last_end, read_at

_HEAD_BYTES = 1 << 10
_TAIL_BYTES = 1 << 8
_LOOK_BYTES = 1 << 16


class Generation:
    """A file that is written while it is read.

    Attributes:
        file: its descriptor.
        key: which file it is, whatever it is called by now.
        found_at: when it was first seen, by the monotonic clock.
        written_at_s: when it was last written before that, seconds since the Unix epoch.
        taken: bytes from its start that count as read.
        size: bytes in it when last looked at.
        changed_at: when it was last seen to change, by the monotonic clock.
        torn: what was taken ends within a line.
    """

    def __init__(self, file: int, *, found_at: float = 0.0) -> None:
        """Begin with nothing taken. Raises OSError."""
        self.file = file
        self.found_at = found_at
        status = os.fstat(file)
        self.key = (status.st_dev, status.st_ino)
        self.written_at_s = status.st_mtime
        self.size = self.taken = 0
        self.changed_at = found_at
        self.torn = False
        self._stamp = (-1, -1)
        self._head = self._tail = b""  # the first and the last bytes taken, by which it is known again
        self._scanned = 0

    def look(self, now: float) -> bool:
        """Whether it has changed since it was last looked at."""
        status = os.fstat(self.file)
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp == self._stamp:
            return False
        self._stamp, self.size, self.changed_at = stamp, status.st_size, now
        return True

    def forget_stamp(self) -> None:
        """The next look finds it changed."""
        self._stamp = (-1, -1)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset; fewer where it ends before."""
        return read_at(self.file, offset, length)

    def take(self, data: bytes) -> None:
        """The bytes behind those taken count as read; by them, not by what lies there by now, it is known again."""
        self.taken += len(data)
        if len(self._head) < _HEAD_BYTES:
            self._head = (self._head + data[:_HEAD_BYTES])[:_HEAD_BYTES]
        self._tail = (self._tail + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        self.torn = not data.endswith(b"\n")

    def take_from_file(self, stop: int) -> None:
        """All before an offset counts as read."""
        head = self.read(0, min(stop, _HEAD_BYTES))
        tail = max(0, stop - _TAIL_BYTES)
        self.taken, self._head, self._tail = stop, head, self.read(tail, stop - tail)
        self.torn = stop > 0 and not self._tail.endswith(b"\n")

    def was_replaced(self) -> bool:
        """Whether what was taken is no longer what it begins with."""
        if os.fstat(self.file).st_size < self.taken or self.read(0, len(self._head)) != self._head:
            return True
        return self.read(self.taken - len(self._tail), len(self._tail)) != self._tail

    def start_again(self) -> None:
        """It was truncated: what is in it is new, behind the zeros of a writer that goes on where it was."""
        self._scanned = self._hole()
        self.take_from_file(self._scanned)
        self.torn = False

    def _hole(self) -> int:
        place = 0
        while (data := self.read(place, _LOOK_BYTES)) and data[:1] == b"\0":
            zeros = len(data) - len(data.lstrip(b"\0"))
            place += zeros
            if zeros < len(data):
                break
        return place

    def end_of_lines(self) -> int:
        """Where its last whole line ends; where it was taken to when no more have ended. Looks at no byte twice."""
        least = max(self._scanned, self.taken)
        end = last_end(self.read, least, self.size)
        if end > least:
            return end
        self._scanned = self.size
        return self.taken

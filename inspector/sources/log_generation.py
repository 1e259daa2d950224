"""One of the successive files of a log: its read position, and detection of replacement."""

from __future__ import annotations

import os

from inspector.store.files.source_files import find_last_line_end, read_at

_HEAD_BYTES = 1 << 10
_TAIL_BYTES = 1 << 8
_LOOK_BYTES = 1 << 16


class LogGeneration:
    """A file that is read while it is written.

    Attributes:
        file: its descriptor.
        key: device and inode, independent of its name.
        found_at: monotonic time of discovery.
        written_at_s: last write before discovery, seconds since the Unix epoch.
        taken: bytes from its start that count as read.
        size: bytes at the last check.
        changed_at: monotonic time of the last observed change.
        torn: the read part ends within a line.
    """

    def __init__(self, file: int, *, found_at: float = 0.0) -> None:
        """Starts with no bytes read. Raises OSError."""
        self.file = file
        self.found_at = found_at
        status = os.fstat(file)
        self.key = (status.st_dev, status.st_ino)
        self.written_at_s = status.st_mtime
        self.size = self.taken = 0
        self.changed_at = found_at
        self.torn = False
        self._stamp = (-1, -1)
        self._head = self._tail = b""  # first and last bytes read, to recognize the file
        self._scanned = 0

    def check_changed(self, now: float) -> bool:
        """Returns True if the file has changed since the last check."""
        status = os.fstat(self.file)
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp == self._stamp:
            return False
        self._stamp, self.size, self.changed_at = stamp, status.st_size, now
        return True

    def forget_stamp(self) -> None:
        """Makes the next check report a change."""
        self._stamp = (-1, -1)

    def read(self, offset: int, length: int) -> bytes:
        """Returns bytes at an offset; fewer at the end of the file."""
        return read_at(self.file, offset, length)

    def count_read(self, data: bytes) -> None:
        """Counts the next bytes as read; later checks compare with `data`, not with the file's present content."""
        self.taken += len(data)
        if len(self._head) < _HEAD_BYTES:
            self._head = (self._head + data[:_HEAD_BYTES])[:_HEAD_BYTES]
        self._tail = (self._tail + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]
        self.torn = not data.endswith(b"\n")

    def count_read_to(self, stop: int) -> None:
        """Counts all bytes before an offset as read."""
        head = self.read(0, min(stop, _HEAD_BYTES))
        tail = max(0, stop - _TAIL_BYTES)
        self.taken, self._head, self._tail = stop, head, self.read(tail, stop - tail)
        self.torn = stop > 0 and not self._tail.endswith(b"\n")

    def was_replaced(self) -> bool:
        """Returns True if the file no longer begins with the bytes read."""
        if os.fstat(self.file).st_size < self.taken or self.read(0, len(self._head)) != self._head:
            return True
        return self.read(self.taken - len(self._tail), len(self._tail)) != self._tail

    def start_again(self) -> None:
        """Restarts after a truncation, behind the zeros of a writer that kept its old offset."""
        self._scanned = self._hole()
        self.count_read_to(self._scanned)
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
        """Returns the end of the last whole line, or of the part read. Reads no byte twice."""
        least = max(self._scanned, self.taken)
        end = find_last_line_end(self.read, least, self.size)
        if end > least:
            return end
        self._scanned = self.size
        return self.taken

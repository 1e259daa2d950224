"""Bounded queue between the pumps and the recorder; it never blocks the traffic."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import NamedTuple

CLIENT, SERVER = 0, 1
"""Numbers of the two sides."""
WAYS = ("client->server", "server->client")
"""Directions by side, as written in captures."""

# Memory must stay bounded while a disk hangs; the pipe itself never waits.
MOST_WAITING_BYTES = 1 << 26
"""Bytes that may wait while the recorder is stuck; later data is dropped from the capture and counted."""
ENTRY_BYTES = 200
"""Overhead of an entry in bytes, approximately."""


class BacklogEntry(NamedTuple):
    """Bytes from one side, or a count of dropped bytes."""

    time_ns: int
    """Time of arrival, nanoseconds since the Unix epoch."""
    way: int
    data: bytes
    lost_bytes: int = 0
    lost_lines: int = 0
    torn: bool = False
    """The dropped bytes end within a line."""
    ended: str | None = None
    """Reason for the end of this direction, "" for a normal end; None while it is open."""

    def not_kept(self) -> BacklogEntry:
        """Returns the entry with its bytes replaced by their counts."""
        if not self.data:
            return self
        size, ends = self.lost_bytes + len(self.data), self.lost_lines + self.data.count(b"\n")
        return self._replace(data=b"", lost_bytes=size, lost_lines=ends, torn=not self.data.endswith(b"\n"))


class Backlog:
    """Queue from two pumps, each on its own thread, to one recorder, in order of arrival.

    It neither blocks nor locks: each counter is written by one thread only.
    """

    def __init__(self, most_bytes: int = MOST_WAITING_BYTES) -> None:
        self.filled = threading.Event()
        self._most_bytes = most_bytes
        self._waiting: deque[BacklogEntry] = deque()
        self._put = [0, 0]
        self._taken = [0, 0]
        self._lost_bytes = [0, 0]
        self._lost_lines = [0, 0]
        self._torn = [False, False]

    def append_data(self, way: int, data: bytes) -> None:
        """Queues bytes; called before they are passed on, so that no answer precedes its request."""
        now = time.time_ns()
        # Three threads without a lock: each counter has one writer, so the sum is at most slightly old.
        waiting = self._put[0] + self._put[1] - self._taken[0] - self._taken[1]
        # A full queue stays closed until it is half empty: that makes few long gaps instead of many short ones.
        if waiting > (self._most_bytes // 2 if self._lost_bytes[way] else self._most_bytes):
            self._lost_bytes[way] += len(data)
            self._lost_lines[way] += data.count(b"\n")
            self._torn[way] = not data.endswith(b"\n")
            return
        if self._lost_bytes[way]:
            self._append_loss(way, now)
        self._put[way] += len(data) + ENTRY_BYTES
        self._waiting.append(BacklogEntry(now, way, data))
        # Checked first, since `set` takes a lock and this runs once per read.
        if not self.filled.is_set():
            self.filled.set()

    def end(self, way: int, why: str) -> None:
        """Marks the end of a direction."""
        now = time.time_ns()
        if self._lost_bytes[way]:
            self._append_loss(way, now)
        self._waiting.append(BacklogEntry(now, way, b"", ended=why))
        self.filled.set()

    def pop_entry(self) -> BacklogEntry | None:
        """Returns the oldest entry, or None if the queue is empty. Called on the recorder's thread."""
        if not self._waiting:
            return None
        entry = self._waiting.popleft()
        if entry.data:
            self._taken[entry.way] += len(entry.data) + ENTRY_BYTES
        return entry

    def _append_loss(self, way: int, now: int) -> None:
        self._waiting.append(BacklogEntry(now, way, b"", self._lost_bytes[way], self._lost_lines[way], self._torn[way]))
        self._lost_bytes[way] = self._lost_lines[way] = 0

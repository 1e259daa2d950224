"""What was said and is not written down yet: bounded, and never in the way of whoever says it."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import NamedTuple

CLIENT, SERVER = 0, 1
"""Who says something, as numbers."""
WAYS = ("client->server", "server->client")
"""Which way it goes, as captures write it."""

MOST_WAITING_BYTES = 1 << 26
"""More than this waits only while the recorder stands still; what comes then is lost to the capture, and counted."""
ENTRY_BYTES = 200
"""That an entry takes beside its bytes, about."""


class BacklogEntry(NamedTuple):
    """Bytes that one side said; or, in their place, how many it said that were not kept."""

    time_ns: int
    """When they came, nanoseconds since the Unix epoch."""
    way: int
    data: bytes
    lost_bytes: int = 0
    lost_lines: int = 0
    torn: bool = False
    """What was lost ends within a line."""
    ended: str | None = None
    """Nothing more will come this way; why, or "" where that is as it should be."""

    def not_kept(self) -> BacklogEntry:
        """The same, of which it is only known how much it was."""
        if not self.data:
            return self
        size, ends = self.lost_bytes + len(self.data), self.lost_lines + self.data.count(b"\n")
        return self._replace(data=b"", lost_bytes=size, lost_lines=ends, torn=not self.data.endswith(b"\n"))


class Backlog:
    """Takes what two pumps read, each on its own thread, and hands it to one recorder in the order it came.

    Nothing here blocks, and no lock is held: each figure is written by one thread only.
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

    def put(self, way: int, data: bytes) -> None:
        """Take in bytes; called before they are passed on, so that no answer stands before its question."""
        now = time.time_ns()
        waiting = self._put[0] + self._put[1] - self._taken[0] - self._taken[1]
        # What is full stays so until it is half empty: a few long gaps and not many short ones.
        if waiting > (self._most_bytes // 2 if self._lost_bytes[way] else self._most_bytes):
            self._lost_bytes[way] += len(data)
            self._lost_lines[way] += data.count(b"\n")
            self._torn[way] = not data.endswith(b"\n")
            return
        if self._lost_bytes[way]:
            self._tell_loss(way, now)
        self._put[way] += len(data) + ENTRY_BYTES
        self._waiting.append(BacklogEntry(now, way, data))
        if not self.filled.is_set():
            self.filled.set()

    def end(self, way: int, why: str) -> None:
        """Nothing more comes this way."""
        now = time.time_ns()
        if self._lost_bytes[way]:
            self._tell_loss(way, now)
        self._waiting.append(BacklogEntry(now, way, b"", ended=why))
        self.filled.set()

    def take(self) -> BacklogEntry | None:
        """What has waited longest; None when nothing waits. On the recorder's thread."""
        if not self._waiting:
            return None
        entry = self._waiting.popleft()
        if entry.data:
            self._taken[entry.way] += len(entry.data) + ENTRY_BYTES
        return entry

    def _tell_loss(self, way: int, now: int) -> None:
        self._waiting.append(BacklogEntry(now, way, b"", self._lost_bytes[way], self._lost_lines[way], self._torn[way]))
        self._lost_bytes[way] = self._lost_lines[way] = 0

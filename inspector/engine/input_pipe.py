"""The input of an engine process, which takes frames without waiting for the engine.

A hung engine reads nothing, so its pipe fills up. The window must go on, also to end that engine.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from typing import IO


class InputPipe:
    """Writes frames to a pipe in their order. A thread writes the backlog of an engine that does not keep up.

    Args:
        pipe: the pipe, unbuffered.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._backlog: deque[memoryview] = deque()
        self._has_writer = self._is_closed = False
        self._set_blocking(False)

    def send(self, frame: bytes) -> None:
        """Sends a frame; drops it after `close` or the end of the process."""
        with self._lock:
            if self._is_closed:
                return
            rest = memoryview(frame)
            if not self._has_writer and sys.platform != "win32":
                rest = rest[self._write(rest) :]
            if not rest:
                return
            self._backlog.append(rest)
            if not self._has_writer:
                self._has_writer = True
                self._set_blocking(True)
                threading.Thread(target=self._write_backlog, name="engine requests", daemon=True).start()

    def close(self) -> None:
        """Closes the pipe once the backlog is written."""
        with self._lock:
            if not self._is_closed and not self._has_writer:
                self._pipe.close()
            self._is_closed = True

    def _write(self, data: memoryview) -> int:
        """Returns the number of bytes that are done with: written, or without a reader."""
        try:
            return self._pipe.write(data) or 0
        except (OSError, ValueError):  # the process has ended; the reader of its output reports it
            return len(data)

    def _write_backlog(self) -> None:
        while True:
            rest = self._backlog[0]
            rest = rest[self._write(rest) :]
            with self._lock:
                if rest:
                    self._backlog[0] = rest
                    continue
                self._backlog.popleft()
                if not self._backlog:
                    self._has_writer = False
                    if self._is_closed:
                        self._pipe.close()
                    else:
                        self._set_blocking(False)
                    return

    def _set_blocking(self, value: bool) -> None:
        # Windows writes on the thread alone.
        if sys.platform != "win32":
            os.set_blocking(self._pipe.fileno(), value)

"""Passing bytes on from one pipe to another as they come, on a thread of its own."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable

from inspector.tap.backlog import Backlog

READ_BYTES = 1 << 16
"""As much as a pipe holds."""


class Pump:
    """Reads from one pipe and writes to another until either ends; then the other end learns of it as without a tap.

    When the source ends, the sink is closed; when nobody reads the sink any more, the source is.

    Attributes:
        delivering: it holds bytes that nobody took yet.
        passed: reads so far, to see whether anything moves.
        thread: where it runs; it may stay blocked for ever in a read.
    """

    def __init__(
        self, way: int, source: int, sink: int, backlog: Backlog, *, close: Callable[[int], None] = os.close
    ) -> None:
        """Prepare; nothing moves before `start`.

        Args:
            way: whose words these are, CLIENT or SERVER.
            source, sink: descriptors; both are closed with `close`.
            backlog: gets a copy of everything.
            close: closes one of the two.
        """
        self.delivering = False
        self.passed = 0
        self._way = way
        self._source = source
        self._sink = sink
        self._backlog = backlog
        self._close = close
        self.thread = threading.Thread(target=self._run, name=f"pump {way}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self.thread.start()

    def _run(self) -> None:
        try:
            why = self._pass_on()
        finally:
            self.delivering = False
            for end in (self._sink, self._source):
                try:
                    self._close(end)
                except OSError:
                    continue  # it is as gone as it can be
        self._backlog.end(self._way, why)

    def _pass_on(self) -> str:
        put, way, source, sink = self._backlog.put, self._way, self._source, self._sink
        while True:
            try:
                data = os.read(source, READ_BYTES)
            except BlockingIOError:  # somebody else's flag on a pipe that is shared
                select.select([source], [], [])
                continue
            except OSError as error:
                return f"it could not be read any more: {error.strerror or error}"
            if not data:
                return ""
            self.delivering = True
            put(way, data)
            try:
                _write_all(sink, data)
            except OSError:
                return "nobody reads any more; what was said last may not have arrived"
            self.passed += 1
            self.delivering = False


def _write_all(sink: int, data: bytes) -> None:
    written = 0
    size = len(data)
    while written < size:
        try:
            written += os.write(sink, memoryview(data)[written:] if written else data)
        except BlockingIOError:
            select.select([], [sink], [])

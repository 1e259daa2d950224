"""Records a gateway to a file without a window until stopped, with progress. No Qt.

The file is written like a live capture (`store.files.capture_writer`); another process may read it meanwhile. It prints
no output; callbacks receive the events.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from inspector.base.async_tasks import cancel_and_wait, signals_set, start_task
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState
from inspector.store.files.capture_writer import CaptureWriter, Direction

TICK_S = 0.5
"""Seconds between two progress reports."""


@dataclass(frozen=True, slots=True)
class RecordingProgress:
    """Progress of a recording."""

    messages: int
    """Messages received."""
    rate: float
    """Messages per second, over the last tick."""
    size_bytes: int
    """Size of the file."""
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """Result of a recording."""

    messages: int
    """Messages received and on disk; sent ones do not count."""
    size_bytes: int
    elapsed_s: float
    trouble: str
    """Reason for a failure, as a sentence; empty after a normal end."""
    sentence: str
    """Last sentence of the connection."""


class _CountingWriter(CaptureWriter):
    """Counts received messages and drops all after the limit."""

    def __init__(self, path: Path, *, origin: dict[str, object], most: int | None, enough: asyncio.Event) -> None:
        super().__init__(path, origin=origin, background=True)
        self.received = 0
        self._most = most
        self._enough = enough

    @override
    def add_frame(self, data: str | bytes, *, direction: Direction, time_ns: int, src: int = 0) -> None:
        # Frames between the limit and the close would exceed the requested number.
        if self._enough.is_set():
            return
        super().add_frame(data, direction=direction, time_ns=time_ns, src=src)
        if direction == "in":
            self.received += 1
            if self.received == self._most:
                self._enough.set()


class Recording:
    """Records one gateway to one file.

    Attributes:
        path: the file.
    """

    def __init__(
        self,
        connection: Connection,
        path: Path,
        *,
        seconds: float | None = None,
        messages: int | None = None,
        wait: bool = False,
        on_state: Callable[[SourceState, str], None] = lambda _state, _sentence: None,
        on_progress: Callable[[RecordingProgress], None] = lambda _progress: None,
    ) -> None:
        """Prepares the recording; `run` starts it.

        Args:
            connection: address and identity.
            path: must not exist, or be empty.
            seconds: time limit, from the gateway's welcome.
            messages: limit of received messages.
            wait: waits for the gateway to appear.
            on_state: called with each state and a sentence.
            on_progress: called twice a second.
        """
        self.path = path
        self._connection = connection
        self._seconds = seconds
        self._messages = messages
        self._wait = wait
        self._on_state = on_state
        self._on_progress = on_progress
        self._over = asyncio.Event()
        self._welcomed = asyncio.Event()

    async def run(self) -> Recorded:
        """Records until a limit, `SIGINT`, `SIGTERM`, or a permanent end of the connection.

        A file without received messages is removed.

        Raises:
            FileExistsError: the file is not empty.
            OSError: the file cannot be created.
        """
        writer = _CountingWriter(self.path, origin=self._connection.origin(), most=self._messages, enough=self._over)
        source = GatewaySource(self._connection, writer, on_state=self._on_state_changed, awaited=self._wait)
        started = time.monotonic()
        tasks: set[asyncio.Task[Any]] = set()
        with signals_set(self._over):
            running = start_task(source.run(), name="record", owner=tasks)
            start_task(self._report_progress(writer), name="tell progress", owner=tasks)
            start_task(self._end_in_time(), name="end in time", owner=tasks)
            over = start_task(self._over.wait(), name="wait for the end", owner=tasks)
            # Either may end first: the connection by itself, or the recording by a limit.
            await asyncio.wait({running, over}, return_when=asyncio.FIRST_COMPLETED)
            asked = self._over.is_set()
            await source.close()
            await cancel_and_wait(tasks)
        trouble = source.sentence if source.state is SourceState.FAILED and not asked else ""
        lost = 0
        try:
            writer.close()
        except OSError as error:
            # These were received but never reached the disk.
            lost = writer.count_pending_messages() + writer.dropped_count
            trouble = f"{error} {lost:,} messages received since are lost; those before can be read."
        else:
            lost = writer.dropped_count
            if lost:
                trouble = f"{trouble} {lost:,} messages received since are lost; those before can be read.".strip()
        recorded = writer.received - lost
        if not self.path.exists():
            trouble = trouble or f"{self.path} was moved away or deleted while it was being written."
        elif not recorded:
            self.path.unlink()
        return Recorded(recorded, writer.size_bytes, time.monotonic() - started, trouble, source.sentence)

    def _on_state_changed(self, state: SourceState, sentence: str) -> None:
        if state is SourceState.CONNECTED:
            self._welcomed.set()
        self._on_state(state, sentence)

    async def _end_in_time(self) -> None:
        if self._seconds is not None:
            await self._welcomed.wait()
            await asyncio.sleep(self._seconds)
            # Ends `run`, which closes the connection in order.
            self._over.set()

    async def _report_progress(self, writer: _CountingWriter) -> None:
        started = then = time.monotonic()
        before = 0
        while True:
            await asyncio.sleep(TICK_S)
            now, count = time.monotonic(), writer.received
            rate = (count - before) / (now - then)
            then, before = now, count
            self._on_progress(RecordingProgress(count, rate, writer.size_bytes, now - started))

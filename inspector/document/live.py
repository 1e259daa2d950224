"""A live session: a gateway source, its capture file, the document that reads it; also tests a connection.

No Qt. The document learns only from the file (docs/design.md 4, one way for live and file).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.base.async_tasks import start_task
from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import POLL_S
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState
from inspector.store.files.capture_folder import new_capture
from inspector.store.files.capture_writer import CaptureWriter

SLICE_S = 0.006
"""Seconds of checks before other tasks run."""
_BEGUN_S = 0.002
"""Seconds used in a turn after which no block is started or appended; a block needs a turn of its own."""

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of a full disk or quota."""

_LEAVES_S = 5.0
"""Seconds after which a gateway is left even without its close."""

StateCallback = Callable[[SourceState, str], None]

_REST_FACTOR = 2
"""Factor: pause between two reads of the file, relative to the duration of the last one."""
_ROUND_S = 0.1
"""Seconds between two rounds of checks while traffic arrives; a round costs the same for 10 and 1,000 messages."""
_QUIET_S = 1.0
"""Seconds without news after which polling waits for an event, or for the next clock check."""


class LiveSession:
    """Joins a gateway and feeds a document until it is closed or the connection ends.

    Attributes:
        connection: address and identity.
        document: receives the messages.
        own: our capture file in the user's data folder; saving or closing decides about it.
        writer: writes that file.
        source: the connection itself.
        state, sentence: as last reported; the sentence is for the user.
        complete: all received data is in the file and in the document, and no more follows.
    """

    def __init__(
        self, connection: Connection, document: CaptureDocument, *, on_state: StateCallback, demo: bool = False,
        others_first: Callable[[], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        """Creates the capture file and attaches the document to it.

        Args:
            connection: address and identity.
            document: an empty document.
            on_state: called with each state and a sentence for the user.
            demo: marks the capture as disposable.
            others_first: waits while other tasks need the loop, before each read.

        Raises:
            OSError: the capture file cannot be written.
        """
        self.connection = connection
        self.document = document
        self.state = SourceState.CONNECTING
        self.sentence = ""
        self.complete = self._ended = False
        self._on_state, self._others_first = on_state, others_first
        self.own = new_capture(connection.space)
        origin = connection.origin() | ({"demo": True} if demo else {})
        try:
            # In the background, so that a slow disk does not hold up the gateway.
            self.writer = CaptureWriter(self.own.path, origin=origin, background=True)
        except OSError:
            # Otherwise an empty capture would stay in the user's folder.
            self.own.discard()
            raise
        self.source = GatewaySource(connection, self.writer, on_state=self._on_state_changed, observed=True)
        document.follow_capture(self.writer.path, name=connection.space)
        document.analysis.now_ns = time.time_ns()
        self._round_due_s = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._left = asyncio.Event()
        self._arrived = asyncio.Event()
        self.writer.on_pending = self._arrived.set

    def adopt_document(self, document: CaptureDocument) -> None:
        """Feeds another document from now on, one that has read the capture with other sources."""
        # The poll reads `document` anew in each turn, so no task must be stopped.
        before, self.document = self.document, document
        if self._ended:
            document.end_live()
        else:
            document.analysis.now_ns = before.analysis.now_ns

    def start(self) -> None:
        """Connects in the background; the callback receives the states."""
        start_task(self._run(), name=f"gateway {self.connection.space}", owner=self._tasks)

    async def _run(self) -> None:
        polling = start_task(self._poll(), name="poll the capture", owner=self._tasks)
        try:
            await self.source.run()
        finally:
            self._left.set()
            # `_finish` reads the rest itself; two readers would take blocks twice.
            polling.cancel()
            await self._finish_session()

    async def _poll(self) -> None:
        behind, records, came_s, took_s = False, 0, 0.0, 0.0
        while True:
            # While catching up, it only yields to other tasks between two slices.
            await asyncio.sleep(0 if behind else max(POLL_S, _REST_FACTOR * took_s))
            if self._others_first is not None:
                await self._others_first()
            self._arrived.clear()
            began = time.thread_time()  # processor time: other load on the machine does not count
            behind, before = self._read_slice(), records
            took_s = time.thread_time() - began
            records = self.document.capture.record_count
            if behind or records != before:
                came_s = time.monotonic()
            # several sources may grow too
            elif time.monotonic() - came_s > _QUIET_S and self.document.sources.several is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_QUIET_S):
                        await self._arrived.wait()

    def _read_slice(self) -> bool:
        """Reads one slice of the file; returns True if much more waits."""
        began, analysis = time.perf_counter(), self.document.analysis
        # Between two rounds, blocks are appended and checks wait.
        more, behind = began < self._round_due_s, False
        while self.document.poll(more=more, until=began + _BEGUN_S):
            used = time.perf_counter() - began
            behind = self.document.has_backlog
            if not behind or used >= SLICE_S or (used >= _BEGUN_S and not analysis.is_checking):
                break
        if not (more or analysis.findings.unchecked_count):
            self._round_due_s = began + _ROUND_S
        return behind

    async def _finish_session(self) -> None:
        try:
            self.writer.write_all_now()
        except OSError as error:
            # Kept open: when saved elsewhere, the capture receives the data that could not be written here.
            self._on_state_changed(SourceState.FAILED, str(error))
            await self.take_in_all()
        else:
            self.writer.close()
            await self.take_in_all()
            self.document.end_live()
            self.complete = True
        self._ended = True
        self.document.live = False
        self.document.analysis.now_ns = None

    async def take_in_all(self) -> None:
        """Reads every whole line of the file in slices; also after the end, when it was saved elsewhere."""
        while (much := self._read_slice()) or self.document.sources.is_waiting:  # noqa: ASYNC110 - a file and another process set no event
            await asyncio.sleep(0 if much else POLL_S)
        while self.document.poll():
            pass

    def _on_state_changed(self, state: SourceState, sentence: str) -> None:
        if state is SourceState.FAILED and self.writer.error is not None:
            sentence = self._why_stopped(self.writer.error)
        if (state, sentence) == (self.state, self.sentence):
            return
        self.state, self.sentence = state, sentence
        self._on_state(state, sentence)

    def _why_stopped(self, error: OSError) -> str:
        what = "there is no space left" if error.errno in NO_SPACE else str(error).rstrip(".")
        where = f" for {self.writer.path}" if error.errno in NO_SPACE else ""
        waiting = self.writer.count_pending_messages()
        messages = f"{waiting:,} messages" if waiting > 1 else "message"
        in_memory = f", the last {messages} only in memory" if waiting else ""
        lost = (
            f", except {self.writer.dropped_count:,} messages for which there was no room"
            if self.writer.dropped_count
            else ""
        )
        return (
            f"The capture was stopped: {what}{where}. What was received is kept{in_memory}{lost}. "
            "Save the capture on another disk, or free some space and save it then."
        )

    async def close(self) -> None:
        """Leaves the gateway and waits until all received data is in the document."""
        await self.source.close()
        tasks = set(self._tasks)
        if not tasks:
            return
        try:
            await asyncio.wait_for(self._left.wait(), _LEAVES_S)
        except TimeoutError:
            for task in tasks:
                task.cancel()
        await asyncio.wait(tasks)  # however much is left to read

    def close_writer(self) -> None:
        """Closes the file for good; pending data is written if there is space by now, else lost."""
        with contextlib.suppress(OSError):
            self.writer.close()


@dataclass(frozen=True, slots=True)
class Probe:
    """Result of a connection test.

    Attributes:
        welcomed: the gateway accepted us.
        sentence: its answer or the error, for the user.
        millis: milliseconds until the answer.
        others: number of participants present.
        capabilities: number of capabilities granted to us.
    """

    welcomed: bool
    sentence: str
    millis: float
    others: int = 0
    capabilities: int = 0


async def probe_gateway(connection: Connection) -> Probe:
    """Joins a gateway and leaves at once; keeps no data. Never raises for network errors.

    Raises:
        OSError: there is no space for a temporary capture.
    """
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        answered = asyncio.Event()
        writer = CaptureWriter(Path(folder) / "probe.ctxcap", origin=connection.origin())

        def noted(state: SourceState, _sentence: str) -> None:
            if state is not SourceState.CONNECTING:
                answered.set()

        source = GatewaySource(connection, writer, on_state=noted, reconnect=False)
        tasks: set[asyncio.Task[Any]] = set()
        started = time.perf_counter()
        start_task(source.run(), name="probe a gateway", owner=tasks)
        await answered.wait()
        millis = (time.perf_counter() - started) * 1000
        state, sentence = source.state, source.sentence
        await source.close()
        await asyncio.gather(*tasks)
        writer.close()
        document = CaptureDocument()
        document.load(writer.path)
        seen = {p.name: p for p in document.analysis.participants.all.values()}
        document.close()
    us = seen.pop(source.participant, None)
    held = len(us.capabilities or ()) if us is not None else 0
    return Probe(state is SourceState.CONNECTED, sentence, millis, sum(p.here is True for p in seen.values()), held)

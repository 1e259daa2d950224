"""A live session: the recorder of a gateway, and the document that reads its capture file; also tests a connection.

No Qt. The document learns only from the file (docs/design.md 4, one way for live and file).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from inspector.base.async_tasks import start_task
from inspector.document.document import CaptureDocument
from inspector.reading.files.source_reader import POLL_S
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.recorder_client import RecorderClient
from inspector.sources.state import SourceState
from inspector.store.files.capture_folder import OwnCapture, new_capture
from inspector.store.files.capture_writer import CaptureWriter
from inspector.store.files.spool import temporary_folder

SLICE_S = 0.006
"""Seconds of checks before other tasks run."""
_BEGUN_S = 0.002
"""Seconds used in a turn after which no block is started or appended; a block needs a turn of its own."""
_LEAVES_S = 8.0
"""Seconds for the recorder to leave the gateway; it needs at most five."""
_ROUND_S = 0.1
"""Seconds between two rounds of checks while traffic arrives; a round costs the same for 10 and 1,000 messages."""
_QUIET_S = 1.0
"""Seconds without news after which polling waits for an event, or for the next clock check."""


class LiveSession:
    """Feeds a document with the capture of a recorder until it is closed or the connection ends.

    Attributes:
        document: receives the messages.
        recorder: writes the capture, in a process that outlives this one.
        complete: all received data is in the file and in the document, and no more follows.
    """

    def __init__(
        self, recorder: RecorderClient, document: CaptureDocument, *, on_state: Callable[[], object],
        others_first: Callable[[], Awaitable[None]] | None = None,
    ) -> None:  # fmt: skip
        """Stores its collaborators; `start` feeds the document.

        Args:
            recorder: the recorder, attached or about to start.
            document: reads its capture as a live source.
            on_state: called after each change of the connection.
            others_first: waits while other tasks need the loop, before each read.
        """
        self.recorder = recorder
        self.document = document
        self.complete = self._ended = False
        self._on_state, self._others_first = on_state, others_first
        self._round_due_s = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._left = asyncio.Event()
        self._arrived = asyncio.Event()
        self._words = ("", "", "")
        self._loop = asyncio.get_running_loop()
        recorder.begin(self._on_report)

    @classmethod
    def join(
        cls, connection: Connection, document: CaptureDocument, *, on_state: Callable[[], object], demo: bool = False,
        others_first: Callable[[], Awaitable[None]] | None = None,
    ) -> tuple[LiveSession, OwnCapture]:  # fmt: skip
        """Creates a capture file, attaches an empty document to it and joins a gateway.

        Args:
            connection: address and identity.
            document: an empty document.
            on_state, others_first: as for the session.
            demo: marks the capture as disposable.

        Returns:
            The session, and the file in the user's data folder; saving or closing decides about it.

        Raises:
            OSError: the capture file cannot be written.
        """
        own = new_capture(connection.space)
        origin = connection.origin() | ({"demo": True} if demo else {})
        try:
            CaptureWriter(own.path, origin=origin).close()
        except OSError:
            # Otherwise an empty capture would stay in the user's folder.
            own.discard()
            raise
        document.follow_capture(own.path, name=connection.space)
        recorder = RecorderClient.for_gateway(connection, own.path)
        return cls(recorder, document, on_state=on_state, others_first=others_first), own

    def adopt_document(self, document: CaptureDocument, on_state: Callable[[], object]) -> None:
        """Feeds another document from now on, one that has read the capture with other sources."""
        self._on_state = on_state
        # The poll reads `document` anew in each turn, so no task must be stopped.
        before, self.document = self.document, document
        if self._ended:
            document.end_live()
        else:
            document.analysis.now_ns = before.analysis.now_ns

    def start(self) -> None:
        """Feeds the document in the background."""
        self.document.analysis.now_ns = time.time_ns()
        start_task(self._run(), name=f"gateway {self.recorder.connection.space}", owner=self._tasks)

    async def _run(self) -> None:
        polling = start_task(self._poll(), name="poll the capture", owner=self._tasks)
        try:
            await self._left.wait()
        finally:
            # `_finish_session` reads the rest itself; two readers would take blocks twice.
            polling.cancel()
            await self._finish_session()

    async def _poll(self) -> None:
        behind, records, came_s = False, 0, 0.0
        while True:
            # While catching up, it only yields to other tasks between two slices.
            await asyncio.sleep(0 if behind else POLL_S)
            if self._others_first is not None:
                await self._others_first()
            behind, before = self._read_slice(), records
            records = self.document.capture.record_count
            if behind or records != before:
                came_s = time.monotonic()
            # several sources may grow too
            elif time.monotonic() - came_s > _QUIET_S and self.document.sources.several is None:
                self._arrived.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_QUIET_S):
                        await self._arrived.wait()
                    # Reported before it is in the file.
                    came_s = time.monotonic()

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
        await self.take_in_all()
        # Kept open when unwritable: saved elsewhere, the capture receives the data that could not be written here.
        if not self.recorder.connection.is_unwritable:
            self.document.end_live()
            self.complete = True
        self._ended = True
        self.document.live = False
        self.document.analysis.now_ns = None
        self._on_state()

    async def take_in_all(self) -> None:
        """Reads every whole line of the file in slices; also after the end, when it was saved elsewhere."""
        while (much := self._read_slice()) or self.document.sources.is_waiting:  # noqa: ASYNC110 - a file and another process set no event
            await asyncio.sleep(0 if much else POLL_S)
        while self.document.poll():
            pass

    def _on_report(self) -> None:
        """Handles a report, on a thread of the recorder's client."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._take_report)

    def _take_report(self) -> None:
        self._arrived.set()
        if self.recorder.has_left:
            self._left.set()
        connection = self.recorder.connection
        words = (connection.state, connection.sentence, connection.trouble)
        if words != self._words:
            self._words = words
            self._on_state()

    async def close(self) -> None:
        """Leaves the gateway and waits until all received data is in the document."""
        self.recorder.leave()
        tasks = set(self._tasks)
        if not tasks:
            return
        try:
            await asyncio.wait_for(self._left.wait(), _LEAVES_S)
        except TimeoutError:
            self._left.set()
        await asyncio.wait(tasks)  # however much is left to read


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
    with temporary_folder() as folder:
        answered = asyncio.Event()
        writer = CaptureWriter(folder / "probe.ctxcap", origin=connection.origin())

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

"""A live session: a gateway source, the capture file it writes, and the document that reads on in it.

No Qt. The document is told of nothing but what lies in the file (design.md 4, one way for live and file).
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.aio import spawn
from inspector.capture.writer import CaptureWriter
from inspector.document import LIVE_BLOCK_BYTES, CaptureDocument
from inspector.paths import data_folder
from inspector.sources.connection import Connection
from inspector.sources.gateway import GatewaySource
from inspector.sources.state import SourceState

POLL_S = 0.033
"""How often the document takes in what has arrived: batches of this length keep the window fluent (platform.md)."""

StateCallback = Callable[[SourceState, str], None]


def capture_path(space: str) -> Path:
    """A new capture file among the user's data."""
    folder = data_folder() / "captures"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in space)[:40] or "capture"
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    path, number = folder / f"{name} {stamp}.ctxcap", 2
    while path.exists():
        path, number = folder / f"{name} {stamp} ({number}).ctxcap", number + 1
    return path


class LiveSession:
    """Joins a gateway and feeds a document until it is closed or the connection ends.

    Attributes:
        connection: where to and as whom.
        document: gains what arrives.
        source: the connection itself.
        state, sentence: as last reported; the sentence is for the user.
    """

    def __init__(self, connection: Connection, document: CaptureDocument, *, on_state: StateCallback) -> None:
        """Create the capture file and attach the document to it.

        Raises:
            OSError: the capture file cannot be written.
        """
        self.connection = connection
        self.document = document
        self.state = SourceState.CONNECTING
        self.sentence = ""
        self._on_state = on_state
        self._writer = CaptureWriter(capture_path(connection.space), origin=connection.origin())
        self._writer.flush()
        self.source = GatewaySource(connection, self._writer, on_state=self._noted)
        document.follow_capture(self._writer.path, name=connection.space)
        document.analysis.now_ns = time.time_ns()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended = asyncio.Event()

    def start(self) -> None:
        """Connect in the background; states are reported to the callback."""
        spawn(self._run(), name=f"gateway {self.connection.space}", owner=self._tasks)

    async def _run(self) -> None:
        polling = spawn(self._poll(), name="poll the capture", owner=self._tasks)
        try:
            await self.source.run()
        finally:
            polling.cancel()
            self._finish()

    async def _poll(self) -> None:
        behind = False
        while True:
            # Catching up, it only lets others have their turn between two blocks.
            await asyncio.sleep(0 if behind else POLL_S)
            with contextlib.suppress(OSError):  # a full disk: the source reports it, and nothing is lost meanwhile
                self._writer.flush()
            behind = self.document.poll() and self.document.behind > LIVE_BLOCK_BYTES

    def _finish(self) -> None:
        try:
            self._writer.close()
        except OSError as error:
            self._noted(SourceState.FAILED, str(error))
        self.document.end_live()
        self.document.analysis.now_ns = None
        self._ended.set()

    def _noted(self, state: SourceState, sentence: str) -> None:
        self.state, self.sentence = state, sentence
        self._on_state(state, sentence)

    async def close(self) -> None:
        """Leave the gateway and wait until everything received is in the document."""
        await self.source.close()
        if self._tasks:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), timeout=5)
        for task in list(self._tasks):
            task.cancel()


@dataclass(frozen=True, slots=True)
class Probe:
    """What became of trying a connection.

    Attributes:
        welcomed: the gateway let us in.
        sentence: what it said, or what went wrong; for the user.
        millis: until it answered.
        others: participants present.
        capabilities: how many it gave us.
    """

    welcomed: bool
    sentence: str
    millis: float
    others: int = 0
    capabilities: int = 0


async def probe(connection: Connection) -> Probe:
    """Join a gateway and leave at once; nothing is kept. Never raises for network trouble.

    Raises:
        OSError: there is no room for a temporary capture.
    """
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        answered = asyncio.Event()
        writer = CaptureWriter(Path(folder) / "probe.ctxcap", origin=connection.origin())

        def noted(state: SourceState, _sentence: str) -> None:
            if state is not SourceState.CONNECTING:
                answered.set()

        source = GatewaySource(connection, writer, on_state=noted)
        tasks: set[asyncio.Task[Any]] = set()
        started = time.perf_counter()
        spawn(source.run(), name="probe a gateway", owner=tasks)
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

"""Engine processes of the windows: one for each document window, and a spare one that is ready before it is needed."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer

from inspector.ui.engine_process import EngineProcess

if TYPE_CHECKING:
    from inspector.engine.request import Request
    from inspector.ui.document_client import DocumentClient

AnswerT = TypeVar("AnswerT")

_SPARE_MS = 2_000
"""Delay before the next spare engine starts, so that it does not slow down the opening of a document."""
_END_S = 5.0
"""Seconds for engines to end before they are killed."""
_POLL_S = 0.01


class Engines(QObject):
    """Starts and ends engine processes. One spare engine is kept ready.

    Attributes:
        spare: the engine without a document, if one was started.
    """

    def __init__(self, parent: QObject | None = None, *, keeps_spare: bool = True) -> None:
        super().__init__(parent)
        self._keeps_spare = keeps_spare
        self.spare: subprocess.Popen[bytes] | None = None
        self._asked: EngineProcess | None = None  # the spare engine, once it was asked something
        self._taken: list[EngineProcess] = []
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.setInterval(_SPARE_MS)
        self._next.timeout.connect(self.warm)

    def warm(self) -> None:
        """Starts the spare engine unless there is one."""
        from inspector.engine.process import start_engine  # with msgspec: after the first paint

        self._drop_dead_spare()
        if self._keeps_spare and self.spare is None:
            self.spare = start_engine()

    def _drop_dead_spare(self) -> None:
        if self.spare is not None and self.spare.poll() is not None:
            self._end_spare()

    def _end_spare(self) -> None:
        from inspector.engine.process import end_unused

        if self._asked is not None:
            self._asked.client.close()
        elif self.spare is not None:
            end_unused(self.spare)
        self.spare = self._asked = None

    def ask_spare(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object], failed: Callable[[], object]
    ) -> None:
        """Asks the spare engine a question that needs no document. Calls one of both functions, later."""
        from inspector.engine.request import NO_DOCUMENT

        with contextlib.suppress(OSError):
            self.warm()
        if self.spare is None:
            failed()
            return
        self._asked = self._asked or EngineProcess(self.spare)
        future = self._asked.client.send_request(NO_DOCUMENT, request)
        future.add_done_callback(lambda done: failed() if done.exception() else answered(done.result().answer))

    def take_engine(self, stream: Path | None = None) -> EngineProcess:
        """Returns an engine for a window; the next spare one starts soon.

        Args:
            stream: the stream to read. The engine inherits a descriptor of this process, such as standard input.

        Raises:
            OSError: no engine can be started.
        """
        from inspector.engine.process import descriptor_of, start_engine

        self._drop_dead_spare()
        self._taken = [one for one in self._taken if one.client.is_running]
        inherited = None if stream is None else descriptor_of(stream)
        if inherited is None:
            engine = self._asked or EngineProcess(self.spare or start_engine())
            self.spare = self._asked = None
        else:
            engine = EngineProcess(start_engine(inherited=inherited))
        self._taken.append(engine)
        if self._keeps_spare:
            self._next.start()
        return engine

    def new_client(self, parent: QObject, stream: Path | None = None) -> DocumentClient:
        """Returns a client of an engine without a document. `stream` and errors as of `take_engine`."""
        from inspector.ui.pipe_client import PipeClient  # with all requests: not for a start page

        return PipeClient(self.take_engine(stream), parent)

    @property
    def pids(self) -> list[int]:
        """Ids of the running processes."""
        self._drop_dead_spare()
        found = [one.client.pid for one in self._taken if one.client.is_running]
        return found if self.spare is None else [*found, self.spare.pid]

    async def end(self) -> None:
        """Ends all engines, which close their documents first; kills those that do not end in time."""
        self._next.stop()
        self._keeps_spare = False
        if self._asked is not None:
            self._taken.append(self._asked)
            self.spare = self._asked = None
        self._end_spare()
        for one in self._taken:
            one.client.begin_close()
        until = time.monotonic() + _END_S
        while time.monotonic() < until and any(one.client.is_running for one in self._taken):  # noqa: ASYNC110 - processes set no event
            await asyncio.sleep(_POLL_S)
        for one in self._taken:
            if one.client.is_running:
                one.client.kill()
            one.client.close()
        self._taken = []

"""Client of a document of an engine in this process. It shares the event loop with the window.

`ServedDocument` reads, follows and connects as behind a pipe.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid
from typing_extensions import override

from inspector.document.document import CaptureDocument as CaptureDocument
from inspector.engine import wire
from inspector.engine.client import OpenFailedError
from inspector.engine.document_state import DocumentState
from inspector.engine.engine import Engine
from inspector.engine.request import PAUSE, Part, PartsRequest, Request, RequestError, Steps
from inspector.engine.served_document import ServedDocument
from inspector.engine.server import failure_of
from inspector.engine.targets import Gateway, OpenOptions, Target
from inspector.engine.update import Update
from inspector.filters.visible import VisibleRows
from inspector.protocol.tool_aliases import AliasError
from inspector.ui.document_client import DocumentClient

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")

TURN_S = 0.0
"""Pause between two steps of reading."""
_IDLE_MS = 25
_PAUSE_S = 0.001


class _Document(ServedDocument):
    """Reports each change at once; its client runs checks and counting."""

    @override
    def _note(self, update: Update) -> None:
        self._tell(wire.Changed(update))

    @override
    async def _work_when_idle(self) -> None:
        # A task could not go on, and would never end, while a menu, a dialog or a wait of a test has its own loop.
        pass


class LocalTicket:
    """An answered request."""

    def cancel(self) -> None:
        """Does nothing."""


class LocalClient(DocumentClient):
    """One document of an engine in this process. Answers arrive before `send_request` returns.

    Attributes:
        waits_for_threads: also those of threads; else they arrive in later turns of the loop.
    """

    waits_for_threads = True

    def __init__(self, parent: QObject) -> None:
        """Creates a client without a document."""
        super().__init__(parent)
        self._engine = Engine()
        self._served = _Document(
            self._engine, 0, self._receive, answers_first=lambda: asyncio.sleep(TURN_S), has_answers=lambda: False,
            failed=self._on_failed,
        )  # fmt: skip
        self._last_state: DocumentState | None = None
        self._last_document: CaptureDocument | None = None
        self._stopped = self._closed = False
        self._idle = QTimer(self)
        self._idle.setInterval(_IDLE_MS)
        self._idle.timeout.connect(self._work)
        self._idle.start()

    @classmethod
    def with_document(cls, document: CaptureDocument, parent: QObject) -> LocalClient:
        """Returns a client of a document that was read already."""
        client = cls(parent)
        client._served.adopt(document)
        return client

    def _work(self) -> None:
        """Runs checks and counting."""
        if self._served.idle_work is not None:
            self._served.idle_work.run_slice()
            self._served.report_state()

    # Life

    @override
    def open(self, targets: Sequence[Target], options: OpenOptions, *, recovers: bool = False) -> None:
        try:
            self._served.open(wire.Open(0, tuple(targets), options, recovers))
        except (AliasError, ValueError) as error:
            self._on_failed(error)

    @override
    def project_sessions(self, other: Any, options: OpenOptions) -> None:
        assert isinstance(other, LocalClient)
        try:
            self._served.project(other._served, options)
        except (AliasError, ValueError) as error:
            self._on_failed(error)

    @override
    def connect_gateway(self, gateway: Gateway, options: OpenOptions) -> None:
        try:
            self._served.connect(gateway, options)
        except ValueError as error:
            self._on_failed(error)

    @override
    def continue_reading(self) -> None:
        self._served.go_on()

    @override
    def stop_reading(self) -> None:
        self._served.stop_reading()

    @override
    async def leave_gateway(self) -> None:
        await self._served.leave_gateway()

    @override
    def take_session(self, other: Any) -> None:
        assert isinstance(other, LocalClient)
        self._served.take_session(other._served)

    @override
    async def save(self, target: Path) -> wire.Saved:
        return await self._served.save(target)

    @override
    def close(self, *, discard: bool = False) -> None:
        if self._closed:
            return
        self._closed = True
        if isValid(self):  # a window that closes while it reads has deleted its timers
            self.stop()
        if self._served.held is not None:
            self._last_state, self._last_document = self.state, self.document
        self._served.end(discard=discard)

    @override
    def beside(self) -> DocumentClient:
        return LocalClient(self.parent() or self)

    def _receive(self, message: wire.ToWindow) -> None:
        if self._closed or not isValid(self):
            # Its window was deleted while a document beside the shown one was read.
            self.close()
            return
        match message:
            case wire.Reading():
                self.progressed.emit(message)
            case wire.Changed():
                self.updated.emit(message.update)
                self.state_changed.emit()
            case wire.State():
                self.state_changed.emit()
            case _:
                pass

    def _on_failed(self, error: Exception) -> None:
        if self._closed:
            return
        self.failed.emit(OpenFailedError(*reported_failure(error)))

    # State

    @property
    @override
    def state(self) -> DocumentState:
        if self._served.held is None:
            return self._last_state or DocumentState()
        return self._served.current_state()

    @property
    @override
    def version(self) -> int:
        return 0 if self._served.held is None else self._engine.version(self._served.held)

    @property
    @override
    def document(self) -> CaptureDocument:
        return self._last_document or self._served.document

    def engine_rows(self, view: int) -> VisibleRows:
        """Returns the rows of a view, for tests of the engine's answers."""
        return self._engine.opened(self._number).view(view).rows

    @property
    def _number(self) -> int:
        if self._served.held is None:
            raise RequestError("The document is closed.")
        return self._served.held

    # Requests

    @override
    def send_request(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> LocalTicket:  # fmt: skip
        return self._run(request, answered, failed)

    @override
    def request_parts(
        self, request: PartsRequest[PartT, AnswerT], on_part: Callable[[PartT], object],
        answered: Callable[[AnswerT], object], failed: Callable[[str], object] = lambda _sentence: None,
    ) -> LocalTicket:  # fmt: skip
        return self._run(request, answered, failed, on_part)

    def begin(self, request: Request[AnswerT]) -> Steps[AnswerT]:
        """Returns steps that compute an answer."""
        return self._engine.begin(self._number, request)

    def _run(
        self, request: Request[Any], answered: Callable[[Any], object], failed: Callable[[str], object],
        on_part: Callable[[Any], object] = lambda _part: None,
    ) -> LocalTicket:  # fmt: skip
        """Answers a request. A callback may send others, or stop all."""
        self._advance(self.begin(request) if not self._stopped else None, answered, failed, on_part)
        return LocalTicket()

    def _advance(
        self, steps: Steps[Any] | None, answered: Callable[[Any], object], failed: Callable[[str], object],
        on_part: Callable[[Any], object],
    ) -> None:  # fmt: skip
        try:
            while steps is not None:
                step = next(steps)
                if isinstance(step, Part):
                    on_part(step.value)
                elif step is PAUSE and self.waits_for_threads:
                    time.sleep(_PAUSE_S)
                elif step is PAUSE:
                    QTimer.singleShot(1, self, partial(self._advance, steps, answered, failed, on_part))
                    return
                if self._stopped:
                    steps.close()
                    steps = None
        except StopIteration as end:
            answered(end.value)
        except Exception as error:  # noqa: BLE001 - the view shows the sentence
            failed(reported_failure(error)[1])

    @override
    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        try:
            return self._engine.answer_request(self._number, request)
        except Exception as error:
            kind, sentence = failure_of(error)
            if kind == "internal":
                raise
            raise RequestError(sentence) from None

    @override
    def stop(self) -> None:
        self._stopped = True
        if isValid(self):
            self._idle.stop()


def reported_failure(error: Exception) -> tuple[str, str]:
    """Returns the kind of a failure and its sentence; an internal error is logged and shown as an error of a slot."""
    kind, sentence = failure_of(error)
    if kind == "internal":
        sys.excepthook(type(error), error, error.__traceback__)
    return kind, sentence

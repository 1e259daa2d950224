"""Client of a document of an engine in a process of its own (docs/engine.md)."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from PySide6.QtCore import QObject
from shiboken6 import isValid
from typing_extensions import override

from inspector.engine import wire
from inspector.engine.client import EngineDiedError, Versioned
from inspector.engine.document_state import DocumentState
from inspector.engine.request import CancelledError, PartsRequest, Request, RequestError
from inspector.engine.requests.gateways import SourceState
from inspector.engine.targets import Gateway, OpenOptions, Target
from inspector.engine.update import Update
from inspector.ui.document_client import DocumentClient
from inspector.ui.engine_process import EngineProcess

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")

ANSWER_S = 5.0
"""Seconds that an act of the user waits for its answer."""


@dataclass(slots=True, eq=False)
class PipeTicket:
    """A pending request."""

    future: Future[Any] | None = None
    is_pending: bool = field(default=True)

    def cancel(self) -> None:
        """Cancels the request; no callback follows."""
        if self.is_pending:
            self.is_pending = False
            if self.future is not None:
                self.future.cancel()


class PipeClient(DocumentClient):
    """One document of an engine process. Answers arrive after `send_request` has returned."""

    def __init__(self, engine: EngineProcess, parent: QObject) -> None:
        """Creates a client without a document; the engine serves it until it is closed."""
        super().__init__(parent)
        self._engine, self._client = engine, engine.client
        self._number: int | None = None
        self._state, self._version = DocumentState(), 0
        self._pending: set[PipeTicket] = set()
        self._stopped = self._closed = False
        engine.add_user()

    @property
    def pid(self) -> int:
        """Id of the engine process."""
        return self._client.pid

    # Life

    @override
    def open(self, targets: Sequence[Target], options: OpenOptions, *, recovers: bool = False) -> None:
        self._number = self._client.open(targets, options, self, recovers=recovers)
        self._report_dead_engine()

    @override
    def project_sessions(self, other: Any, options: OpenOptions) -> None:
        assert isinstance(other, PipeClient)
        self._number = self._client.project(other._document, options, self)
        self._report_dead_engine()

    @override
    def connect_gateway(self, gateway: Gateway, options: OpenOptions) -> None:
        self._number = self._client.connect(gateway, options, self)
        self._report_dead_engine()

    def _report_dead_engine(self) -> None:
        """Reports an engine that ended before it knew the document."""
        if self._client.died is not None:
            self.failed.emit(EngineDiedError(self._client.died))

    @override
    def continue_reading(self) -> None:
        if self._is_open:
            self._client.continue_document(self._document)

    @override
    def stop_reading(self) -> None:
        if self._is_open:
            self._client.stop_reading(self._document)

    @override
    async def leave_gateway(self) -> None:
        with contextlib.suppress(RequestError, EngineDiedError):
            await asyncio.wrap_future(self._client.leave_gateway(self._document))

    @override
    def kill_engine(self) -> None:
        self._client.kill()

    @override
    def take_session(self, other: Any) -> None:
        assert isinstance(other, PipeClient)
        self._client.take_session(self._document, other._document)

    @override
    async def save(self, target: Path) -> wire.Saved:
        try:
            saved = await asyncio.wrap_future(self._client.save_document(self._document, target))
        except EngineDiedError as error:
            raise RequestError(str(error)) from None
        return saved.answer

    @override
    def close(self, *, discard: bool = False) -> None:
        self.stop()
        if self._closed:
            return
        self._closed = True
        if self._number is not None:
            self._client.close_document(self._number, discard=discard)
        self._engine.remove_user()

    @override
    def beside(self) -> DocumentClient:
        return PipeClient(self._engine, self.parent() or self)

    @property
    def _is_open(self) -> bool:
        return self._number is not None and not self._closed

    @property
    def _document(self) -> int:
        if self._number is None or self._closed:
            raise RequestError("The document is closed.")
        return self._number

    # Events

    def _is_listening(self) -> bool:
        """Returns False after the end of this client. One that was deleted with its window closes its document."""
        if not isValid(self):
            self.close()
        return not self._closed

    def on_reading(self, progress: wire.Reading) -> None:
        """Passes on progress and the end of reading."""
        if self._is_listening():
            self.progressed.emit(progress)

    def on_changed(self, update: Update) -> None:
        """Passes on new and changed messages."""
        if self._is_listening():
            self._version = update.version
            self.updated.emit(update)

    def on_state(self, state: DocumentState) -> None:
        """Stores a new state."""
        if self._is_listening():
            self._state = state
            self.state_changed.emit()

    def on_failed(self, error: Exception) -> None:
        """Passes on a failure of reading, or the end of the engine."""
        if not self._is_listening():
            return
        self.failed.emit(error)
        if isinstance(error, EngineDiedError):
            self._state = _state_of_dead(self._state)
            self.state_changed.emit()

    # State

    @property
    @override
    def state(self) -> DocumentState:
        return self._state

    @property
    @override
    def version(self) -> int:
        return self._version

    # Requests

    @override
    def send_request(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> PipeTicket:  # fmt: skip
        ticket = PipeTicket(is_pending=not self._stopped)
        if ticket.is_pending:
            self._follow(ticket, self._client.send_request(self._document, request), answered, failed)
        return ticket

    @override
    def request_parts(
        self, request: PartsRequest[PartT, AnswerT], on_part: Callable[[PartT], object],
        answered: Callable[[AnswerT], object], failed: Callable[[str], object] = lambda _sentence: None,
    ) -> PipeTicket:  # fmt: skip
        ticket = PipeTicket(is_pending=not self._stopped)
        if ticket.is_pending:
            note = lambda part: on_part(part) if ticket.is_pending else None  # noqa: E731 - shorter than a function
            self._follow(ticket, self._client.request_parts(self._document, request, note), answered, failed)
        return ticket

    def _follow(
        self, ticket: PipeTicket, future: Future[Versioned[AnswerT]], answered: Callable[[AnswerT], object],
        failed: Callable[[str], object],
    ) -> None:  # fmt: skip
        """Calls back when a request is answered, unless its ticket is cancelled."""
        ticket.future = future
        self._pending.add(ticket)

        def end(done: Future[Versioned[AnswerT]]) -> None:
            self._pending.discard(ticket)
            if ticket.is_pending and self._is_listening():
                ticket.is_pending = False
                try:
                    _call_back(done, answered, failed)
                except Exception as error:  # noqa: BLE001 - futures hide the errors of their callbacks
                    # Logged and shown as an error of a slot.
                    sys.excepthook(type(error), error, error.__traceback__)

        future.add_done_callback(end)

    @override
    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        try:
            return self._client.answer_within(self._document, request, ANSWER_S)
        except EngineDiedError as error:
            raise RequestError(str(error)) from None

    @override
    def stop(self) -> None:
        self._stopped = True
        for ticket in list(self._pending):
            ticket.cancel()
        self._pending.clear()


def _state_of_dead(state: DocumentState) -> DocumentState:
    """Returns the state of a document whose engine has ended: nothing arrives any more, nothing can be saved."""
    connection = state.connection
    if connection is not None:
        connection = msgspec.structs.replace(
            connection, state=SourceState.CLOSED.value, sentence="", trouble="", next_at_s=None, complete=True
        )  # fmt: skip
    return msgspec.structs.replace(
        state, is_live=False, is_arriving=False, may_grow=False, has_backlog=False, is_checking=False,
        can_continue=False, unread_bytes=0, unsaved=None, lag_ns=None, followed=None, connection=connection,
    )  # fmt: skip


def _call_back(
    done: Future[Versioned[AnswerT]], answered: Callable[[AnswerT], object], failed: Callable[[str], object]
) -> None:
    try:
        answer = done.result().answer
    except CancelledError:
        return
    except (RequestError, EngineDiedError) as error:
        failed(str(error))
        return
    answered(answer)

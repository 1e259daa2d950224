"""Client of one document of an engine: its life, its state, and requests about it.

`pipe_client` has the engine in another process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.engine.request import PartsRequest, Request
    from inspector.engine.targets import Gateway, OpenOptions, Target
    from inspector.engine.wire import Reading, Saved

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")


class Ticket(Protocol):
    """A pending request."""

    def cancel(self) -> None:
        """Cancels the request; no callback follows."""
        ...


class DocumentClient(QObject):
    """One document of an engine. Answers and events arrive on the window's thread.

    Signals:
        changed(): the document has changed; its panes emit it after their views.
        updated(Update): messages have arrived or changed.
        state_changed(): `state` has changed, or may have.
        progressed(wire.Reading): progress and end of reading.
        failed(Exception): the document cannot be read (`OpenFailedError`), or the engine has ended (`EngineDiedError`).
    """

    changed = Signal()
    updated = Signal(object)
    state_changed = Signal()
    progressed = Signal(object)
    failed = Signal(object)

    # Life

    def open(self, targets: Sequence[Target], options: OpenOptions, *, recovers: bool = False) -> None:
        """Opens logs as the document; events follow.

        Args:
            targets: the logs.
            options: how they are read and judged.
            recovers: the target is an unsaved capture of this program, which the document owns from now on.
        """
        raise NotImplementedError

    def project_sessions(self, other: Any, options: OpenOptions) -> None:
        """Shows the edited sessions of another client as the document, which cannot show them; events follow."""
        raise NotImplementedError

    def connect_gateway(self, gateway: Gateway, options: OpenOptions) -> None:
        """Joins a gateway as the document; events follow."""
        raise NotImplementedError

    async def reading(self, begin: Callable[[], object]) -> AsyncGenerator[Reading]:
        """Begins to read and yields the progress; the last one has ended.

        Raises:
            OpenFailedError: the document cannot be read.
            EngineDiedError: the engine has ended.
        """
        news: asyncio.Queue[Reading | Exception] = asyncio.Queue()
        note = news.put_nowait
        self.progressed.connect(note)
        self.failed.connect(note)
        try:
            begin()
            while True:
                progress = await news.get()
                if isinstance(progress, Exception):
                    raise progress
                yield progress
                if progress.ended:
                    return
        finally:
            with contextlib.suppress(RuntimeError):  # the window has closed
                self.progressed.disconnect(note)
                self.failed.disconnect(note)

    def continue_reading(self) -> None:
        """Reads on after the memory limit or a cancelled reading; reconnects at once to a lost gateway."""
        raise NotImplementedError

    def stop_reading(self) -> None:
        """Stops reading; the messages read so far stay."""
        raise NotImplementedError

    async def leave_gateway(self) -> None:
        """Leaves the gateway, if any, and waits until all received data is in the document."""
        raise NotImplementedError

    def kill_engine(self) -> None:
        """Ends an engine that does not answer."""
        raise NotImplementedError

    def take_session(self, other: Any) -> None:
        """Continues the gateway session of another client, whose capture is a source of this document."""
        raise NotImplementedError

    async def save(self, target: Path) -> Saved:
        """Moves the program's own capture to a file, or copies a log there. Raises RequestError with advice."""
        raise NotImplementedError

    def close(self, *, discard: bool = False) -> None:
        """Closes the document; `discard` deletes its unsaved capture file. A gateway must have been left before."""
        raise NotImplementedError

    def beside(self) -> DocumentClient:
        """Returns the client of another document in the same engine, to replace this one later."""
        raise NotImplementedError

    # State

    @property
    def state(self) -> DocumentState:
        """State of the document besides its messages."""
        raise NotImplementedError

    @property
    def version(self) -> int:
        """Version of the document; it rises with each change."""
        raise NotImplementedError

    # Requests

    def send_request(
        self, request: Request[AnswerT], answered: Callable[[AnswerT], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> Ticket:  # fmt: skip
        """Asks a question. The answer may arrive before this returns.

        Args:
            request: the question.
            answered: called with the answer.
            failed: called with a sentence if it cannot be answered.
        """
        raise NotImplementedError

    def request_parts(
        self, request: PartsRequest[PartT, AnswerT], on_part: Callable[[PartT], object],
        answered: Callable[[AnswerT], object], failed: Callable[[str], object] = lambda _sentence: None,
    ) -> Ticket:  # fmt: skip
        """Asks a question with an answer in parts; all parts come before the answer."""
        raise NotImplementedError

    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        """Returns the answer to a short question of one act of the user, such as opening a menu.

        Raises:
            RequestError: it cannot be answered; the text says why.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Cancels all requests because the views of the document are about to go."""
        raise NotImplementedError

    @property
    def document(self) -> Any:
        """The document, in tests whose engine is in their process."""
        raise NotImplementedError

"""Answers the messages of one window: documents, requests and their turns.

One thread computes. Requests, reading and idle work take turns step by step, so that a long one does not hold up the
others. Urgent requests precede all others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from inspector.analysis.passes.tokens.price_table import PriceError
from inspector.base import gc_control
from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.engine import wire
from inspector.engine.engine import Engine
from inspector.engine.extensions import load_extensions
from inspector.engine.request import NO_DOCUMENT, CancelledError, Part, Request, RequestError, Steps
from inspector.engine.requests.table import request_decoder
from inspector.engine.served_document import ServedDocument
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.tool_aliases import AliasError
from inspector.reading.files.source_reader import UnknownFormatError

_log = logging.getLogger(__name__)

_ANSWERS_S = 0.03
"""Seconds that reading waits for pending answers, so that long ones do not stop it."""
_MAX_UNSENT_BYTES = 1 << 24
"""Bytes in the pipe above which no further part is computed."""
_UNSENT_S = 0.01
_COLLECT_S = 30.0
INTERNAL = "The engine has an error, which its log file describes."


class EngineServer:
    """Answers the messages of one window.

    Args:
        send: passes a frame on; must not block for long.
        unsent_bytes: returns the bytes of frames that the window has not taken so far.
    """

    def __init__(self, send: Callable[[bytes], object], unsent_bytes: Callable[[], int] = lambda: 0) -> None:
        self._send, self._unsent_bytes = send, unsent_bytes
        self._engine = Engine()
        self._documents: dict[int, ServedDocument] = {}
        self._answers: dict[int, asyncio.Task[None]] = {}
        self._cancelled: set[int] = set()
        self._urgent = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closings: set[asyncio.Task[Any]] = set()
        self._collections = contextlib.ExitStack()
        self._collections.enter_context(gc_control.defer_full_collection())
        start_task(self._collect_when_idle(), name="collect garbage", owner=self._tasks)

    async def _collect_when_idle(self) -> None:
        """Runs the full collections, which would hold up answers and reading."""
        while True:
            await asyncio.sleep(_COLLECT_S)
            if not (self._answers or any(served.is_reading for served in self._documents.values())):
                gc_control.collect_garbage()

    def receive(self, message: wire.ToEngine) -> None:
        """Handles one message; starts a task for work."""
        match message:
            case wire.Hello():
                raise wire.WireError("There was a greeting before.")
            case wire.Open():
                load_extensions()  # declarations may have been added since the last log, or plug-ins switched on
                self._open(message.document, lambda served: served.open(message))
            case wire.Project():
                other = self._documents.get(message.other)
                self._open(message.document, lambda served: served.project(other, message.options))
            case wire.Connect():
                self._open(message.document, lambda served: served.connect(message.gateway, message.options))
            case wire.Continue():
                if (served := self._documents.get(message.document)) is not None:
                    served.go_on()
            case wire.Save():
                self._start_answer(message.id, self._save(message))
            case wire.Leave():
                self._start_answer(message.id, self._leave(message))
            case wire.Ask():
                self._start_answer(message.id, self._answer(message))
            case wire.Cancel():
                if message.id:
                    self._cancelled.update({message.id} & self._answers.keys())
                elif (served := self._documents.get(message.document)) is not None:
                    served.stop_reading()
            case wire.TakeSession():
                served, other = self._documents.get(message.document), self._documents.get(message.other)
                if served is not None and other is not None:
                    served.take_session(other)
            case wire.Close():
                self._close_document(message.document, discard=message.discard)

    def _close_document(self, document: int, *, discard: bool = False) -> None:
        if (served := self._documents.pop(document, None)) is not None:
            closing = served.close(discard=discard)
            start_task(closing, name=f"close document {document}", owner=self._closings)

    async def close(self) -> None:
        """Closes all documents; gateways are left in order."""
        for document in list(self._documents):
            self._close_document(document)
        await asyncio.gather(*self._closings, return_exceptions=True)
        await cancel_and_wait(self._tasks)
        self._engine.close()
        self._collections.close()

    def _tell(self, message: wire.ToWindow) -> None:
        self._send(wire.frame_of(message))

    # Documents

    def _open(self, document: int, begin: Callable[[ServedDocument], None]) -> None:
        served = ServedDocument(
            self._engine, document, self._tell, answers_first=self._answers_first,
            has_answers=lambda: bool(self._answers), failed=lambda error: self._on_unreadable(document, error),
        )  # fmt: skip
        if document in self._documents:
            raise wire.WireError(f"There is a document {document} already.")
        self._documents[document] = served
        try:
            begin(served)
        except (AliasError, PriceError, RequestError) as error:
            self._on_unreadable(document, error)

    def _on_unreadable(self, document: int, error: Exception) -> None:
        """Reports that a document cannot be read, and forgets it."""
        self._tell_failure(0, error, document)
        self._close_document(document)

    async def _answers_first(self) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _ANSWERS_S
        await asyncio.sleep(0)
        while self._answers and loop.time() < until:  # noqa: ASYNC110 - an event would not let the answers go first
            await asyncio.sleep(0)

    # Requests

    def _start_answer(self, number: int, answer: Any) -> None:
        self._answers[number] = start_task(answer, name=f"answer {number}", owner=self._tasks)

    async def _answer(self, asked: wire.Ask) -> None:
        steps: Steps[object] | None = None
        urgent = False
        try:
            request: Request[Any] = request_decoder().decode(asked.body)
            held = self._held(asked.document) if request.needs_document else NO_DOCUMENT
            urgent = request.is_urgent or asked.awaited
            self._urgent += urgent
            steps = self._engine.begin(held, request)
            while True:
                while self._urgent and not urgent:  # noqa: ASYNC110 - as in `_answers_first`
                    await asyncio.sleep(0)
                if asked.id in self._cancelled:
                    raise CancelledError
                try:
                    step = next(steps)
                except StopIteration as end:
                    answer = end.value
                    break
                if isinstance(step, Part):
                    self._tell(wire.Part(asked.id, msgspec.Raw(wire.encode(step.value))))
                    while self._unsent_bytes() > _MAX_UNSENT_BYTES:  # noqa: ASYNC110 - a thread empties the pipe
                        await asyncio.sleep(_UNSENT_S)
                await asyncio.sleep(0)
            # The window knows the effect of an edit before its answer.
            if (served := self._documents.get(asked.document)) is not None:
                served.flush()
            version = self._engine.version(held) if held != NO_DOCUMENT else 0
            self._tell(wire.Answer(asked.id, version, msgspec.Raw(wire.encode(answer))))
        except CancelledError:
            self._tell(wire.Failure(asked.id, "cancelled", "The request was cancelled."))
        except Exception as error:  # noqa: BLE001 - each failure is told to the window, which shows it
            self._tell_failure(asked.id, error)
        finally:
            self._urgent -= urgent
            if steps is not None:
                steps.close()
            self._answers.pop(asked.id, None)
            self._cancelled.discard(asked.id)

    async def _save(self, asked: wire.Save) -> None:
        await self._act(asked, lambda served: served.save(asked.target))

    async def _leave(self, asked: wire.Leave) -> None:
        await self._act(asked, lambda served: served.leave_gateway())

    async def _act(
        self, asked: wire.Save | wire.Leave, act: Callable[[ServedDocument], Awaitable[object]]
    ) -> None:  # fmt: skip
        """Runs an act of a document and answers with its result."""
        try:
            held = self._held(asked.document)
            found = await act(self._documents[asked.document])
            self._tell(wire.Answer(asked.id, self._engine.version(held), msgspec.Raw(wire.encode(found))))
        except Exception as error:  # noqa: BLE001 - each failure is told to the window, which shows it
            self._tell_failure(asked.id, error)
        finally:
            self._answers.pop(asked.id, None)

    def _held(self, document: int) -> int:
        served = self._documents.get(document)
        if served is None or served.held is None:
            raise RequestError(f"There is no open document {document}.")
        return served.held

    def _tell_failure(self, number: int, error: Exception, document: int = 0) -> None:
        kind, sentence = failure_of(error)
        if kind == "internal":
            _log.error("A request failed", exc_info=error)
        self._tell(wire.Failure(number, kind, sentence, document))


def failure_of(error: Exception) -> tuple[str, str]:
    """Returns the kind of a failure (`frames.Failure`), and a sentence without secrets."""
    match error:
        case RequestError() | msgspec.MsgspecError() | AliasError() | PriceError():
            return "request", mask_text(str(error))
        case UnknownFormatError():
            return "format", mask_text(str(error))
        case OSError():
            return "unreadable", mask_text(error.strerror or str(error))
        case _:
            return "internal", INTERNAL

"""Client of an engine process: starts it, sends requests and receives answers and events. No Qt.

A thread reads the pipe. It completes futures and calls the callbacks; a window passes `post`, which moves the calls to
its own thread.
"""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol

import msgspec

from inspector.engine import wire
from inspector.engine.document_state import DocumentState
from inspector.engine.input_pipe import InputPipe
from inspector.engine.process import start_engine
from inspector.engine.request import AnswerT, CancelledError, PartsRequest, PartT, Request, RequestError
from inspector.engine.requests.table import answer_decoder, part_decoder
from inspector.engine.targets import Gateway, OpenOptions, Target
from inspector.engine.update import Update

_READ_BYTES = 1 << 16
_END_S = 2.0
"""Seconds for the process to end by itself after its input is closed."""
_LATE_S = 0.1
"""Seconds to wait for an engine that has sent nothing since it was last late."""


class EngineDiedError(Exception):
    """The engine process has ended; the text is a sentence."""


class OpenFailedError(Exception):
    """A document cannot be read.

    Attributes:
        kind: unreadable, format, request or internal.
    """

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Versioned(msgspec.Struct, Generic[AnswerT], frozen=True):
    """An answer and the version of the document it describes."""

    answer: AnswerT
    version: int


class DocumentEvents(Protocol):
    """Receives the events of one document."""

    def on_reading(self, progress: wire.Reading) -> None:
        """Handles progress and the end of reading."""
        ...

    def on_changed(self, update: Update) -> None:
        """Handles new and changed messages."""
        ...

    def on_state(self, state: DocumentState) -> None:
        """Handles a new state of the document or its connection."""
        ...

    def on_failed(self, error: Exception) -> None:
        """Handles a failure of reading (`OpenFailedError`), or the end of the engine (`EngineDiedError`)."""
        ...


class _Pending(NamedTuple):
    """A request without an answer so far.

    Attributes:
        is_awaited: the caller's thread waits for the answer, so it is not posted there.
    """

    future: Future[Any]
    answers: msgspec.msgpack.Decoder[Any]
    parts: msgspec.msgpack.Decoder[Any] | None = None
    on_part: Callable[[Any], object] | None = None
    is_awaited: bool = False


class _Decoders(NamedTuple):
    """Decoders of the answer to a pending request."""

    answers: msgspec.msgpack.Decoder[Any]
    parts: msgspec.msgpack.Decoder[Any] | None
    is_awaited: bool


def _decoded_answer(decoders: _Decoders, message: wire.Answer) -> Versioned[Any] | Exception:
    """Decodes an answer on the thread of the pipe, so that the caller's thread is not held up."""
    try:
        return Versioned(decoders.answers.decode(message.body), message.version)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        # Other requests have answers that can be decoded.
        return RequestError(f"The answer of the engine is malformed: {error}.")


class EngineClient:
    """One engine process.

    Attributes:
        greeted: set once the process has answered the greeting.
        died: the reason why the process has ended, if it has.
    """

    def __init__(
        self, process: subprocess.Popen[bytes] | None = None, *,
        post: Callable[[Callable[[], object]], object] = lambda call: call(),
    ) -> None:  # fmt: skip
        """Takes a process, or starts one; requests may be sent at once.

        Args:
            process: the result of `start_engine`.
            post: runs a call on the thread of the caller.

        Raises:
            OSError: the process cannot be started.
        """
        self._post = post
        self._numbers = itertools.count(1)
        self._asked: dict[int, _Pending] = {}
        self._decoders: dict[int, _Decoders] = {}
        self._documents: dict[int, DocumentEvents] = {}
        self._lock = threading.Lock()
        self._closing = self._is_late = False
        self.greeted = threading.Event()
        self.died: str | None = None
        self._process = process or start_engine()
        assert self._process.stdin is not None
        self._input = InputPipe(self._process.stdin)
        self._reader = threading.Thread(target=self._read, name="engine answers", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    # Documents

    def open(
        self, targets: Sequence[Target], options: OpenOptions, events: DocumentEvents, *, recovers: bool = False
    ) -> int:
        """Opens logs as one document; returns its number at once. Events follow. `recovers` as in `wire.Open`."""
        number = next(self._numbers)
        self._documents[number] = events
        self._send(wire.Open(number, tuple(targets), options, recovers))
        return number

    def project(self, other: int, options: OpenOptions, events: DocumentEvents) -> int:
        """Shows the edited sessions of another document in a new one; returns its number at once. Events follow."""
        number = next(self._numbers)
        self._documents[number] = events
        self._send(wire.Project(number, other, options))
        return number

    def connect(self, gateway: Gateway, options: OpenOptions, events: DocumentEvents) -> int:
        """Joins a gateway as a document; returns its number at once. Events follow."""
        number = next(self._numbers)
        self._documents[number] = events
        self._send(wire.Connect(number, gateway, options))
        return number

    def continue_document(self, document: int) -> None:
        """Reads on after the memory limit or a cancelled reading; reconnects at once to a lost gateway."""
        self._send(wire.Continue(document))

    def stop_reading(self, document: int) -> None:
        """Stops the reading of a document, or leaves its gateway; the messages received so far stay."""
        self._send(wire.Cancel(0, document))

    def leave_gateway(self, document: int) -> Future[Versioned[None]]:
        """Leaves the gateway of a document; done when all received data is in it."""
        number, future = next(self._numbers), Future[Versioned[None]]()
        self._note_pending(number, _Pending(future, wire.decoder_of(None)))
        self._send(wire.Leave(number, document))
        return future

    def save_document(self, document: int, target: Path) -> Future[Versioned[wire.Saved]]:
        """Moves the capture of a gateway to a file, or copies a log there; errors as for `send_request`."""
        number, future = next(self._numbers), Future[Versioned[wire.Saved]]()
        self._note_pending(number, _Pending(future, wire.decoder_of(wire.Saved)))
        self._send(wire.Save(number, document, target))
        return future

    def take_session(self, document: int, other: int) -> None:
        """Continues the gateway session of another document in one that has its capture among its sources."""
        self._send(wire.TakeSession(document, other))

    def close_document(self, document: int, *, discard: bool = False) -> None:
        """Closes a document; pending requests about it fail. `discard` deletes the capture file of its gateway."""
        self._documents.pop(document, None)
        self._send(wire.Close(document, discard))

    # Requests

    def send_request(self, document: int, request: Request[AnswerT]) -> Future[Versioned[AnswerT]]:
        """Sends a request. Its future raises RequestError, CancelledError or EngineDiedError."""
        return self._ask(document, request, _Pending(Future(), answer_decoder(type(request))))

    def answer_within(self, document: int, request: Request[AnswerT], seconds: float) -> AnswerT:
        """Waits for the answer to a short request, which precedes all others. Events stay in their order.

        After an answer that is late, the next ones are hardly waited for until the engine sends something.

        Raises:
            RequestError: it cannot be answered, or not in time.
            EngineDiedError: the engine has ended.
        """
        pending = _Pending(Future(), answer_decoder(type(request)), is_awaited=True)
        try:
            return self._ask(document, request, pending).result(_LATE_S if self._is_late else seconds).answer
        except TimeoutError:
            self._is_late = True
            pending.future.cancel()
            raise RequestError("The engine does not answer in time. Try it again.") from None

    def request_parts(
        self, document: int, request: PartsRequest[PartT, AnswerT], on_part: Callable[[PartT], object]
    ) -> Future[Versioned[AnswerT]]:
        """Sends a request whose answer comes in parts; all parts come before the answer."""
        kind = type(request)
        return self._ask(document, request, _Pending(Future(), answer_decoder(kind), part_decoder(kind), on_part))

    def _ask(self, document: int, request: Request[Any], pending: _Pending) -> Future[Any]:
        number, future = next(self._numbers), pending.future
        self._note_pending(number, pending)
        future.add_done_callback(lambda done: self._send(wire.Cancel(number)) if done.cancelled() else None)
        self._send(wire.Ask(number, document, msgspec.Raw(wire.encode(request)), pending.is_awaited))
        return future

    def _note_pending(self, number: int, pending: _Pending) -> None:
        with self._lock:
            if self.died is None:
                self._asked[number] = pending
                self._decoders[number] = _Decoders(pending.answers, pending.parts, pending.is_awaited)
                return
        pending.future.set_exception(EngineDiedError(self.died))

    def begin_close(self) -> None:
        """Closes the input of the process, which then closes its documents and ends."""
        self._closing = True
        self._input.close()

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # its locks are free afterwards
            self._process.wait(_END_S)

    def close(self) -> None:
        """Ends the process and waits for its end."""
        self.begin_close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_END_S)

    # The pipe

    def _send(self, message: wire.ToEngine) -> None:
        self._input.send(wire.frame_of(message))

    def _read(self) -> None:
        frames = wire.FrameSplitter()
        stdout = self._process.stdout
        assert stdout is not None
        reason = "The engine has ended unexpectedly."
        try:
            while data := stdout.read(_READ_BYTES):
                for body in frames.feed(data):
                    self._receive(wire.decoded_by_window(body))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            reason = str(error) if isinstance(error, wire.WireError) else reason
        with self._lock:
            self.died = self.died or reason
            awaited = [number for number, decoders in self._decoders.items() if decoders.is_awaited]
        for number in awaited:
            self._complete(number, EngineDiedError(self.died))
        stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # its locks are free when its end is reported
            self._process.wait(_END_S)
        self._post(self._fail_all)
        self._process.wait()

    # On the thread of the pipe. It owns no callback even for a moment: it would delete the widgets of the last one.

    def _receive(self, message: wire.ToWindow) -> None:
        self._is_late = False
        match message:
            case wire.Answer():
                if (decoders := self._decoders.get(message.id)) is not None:
                    self._post_result(message.id, decoders, _decoded_answer(decoders, message))
            case wire.Part():
                decoders = self._decoders.get(message.id)
                if decoders is not None and decoders.parts is not None:
                    part = decoders.parts.decode(message.body)
                    self._post(lambda: self._pass_part(message.id, part))
            case wire.Failure():
                if (decoders := self._decoders.get(message.id)) is not None:
                    error = CancelledError() if message.kind == "cancelled" else RequestError(message.sentence)
                    self._post_result(message.id, decoders, error)
                else:
                    self._post(lambda: self._pass_event(message))
            case wire.Reading() | wire.Changed() | wire.State():
                self._post(lambda: self._pass_event(message))
            case wire.Hello():
                self.greeted.set()
                if message.schema != wire.SCHEMA:
                    self.died = f"The engine has schema {message.schema}, the window {wire.SCHEMA}."

    def _post_result(self, number: int, decoders: _Decoders, result: object) -> None:
        self._decoders.pop(number, None)
        if decoders.is_awaited:
            self._complete(number, result)
        else:
            self._post(lambda: self._complete(number, result))

    # On the thread of the caller

    def _pass_part(self, number: int, part: object) -> None:
        pending = self._asked.get(number)
        if pending is not None and pending.on_part is not None:
            pending.on_part(part)

    def _pass_event(self, message: wire.Reading | wire.Changed | wire.State | wire.Failure) -> None:
        number = message.update.document if isinstance(message, wire.Changed) else message.document
        events = self._documents.get(number)
        if events is None:
            return
        match message:
            case wire.Reading():
                events.on_reading(message)
            case wire.Changed():
                events.on_changed(message.update)
            case wire.State():
                events.on_state(message.state)
            case wire.Failure():
                events.on_failed(OpenFailedError(message.kind, message.sentence))

    def _fail_all(self) -> None:
        """Fails all requests after the end of the process, and reports it to the documents."""
        error = EngineDiedError(self.died)
        for number in list(self._asked):
            self._complete(number, error)
        if not self._closing:
            for events in list(self._documents.values()):
                events.on_failed(error)

    def _complete(self, number: int, result: object) -> None:
        pending = self._asked.pop(number, None)
        # The caller may have cancelled it meanwhile.
        if pending is not None and pending.future.set_running_or_notify_cancel():
            if isinstance(result, Exception):
                pending.future.set_exception(result)
            else:
                pending.future.set_result(result)

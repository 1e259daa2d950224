"""One document behind the pipe: it is read, followed, checked and counted in turns with the answers of its window."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from inspector.base import gc_control
from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.document.document import CaptureDocument
from inspector.document.saving import save_capture, save_copy, why_not_saved
from inspector.document.sources import Progress
from inspector.engine import wire
from inspector.engine.document_state import DocumentState, state_of
from inspector.engine.engine import Engine
from inspector.engine.idle_work import IdleWork
from inspector.engine.opening import apply_options
from inspector.engine.request import RequestError
from inspector.engine.targets import Gateway, OpenOptions
from inspector.engine.update import Update
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, POLL_S, UnknownFormatError
from inspector.sources.connection import Connection, Secret, new_participant
from inspector.sources.follow import POLL_S as FOLLOW_S
from inspector.sources.recorder_client import RecorderClient
from inspector.store.files.capture_folder import OwnCapture, captures_folder, lock_capture

if TYPE_CHECKING:
    from inspector.document.live import LiveSession

_PROGRESS_S = 0.03
_STATE_S = 0.25
"""Seconds between two looks for a new state, or for new idle work."""
_WORKER_S = 0.003
"""Pause while a worker decodes the next block."""
_SLICE_S = 0.01
"""Seconds of following before others run."""
_ANSWERS_S = 0.05
"""Pause of idle work while answers are pending."""


class ServedDocument:
    """A document of one window.

    Args:
        engine: the engine.
        number: the window's number of the document.
        tell: sends a message to the window.
        answers_first: waits while answers are pending, for a limited time.
        has_answers: returns True while answers are pending.
        failed: called if the logs cannot be read.

    Attributes:
        held: its number in the engine, once it is opened.
    """

    def __init__(
        self, engine: Engine, number: int, tell: Callable[[wire.ToWindow], object], *,
        answers_first: Callable[[], Awaitable[None]], has_answers: Callable[[], bool],
        failed: Callable[[Exception], object],
    ) -> None:  # fmt: skip
        self._engine, self._number, self._tell, self._failed = engine, number, tell, failed
        self._answers_first, self._has_answers = answers_first, has_answers
        self.held: int | None = None
        self._options = OpenOptions()
        self._session: LiveSession | None = None
        self._own: OwnCapture | None = None
        self._reader: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pending: Update | None = None
        self._is_stopped = False
        self._state: DocumentState | None = None

    @property
    def document(self) -> CaptureDocument:
        assert self.held is not None
        return self._engine.opened(self.held).document

    @property
    def is_reading(self) -> bool:
        return self._reader is not None

    # Opening

    def open(self, asked: wire.Open) -> None:
        """Starts to read logs.

        Raises:
            AliasError, PriceError: an option is malformed.
            RequestError: the unsaved capture to recover is missing or locked.
        """
        if asked.recovers:
            self._own = lock_capture(asked.targets[0].path)
            if self._own is None:
                raise RequestError(f"The capture {asked.targets[0].path.name} is open in another window.")
        self._options = asked.options
        targets, recorder = asked.targets, None
        if len(targets) == 1 and (recorder := RecorderClient.attach(targets[0].path)) is not None:
            targets = (msgspec.structs.replace(targets[0], is_live=True),)
        self.held, steps = self._engine.open(targets, asked.options, wait=False)
        if recorder is not None:
            self._continue_session(recorder)
        self._begin()
        self._start_reader(steps)

    def _continue_session(self, recorder: RecorderClient) -> None:
        """Continues the session of an engine that has ended."""
        from inspector.document.live import LiveSession  # imports the network

        self._session = LiveSession(
            recorder, self.document, on_state=self.report_state, others_first=self._answers_first
        )  # fmt: skip
        self.report_state()

    def project(self, other: ServedDocument | None, options: OpenOptions) -> None:
        """Starts to read the edited sessions of another document. Raises RequestError if that has none."""
        sessions = None if other is None or other.held is None else other.document.msp
        if other is None or sessions is None:
            raise RequestError("The document has no sessions.")
        self._options = options
        document = CaptureDocument(other.document.name)
        document.sources.waits = False
        apply_options(document, options)
        self.held = self._engine.adopt(document)
        self._begin()
        self._start_reader(document.open_sessions(sessions.paths, block_bytes=LIVE_BLOCK_BYTES, sessions=sessions))

    def adopt(self, document: CaptureDocument) -> None:
        """Serves a document that the caller has read."""
        self.held = self._engine.adopt(document)
        self._engine.subscribe(self.held, self._note)

    def connect(self, gateway: Gateway, options: OpenOptions) -> None:
        """Joins a gateway. Raises RequestError if the capture file cannot be written."""
        from inspector.document.live import LiveSession  # imports the network

        self._options = options
        document = CaptureDocument()
        apply_options(document, options)
        self.held = self._engine.adopt(document)
        connection = Connection(
            url=gateway.url, space=gateway.space, participant=gateway.participant or new_participant(),
            token=Secret(gateway.token), answer_tools_list=gateway.answer_tools_list,
        )  # fmt: skip
        try:
            self._session, self._own = LiveSession.join(
                connection, document, on_state=self.report_state, demo=gateway.demo, others_first=self._answers_first
            )
        except OSError as error:
            where = error.filename or captures_folder()
            raise RequestError(f"The capture cannot be written: {where}: {error.strerror or error}.") from None
        self._begin()
        self._session.start()
        self.report_state()

    def _begin(self) -> None:
        assert self.held is not None
        self._engine.subscribe(self.held, self._note)
        self._engine.opened(self.held).idle_work.set_counting(self._options.count_tokens)
        start_task(self._work_when_idle(), name=f"work on document {self._number}", owner=self._tasks)

    def take_session(self, other: ServedDocument) -> None:
        """Continues the gateway session of another document, whose capture is a source of this one.

        Another projection of its sessions continues under its name.
        """
        self._session, other._session = other._session, None
        self._own, other._own = other._own, None
        if self._session is not None and self.document.sources.live_source is not None:
            self._session.adopt_document(self.document, self.report_state)
        if self.document.msp is not None and self.document.msp is other.document.msp:
            # The sessions may have been saved under another name meanwhile.
            self.document.name, self.document.path = other.document.name, other.document.path

    def go_on(self) -> None:
        """Reads on after the memory limit or a cancelled reading; reconnects at once to a lost gateway."""
        if self.held is None:
            return
        document = self.document
        if document.memory.is_full:
            document.memory.extend()
            if document.live or document.sources.is_following:
                return
        if self._session is not None and document.live:
            self._session.recorder.retry_now()
        elif self._reader is None and document.sources.can_go_on:
            follow = self._options.follow
            self._start_reader(document.resume_reading(block_bytes=LIVE_BLOCK_BYTES, follow=follow))

    def stop_reading(self) -> None:
        """Stops reading, or leaves the gateway; the messages received so far stay."""
        if self._session is not None:
            start_task(self.leave_gateway(), name="leave the gateway", owner=self._tasks)
        else:
            self._is_stopped = True

    async def leave_gateway(self) -> None:
        """Leaves the gateway, if any, and waits until all received data is in the document."""
        if self._session is not None:
            await self._session.close()
            self.flush()
            self.report_state()

    def _start_reader(self, steps: Generator[object]) -> None:
        self._is_stopped = False
        self._reader = start_task(self._read(steps), name=f"read document {self._number}", owner=self._tasks)

    async def _read(self, steps: Generator[object]) -> None:
        """Reads a document; between two steps, requests are answered."""
        loop, tell_at, progress, shown = asyncio.get_running_loop(), 0.0, Progress(0, 0, 0), 0
        try:
            for step in steps:
                progress = step if isinstance(step, Progress) else progress
                waiting = isinstance(step, Progress) and step.waiting
                # The first messages are shown at once.
                is_first = progress.messages > 0 and not shown
                if is_first:
                    self.flush()
                    self.report_state()
                if loop.time() >= tell_at or is_first:
                    tell_at, shown = loop.time() + _PROGRESS_S, progress.messages
                    self._tell(wire.Reading(self._number, progress.done, progress.total, progress.messages))
                if waiting:
                    # A worker answers soon; the writer of a pipe may be silent for hours.
                    await asyncio.sleep(_WORKER_S if progress.total else POLL_S)
                await self._answers_first()
                # The window may have closed the document meanwhile.
                if self.held is None:
                    return
                # After a step at least, so that the sources are known and reading can go on.
                if self._is_stopped:
                    break
            if not self.document.capture.sources:
                raise UnknownFormatError(f"Opening {self.document.name} was cancelled.")
        except Exception as error:  # noqa: BLE001 - each failure is told to the window, which shows it
            self._failed(error)
            return
        finally:
            steps.close()  # the messages read so far stay
            self._reader = None
        gc_control.freeze_and_trim()
        self.flush()
        self.report_state()
        if self._session is not None and self.document.live:
            self._session.start()
        elif self.document.sources.is_following:
            start_task(self._follow(), name=f"follow document {self._number}", owner=self._tasks)
        stopped, messages = self._is_stopped or self.document.memory.is_full, len(self.document.capture)
        self._tell(wire.Reading(
            self._number, progress.done, progress.total, messages, ended=True, stopped=stopped
        ))  # fmt: skip

    async def _follow(self) -> None:
        document, behind = self.document, False
        while (followed := document.sources.followed) is not None and document.sources.is_following:
            # While catching up it only lets others run between two blocks.
            await asyncio.sleep(0 if behind else POLL_S if followed.is_active else FOLLOW_S)
            await self._answers_first()
            behind = document.poll(until=time.perf_counter() + _SLICE_S) and document.has_backlog
        # What was written before the end of following is still read.
        while document.poll():
            await self._answers_first()

    # Work without a request

    async def _work_when_idle(self) -> None:
        reported_at = 0.0
        while True:
            works = not self._has_answers() and self._work_once()
            pause_s = _SLICE_S if works else _ANSWERS_S if self._has_answers() else _STATE_S
            await asyncio.sleep(pause_s)
            if time.monotonic() - reported_at >= _STATE_S:
                reported_at = time.monotonic()
                self.report_state()

    def _work_once(self) -> bool:
        """Runs a slice of checks or of counting; returns True if more is due now."""
        work = self.idle_work
        return work is not None and work.run_slice()

    @property
    def idle_work(self) -> IdleWork | None:
        """Checks and counting; None while reading has priority."""
        if self.held is None or self.is_reading or self.document.sources.unread_bytes > LIVE_BLOCK_BYTES:
            return None
        return self._engine.opened(self.held).idle_work

    # Events

    def _note(self, update: Update) -> None:
        """Collects changes; they are sent together."""
        before = self._pending
        if before is None:
            self._pending = update
            asyncio.get_running_loop().call_soon(self.flush)
            return
        changed = update.changed if not len(before.changed) else np.union1d(before.changed, update.changed)
        self._pending = msgspec.structs.replace(
            update, start=before.start, changed=changed, tree_moved=before.tree_moved or update.tree_moved
        )

    def flush(self) -> None:
        """Sends the collected changes."""
        update, self._pending = self._pending, None
        if update is not None and self.held is not None:
            # Together with the state that has the same messages.
            self.report_state()
            self._tell(wire.Changed(msgspec.structs.replace(update, document=self._number)))

    def current_state(self) -> DocumentState:
        """Returns the present state."""
        assert self.held is not None
        held, own = self._engine.opened(self.held), self._own
        return state_of(
            held.document, self._session, is_checking=held.idle_work.is_checking, received=held.count_received(),
            unsaved=None if own is None else own.path,
        )  # fmt: skip

    def report_state(self) -> None:
        """Sends the state if it has changed."""
        if self.held is None:  # closed meanwhile
            return
        state = self.current_state()
        if state != self._state:
            self._state = state
            self._tell(wire.State(self._number, state))

    # Saving and closing

    async def save(self, target: Path) -> wire.Saved:
        """Moves the program's own capture to a file, or copies a log there. Raises RequestError with advice."""
        document, session, own = self.document, self._session, self._own
        try:
            if session is None and own is None:
                await save_copy(document, target)
                return wire.Saved(target, is_moved=False)
            writer = session.recorder if session is not None and not session.recorder.closed else None
            await save_capture(document, target, own=own, writer=writer)
        except OSError as error:
            raise RequestError(why_not_saved(error, target)) from None
        self._own = None
        if session is not None and not document.live:
            # Frames that could not be written before are in the new file.
            session.recorder.close()
            await session.take_in_all()
        self.report_state()
        return wire.Saved(target, is_moved=True)

    async def close(self, *, discard: bool = False) -> None:
        """Leaves the gateway and closes the document; `discard` deletes its own capture file."""
        if self._session is not None:
            await self._session.close()
        await cancel_and_wait(self._tasks)
        self.end(discard=discard)

    def end(self, *, discard: bool = False) -> None:
        """Closes the document at once. A gateway must have been left before."""
        for task in list(self._tasks):
            task.cancel()
        if self._session is not None:
            self._session.recorder.close()
        held, self.held = self.held, None
        if held is not None:
            self._engine.close_document(held)
        own, self._own = self._own, None
        if own is not None and discard:
            with contextlib.suppress(OSError):  # the next start offers it again
                own.discard()
        elif own is not None:
            own.release()

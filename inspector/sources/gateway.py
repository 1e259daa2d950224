"""Watches a live gateway: runs sessions in sequence, captures every frame, and marks gaps.

Owns the life and state of the connection. A connection lost after a welcome is retried until it returns, is refused, or
is closed by the user. `session` handles one connection and `recorder` writes the capture. All other code reads the
capture (docs/design.md 4, one way for live and file).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.base.async_tasks import cancel_and_wait, start_task
from inspector.sources import failures
from inspector.sources.connection import Connection, renewed_participant
from inspector.sources.failures import ConnectionFailure
from inspector.sources.handshake import Welcome
from inspector.sources.recorder import Recorder
from inspector.sources.session import Ending, Hooks, Session
from inspector.sources.state import Outage, SourceState
from inspector.sources.timing import Timing

if TYPE_CHECKING:
    from inspector.store.files.capture_writer import CaptureWriter

_OUR_FAULT = ConnectionFailure("The connection ended through a fault of ours.")
_QUIET_REST = 10
"""Factor for the interval of disk checks while no data waits to be written."""
_SLOWDOWN = 3.0  # an attempt may take this many times as long as the fastest connection


class GatewaySource:
    """Joins a MEW gateway and writes every frame to a capture writer, which the caller closes.

    A failed first connection ends it, unless `awaited` is set. Later failures do not, unless the gateway refuses for
    good.

    Attributes:
        connection: parameters, with a new participant id after each loss.
        state: last reported state.
        sentence: last reported sentence.
        participant: our id according to the gateway's welcome.
        outage: state of a lost connection; None while connected.
        recorder: recorder with its counts.
    """

    def __init__(
        self,
        connection: Connection,
        writer: CaptureWriter,
        *,
        on_state: Callable[[SourceState, str], None],
        timing: Timing | None = None,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: bool = True,
        awaited: bool = False,
    ) -> None:
        """Prepares the source; ``run`` starts it.

        Args:
            connection: address and identity.
            writer: receives every frame and writes in the background; flushed at the end, not closed.
            on_state: called on the loop's thread with each state and a sentence for the user.
            timing: timeouts; the defaults are for interactive use.
            ssl_context: for ``wss``; default: the system's trusted certificates.
            reconnect: reconnects after a loss.
            awaited: retries until a missing gateway appears.
        """
        self.connection: Connection = connection
        self.state: SourceState = SourceState.CONNECTING
        self.sentence: str = ""
        self.participant: str = connection.participant
        self.outage: Outage | None = None
        self.recorder: Recorder = Recorder(writer, time.time_ns)
        self._writer = writer
        self._on_state = on_state
        self._timing = timing or Timing()
        self._ssl_context = ssl_context
        self._reconnect = reconnect
        self._awaited = awaited
        self._session: Session | None = None
        self._runner: asyncio.Task[Any] | None = None
        self._finished = asyncio.Event()
        self._now = asyncio.Event()  # skip the wait before the next attempt
        self._closing = False
        self._cancelled = False  # by ourselves
        self._write_error: OSError | None = None
        self._base_wait_s = 0.0
        self._quickest_s: float | None = None

    async def run(self) -> None:
        """Connects, joins and captures until ``close``, cancellation, or a permanent end.

        Network and disk errors are reported as ``SourceState.FAILED``, never raised. Call it once.
        """
        self._runner = asyncio.current_task()
        # Stays if an unexpected exception passes through `run`.
        ending = Ending(_OUR_FAULT)
        beside: set[asyncio.Task[Any]] = set()
        try:
            start_task(self._watch_disk(), name="watch the disk", owner=beside)
            ending = await self._run_life()
        except asyncio.CancelledError:
            ending = Ending(None)
            # Our own cancellation happens once, while there is no connection to close; any other must propagate.
            if not (self._cancelled and self._runner is not None and self._runner.uncancel() == 0):
                raise
        finally:
            # Here only cancelled, not awaited: the report must not wait for other tasks.
            for task in beside:
                task.cancel()
            self._finish_run(ending)
        await cancel_and_wait(beside)

    async def close(self) -> None:
        """Leaves the gateway: close code 1000, mark ``closed``, flush.

        Returns after ``run``; repeated calls are allowed.
        """
        self._closing = True
        if self._runner is None or self._finished.is_set():
            return
        self._stop_waiting()
        await self._finished.wait()

    def retry_now(self) -> None:
        """Retries a lost connection at once."""
        self._now.set()

    # connection life cycle

    async def _run_life(self) -> Ending:
        if self._closing:
            return Ending(None)
        self._report(SourceState.CONNECTING, f"Connecting to {self.connection.shown_url}.")
        ending = await self._run_session(limit_s=None)
        while self._awaited and self._may_come_back(ending) and not ending.welcomed:
            ending = await self._try_again(ending)
        while self._may_come_back(ending) and ending.welcomed:
            ending = await self._come_back(ending)
        return ending

    async def _try_again(self, failed: Ending) -> Ending:
        """Retries a gateway that is not there yet after a short wait, so that its first messages are not missed."""
        trouble = failed.trouble.what if failed.trouble is not None else ""
        sentence = f"Waiting until the gateway is there. {trouble}"
        # Retries follow within a second; an unchanged sentence would only flicker.
        if sentence != self.sentence:
            self._report(SourceState.CONNECTING, sentence)
        self._now.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timing.awaited_wait_s):
                await self._now.wait()
        if self._closing or self._write_error is not None:
            return Ending(None)
        return await self._run_session(limit_s=self._attempt_s)

    def _may_come_back(self, ending: Ending) -> bool:
        stopped = self._closing or self._write_error is not None or not self._reconnect
        return not stopped and ending.trouble is not None and not ending.trouble.permanent

    async def _come_back(self, lost: Ending) -> Ending:
        """Reconnects until it succeeds or fails for good; returns the end of that session, or the final failure."""
        # A connection that stays only briefly must not reset the growing waits.
        if lost.lasted_s >= self._timing.steady_s:
            self._base_wait_s = 0.0
        # After a silent loss, the gap begins at the last frame, long before the loss is noticed.
        since_ns = self.recorder.last_in_ns if lost.silent else time.time_ns()
        self.outage = Outage(lost.trouble.what if lost.trouble is not None else "", since_ns)
        ending = lost
        while self._may_come_back(ending):
            self.recorder.begin_gap(since_ns, self._gap_words)  # a second gap only if the last attempt ended the first
            await self._wait_for_retry()
            if self._closing or self._write_error is not None:
                return Ending(None)
            self.outage = replace(self.outage, attempts=self.outage.attempts + 1, next_at_s=None)
            # The gateway may still hold the lost connection under the old id.
            self.connection = replace(self.connection, participant=renewed_participant(self.connection.participant))
            ending = await self._run_session(limit_s=self._attempt_s)
            if ending.welcomed:
                return ending
            if ending.trouble is not None:
                self.outage = replace(self.outage, trouble=ending.trouble.what)
            since_ns = time.time_ns()
        return ending

    async def _wait_for_retry(self) -> None:
        """Waits before the next attempt: not at first, then increasingly, with random variation."""
        base_s, self._base_wait_s = self._base_wait_s, self._next_wait(self._base_wait_s)
        wait_s = random.uniform(0.5, 1.0) * base_s  # so that clients of a gateway do not retry together
        assert self.outage is not None
        self.outage = replace(self.outage, next_at_s=time.monotonic() + wait_s)
        self._report_outage()
        self._now.clear()
        if self._closing or self._write_error is not None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._now.wait()

    def _next_wait(self, base_s: float) -> float:
        return min(self._timing.longest_wait_s, max(self._timing.first_wait_s, 2 * base_s))

    @property
    def _attempt_s(self) -> float:
        return max(self._timing.attempt_s, _SLOWDOWN * (self._quickest_s or 0.0))

    async def _run_session(self, *, limit_s: float | None) -> Ending:
        hooks = Hooks(joining=self._on_joining, welcomed=self._on_welcomed, remark=self._on_remark)
        session = self._session = Session(
            self.connection,
            self.recorder,
            hooks,
            timing=self._timing,
            ssl_context=self._ssl_context,
            limit_s=limit_s,
        )
        ending = Ending(None)
        try:
            ending = await session.run()
        finally:
            self._session = None
            self._close_records(session, ending)
        return ending

    def _close_records(self, session: Session, ending: Ending) -> None:
        if self.outage is not None and not session.frames_in:
            # Failed attempts of one outage share a single gap mark.
            self.recorder.drop_held()
        elif session.is_open and not self._writer.closed:
            self.recorder.record_mark("closed", reason=self._sentence_of(ending), code=ending.code)
            self.recorder.keep_held()

    # session callbacks

    def _on_joining(self) -> None:
        if self.outage is None:
            space, where = self.connection.space, self.connection.shown_url
            self._report(SourceState.CONNECTING, f"Joining space {space} at {where}.")

    def _on_welcomed(self, welcome: Welcome) -> None:
        session = self._session
        assert session is not None
        self.participant = session.participant
        took_s = session.took_s
        # A slow link needs longer attempts; the fastest one measures it.
        self._quickest_s = took_s if self._quickest_s is None else min(took_s, self._quickest_s)
        outage = self.outage
        if outage is not None:
            self.recorder.end_gap()
            self.outage = None
        self._report(SourceState.CONNECTED, self._welcome_sentence(welcome, outage))

    def _welcome_sentence(self, welcome: Welcome, outage: Outage | None) -> str:
        again, after = "", ""
        if outage is not None:
            again, after = " again", f" after {failures.duration((time.time_ns() - outage.since_ns) / 1e9)}"
        where = self.connection.shown_url
        sentence = f"Connected{again} to {self.connection.space} at {where} as {self.participant}{after}."
        if self.participant != self.connection.participant:
            sentence += f" The gateway did not take our id {self.connection.participant}."
        if self.connection.token and welcome.defaults_only:
            held = ", ".join(dict.fromkeys(welcome.kinds or ())) or "none"
            sentence += (
                f" It granted only its default capabilities ({held}), so it may not know the token; "
                "watching works all the same."
            )
        return sentence

    def _on_remark(self, sentence: str) -> None:
        self._report(SourceState.CONNECTED, sentence)

    def _report_outage(self) -> None:
        outage = self.outage
        assert outage is not None
        sentence = f"{outage.why} Trying again until it is back."
        if outage.trouble:
            sentence += f" The last attempt failed: {outage.trouble}"
        # The countdown is read from `outage`, so equal sentences are not reported again.
        if (self.state, self.sentence) != (SourceState.RECONNECTING, sentence):
            self._report(SourceState.RECONNECTING, sentence)

    def _gap_words(self) -> str:
        outage = self.outage
        assert outage is not None
        lost_s = max(0, time.time_ns() - outage.since_ns) / 1e9
        still_away = self._session is None
        return failures.gap_sentence(outage.why, lost_s=lost_s, attempts=outage.attempts, back=not still_away)

    # disk

    async def _watch_disk(self) -> None:
        """Leaves the gateway after a write error. The writer runs on its own and keeps unwritten data."""
        while self._writer.error is None:
            rest = 1 if self._writer.pending_chars else _QUIET_REST  # only a write can fail
            await asyncio.sleep(rest * self._timing.disk_check_s)
            self._writer.check_stall()
        self._write_error = self._writer.error
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        """Ends all waits of ``run``."""
        self._now.set()
        if self._session is not None and self._session.is_open:
            # Never by cancellation: the gateway must get its close.
            self._session.close()
        elif self._runner is not None and not self._cancelled:
            self._cancelled = True
            self._runner.cancel()

    # end

    def _sentence_of(self, ending: Ending) -> str:
        return f"Disconnected from {self.connection.shown_url}." if ending.trouble is None else str(ending.trouble)

    def _finish_run(self, ending: Ending) -> None:
        """Writes the last marks, flushes and reports."""
        state = SourceState.CLOSED if ending.trouble is None or ending.well else SourceState.FAILED
        sentence = self._sentence_of(ending)
        try:
            if not self._writer.closed:
                self.recorder.end_gap()  # never reconnected
            self._writer.flush()
        except OSError as error:
            self._write_error = error
        if self._write_error is not None:
            state, sentence = SourceState.FAILED, str(self._write_error)
        self.outage = None
        self._finished.set()
        self._report(state, sentence)

    def _report(self, state: SourceState, sentence: str) -> None:
        self.state, self.sentence = state, sentence
        self._on_state(state, sentence)

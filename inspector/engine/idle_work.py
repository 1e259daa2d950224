"""Work about a document that no request waits for: checks that read records again, and the counting of tokens."""

from __future__ import annotations

import time

from inspector.base.slices import run_step
from inspector.document.document import CaptureDocument
from inspector.present.conversation.markdown import prepare_parsers

FLOOD = 3_000
"""Messages per second that suspend counting, because recording and display have priority."""
START_S = 0.7
"""Delay of counting after new messages: they are read, checked and shown first."""
COUNTS_S = 1.0
"""Interval of reports of counted tokens: each renews the sums of several panels."""
COUNTER_IDLE_S = 10.0
"""Idle time until the counting process is ended, since its start takes half a second."""


class IdleWork:
    """Runs in slices while nothing is asked.

    Attributes:
        counts_tokens: the user wants tokens to be counted.
        is_checking: checks are pending.
    """

    def __init__(self, document: CaptureDocument) -> None:
        self._document = document
        self.counts_tokens = False
        self.is_checking = True
        self._count_from = time.monotonic() + START_S
        self._reported_at = 0.0
        self._done_at: float | None = None
        self._rate_sample = (time.monotonic(), 0)
        self._flooded = False
        self._is_prepared = False

    @property
    def _is_counted(self) -> bool:
        return self._document.analysis.tokens.done or self._document.counting.failure_message is not None

    def note_changed(self) -> None:
        """Notes new or changed messages."""
        self.is_checking = True
        if self._is_counted:
            self._count_from = time.monotonic() + START_S

    def set_counting(self, wanted: bool) -> None:
        """Starts or stops counting; existing counts stay."""
        self.counts_tokens = wanted
        if not wanted:
            self._document.counting.end()

    def run_slice(self) -> bool:
        """Works for a few milliseconds; returns True if more is due now."""
        if self.is_checking:
            self.is_checking = not run_step(self._document.postponed_checks())
        if not self._is_prepared and time.monotonic() >= self._count_from:
            self._is_prepared = True
            prepare_parsers()
        counts = (
            self.counts_tokens and time.monotonic() >= self._count_from and not self._is_flooded() and self._count()
        )
        return self.is_checking or counts

    def _count(self) -> bool:
        """Collects counts and gives out more messages; returns True if messages are left."""
        document, now = self._document, time.monotonic()
        if not self._is_counted:
            self._done_at = None
            document.counting.go_on()
        is_done = self._is_counted
        just_done = is_done and self._done_at is None
        if just_done or (not is_done and now - self._reported_at >= COUNTS_S):
            self._reported_at = now
            document.notify_counted()
        if is_done:
            self._done_at = now if self._done_at is None else self._done_at
            self._end_when_idle(now - self._done_at)
        return not is_done

    def _end_when_idle(self, idle_s: float) -> None:
        counting = self._document.counting
        is_idle = not self._document.is_arriving and idle_s >= COUNTER_IDLE_S
        if counting.pids and (is_idle or counting.failure_message is not None):
            counting.end()

    def _is_flooded(self) -> bool:
        """Returns True if many messages arrive now, measured over about a second."""
        document, now = self._document, time.monotonic()
        (then, before), messages = self._rate_sample, len(document.analysis)
        if not document.is_arriving or messages < before:
            return False
        if now - then >= 1.0:
            self._flooded = (messages - before) / (now - then) >= FLOOD
            self._rate_sample = (now, messages)
        return self._flooded

"""Counts tokens of a window's document in the background: starts, prioritizes, shows progress.

The window's process never counts. Loading the tokenizer's table takes 0.2 s and 60 MB.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES
from inspector.ui import budgets

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

FLOOD = 3_000
"""Messages per second that suspend counting, because recording and display have priority."""
_PROGRESS_FROM = 20_000
"""Uncounted messages from which progress is shown; fewer take about a second."""
_FAILED_NOTICE = "tokens-given-up"


class TokenCounting(QObject):
    """Counts the tokens of one window's document, if the settings allow it."""

    def __init__(
        self, shown: Shown, owner: SettingsOwner, notices: NoticeStack, status: StatusBar,
        is_reading: Callable[[], bool], parent: QObject,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            owner: has the setting that enables counting.
            notices: reports that counting has failed.
            status: shows progress.
            is_reading: returns True while a document is read, which has priority.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown = shown
        self._owner = owner
        self._notices = notices
        self._status = status
        self._is_reading = is_reading
        self._panes: Panes | None = None
        self._reported_at = 0.0
        self._asked_at = 0.0
        self._done_at = 0.0
        self._shows_progress = False
        self._failure_reported = False  # that counting failed
        self._rate_sample = (time.monotonic(), 0)
        self._flooded = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue_counting)

    @property
    def wanted(self) -> bool:
        """True if the settings enable counting."""
        return self._owner.settings.display.count_tokens

    @property
    def active(self) -> bool:
        """True while messages are left to count."""
        return self._timer.isActive() and not self._shown.document.analysis.tokens.done

    def start(self, panes: Panes) -> None:
        """Starts counting present and future messages."""
        self._panes = panes
        self._asked_at = time.monotonic()
        panes.bridge.settled.connect(self._on_settled)
        panes.selection_changed.connect(self._on_selected)
        self.apply_settings()

    def stop(self) -> None:
        """Stops because the document is about to close."""
        self._timer.stop()
        if self._panes is not None:
            self._panes.bridge.settled.disconnect(self._on_settled)
            self._panes.selection_changed.disconnect(self._on_selected)
            self._panes = None
            self._shown.document.counting.end()

    def apply_settings(self) -> None:
        """Starts or stops counting after a change of settings. Existing counts stay."""
        if self._panes is None:
            return
        counted = self._shown.document.analysis.tokens.counted > 0
        self._panes.contexts.tokens_action.setEnabled(self.wanted or counted)
        if self.wanted:
            self._schedule()
        elif self._timer.isActive():
            self._timer.stop()
            self._shown.document.counting.end()
            self._show_progress()

    def _on_settled(self, _changes: object) -> None:
        self._schedule()

    def _on_selected(self, message: int | None) -> None:
        """Counts the selected message before all others."""
        if message is not None and self.wanted:
            self._shown.document.analysis.tokens.prioritize([message])

    def _schedule(self) -> None:
        if self.wanted and not self._timer.isActive() and not self._shown.document.analysis.tokens.done:
            self._timer.start(budgets.current.counting_start_ms)

    def _continue_counting(self) -> None:
        document = self._shown.document
        # reading has priority
        if self._is_reading() or document.sources.unread_bytes > LIVE_BLOCK_BYTES or self._is_flooded():
            self._timer.setInterval(budgets.current.counting_start_ms)
            return
        self._timer.setInterval(budgets.current.background_ms)
        now = time.monotonic()
        if self._panes is not None and self._panes.awaited and now - self._asked_at < budgets.current.rest_s:
            return
        done, self._asked_at = document.counting.go_on(), now
        # sums are refreshed at intervals, since each refresh repaints several panels
        if done or now - self._reported_at >= budgets.current.counts_s:
            self._reported_at = now
            document.notify_counted()
            self._show_progress()
        if done and not self._done_at and not document.is_arriving and self._panes is not None:
            self._panes.details.renew()  # its sums change without a change of any message
        self._done_at = (self._done_at or now) if done else 0.0
        if done:
            self._end_when_idle(now)

    def _is_flooded(self) -> bool:
        """Returns True if many messages arrive now, measured over about a second."""
        document, now = self._shown.document, time.monotonic()
        (then, before), messages = self._rate_sample, len(self._shown.document.analysis)
        if not document.is_arriving or messages < before:
            return False
        if now - then >= 1.0:
            self._flooded = (messages - before) / (now - then) >= FLOOD
            self._rate_sample = (now, messages)
        return self._flooded

    def _end_when_idle(self, now: float) -> None:
        """Keeps the worker for a while after the last count, since a start takes half a second."""
        document = self._shown.document
        trouble = document.counting.failure_message
        if trouble is not None and not self._failure_reported:
            self._failure_reported = True
            self._notices.show_notice(_FAILED_NOTICE, "warning", trouble, token="severity.warning", closable=True)
        if trouble is not None or (not document.is_arriving and now - self._done_at >= budgets.current.counter_idle_s):
            self._timer.stop()  # starts again when messages arrive
            document.counting.end()
        elif document.is_arriving:
            self._timer.setInterval(budgets.current.counting_start_ms)

    def _show_progress(self) -> None:
        """Shows the progress of long counts. The few messages of live traffic are not reported."""
        tokens = self._shown.document.analysis.tokens
        total = tokens.counted + tokens.uncounted
        counting = self._timer.isActive() and not tokens.done
        self._shows_progress = counting and (self._shows_progress or tokens.uncounted >= _PROGRESS_FROM)
        self._status.set_counting(tokens.counted / total if self._shows_progress and total else None)

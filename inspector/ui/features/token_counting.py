"""Tokens are counted by a process of its own while a window is used; here is asked for counts, and told how far it is.

Nothing is counted in the window's own process: the tokenizer's table takes a fifth of a second to load, and 60 MB.
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
    from inspector.ui.docview.shown import Shown
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

FLOOD = 3_000
"""Messages a second from which on counting waits for a calmer time: what comes in has to be kept and shown first."""
_SHOWN_FROM = 20_000
"""Messages still to be counted from which on the status bar says how far it is; fewer take a second."""
_TROUBLE = "tokens-given-up"


class TokenCounting(QObject):
    """Has the tokens of one window's document counted, as far as the settings want it."""

    def __init__(
        self, shown: Shown, owner: SettingsOwner, notices: NoticeStack, status: StatusBar,
        is_reading: Callable[[], bool], parent: QObject,
    ) -> None:  # fmt: skip
        """Count nothing yet.

        Args:
            shown: whose document is counted.
            owner: its settings say whether tokens are wanted.
            notices: where it is said that counting was given up.
            status: where it is said how far it is.
            is_reading: whether a document is being read, which comes first.
            parent: owner.
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
        self._failure_reported = False  # that it was given up
        self._seen = (time.monotonic(), 0)
        self._flooded = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)

    @property
    def wanted(self) -> bool:
        """Whether tokens are counted at all."""
        return self._owner.settings.display.count_tokens

    @property
    def active(self) -> bool:
        """Whether something is left to be counted, as far as is known."""
        return self._timer.isActive() and not self._shown.document.analysis.tokens.done

    def start(self, panes: Panes) -> None:
        """Count whatever came and comes, from now on."""
        self._panes = panes
        self._asked_at = time.monotonic()
        panes.bridge.settled.connect(self._on_settled)
        panes.selection_changed.connect(self._on_selected)
        self.apply_settings()

    def stop(self) -> None:
        """Count no more: the document is about to be closed."""
        self._timer.stop()
        if self._panes is not None:
            self._panes.bridge.settled.disconnect(self._on_settled)
            self._panes.selection_changed.disconnect(self._on_selected)
            self._panes = None
            self._shown.document.counting.end()

    def apply_settings(self) -> None:
        """Take over whether tokens are wanted; what was counted stays."""
        if self._panes is None:
            return
        counted = self._shown.document.analysis.tokens.counted > 0
        self._panes.contexts.tokens_action.setEnabled(self.wanted or counted)
        if self.wanted:
            self._wait()
        elif self._timer.isActive():
            self._timer.stop()
            self._shown.document.counting.end()
            self._show_progress()

    def _on_settled(self, _changes: object) -> None:
        self._wait()

    def _on_selected(self, message: int | None) -> None:
        """Whoever looks at a message need not wait for all before it."""
        if message is not None and self.wanted:
            self._shown.document.analysis.tokens.want([message])

    def _wait(self) -> None:
        if self.wanted and not self._timer.isActive() and not self._shown.document.analysis.tokens.done:
            self._timer.start(budgets.current.counting_start_ms)

    def _go_on(self) -> None:
        document = self._shown.document
        if self._is_reading() or document.sources.behind > LIVE_BLOCK_BYTES or self._is_flooded():  # reading first
            self._timer.setInterval(budgets.current.counting_start_ms)
            return
        self._timer.setInterval(budgets.current.background_ms)
        now = time.monotonic()
        if self._panes is not None and self._panes.awaited and now - self._asked_at < budgets.current.rest_s:
            return
        done, self._asked_at = document.counting.go_on(), now
        if done or now - self._reported_at >= budgets.current.counts_s:
            self._reported_at = now
            document.tell_counted()
            self._show_progress()
        if done and not self._done_at and not document.arriving and self._panes is not None:
            self._panes.details.renew()  # sums stand there, which no message's change tells of
        self._done_at = (self._done_at or now) if done else 0.0
        if done:
            self._rest(now)

    def _is_flooded(self) -> bool:
        """Whether many messages come in now, by what came since about a second ago."""
        document, now = self._shown.document, time.monotonic()
        (then, before), messages = self._seen, len(self._shown.document.analysis)
        if not document.arriving or messages < before:
            return False
        if now - then >= 1.0:
            self._flooded = (messages - before) / (now - then) >= FLOOD
            self._seen = (now, messages)
        return self._flooded

    def _rest(self, now: float) -> None:
        """Nothing is left: stay ready for a while, as it takes half a second to start again."""
        document = self._shown.document
        trouble = document.counting.trouble
        if trouble is not None and not self._failure_reported:
            self._failure_reported = True
            self._notices.show_notice(_TROUBLE, "warning", trouble, token="severity.warning", closable=True)
        if trouble is not None or (not document.arriving and now - self._done_at >= budgets.current.counter_idle_s):
            self._timer.stop()  # goes on when something has come
            document.counting.end()
        elif document.arriving:
            self._timer.setInterval(budgets.current.counting_start_ms)

    def _show_progress(self) -> None:
        """Say how far it is, where it takes a while; nothing about the few that come in while traffic is live."""
        tokens = self._shown.document.analysis.tokens
        total = tokens.counted + tokens.uncounted
        counting = self._timer.isActive() and not tokens.done
        self._shows_progress = counting and (self._shows_progress or tokens.uncounted >= _SHOWN_FROM)
        self._status.set_counting(tokens.counted / total if self._shows_progress and total else None)

"""Runs deferred checks, which reread records, in the background while no log is read."""

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
    from inspector.ui.widgets.notice import NoticeStack

_PAUSE_FACTOR = 5
"""Pause after a slow slice, as a multiple of its duration."""
_FAILED_NOTICE = "checks-failed"


class DeferredChecks(QObject):
    """Continues the deferred checks of one window's document and reports failed ones."""

    def __init__(self, shown: Shown, notices: NoticeStack, is_reading: Callable[[], bool], parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows failed checks.
            is_reading: returns True while a document is read, which has priority.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown = shown
        self._notices = notices
        self._is_reading = is_reading
        self._reported = 0
        self._checked_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(budgets.current.background_ms)
        self._timer.timeout.connect(self._run_slice)

    def start(self, panes: Panes) -> None:
        """Starts the checks, and continues them whenever messages arrive or change."""
        panes.bridge.settled.connect(self._on_settled)
        self._checked_at = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """Stops because the document is about to close."""
        self._timer.stop()
        if self._shown.panes is not None:
            self._shown.panes.bridge.settled.disconnect(self._on_settled)

    @property
    def active(self) -> bool:
        """True while checks are pending."""
        return self._timer.isActive()

    def failures(self) -> list[str]:
        """Returns sentences about the checks that a program error has ended."""
        return self._shown.document.failed_checks

    def _on_settled(self, _changes: object) -> None:
        if not self._timer.isActive():  # a restart each time would postpone the timer forever under live traffic
            self._timer.start()
        self._report_failures()

    def _run_slice(self) -> None:
        document, panes = self._shown.document, self._shown.panes
        if self._is_reading() or document.sources.unread_bytes > LIVE_BLOCK_BYTES:  # reading has priority
            return
        began = time.perf_counter()
        # A view that the user waits for comes first, but not for ever: new traffic may restart its search.
        if panes is not None and panes.awaited and began - self._checked_at < budgets.current.rest_s:
            return
        self._checked_at = began
        done = document.run_postponed_checks(began + budgets.current.background_slice_s)
        taken_ms = (time.perf_counter() - began) * 1000
        self._timer.setInterval(max(budgets.current.background_ms, round(_PAUSE_FACTOR * taken_ms)))
        if done:
            self._timer.stop()
        self._report_failures()

    def _report_failures(self) -> None:
        """Reports each failure once, also if the notice was closed."""
        failed = len(self._shown.document.analysis.findings.failed)
        if failed > self._reported:
            self._reported = failed
            sentence = " ".join(self.failures())
            self._notices.show_notice(_FAILED_NOTICE, "warning", sentence, token="severity.warning", closable=True)

"""What the checks put off because records have to be read again for it is done here, while nothing else is read."""

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
    from inspector.ui.widgets.notice import NoticeStack

_REST = 5
"""Where one slice takes longer, the loop is left to others for so many times as long."""
_FAILED = "checks-failed"


class DeferredChecks(QObject):
    """Goes on with the checks of one window's document, and says when one has failed."""

    def __init__(self, shown: Shown, notices: NoticeStack, is_reading: Callable[[], bool], parent: QObject) -> None:
        """Check nothing yet.

        Args:
            shown: whose document is checked.
            notices: where it is said that a check has failed.
            is_reading: whether a document is being read, which comes first.
            parent: owner.
        """
        super().__init__(parent)
        self._shown = shown
        self._notices = notices
        self._is_reading = is_reading
        self._reported = 0
        self._checked_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(budgets.current.background_ms)
        self._timer.timeout.connect(self._look)

    def start(self, panes: Panes) -> None:
        """Go on whenever messages came or changed, from now on."""
        panes.bridge.settled.connect(self._on_settled)
        self._checked_at = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """Look at no more messages: the document is about to be closed."""
        self._timer.stop()
        if self._shown.panes is not None:
            self._shown.panes.bridge.settled.disconnect(self._on_settled)

    @property
    def active(self) -> bool:
        """Whether something is left to be looked at, as far as is known."""
        return self._timer.isActive()

    def failures(self) -> list[str]:
        """What is said of the checks that an error in the program has ended."""
        return self._shown.document.failed_checks

    def _on_settled(self, _changes: object) -> None:
        if not self._timer.isActive():  # else it would begin anew each time, and never run out while traffic comes
            self._timer.start()
        self._tell()

    def _look(self) -> None:
        document, panes = self._shown.document, self._shown.panes
        if self._is_reading() or document.sources.behind > LIVE_BLOCK_BYTES:  # reading comes first
            return
        began = time.perf_counter()
        if panes is not None and panes.awaited and began - self._checked_at < budgets.current.rest_s:
            return
        self._checked_at = began
        done = document.look_further(began + budgets.current.background_slice_s)
        taken_ms = (time.perf_counter() - began) * 1000
        self._timer.setInterval(max(budgets.current.background_ms, round(_REST * taken_ms)))
        if done:
            self._timer.stop()
        self._tell()

    def _tell(self) -> None:
        """Say it once; who has closed the notice has read it."""
        failed = len(self._shown.document.analysis.findings.failed)
        if failed > self._reported:
            self._reported = failed
            sentence = " ".join(self.failures())
            self._notices.show_notice(_FAILED, "warning", sentence, token="severity.warning", closable=True)

"""Converts changes of a document into coalesced Qt signals for its views."""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import Rows
from inspector.document.document import CaptureDocument
from inspector.ui import budgets
from inspector.ui.loop_budget import turn_of_loop

_PAUSE_FACTOR = 3
"""Pause after a flush, as a multiple of the time that the views took."""
_FLOOD_MESSAGES, _PAUSE_FACTOR_FLOOD = 200, 8
"""Messages per flush that count as a flood, and the pause after it. Fast traffic is not read line by line."""
_PAUSE_FACTOR_BACKLOG = 12
"""Pause while a backlog is read, since reading all of it comes first."""


class DocumentBridge(QObject):
    """Coalesces the document's changes and emits them a few dozen times a second.

    Slow views postpone the next flush. They get at most a quarter of the time, so that receiving and reading continue.
    They get less in a flood or with a backlog.

    Signals:
        flushed(Changes): all changes since the last flush, for the rows.
        settled(Changes): the same after painting, for the surrounding views. Both together would block the loop too
        long.
    """

    flushed = Signal(object)
    settled = Signal(object)

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._span: tuple[int, int] | None = None
        self._changed: list[Rows] = []
        self._tree_moved = False
        self._unsettled: AnalysisChanges | None = None
        self._paused = False
        self._painting = False
        self._flooded = False  # the last flush was a flood
        self._flush_started_at = 0.0
        self._rest_until = 0.0
        self._timer = QTimer(self)
        self._timer.setObjectName("flushTimer")
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._emit_flushed)
        self._painted = QTimer(self)
        self._painted.setSingleShot(True)
        self._painted.setInterval(0)  # Qt runs timers after painting
        self._painted.timeout.connect(self._on_painted)
        document.observers.append(self)

    def messages_changed(self, changes: AnalysisChanges) -> None:
        """Called by the document in the loop's thread. O(messages changed)."""
        start = changes.start if self._span is None else self._span[0]
        self._span = (start, changes.stop)
        earlier = changes.changed[changes.changed < start]  # new messages need no entry of their own
        if len(earlier):
            self._changed.append(earlier)
        self._tree_moved = self._tree_moved or changes.tree_moved
        self._schedule_flush()

    def _schedule_flush(self) -> None:
        """Starts the timer of the next flush. Its delay is known only after the last flush was painted."""
        if self._span is not None and not (self._paused or self._painting or self._timer.isActive()):
            rest_ms = (self._rest_until - time.perf_counter()) * 1000
            self._timer.start(round(min(budgets.current.slowest_flush_ms, max(budgets.current.flush_ms, rest_ms))))

    @property
    def waiting(self) -> int:
        """Number of new messages not emitted yet."""
        return self._span[1] - self._span[0] if self._span is not None else 0

    @property
    def paused(self) -> bool:
        """True while changes are held back; the capture continues."""
        return self._paused

    def set_paused(self, paused: bool) -> None:
        self._paused = paused
        if not paused:
            self.flush()

    def flush(self) -> None:
        """Emits all pending changes at once."""
        self._emit_flushed()
        self._emit_settled()

    def _emit_flushed(self) -> None:
        self._emit_settled()
        if self._span is None:
            return
        (start, stop), changed, moved = self._span, self._changed, self._tree_moved
        self._span, self._changed, self._tree_moved = None, [], False
        rows = np.unique(np.concatenate(changed)) if changed else np.empty(0, np.int64)
        self._timer.stop()
        self._flush_started_at = time.perf_counter()
        self._painting = True
        self._painted.start()
        self._unsettled = AnalysisChanges(start, stop, rows, moved)
        self._flooded = stop - start > _FLOOD_MESSAGES
        self.flushed.emit(self._unsettled)
        turn_of_loop().claim()

    def _emit_settled(self) -> None:
        changes, self._unsettled = self._unsettled, None
        if changes is not None:
            self.settled.emit(changes)

    def _on_painted(self) -> None:
        if self._unsettled is not None:
            if not turn_of_loop().may_take():  # painting took this iteration's time
                self._painted.start()
                return
            self._emit_settled()
            self._painted.start()
            return
        now = time.perf_counter()
        rest = (
            _PAUSE_FACTOR_BACKLOG
            if self._document.has_backlog
            else _PAUSE_FACTOR_FLOOD
            if self._flooded
            else _PAUSE_FACTOR
        )
        self._rest_until = now + rest * (now - self._flush_started_at)
        self._painting = False
        self._schedule_flush()

    def detach(self) -> None:
        """Unsubscribes from the document."""
        if self in self._document.observers:
            self._document.observers.remove(self)
        self._timer.stop()
        self._painted.stop()

"""Converts changes of a document into coalesced Qt signals for its views."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.update import Update
from inspector.ui.document_client import DocumentClient

_FLUSH_MS, _SLOWEST_FLUSH_MS = 16, 250
"""Shortest and longest interval of updates to views. After a longer pause an update passes at once."""

_PAUSE_FACTOR, _PAUSE_FACTOR_FLOOD = 1, 8
"""Pause after a flush, as a multiple of the time that the views took; in a flood, or while a backlog is read."""
_FLOOD_MESSAGES = 200
"""Messages per flush that count as a flood. Fast traffic is not read line by line."""


class DocumentBridge(QObject):
    """Coalesces the document's changes and emits them a few dozen times a second.

    Slow views postpone the next flush: they get at most half of the time, so that the user's acts come between. In a
    flood or with a backlog they get less, because each flush takes the engine's time from reading.

    Signals:
        flushed(Update): all changes since the last flush, for the rows.
        settled(Update): the same after painting, for the surrounding views. Both together would block the loop too
        long.
    """

    flushed = Signal(object)
    settled = Signal(object)

    def __init__(self, client: DocumentClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._version = client.version
        self._span: tuple[int, int] | None = None
        self._changed: list[NDArray[np.int64]] = []
        self._tree_moved = False
        self._unsettled: Update | None = None
        self._paused = False
        self._painting = self._is_held = False
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
        client.updated.connect(self._on_updated)
        self._is_attached = True

    def _on_updated(self, changes: Update) -> None:
        """Collects a change. O(messages changed)."""
        self._version = changes.version
        start = changes.start if self._span is None else self._span[0]
        self._span = (start, changes.stop)
        earlier = changes.changed[changes.changed < start]  # new messages need no entry of their own
        if len(earlier):
            self._changed.append(earlier)
        self._tree_moved = self._tree_moved or changes.tree_moved
        self._schedule_flush()

    def _schedule_flush(self) -> None:
        """Starts the timer of the next flush. Its delay is known only after the last flush was painted."""
        if self._span is not None and not (self._is_held or self._paused or self._painting or self._timer.isActive()):
            rest_ms = (self._rest_until - time.perf_counter()) * 1000
            self._timer.start(round(min(_SLOWEST_FLUSH_MS, max(0, rest_ms))))

    def hold(self) -> None:
        """Holds changes back until `release`, because the views do not exist so far."""
        self._is_held = True

    def release(self) -> None:
        """Lets changes through, also earlier ones."""
        self._is_held = False
        self._schedule_flush()

    @property
    def waiting(self) -> int:
        """Number of new messages not emitted yet."""
        return self._span[1] - self._span[0] if self._span is not None else 0

    @property
    def paused(self) -> bool:
        """True while changes are held back; the capture continues."""
        return self._paused

    @property
    def is_settling(self) -> bool:
        """True between `flushed` and `settled`."""
        return self._unsettled is not None

    def set_paused(self, paused: bool) -> None:
        self._paused = paused
        if paused:
            self._timer.stop()
        else:
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
        self._unsettled = Update(0, self._version, start, stop, rows, moved)
        self._flooded = stop - start > _FLOOD_MESSAGES
        self.flushed.emit(self._unsettled)

    def _emit_settled(self) -> None:
        changes, self._unsettled = self._unsettled, None
        if changes is not None:
            self.settled.emit(changes)

    def _on_painted(self) -> None:
        if self._unsettled is not None:
            self._emit_settled()
            self._painted.start()
            return
        now = time.perf_counter()
        rest = _PAUSE_FACTOR_FLOOD if self._flooded or self._client.state.has_backlog else _PAUSE_FACTOR
        took = now - self._flush_started_at
        self._rest_until = now + max(rest * took, _FLUSH_MS / 1000 - took)
        self._painting = False
        self._schedule_flush()

    def detach(self) -> None:
        """Unsubscribes from the document."""
        if self._is_attached:
            self._is_attached = False
            self._client.updated.disconnect(self._on_updated)
        self._timer.stop()
        self._painted.stop()

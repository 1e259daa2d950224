"""The one place where changes of the core become Qt signals, coalesced."""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.analysis.passes.changes import Rows
from inspector.document.document import CaptureDocument
from inspector.ui import budgets
from inspector.ui.loop_budget import turn_of_loop

_REST = 3
"""Between two flushes the loop is left to others for this many times as long as the views took."""
_FLOOD, _REST_FLOOD = 200, 8
"""The same where so many messages come from flush to flush: nobody reads along, and they want to be taken in."""
_REST_BEHIND = 12
"""The same while much waits to be read: sooner than what is there by now one wants to see all of it."""


class DocumentBridge(QObject):
    """Collects the document's changes and passes them on a few dozen times a second.

    Where views take long to take them in and to paint them, the next flush comes later, so that they never have more
    than about a quarter of the time and the rest stays for receiving and reading; less where much comes or waits.

    Signals:
        flushed(Changes): everything that changed since the last flush, as one; for what is read row by row.
        settled(Changes): the same, once that has been painted; for what stands around it. Together they would keep the
            loop for too long.
    """

    flushed = Signal(object)
    settled = Signal(object)

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._span: tuple[int, int] | None = None
        self._changed: list[Rows] = []
        self._tree_moved = False
        self._unsettled: Changes | None = None
        self._paused = False
        self._painting = False
        self._flooded = False  # the last flush brought more than anybody reads
        self._began = 0.0
        self._rest_until = 0.0
        self._timer = QTimer(self)
        self._timer.setObjectName("flushTimer")
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._pass_on)
        self._painted = QTimer(self)
        self._painted.setSingleShot(True)
        self._painted.setInterval(0)  # Qt comes to timers when it has painted
        self._painted.timeout.connect(self._on_painted)
        document.observers.append(self)

    def messages_changed(self, changes: Changes) -> None:
        """Called by the document, on the loop's thread. O(messages changed)."""
        start = changes.start if self._span is None else self._span[0]
        self._span = (start, changes.stop)
        earlier = changes.changed[changes.changed < start]  # what is new anyway need not be said to have changed
        if len(earlier):
            self._changed.append(earlier)
        self._tree_moved = self._tree_moved or changes.tree_moved
        self._wait()

    def _wait(self) -> None:
        """Flush in a while; how long that is can be told when the flush before has been painted."""
        if self._span is not None and not (self._paused or self._painting or self._timer.isActive()):
            rest_ms = (self._rest_until - time.perf_counter()) * 1000
            self._timer.start(round(min(budgets.current.slowest_flush_ms, max(budgets.current.flush_ms, rest_ms))))

    @property
    def waiting(self) -> int:
        """New messages that have not been passed on."""
        return self._span[1] - self._span[0] if self._span is not None else 0

    @property
    def paused(self) -> bool:
        """Whether changes are held back; the capture goes on."""
        return self._paused

    def set_paused(self, paused: bool) -> None:
        """Hold changes back, or let them through again."""
        self._paused = paused
        if not paused:
            self.flush()

    def flush(self) -> None:
        """Pass on what is waiting, now and all of it."""
        self._pass_on()
        self._settle()

    def _pass_on(self) -> None:
        self._settle()
        if self._span is None:
            return
        (start, stop), changed, moved = self._span, self._changed, self._tree_moved
        self._span, self._changed, self._tree_moved = None, [], False
        rows = np.unique(np.concatenate(changed)) if changed else np.empty(0, np.int64)
        self._timer.stop()
        self._began = time.perf_counter()
        self._painting = True
        self._painted.start()
        self._unsettled = Changes(start, stop, rows, moved)
        self._flooded = stop - start > _FLOOD
        self.flushed.emit(self._unsettled)
        turn_of_loop().claim()

    def _settle(self) -> None:
        changes, self._unsettled = self._unsettled, None
        if changes is not None:
            self.settled.emit(changes)

    def _on_painted(self) -> None:
        if self._unsettled is not None:
            if not turn_of_loop().may_take():  # what was painted was long enough for one turn
                self._painted.start()
                return
            self._settle()
            self._painted.start()
            return
        now = time.perf_counter()
        rest = _REST_BEHIND if self._document.catching_up else _REST_FLOOD if self._flooded else _REST
        self._rest_until = now + rest * (now - self._began)
        self._painting = False
        self._wait()

    def detach(self) -> None:
        """Hear no more of the document."""
        if self in self._document.observers:
            self._document.observers.remove(self)
        self._timer.stop()
        self._painted.stop()

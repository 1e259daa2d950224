"""Tracks time used in this event-loop iteration, so that at most one background slice runs in it.

Qt serves all due timers before it handles keys and mouse again. Background work checks here first and claims an
iteration of its own; log readers skip that one.
"""

from __future__ import annotations

import asyncio
import time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, Qt

from inspector.ui import budgets

_CLAIM_S = 0.05
"""Seconds after which an unused claim expires."""
_MAX_REFUSED = 4
"""Most iterations refused in a row: during heavy traffic no iteration may be free."""
_MAX_SKIPPED = 3
"""Most iterations that a log reader skips in a row, so that new messages are painted and views are updated."""


class LoopTurn(QObject):
    """Iterations of this thread's event loop.

    Qt signals when it wakes up. It measures CPU time of the thread, so that load of the machine does not count.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._began_s = time.thread_time()
        self._claimed_until_s = 0.0
        self._refused = 0  # iterations refused in a row
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None:
            # Emitted when the event loop wakes up: the start of an iteration.
            dispatcher.awake.connect(self._on_awake)

    def _on_awake(self) -> None:
        self._began_s = time.thread_time()
        self._refused = self._refused + 1 if self._is_claimed else 0

    @property
    def _is_claimed(self) -> bool:
        return time.perf_counter() < self._claimed_until_s

    @property
    def used(self) -> bool:
        """Some work has used a slice in this iteration."""
        return time.thread_time() - self._began_s > budgets.current.background_slice_s / 2

    def may_take(self) -> bool:
        """Returns True if background work may run a slice now; else claims one of the next iterations."""
        if self.used and self._refused < _MAX_REFUSED:
            self.claim()
            return False
        self._claimed_until_s, self._refused = 0.0, 0
        return True

    def claim(self) -> None:
        """Makes log readers skip the next iteration, for painting."""
        self._claimed_until_s = time.perf_counter() + _CLAIM_S

    @property
    def is_taken(self) -> bool:
        """Log readers should skip this iteration."""
        return self.used or self._is_claimed


def turn_of_loop() -> LoopTurn:
    """Returns the tracker of this program's event loop, made on the first call."""
    application = QCoreApplication.instance()
    assert application is not None
    options = Qt.FindChildOption.FindDirectChildrenOnly
    return application.findChild(LoopTurn, options=options) or LoopTurn(application)


async def others_first() -> None:
    """Yields to other work for a few iterations at most; for log readers, which run in every iteration."""
    for _ in range(_MAX_SKIPPED):
        if turn_of_loop().is_taken:
            await asyncio.sleep(0)

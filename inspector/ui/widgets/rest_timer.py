"""Coalesces quick repeats of a call, such as those of a held key."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from inspector.ui import intervals


class RestTimer(QObject):
    """Makes a call at once if the last one is some time ago; of quick repeats, only the last one, after a pause."""

    def __init__(self, call: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._call = call
        self._called_at = -math.inf
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(call)

    @property
    def is_waiting(self) -> bool:
        """True until the pause after quick repeats is over."""
        return self._timer.isActive()

    def call(self) -> None:
        """Calls now or after the pause."""
        now, before = time.perf_counter(), self._called_at
        self._called_at = now
        if self._timer.isActive() or now - before < intervals.REST_MS / 1000:
            self._timer.start(intervals.REST_MS)
        else:
            self._call()

    def stop(self) -> None:
        """Drops the call that waits."""
        self._timer.stop()
